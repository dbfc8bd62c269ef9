"""Whom each piece of device work belongs to, and how that is known."""

from torch_tb_profiler.model.owners.owners import (
    CallOwners,
    MissingOwner,
    OwnerKind,
    Owners,
    annotated_owner,
    owners_of,
    owners_of_calls,
)

__all__ = ["CallOwners", "MissingOwner", "OwnerKind", "Owners", "annotated_owner", "owners_of", "owners_of_calls"]
