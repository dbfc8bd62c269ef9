"""How long the allocations of a stack live, and which are made and released again and again."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Bytes, Count
from torch_tb_profiler.analysis.result import Result, column
from torch_tb_profiler.analysis.snapshot.curves import History
from torch_tb_profiler.analysis.snapshot.frames import StackNames
from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.arrays.types import Float64, Int64
from torch_tb_profiler.snapshot.schema import NO_TIME, Action

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
    """ns from birth to release of each life, -1 where it is not known."""
    lives, time = history.lives, history.device.records.time
    both = (lives.born >= 0) & (lives.released >= 0) & (lives.released < len(time))
    if not both.any():
        return np.full(len(lives), -1, np.int64)
    start, end = time[np.where(both, lives.born, 0)], time[np.where(both, lives.released, 0)]
    both &= (start != NO_TIME) & (end != NO_TIME)
    return np.where(both, np.maximum(np.where(both, end, 0) - np.where(both, start, 0), 0), -1)


def lifetime_rows(history: History, names: StackNames) -> LifetimeRows:
    lives = history.lives
    chosen = np.flatnonzero(lives.born >= 0)
    groups = group([lives.stack[chosen]])
    lived = durations(history)[chosen]
    requested = lives.requested[chosen]
    peak = history.curves.peak(history.curves.requested)
    order = descending(groups.sum(requested))
    stack = lives.stack[chosen][groups.first[order]]
    churns = (lived >= 0) & (lived <= CHURN_NS) & (requested > CHURN_BYTES)
    backward = np.zeros(len(groups), np.bool_)[order]
    if len(names.in_backward):
        backward = np.where(stack >= 0, names.in_backward[np.maximum(stack, 0)], False)
    return LifetimeRows(
        stack=stack,
        line=tuple(map(names.line_of, stack.tolist())),
        blocks=groups.count()[order],
        bytes=groups.sum(requested)[order],
        median_ns=_medians(groups.of, lived, len(groups))[order],
        longest_ns=np.maximum(groups.max(lived), -1)[order] if len(groups) else np.empty(0, np.int64),
        at_peak=groups.sum(np.where(lives.wanted(peak)[chosen], requested, 0))[order],
        at_end=groups.sum(np.where(lives.wanted(history.last)[chosen], requested, 0))[order],
        churn=groups.sum(churns)[order],
        in_backward=backward.astype(np.float64),
    )


def _medians(of: Int64, values: Int64, size: int) -> Int64:
    """The lower median of the values of each group that are not negative, -1 where there are none."""
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
    """Short-lived large allocations, and segments given back and taken again."""
    lived, lives, records = durations(history), history.lives, history.device.records
    short = (lived >= 0) & (lived <= CHURN_NS) & (lives.requested > CHURN_BYTES)
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
    return Churn(int(np.count_nonzero(short)), int(lives.requested[short].sum()), again, bytes_)
