"""Communication that begins in the steps, as its rules count it, and exchanges of Python objects.

Objects are pickled, sent in two collectives, and read by the host.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from torch_tb_profiler.analysis.shared.device_roles import device_spans
from torch_tb_profiler.analysis.shared.kernel_use import is_compute
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.intervals import Coverage, union_of
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Float64, Int32, Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.communication import KINDS, Communications

#: prefixes of the ranges of FullyShardedDataParallel and fully_shard
FSDP = ("FSDP::", "FullyShardedDataParallel.")


class CollectiveCalls(msgspec.Struct, frozen=True):
    """Operations of the steps, by their first range. Parallel, shape (n,).

    operation   index into the operations of the trace
    row         the event of its first range: a kernel, or the call on the host
    step        index of the step
    start       ns
    duration    ns: of all of its ranges
    """

    facts: Facts
    operation: Int64
    row: Int32
    step: Int64
    start: Int64
    duration: Int64

    def __len__(self) -> int:
        return len(self.operation)

    @property
    def of(self) -> Communications:
        """All communication of the trace."""
        return self.facts.model.communications

    def has_kind(self, *kinds: str) -> Bool:
        """Mark operations of some kinds."""
        return np.isin(self.of.operations.kind[self.operation], [KINDS.index(kind) for kind in kinds])

    @property
    def in_bytes(self) -> Int64:
        """Input bytes of each operation; -1 where unknown."""
        found: Int64 = self.of.operations.in_bytes[self.operation]
        return found

    @property
    def per_step(self) -> float:
        """Mean number of operations per step."""
        return len(self) / max(self.facts.steps, 1)

    def take(self, chosen: Bool) -> CollectiveCalls:
        """Select some of them."""
        parts = (self.operation, self.row, self.step, self.start, self.duration)
        return CollectiveCalls(self.facts, *(each[chosen] for each in parts))  # type: ignore[arg-type]

    def inside(self, named: Callable[[str], object]) -> Bool:
        """Mark operations called while an operator or annotation with a wanted name runs, on any thread."""
        tree, strings, events = self.facts.model.structure.tree, self.facts.trace.strings, self.facts.trace.events
        is_inside = np.zeros(len(self), np.bool_)
        if not len(tree):
            return is_inside
        rows = tree.row[strings.where(named, tree.name)[tree.name]]
        if not len(rows):
            return is_inside
        start = events.start[rows]
        order = np.argsort(start, kind="stable")
        end = np.maximum.accumulate((start + np.maximum(events.duration[rows], 0))[order])
        called = self.of.operations.host_start[self.operation]
        at = np.searchsorted(start[order], called, side="right") - 1
        known = (called >= 0) & (at >= 0)
        is_inside[known] = called[known] < end[at[known]]
        return is_inside


def collective_calls(facts: Facts) -> CollectiveCalls:
    """Return the communication of the chosen steps, by start."""
    communications = facts.model.communications
    ranges = communications.ranges
    first = np.flatnonzero(np.append(True, ranges.operation[1:] != ranges.operation[:-1])[: len(ranges.operation)])
    rows = facts.communication_rows
    starts = facts.trace.events.start[rows]
    order = np.argsort(starts, kind="stable")
    place = np.searchsorted(starts[order], ranges.start[first])
    inside = place < len(order)
    inside[inside] = starts[order][place[inside]] == ranges.start[first[inside]]
    first, row = first[inside], rows[order[place[inside]]]
    operation = ranges.operation[first].astype(np.int64)
    by_start = np.argsort(ranges.start[first], kind="stable")
    operation, row = operation[by_start], row[by_start]
    return CollectiveCalls(
        facts, operation, row, facts.step_of(row), ranges.start[first][by_start], communications.duration[operation]
    )


def steps_with(facts: Facts, rule: str, step: Int64, spent: float) -> int:
    """Count the steps with operations; 0 where there is nothing to advise.

    That is where they take less than the rule's `least_share` of the steps, or occur in less than half of the steps: a
    single one at the beginning or the end of the recording does not belong to the program's steps.

    step    index of the step in which each operation begins
    spent   time of the operations, ns
    """
    found = len(distinct(step))
    often = found >= 2 and 2 * found >= facts.steps
    return found if often and facts.share(spent) >= facts.limit(rule, "least_share") else 0


def has_fsdp(facts: Facts) -> bool:
    """Tell whether a model is sharded with FSDP."""
    tree = facts.model.structure.tree
    return bool(facts.trace.strings.where(lambda name: name.startswith(FSDP), tree.name)[tree.name].any())


def exposed_share(facts: Facts, calls: CollectiveCalls) -> Float64:
    """Return the share of each operation's duration in which no device computes, 0…1, shape (n,)."""
    computing = Coverage(union_of(device_spans(facts.model, is_compute(facts.model))))
    covered = computing.between(calls.start, calls.start + calls.duration)
    return 1 - covered / np.maximum(calls.duration, 1)


_FUNCTION = lazy_pattern(
    r"distributed/distributed_c10d\.py\(\d+\): (?:(?:all_)?gather_object|(?:broadcast|scatter|send|recv)_object_list)$"
)
_READS = lazy_pattern(r"Synchronize|Memcpy")
#: most lengths of objects that are sent before the objects
_MOST_LENGTHS = 1024


class Exchanges(msgspec.Struct, frozen=True):
    """Of each exchange the host event that it begins with, with its track and start, and its end. Parallel, shape (n,).

    start, end   ns
    """

    row: Int32
    track: Int64
    start: Int64
    end: Int64

    def __len__(self) -> int:
        return len(self.row)

    def take(self, chosen: Bool) -> Exchanges:
        """Select some of them."""
        return Exchanges(self.row[chosen], self.track[chosen], self.start[chosen], self.end[chosen])

    def include(self, time: Int64) -> Bool:
        """Mark times inside an exchange, shape (m,)."""
        order = np.argsort(self.start, kind="stable")
        last = np.maximum.accumulate(self.end[order])
        at = np.searchsorted(self.start[order], time, side="right") - 1
        found: Bool = at >= 0
        found[found] = time[found] < last[at[found]]
        return found


def object_exchanges(facts: Facts, calls: CollectiveCalls) -> Exchanges:
    """Find the exchanges of a trace: by their frames, else by two neighbouring collectives."""
    frames, strings, events = facts.model.structure.frames, facts.trace.strings, facts.trace.events
    named = strings.where(lambda name: _FUNCTION.search(name) is not None, frames.name)[frames.name]
    if named.any():
        outer = np.flatnonzero(named & (nearest(frames.parent, named, frames.parent) < 0))
        rows, end = frames.row[outer], frames.end[outer]
    else:
        rows, end = _pairs(facts, calls)
    return Exchanges(rows, events.track[rows].astype(np.int64), events.start[rows], end)


def _pairs(facts: Facts, calls: CollectiveCalls) -> tuple[Int32, Int64]:
    """Find exchanges by their data: integers (the lengths), then bytes, sent by one kind of collective in a group."""
    operations, tree = calls.of.operations, facts.model.structure.tree
    types = np.array([name.lower() for name in calls.of.dtypes])
    by_call = calls.operation[np.argsort(operations.host_start[calls.operation], kind="stable")]
    by_call = by_call[operations.host_start[by_call] >= 0]
    first, second = by_call[:-1], by_call[1:]
    like = (operations.kind[first] == operations.kind[second]) & (operations.group[first] == operations.group[second])
    lengths = (
        (types[operations.dtype[first]] == "long")
        & (operations.in_bytes[first] >= 0)
        & (operations.in_bytes[first] <= 8 * _MOST_LENGTHS)
    )
    pair = np.flatnonzero(like & lengths & (types[operations.dtype[second]] == "byte"))
    order = np.argsort(tree.start, kind="stable")
    place = np.searchsorted(tree.start[order], operations.host_start[first[pair]])
    known = place < len(order)
    known[known] = tree.start[order[place[known]]] == operations.host_start[first[pair[known]]]
    rows = tree.row[order[place[known]]]
    return rows, _until_read(facts, rows, operations.host_end[second[pair[known]]])


def _until_read(facts: Facts, rows: Int32, end: Int64) -> Int64:
    """Return the end of each exchange, shape (n,), ns: of the read after it, if the thread's next call is one.

    rows, end   shape (n,): the first event of each exchange, and the end of its last collective
    """
    events, calls = facts.trace.events, facts.model.launches.row
    waits = facts.trace.strings.where(lambda name: _READS.search(name) is not None, events.name[calls])
    found = end.copy()
    for track in distinct(events.track[rows]).tolist():
        mine, own = np.flatnonzero(events.track[rows] == track), calls[events.track[calls] == track]
        own = own[np.argsort(events.start[own], kind="stable")]
        place = np.searchsorted(events.start[own], end[mine])
        mine, following = mine[place < len(own)], own[place[place < len(own)]]
        reads = waits[events.name[following]]
        found[mine[reads]] = events.end[following[reads]]
    return found
