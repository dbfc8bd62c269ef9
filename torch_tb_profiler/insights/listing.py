"""How findings are listed: names, how much each matters, their order, and the parts of the step that none is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from torch_tb_profiler.analysis.replay.quality import ReplayRefusal
from torch_tb_profiler.analysis.shared.thresholds import Thresholds
from torch_tb_profiler.analysis.waterfall import Part
from torch_tb_profiler.insights.rule import Cause, FindingSaving, FindingSeverity

_SEVERITIES: tuple[FindingSeverity, ...] = ("high", "medium", "low")
_Cause = TypeVar("_Cause", bound=Cause)


def refused(why: ReplayRefusal, share: float | None = None) -> FindingSaving:
    """Return a refused saving. share: part of the steps that the finding takes."""
    return FindingSaving(None, None, None, None, None, True, why.text, why.id, why.share, share_of_step=share)


def keys(rules: Iterable[str]) -> list[str]:
    """Name each of several findings, by the rules that found them, in their order.

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
    """Return how much a cause matters: by its saving per step beyond earlier causes.

    Where the saving is unknown, by the share of the step that the cause takes.
    """
    share = saving_share(saving, step_ns)
    if share >= limits.of("findings", "high_share"):
        return "high"
    return "medium" if share >= limits.of("findings", "medium_share") else "low"


def saving_share(saving: FindingSaving, step_ns: float) -> float:
    """Return the share of the step that a finding saves, else the share that it takes; 0 where both are unknown."""
    if saving.after_others_ns is None:
        return saving.share_of_step or 0.0
    return saving.after_others_ns / step_ns if step_ns else 0.0


def in_order(findings: Sequence[_Cause], step_ns: float) -> list[_Cause]:
    """Sort findings: explanations of the bound with unknown savings, known savings, warnings by severity.

    Known savings keep their order, in which they add up. Other findings with unknown savings keep theirs, too; each
    stands before the first known saving that is smaller than the share of the step it takes.
    """
    timed = [cause for cause in findings if cause.saving is not None and cause.saving.refused is None]
    unknown = [cause for cause in findings if cause.saving is not None and cause.saving.refused is not None]
    warnings = [cause for cause in findings if cause.saving is None]
    found: list[_Cause] = []
    left = sorted(unknown, key=lambda cause: not _explains(cause))
    for cause in timed:
        while left and (_explains(left[0]) or _share(left[0], step_ns) > _share(cause, step_ns)):
            found.append(left.pop(0))
        found.append(cause)
    return [*found, *left, *sorted(warnings, key=lambda cause: _SEVERITIES.index(cause.severity))]


def _explains(each: Cause) -> bool:
    return each.saving is not None and each.saving.at_most_ns is not None


def _share(each: Cause, step_ns: float) -> float:
    return 0.0 if each.saving is None else saving_share(each.saving, step_ns)


#: least share of the step for a part to be checked
LEAST_SHARE = 0.05
_HOST = frozenset(
    "compilation data_loading launch loops memory operators optimizer parallel python steps synchronization".split()
)
#: families of rules about a part, by prefix or suffix of its cause; the first match counts
_ABOUT: Mapping[str, frozenset[str]] = {
    "compute": frozenset("compilation fusion kernels loops memory operators optimizer products".split()),
    "exposed_copy": frozenset({"copies", "loops"}),
    "exposed_communication": frozenset({"communication", "parallel"}),
    ".communication": frozenset({"communication", "parallel"}),
    ".collective": frozenset({"communication", "parallel"}),
    ".input": frozenset({"data_loading"}),
    ".data": frozenset({"data_loading"}),
    ".sync": frozenset({"copies", "memory", "synchronization"}),
    ".relaunch": frozenset({"copies", "memory", "launch", "steps", "synchronization"}),
    "idle": _HOST,
    "host": _HOST,
}


def not_looked_at(waterfall: Iterable[Part], step_ns: float, families: Sequence[str]) -> tuple[str, ...]:
    """Return the causes of the parts that take 5 % of the step or more, and that no finding is about.

    families   of the rules that found something
    """
    found = frozenset(families)
    return tuple(
        part.cause
        for part in waterfall
        if step_ns and part.ns / step_ns >= LEAST_SHARE and not found & _about(part.cause)
    )


def _about(cause: str) -> frozenset[str]:
    fitting = (families for key, families in _ABOUT.items() if cause.startswith(key) or cause.endswith(key))
    return next(fitting, frozenset())
