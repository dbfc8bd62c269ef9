"""How threads wake one another: the autograd engine, and collectives that run on the host."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.host_time import HostTime
from torch_tb_profiler.analysis.replay.inputs import Calls, Items, Work
from torch_tb_profiler.analysis.shared.main_lane import AUTOGRAD_PREFIX
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model

#: ns: a thread that shows no sign of life for so long is silent
SILENT_NS = 20_000
#: ns: who was woken so long after is not woken by that
LATEST_NS = 1_000_000
_BEFORE_ALL = -(2**62)


class HandOvers(msgspec.Struct, frozen=True):
    """One thread wakes another. Parallel, shape (hand-overs,); lanes are indexes into Trace.tracks, times ns.

    wait_from   since when the woken thread was idle, -1 where that is not known: its time until `to_time` is a wait
    """

    from_lane: Int64
    from_time: Int64
    to_lane: Int64
    to_time: Int64
    wait_from: Int64


def hand_overs(model: Model, host: HostTime, calls: Calls, main: int) -> HandOvers:
    """From the main thread to those that launch or run a backward, and back to it."""
    found: list[tuple[int, int, int, int, int]] = []
    if main >= 0:
        mine = host.boundaries(main)
        silence = np.flatnonzero(np.diff(mine) > SILENT_NS)
        back: dict[int, tuple[int, int]] = {}
        for lane in helpers(model, calls):
            if lane != main:
                woken = _woken(host, mine, main, lane)
                found += woken
                _answers(host, mine, silence, lane, woken, back)
        found += [(lane, e, main, int(mine[s + 1]), int(mine[s])) for s, (e, lane) in sorted(back.items())]
    return HandOvers(*np.array(found, np.int64).reshape(-1, 5).T)


def helpers(model: Model, calls: Calls) -> list[int]:
    """Threads that launch or have operators of the autograd engine."""
    tree = model.structure.tree
    engine = model.trace.strings.where(lambda name: name.startswith(AUTOGRAD_PREFIX), tree.name)[tree.name]
    lanes = np.concatenate((calls.lane[calls.release >= 0], tree.track[engine].astype(np.int64)))
    return [int(lane) for lane in distinct(lanes)]


def _woken(host: HostTime, mine: Int64, main: int, lane: int) -> list[tuple[int, int, int, int, int]]:
    """Where a thread begins after it was idle, and the main thread had done something since it became so."""
    first, after = int(host.first[lane]), int(host.first[lane + 1])
    if first == after:
        return []
    start, idle = host.start[first:after], host.node[first:after] < 0
    gaps = np.flatnonzero(idle[:-1] & (np.diff(start) > SILENT_NS))
    begins = np.concatenate(([start[0]], start[gaps + 1]))
    since = np.concatenate(([_BEFORE_ALL], start[gaps]))
    place = np.searchsorted(mine, begins, side="right") - 1
    found = []
    for i, (a, b, at) in enumerate(zip(since.tolist(), begins.tolist(), place.tolist(), strict=True)):
        if at < 0:
            continue
        x = int(mine[at])
        if x > a and (b - x <= LATEST_NS or i == 0):
            found.append((main, x, lane, b, a if i else -1))
    return found


def _answers(
    host: HostTime,
    mine: Int64,
    silence: Int64,
    lane: int,
    woken: list[tuple[int, int, int, int, int]],
    back: dict[int, tuple[int, int]],
) -> None:
    """Adds, for each silence of the main thread in which this thread was woken, when this thread was done."""
    begins = np.sort(np.array([each[3] for each in woken], np.int64))
    theirs = host.boundaries(lane)
    x, y = mine[silence], mine[silence + 1]
    inside = np.searchsorted(begins, y, side="left") > np.searchsorted(begins, x, side="left")
    for at in np.flatnonzero(inside).tolist():
        place = int(np.searchsorted(theirs, y[at], side="right")) - 1
        e = int(theirs[place])
        late = int(y[at]) - e
        if e > x[at] and late <= max(LATEST_NS, (int(y[at]) - int(x[at])) // 2):
            before = back.get(int(silence[at]))
            if before is None or e > before[0]:
                back[int(silence[at])] = e, lane


class HostCollectives(msgspec.Struct, frozen=True):
    """Collectives on the host: who called them, and who waited for them. Items are indexes into Items, times ns.

    called_lane, called_time, called_item         the call that gave each to its thread had returned by then
    ended_item, ended_lane, ended_from, ended_to  the thread was silent between the two times, and went on with its end
    """

    called_lane: Int64
    called_time: Int64
    called_item: Int64
    ended_item: Int64
    ended_lane: Int64
    ended_from: Int64
    ended_to: Int64


def host_collectives(model: Model, host: HostTime, items: Items, main: int) -> HostCollectives:
    """Who called a collective gives it to its thread; a silent main thread waits for the last."""
    trace = model.trace
    ranges = np.flatnonzero(items.kind == Work.HOST_COLLECTIVE)
    called: list[tuple[int, int, int]] = []
    ended: list[tuple[int, int, int, int]] = []
    if len(ranges):
        tree = model.structure.tree
        for node, item in _calls_of_ranges(model, items, ranges):
            if tree.end[node] <= items.start[item]:
                called.append((int(tree.track[node]), int(tree.end[node]), item))
            elif tree.start[node] <= items.start[item]:
                called.append((int(tree.track[node]), int(tree.start[node]), item))
        if main >= 0:
            mine = host.boundaries(main)
            elsewhere = ranges[trace.events.track[items.row[ranges]] != main]
            elsewhere = elsewhere[np.argsort(items.end[elsewhere], kind="stable")]
            ends = items.end[elsewhere]
            for at in np.flatnonzero(np.diff(mine) > SILENT_NS).tolist():
                x, y = int(mine[at]), int(mine[at + 1])
                last = int(np.searchsorted(ends, y, side="right")) - 1
                if last >= 0 and ends[last] > (x + y) // 2:
                    ended.append((int(elsewhere[last]), main, x, y))
    return HostCollectives(*np.array(called, np.int64).reshape(-1, 3).T, *np.array(ended, np.int64).reshape(-1, 4).T)


def _calls_of_ranges(model: Model, items: Items, ranges: Int64) -> list[tuple[int, int]]:
    """Which call of `c10d::…` (node of the tree) each range belongs to (item).

    Threads take the calls of a process group one after the other, whatever their kinds: the n-th call has the n-th
    range. Where the trace has more of the ones than of the others, or a range would come before its call, the same
    holds for those of one kind only: `c10d::allreduce_` and `gloo:all_reduce`.
    """
    tree, trace = model.structure.tree, model.trace
    named = trace.strings.where(lambda name: name.startswith("c10d::"), tree.name)[tree.name]
    nodes = np.flatnonzero(named)[np.argsort(tree.start[named], kind="stable")]
    in_order = ranges[np.argsort(items.start[ranges], kind="stable")]
    if len(nodes) == len(in_order) and (tree.start[nodes] <= items.start[in_order]).all():
        return list(zip(nodes.tolist(), in_order.tolist(), strict=True))
    by_kind: dict[str, tuple[list[int], list[int]]] = {}
    for node in nodes.tolist():
        by_kind.setdefault(_kind(trace.strings[int(tree.name[node])]), ([], []))[0].append(node)
    for item in in_order.tolist():
        by_kind.setdefault(_kind(trace.strings[int(trace.events.name[items.row[item]])]), ([], []))[1].append(item)
    equal = (pair for pair in by_kind.values() if len(pair[0]) == len(pair[1]))
    return [pair for found in equal for pair in zip(*found, strict=True)]


def _kind(name: str) -> str:
    return name.rpartition(":")[2].strip("_").replace("_", "")
