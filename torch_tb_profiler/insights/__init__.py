"""What to do about what a trace shows: one rule, one file.

A rule declares its id and what it needs, and turns the numbers of `analysis` into at most one `Finding`: trigger,
evidence, estimate of what it would save, advice, links. Adding a rule is adding a file and its line in `RULES`.

What does not belong here: computing numbers (`analysis`) and markup (`web`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch_tb_profiler.insights.findings import Diagnosis, diagnosis, findings
from torch_tb_profiler.insights.rule import Evidence, Finding, Link, Rule

if TYPE_CHECKING:
    from torch_tb_profiler.insights.rules import RULES

__all__ = ["RULES", "Diagnosis", "Evidence", "Finding", "Link", "Rule", "diagnosis", "findings"]


def __getattr__(name: str) -> object:
    """Rules are loaded when a trace is judged: a server that gives prepared answers never does."""
    if name != "RULES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from torch_tb_profiler.insights.rules import RULES  # noqa: PLC0415

    return RULES
