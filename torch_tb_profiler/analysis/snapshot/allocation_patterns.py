"""What grows from step to step, how long the allocations of a stack live, and which are made again and again."""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Bytes, BytesMean, Count
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.result import Result, column
from torch_tb_profiler.analysis.snapshot.frames import StackNames
from torch_tb_profiler.analysis.snapshot.history import History, histories
from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.arrays.types import Float64, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.snapshot.schema import NO_TIME, Action, Annotations

StepRule = Literal["profiler_step", "optimizer", "none"]

#: a stack grows when it leaves something behind in this many steps
LEAST_STEPS = 3

_STEP = lazy_pattern(r"ProfilerStep\*?#\d+")
_OPTIMIZER = lazy_pattern(r"Optimizer\.step#")


class StepEnds(msgspec.Struct, frozen=True):
    """Where steps end. time: ns since the start of the recording, ascending; rule: what says so."""

    rule: StepRule
    time: Int64


class Growing(msgspec.Struct, frozen=True):
    """A stack whose memory in use grows with every step.

    stack    id of its stack, -1 where none was recorded
    bytes    requested, per step
    blocks   how many it left over all steps that count
    steps    in how many it left something: how many steps
    """

    stack: int
    bytes: BytesMean
    blocks: Count
    steps: Count


class Growth(msgspec.Struct, frozen=True):
    """What grows on one device.

    device    number of the device
    rule      what says where steps end
    steps     how many there are; the first warms up and is not counted
    per_step  bytes requested that each step leaves behind; None if there are too few steps to say
    reserved  bytes by which reserved grows per step while the peak of what is requested does not; None as above
    stacks    those that grow, the most bytes first
    """

    device: int
    rule: StepRule
    steps: Count
    per_step: Bytes | None
    reserved: Bytes | None
    stacks: tuple[Growing, ...]


@cached
def step_ends(model: Model) -> StepEnds:
    """Find the ends of steps by ProfilerStep annotations, else by the ends of Optimizer.step."""
    table = model.trace.table(Annotations)
    names = model.trace.strings.texts(table.name)
    for rule, pattern in (("profiler_step", _STEP), ("optimizer", _OPTIMIZER)):
        chosen = np.array([pattern.match(name) is not None for name in names], np.bool_) & (table.end != NO_TIME)
        if chosen.any():
            return StepEnds("profiler_step" if rule == "profiler_step" else "optimizer", np.sort(table.end[chosen]))
    return StepEnds("none", np.empty(0, np.int64))


@cached
def growth(model: Model) -> tuple[Growth, ...]:
    """Return the growth of each device."""
    ends = step_ends(model)
    return tuple(growth_of(history, ends) for history in histories(model))


def growth_of(history: History, ends: StepEnds) -> Growth:
    time = history.device.records.time
    if not len(time) or not (time != NO_TIME).all():
        return Growth(history.device.number, ends.rule, 0, None, None, ())
    within = ends.time[(ends.time >= time[0])]
    last = np.unique(np.searchsorted(time, within, "right") - 1)
    steps = len(last)
    if steps < LEAST_STEPS or history.lifetimes.missing:
        return Growth(history.device.number, ends.rule, steps, None, None, ())
    lifetimes, end = history.lifetimes, int(last[-1])
    stays = np.flatnonzero((lifetimes.born >= 0) & (lifetimes.born <= end) & (lifetimes.released > end))
    step = np.searchsorted(last, lifetimes.born[stays], "left")
    groups = group([lifetimes.stack[stays]])
    growing = []
    for number in range(len(groups)):
        mine = groups.inverse == number
        in_steps = np.unique(step[mine])
        if len(in_steps) < LEAST_STEPS:
            continue
        later = stays[mine & (step > 0)]
        bytes_ = int(lifetimes.requested[later].sum()) / (steps - 1)
        growing.append(Growing(int(lifetimes.stack[stays[groups.first[number]]]), bytes_, len(later), len(in_steps)))
    growing.sort(key=lambda each: -each.bytes)
    whole = round(sum(each.bytes for each in growing))
    return Growth(history.device.number, ends.rule, steps, whole, _reserved(history, last), tuple(growing))


def _reserved(history: History, last: Int64) -> int:
    """Return by how much reserved grows per step from the end of the first, where the peaks of requested do not.

    In so many steps as a stack must grow in, the last among the later half of them: a cache that fills is none.
    """
    reserved, requested = history.curves.reserved[last + 1], history.curves.requested
    grown = int(reserved[-1] - reserved[0])
    rises = np.flatnonzero(np.diff(reserved) > 0)
    if len(rises) < LEAST_STEPS or 2 * (int(rises[-1]) + 1) <= len(last):
        return 0
    peaks = [int(requested[a + 1 : b + 2].max()) for a, b in zip(last[:-1].tolist(), last[1:].tolist(), strict=True)]
    return grown // (len(last) - 1) if grown > 0 and peaks[-1] <= peaks[0] else 0


#: churn: larger than this, released within this time
CHURN_BYTES = 1 << 20
CHURN_NS = 100_000


class LifetimeRows(Result, group="snapshot.lifetimes"):
    """One row per stack of what was allocated during the recording, by bytes, descending."""

    line: tuple[str, ...] = column(
        "Allocated at",
        "Innermost frame of the user's own code in the stack of the allocation; if there is none, the innermost "
        "Python frame, otherwise the innermost frame.",
        id="snapshot.line",
    )
    blocks: Int64 = column("Allocations", "How many allocations were made in the recording.")
    bytes: Int64 = column("Requested", "Σ bytes that the program asked for.", total=True, id="snapshot.bytes")
    median_ns: Int64 = column(
        "Median lifetime",
        "Lower median time from allocation to release.",
        id="snapshot.median_ns",
        missing_below_zero=True,
    )
    longest_ns: Int64 = column(
        "Longest lifetime",
        "Longest time from allocation to release.",
        id="snapshot.longest_ns",
        missing_below_zero=True,
    )
    at_peak: Int64 = column("At the peak", "Requested bytes in use at the peak.", unit="bytes", id="snapshot.at_peak")
    at_end: Int64 = column("At the end", "Requested bytes not released at the end.", unit="bytes", id="snapshot.at_end")
    churn: Int64 = column(
        "Short-lived", "Allocations of more than 1 MiB that were released within 100 µs.", id="snapshot.churn"
    )
    in_backward: Float64 = column(
        "In backward",
        "1 if the autograd engine is in the stack, otherwise 0.",
        unit="fraction",
        id="snapshot.in_backward",
    )
    stack: Int64 = column("Stack", "Row of stacks.", unit=None, missing_below_zero=True, api_only=True)


class Churn(msgspec.Struct, frozen=True):
    """Work of the allocator that leads to nothing.

    blocks       how many allocations of more than 1 MiB were released within 100 µs
    bytes        bytes of them
    empty_cache  how many segments were released and allocated again in the same size
    given_back   bytes of them
    """

    blocks: Count
    bytes: Bytes
    empty_cache: Count
    given_back: Bytes


def durations(history: History) -> Int64:
    """Return ns from birth to release of each lifetime, -1 if unknown."""
    lifetimes, time = history.lifetimes, history.device.records.time
    both = (lifetimes.born >= 0) & (lifetimes.released >= 0) & (lifetimes.released < len(time))
    if not both.any():
        return np.full(len(lifetimes), -1, np.int64)
    start, end = time[np.where(both, lifetimes.born, 0)], time[np.where(both, lifetimes.released, 0)]
    both &= (start != NO_TIME) & (end != NO_TIME)
    return np.where(both, np.maximum(np.where(both, end, 0) - np.where(both, start, 0), 0), -1)


def lifetime_rows(history: History, names: StackNames) -> LifetimeRows:
    lifetimes = history.lifetimes
    chosen = np.flatnonzero(lifetimes.born >= 0)
    groups = group([lifetimes.stack[chosen]])
    lived = durations(history)[chosen]
    requested = lifetimes.requested[chosen]
    peak = history.curves.peak(history.curves.requested)
    order = descending(groups.sum(requested))
    stack = lifetimes.stack[chosen][groups.first[order]]
    churns = (lived >= 0) & (lived <= CHURN_NS) & (requested > CHURN_BYTES)
    backward = np.zeros(len(groups), np.bool_)[order]
    if len(names.in_backward):
        backward = np.where(stack >= 0, names.in_backward[np.maximum(stack, 0)], False)
    return LifetimeRows(
        stack=stack,
        line=tuple(map(names.line_of, stack.tolist())),
        blocks=groups.count()[order],
        bytes=groups.sum(requested)[order],
        median_ns=_medians(groups.inverse, lived, len(groups))[order],
        longest_ns=np.maximum(groups.max(lived), -1)[order] if len(groups) else np.empty(0, np.int64),
        at_peak=groups.sum(np.where(lifetimes.wanted(peak)[chosen], requested, 0))[order],
        at_end=groups.sum(np.where(lifetimes.wanted(history.last)[chosen], requested, 0))[order],
        churn=groups.sum(churns)[order],
        in_backward=backward.astype(np.float64),
    )


def _medians(of: Int64, values: Int64, size: int) -> Int64:
    """Return the lower median of each group's values that are not negative, -1 where there are none."""
    known = np.flatnonzero(values >= 0)
    found = np.full(size, -1, np.int64)
    order = known[np.lexsort((values[known], of[known]))]
    if len(order):
        count = np.bincount(of[order], minlength=size)
        first = np.cumsum(count) - count
        some = np.flatnonzero(count)
        found[some] = values[order][first[some] + (count[some] - 1) // 2]
    return found


def churn(history: History) -> Churn:
    """Return short-lived large allocations, and segments released and allocated again."""
    lived, lifetimes, records = durations(history), history.lifetimes, history.device.records
    short = (lived >= 0) & (lived <= CHURN_NS) & (lifetimes.requested > CHURN_BYTES)
    given = np.flatnonzero(records.action == Action.SEGMENT_FREE)
    again, bytes_ = 0, 0
    if len(given):
        taken = np.flatnonzero(records.action == Action.SEGMENT_ALLOC)
        for size in np.unique(records.bytes[given]).tolist():
            freed, got = given[records.bytes[given] == size], taken[records.bytes[taken] == size]
            # each segment that is taken makes up for one that was given back before
            pairs = int(np.minimum(np.searchsorted(freed, got), np.arange(1, len(got) + 1)).max(initial=0))
            again += pairs
            bytes_ += pairs * size
    return Churn(int(np.count_nonzero(short)), int(lifetimes.requested[short].sum()), again, bytes_)
