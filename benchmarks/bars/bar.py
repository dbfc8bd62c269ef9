"""What a bar is, and what checks of bars are made of. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Measured = dict[str, Any]


MB = 1e6


@dataclass(frozen=True)
class Check:
    """One number of a bar; `value` is None where it was not measured.

    at_most: whether small is good
    """

    label: str
    value: float | None
    must: float
    reach: float | None
    unit: str
    at_most: bool = True

    @property
    def verdict(self) -> str:
        if self.value is None:
            return "not measured"
        if self.reach is not None and self._holds(self.value, self.reach):
            return "reached"
        return "met" if self._holds(self.value, self.must) else "MISSED"

    def _holds(self, value: float, bound: float) -> bool:
        return value <= bound if self.at_most else value >= bound


@dataclass(frozen=True)
class Bar:
    """One row of the demanded table."""

    id: str
    what: str
    must: str
    reach: str
    checks: Callable[[Measured], Iterator[Check]]
    note: str = ""


def verdict(checks: list[Check]) -> str:
    """Of the bar: its worst check decides; one that was not measured does not make it met."""
    order = ("MISSED", "not measured", "met", "reached")
    return min((check.verdict for check in checks), key=order.index)


def at(measured: Measured, path: str) -> Any:
    """The value at `a/b/c`, None where there is none."""
    found: Any = measured
    for part in path.split("/"):
        if not isinstance(found, dict) or part not in found:
            return None
        found = found[part]
    return found


def ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below else None


def less(value: float | None, fixed: float | None) -> float | None:
    return value - fixed if value is not None and fixed is not None else None
