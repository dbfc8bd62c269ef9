"""When Python objects are sent to other ranks: pickled, sent in two collectives, and read by the host."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.shared.collective_calls import CollectiveCalls
from torch_tb_profiler.lazy_pattern import lazy_pattern

_FUNCTION = lazy_pattern(
    r"distributed/distributed_c10d\.py\(\d+\): (?:(?:all_)?gather_object|(?:broadcast|scatter|send|recv)_object_list)$"
)
_READS = lazy_pattern(r"Synchronize|Memcpy")
#: numbers that are sent before the objects: how long each is
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
        """Some of them."""
        return Exchanges(self.row[chosen], self.track[chosen], self.start[chosen], self.end[chosen])

    def include(self, time: Int64) -> Bool:
        """Shape (m,): which times are in one of them."""
        order = np.argsort(self.start, kind="stable")
        last = np.maximum.accumulate(self.end[order])
        at = np.searchsorted(self.start[order], time, side="right") - 1
        found: Bool = at >= 0
        found[found] = time[found] < last[at[found]]
        return found


def object_exchanges(facts: Facts, calls: CollectiveCalls) -> Exchanges:
    """Those of the trace: by their frames, else by two neighbouring collectives."""
    frames, strings, events = facts.model.structure.frames, facts.trace.strings, facts.trace.events
    named = strings.where(lambda name: _FUNCTION.search(name) is not None, frames.name)[frames.name]
    if named.any():
        outer = np.flatnonzero(named & (nearest(frames.parent, named, frames.parent) < 0))
        rows, end = frames.row[outer], frames.end[outer]
    else:
        rows, end = _pairs(facts, calls)
    return Exchanges(rows, events.track[rows].astype(np.int64), events.start[rows], end)


def _pairs(facts: Facts, calls: CollectiveCalls) -> tuple[Int32, Int64]:
    """The same by what is sent: whole numbers, the lengths, and then bytes, by one kind of collective in a group."""
    of, tree = calls.of.operations, facts.model.structure.tree
    types = np.array([name.lower() for name in calls.of.dtypes])
    by_call = calls.operation[np.argsort(of.host_start[calls.operation], kind="stable")]
    by_call = by_call[of.host_start[by_call] >= 0]
    first, second = by_call[:-1], by_call[1:]
    like = (of.kind[first] == of.kind[second]) & (of.group[first] == of.group[second])
    lengths = (types[of.dtype[first]] == "long") & (of.in_bytes[first] >= 0) & (of.in_bytes[first] <= 8 * _MOST_LENGTHS)
    pair = np.flatnonzero(like & lengths & (types[of.dtype[second]] == "byte"))
    order = np.argsort(tree.start, kind="stable")
    place = np.searchsorted(tree.start[order], of.host_start[first[pair]])
    known = place < len(order)
    known[known] = tree.start[order[place[known]]] == of.host_start[first[pair[known]]]
    rows = tree.row[order[place[known]]]
    return rows, _until_read(facts, rows, of.host_end[second[pair[known]]])


def _until_read(facts: Facts, rows: Int32, end: Int64) -> Int64:
    """Shape (n,), ns: the bytes are read with the next call of the thread that waits for the device, if it is the next.

    rows, end   shape (n,): the event that each exchange begins with, and the end of its last collective
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
