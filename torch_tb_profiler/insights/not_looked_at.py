"""The parts of the average step that no finding is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from torch_tb_profiler.analysis.waterfall import Part

#: a part of the step is looked at from this share on
LEAST_SHARE = 0.05
_HOST = frozenset(
    "compilation data_loading launch loops memory operators optimizer parallel python steps synchronization".split()
)
#: the families of rules that are about a part, by how its cause begins or ends; the first that fits
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
    """The causes of the parts that take 5 % of the step or more, and that no finding is about.

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
