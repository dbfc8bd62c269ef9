"""Reasons of their words: `reasons.toml`."""

from __future__ import annotations

from torch_tb_profiler.reason import Reason
from torch_tb_profiler.words.sentences import Values, section


def because(kind: str, values: Values | None = None) -> Reason:
    """Return a reason of a kind. values: what the sentence says beyond that."""
    values = values or {}
    return Reason(kind, section("reasons", "texts").say(kind, values), values)
