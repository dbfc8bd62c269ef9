"""What can be changed: each change is a value that says what becomes shorter.

Rows are positions in Trace.events. They are tuples, so that a change can be compared and remembered; the functions
take any sequence.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, SupportsIndex

import msgspec

LabelName = Literal["python", "operator", "data", "launch", "blocking", "allocator", "api", "collective"]
WorkName = Literal["kernels", "copies", "collectives", "all"]
WaitName = Literal["sync", "copies", "queue"]
Direction = Literal["HtoD", "DtoH"]
#: (track, start, end): a span of a host thread, ns from the origin of the trace
Interval = tuple[int, int, int]


class Within(msgspec.Struct, frozen=True, kw_only=True):
    """Where host time counts: in what is common to all that is given; without anything everywhere.

    operator     inside ranges (operators and annotations) of this name
    module       inside calls of this module: `Linear_3`, or the name of its event
    frame        inside Python frames of this name, as it is in the trace
    rows         inside these events of host threads: operators, annotations, frames, calls
    intervals    inside these spans of threads
    start, end   within this window, ns from the origin of the trace
    thread       on this track
    """

    operator: str | None = None
    module: str | None = None
    frame: str | None = None
    rows: tuple[int, ...] | None = None
    intervals: tuple[Interval, ...] | None = None
    start: int | None = None
    end: int | None = None
    thread: int | None = None


class ScaleHost(Within, frozen=True):
    """Host time × factor; waiting has no time of its own, and is not scaled.

    label   what the time is spent on; without it all
    The others are those of Within.
    """

    factor: float
    label: LabelName | None = None

    @property
    def within(self) -> Within:
        """Where."""
        return Within(**{name: getattr(self, name) for name in Within.__struct_fields__})


class ScaleWork(msgspec.Struct, frozen=True):
    """Durations of work on devices × factor, or a target for each.

    work        kernels (those of collectives left out), copies (sets too), collectives (waiting for other ranks too,
                unless ranks are replayed together), or all; of `rows` all count
    name        only work of exactly this name
    rows        only the work of these events
    target_ns   how long the work of each of `rows` takes at most, ns, instead of a factor; what is shorter stays
    """

    factor: float
    work: WorkName = "kernels"
    name: str | None = None
    rows: tuple[int, ...] | None = None
    target_ns: tuple[int, ...] | None = None


class WithoutWaits(msgspec.Struct, frozen=True):
    """Calls no longer wait for the device, and take no time.

    waits       synchronizations (blocking copies too), copies alone, or calls held by a full launch queue
    operator    only calls inside ranges of this name
    rows        only these calls, or calls inside these events
    """

    waits: WaitName = "sync"
    operator: str | None = None
    rows: tuple[int, ...] | None = None


class Pinned(msgspec.Struct, frozen=True):
    """Copies from or to pageable memory use pinned memory and no longer block.

    The call takes what an asynchronous call usually takes, and returns before the copy is done; so does a
    synchronization of the same operator that waits for this copy alone. The copy takes its bytes at the best rate that
    a pinned copy of its direction had, else of the other direction. Copies whose value is read at once
    (`aten::_local_scalar_dense`) are left out.

    direction   only copies to the device, or from it
    rows        only these copies
    rate        bytes per ns (= GB/s) instead of the best of the trace. Where neither is known copies take as long as
                they did, and only the waiting goes away
    """

    direction: Direction | None = None
    rows: tuple[int, ...] | None = None
    rate: float | None = None


class Graphed(msgspec.Struct, frozen=True):
    """Each region is launched as one CUDA graph.

    Of its host time only its first launch is left, and what is data loading, an allocation or a wait; the work follows
    without launches of its own and with gaps of 1 µs at most. Threads that the region wakes belong to it.

    rows    the events of host threads that are regions
    steps   the steps that are, by index; with neither, all steps
    """

    rows: tuple[int, ...] | None = None
    steps: tuple[int, ...] | None = None


class Fused(msgspec.Struct, frozen=True):
    """Each group of kernels is one kernel, in the place of the last.

    The others take no time, nor do their launches, and the operators that launched nothing but them.

    groups      rows of the kernels of each group
    target_ns   how long the kernel of each group takes, ns
    """

    groups: tuple[tuple[int, ...], ...]
    target_ns: tuple[int, ...]


class MergedCollectives(msgspec.Struct, frozen=True):
    """Each group of collectives is one: what k of them transfer, without the fixed time of k − 1.

    groups     rows of the collectives of each group
    alpha_ns   what a collective takes whatever its size, ns
    """

    groups: tuple[tuple[int, ...], ...]
    alpha_ns: int


class NoStraggler(msgspec.Struct, frozen=True):
    """No rank is slower than the median rank: its host time of each label, and its kernels, × (median ÷ this rank).

    Only of several ranks together. Of an even number the lower of the middle two counts.
    """


Change = ScaleHost | ScaleWork | WithoutWaits | Pinned | Graphed | Fused | MergedCollectives | NoStraggler


def scale(
    label: LabelName | None = None,
    factor: float = 0.5,
    *,
    operator: str | None = None,
    module: str | None = None,
    frame: str | None = None,
    rows: Iterable[SupportsIndex] | None = None,
    intervals: Iterable[Sequence[SupportsIndex]] | None = None,
    start: int | None = None,
    end: int | None = None,
) -> ScaleHost:
    """Scale host time: all, that of a label, or that inside an operator, a module, a frame, events or a window.

    intervals   (track, start, end) of threads, ns
    """
    held = None if intervals is None else tuple((int(t), int(s), int(e)) for t, s, e in intervals)
    return ScaleHost(
        factor,
        label,
        operator=operator,
        module=module,
        frame=frame,
        rows=_rows(rows),
        intervals=held,
        start=start,
        end=end,
    )


def free(label: LabelName | None = None, *, rows: Iterable[SupportsIndex] | None = None) -> ScaleHost:
    """Make host time of a label, or all of it, take no time: the most that any remedy can save."""
    return ScaleHost(0.0, label, rows=_rows(rows))


def kernels(factor: float, name: str | None = None, *, rows: Iterable[SupportsIndex] | None = None) -> ScaleWork:
    """Scale compute kernels: all, those of a name, or those of some events."""
    return ScaleWork(factor, "kernels", name, _rows(rows))


def targets(rows: Iterable[SupportsIndex], target_ns: Iterable[SupportsIndex]) -> ScaleWork:
    """Limit the duration of each event's work to a target, ns, such as that of a roofline."""
    return ScaleWork(1.0, "all", None, _rows(rows), tuple(map(int, target_ns)))


def copies(factor: float, name: str | None = None) -> ScaleWork:
    """Scale copies and fills."""
    return ScaleWork(factor, "copies", name)


def collectives(factor: float) -> ScaleWork:
    """Scale collectives."""
    return ScaleWork(factor, "collectives")


def without(
    waits: WaitName = "sync", operator: str | None = None, *, rows: Iterable[SupportsIndex] | None = None
) -> WithoutWaits:
    """Let calls no longer wait for the device: all, those inside an operator, or chosen ones."""
    return WithoutWaits(waits, operator, _rows(rows))


def pinned(
    direction: Direction | None = None, *, rows: Iterable[SupportsIndex] | None = None, rate: float | None = None
) -> Pinned:
    """Let copies of pageable memory use pinned memory, so that they do not block."""
    return Pinned(direction, _rows(rows), rate)


def graphed(rows: Iterable[SupportsIndex] | None = None, *, steps: Iterable[SupportsIndex] | None = None) -> Graphed:
    """Launch each of some events of a thread, of some steps by index, or every step, as one CUDA graph."""
    return Graphed(_rows(rows), _rows(steps))


def fused(rows: Iterable[SupportsIndex], target_ns: int) -> Fused:
    """Replace some kernels by one that takes `target_ns`."""
    return Fused((tuple(map(int, rows)),), (target_ns,))


def fused_groups(groups: Iterable[tuple[Iterable[SupportsIndex], int]]) -> Fused:
    """Replace each group of kernels by one; a group is the rows of its kernels and the time of the fused one, ns."""
    held = [(tuple(map(int, rows)), int(target)) for rows, target in groups]
    return Fused(tuple(rows for rows, _ in held), tuple(target for _, target in held))


def merged_collectives(groups: Iterable[Iterable[SupportsIndex]], alpha_ns: int) -> MergedCollectives:
    """Merge each group of collectives, given as rows; `alpha_ns` is what each takes whatever its size."""
    return MergedCollectives(tuple(tuple(map(int, rows)) for rows in groups), alpha_ns)


def no_straggler() -> NoStraggler:
    """Let no rank be slower than the median rank; for `run.what_if`."""
    return NoStraggler()


def check(change: Change) -> None:
    """Raise ValueError for a factor, rate or time that is no number or below 0, and for targets without rows."""
    if isinstance(change, ScaleHost | ScaleWork) and not 0 <= change.factor < float("inf"):
        raise ValueError(f"a factor is a number from 0 on, not {change.factor}")
    if isinstance(change, Pinned) and change.rate is not None and not 0 < change.rate < float("inf"):
        raise ValueError(f"a rate is a number of bytes per ns above 0, not {change.rate}")
    times: tuple[int, ...] = ()
    if isinstance(change, ScaleWork) and change.target_ns is not None:
        if change.rows is None or len(change.rows) != len(change.target_ns):
            raise ValueError("each row has a target, and each target a row")
        times = change.target_ns
    elif isinstance(change, Fused):
        if len(change.groups) != len(change.target_ns):
            raise ValueError("each group has a target, and each target a group")
        times = change.target_ns
    elif isinstance(change, MergedCollectives):
        times = (change.alpha_ns,)
    if any(time < 0 for time in times):
        raise ValueError(f"a time is at least 0 ns, not {min(times)}")


def is_bound(change: Change) -> bool:
    """Return whether the saving is an upper bound: the change makes something free, or leaves out costs of its own."""
    if isinstance(change, ScaleHost | ScaleWork):
        return change.factor == 0
    return not isinstance(change, Fused | NoStraggler)


def _rows(rows: Iterable[SupportsIndex] | None) -> tuple[int, ...] | None:
    return None if rows is None else tuple(map(int, rows))
