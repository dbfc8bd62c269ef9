"""How findings are listed, of one trace and of a run: their names, how much each matters, their order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from torch_tb_profiler.analysis.replay.refusals import Refusal
from torch_tb_profiler.analysis.shared.thresholds import Thresholds
from torch_tb_profiler.insights.rule import Cause, FindingSaving, FindingSeverity

_SEVERITIES: tuple[FindingSeverity, ...] = ("high", "medium", "low")
_Cause = TypeVar("_Cause", bound=Cause)


def refused(why: Refusal) -> FindingSaving:
    """In place of a saving that cannot be promised."""
    return FindingSaving(None, None, None, None, None, True, why.text, why.id, why.share)


def keys(rules: Iterable[str]) -> list[str]:
    """A name for each of several findings, by the rules that found them, in their order.

    >>> keys(["waits", "copies", "waits"])
    ['waits', 'copies', 'waits-2']
    """
    numbers: dict[str, int] = {}
    found = []
    for rule in rules:
        numbers[rule] = numbers.get(rule, 0) + 1
        found.append(rule if numbers[rule] == 1 else f"{rule}-{numbers[rule]}")
    return found


def severity(saving: FindingSaving, step_ns: float, limits: Thresholds) -> FindingSeverity:
    """How much a cause matters: by what it saves of the average step, ns, after those before it."""
    share = (saving.after_others_ns or 0.0) / step_ns if step_ns else 0.0
    if share >= limits.of("findings", "high_share"):
        return "high"
    return "medium" if share >= limits.of("findings", "medium_share") else "low"


def in_order(findings: Sequence[_Cause]) -> list[_Cause]:
    """Savings in the order given, in which they add up, then what has no number, then warnings, by severity."""

    def place(each: _Cause) -> tuple[int, int]:
        if each.saving is None:
            return 2, _SEVERITIES.index(each.severity)
        return int(each.saving.refused is not None), 0

    return sorted(findings, key=place)
