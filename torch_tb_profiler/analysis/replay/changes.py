"""What can be changed: each change is a value that says what becomes shorter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LabelName = Literal["python", "operator", "data", "launch", "blocking", "allocator", "api", "collective"]


@dataclass(frozen=True)
class ScaleHost:
    """Host time × factor. Without a label all of it; waiting has no time of its own, and is not scaled.

    label        what the time is spent on
    operator     only inside ranges (operators and annotations) of this name
    start, end   only within this window, ns from the origin of the trace
    thread       only on this track
    """

    factor: float
    label: LabelName | None = None
    operator: str | None = None
    start: int | None = None
    end: int | None = None
    thread: int | None = None


@dataclass(frozen=True)
class ScaleWork:
    """Durations of work on devices × factor.

    work   kernels (those of collectives left out), copies (sets too), collectives (waiting for other ranks too, unless
           ranks are replayed together), or all
    name   only work of exactly this name
    """

    factor: float
    work: Literal["kernels", "copies", "collectives", "all"] = "kernels"
    name: str | None = None


@dataclass(frozen=True)
class WithoutWaits:
    """Calls no longer wait for the device, and take no time.

    waits       synchronisations (blocking copies too), copies alone, or calls held by a full launch queue
    operator    only calls inside ranges of this name
    """

    waits: Literal["sync", "copies", "queue"] = "sync"
    operator: str | None = None


Change = ScaleHost | ScaleWork | WithoutWaits


def scale(
    label: LabelName | None = None,
    factor: float = 0.5,
    *,
    operator: str | None = None,
    start: int | None = None,
    end: int | None = None,
) -> ScaleHost:
    """Host time of a label, of an operator or within a window × factor."""
    return ScaleHost(factor, label, operator, start, end)


def free(label: LabelName | None = None) -> ScaleHost:
    """Host time of a label, or all, takes none: the most that any remedy can save."""
    return ScaleHost(0.0, label)


def kernels(factor: float, name: str | None = None) -> ScaleWork:
    """Compute kernels × factor."""
    return ScaleWork(factor, "kernels", name)


def copies(factor: float, name: str | None = None) -> ScaleWork:
    """Copies and sets × factor."""
    return ScaleWork(factor, "copies", name)


def collectives(factor: float) -> ScaleWork:
    """Collectives × factor."""
    return ScaleWork(factor, "collectives")


def without(waits: Literal["sync", "copies", "queue"] = "sync", operator: str | None = None) -> WithoutWaits:
    """Calls that wait for the device no longer do."""
    return WithoutWaits(waits, operator)


def check(change: Change) -> None:
    """Raises ValueError for a factor that is no number, or below 0."""
    factor = 0.0 if isinstance(change, WithoutWaits) else change.factor
    if not 0 <= factor < float("inf"):
        raise ValueError(f"a factor is a number from 0 on, not {factor}")


def is_bound(change: Change) -> bool:
    """Whether what it saves is the most that any remedy can: it makes something free."""
    return isinstance(change, WithoutWaits) or change.factor == 0
