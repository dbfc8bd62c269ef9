"""Whom each piece of device work belongs to, and how that is known."""

from torch_tb_profiler.model.owners.annotations import named_by
from torch_tb_profiler.model.owners.kinds import How, Why
from torch_tb_profiler.model.owners.of_calls import CallOwners, owners_of_calls
from torch_tb_profiler.model.owners.owners import Owners, owners_of

__all__ = ["CallOwners", "How", "Owners", "Why", "named_by", "owners_of", "owners_of_calls"]
