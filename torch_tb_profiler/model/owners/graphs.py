"""Nodes of graphs that are replayed, and the calls that captured them.

While a stream is captured the calls on it run nothing: they become the nodes of a graph, in their order. One call
(`…GraphLaunch`) replays them all. So node i of a replay is call i of the capture. ROCm writes the name of the kernel
with the call, and sequences are aligned by name; CUDA does not, and a capture is taken only if it has as many calls of
each kind, in the same order.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import SequenceMatcher

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import begins_run, distinct_places
from torch_tb_profiler.arrays.grouping import greatest_at, least_at
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import last_started, nest
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.launches import DeviceLinks
from torch_tb_profiler.trace import Category, Trace
from torch_tb_profiler.trace.schema import DEVICE_WORK

_REPLAY = lazy_pattern(r"(?:cuda|hip|cu)GraphLaunch")
_NODE = lazy_pattern(r"(?:cuda|hip|cu)\w*(?:Launch\w{0,100}Kernel|LaunchKernel|Memcpy|Memset)")

#: part of the nodes of a graph whose names must agree with those of a capture
LEAST_AGREEING = 0.9

#: kinds of nodes, where names are unknown
_KERNEL, _COPY, _FILL = -1, -2, -3


class CapturedCalls(msgspec.Struct, frozen=True):
    """Calls that became nodes of graphs, capture by capture, in their order.

    call      shape (nodes,): index into `Trace.launches`
    capture   shape (nodes,): number of the capture, ascending
    kernel    shape (nodes,): string code of the kernel, 0 where it was not recorded, as CUDA does
    kind      shape (nodes,): _KERNEL, _COPY or _FILL
    """

    call: Int32
    capture: Int32
    kernel: Int32
    kind: Int64


class GraphReplays(msgspec.Struct, frozen=True):
    """Device work that replayed graphs, replay by replay, in the order of the nodes.

    work      shape (nodes,): index into `Trace.device_work`
    replay    shape (nodes,): number of the replay, ascending
    name      shape (nodes,): string code
    kind      shape (nodes,): as in `CapturedCalls`
    ordered   shape (replays,): whether the order of the nodes is that of their capture, not only of their run
    size      length of `Trace.device_work`
    """

    work: Int64
    replay: Int64
    name: Int32
    kind: Int64
    ordered: Bool
    size: int

    def calls_from(self, captured: CapturedCalls, kernel: Int32, owner: Int32) -> Int32:
        """Find the captured call that each piece of device work replays.

        kernel   as `captured.kernel`, in the string codes of this trace; -1 for texts that it does not have
        owner    shape (captured nodes,): name of what owns each call, -1 for none; where several captures fit equally
                 well the owners of a node must have one name
        Returns shape (device work,): index into the launches of the trace that has the capture, -1 for none.
        """
        calls = np.full(self.size, -1, np.int32)
        if not len(self.work) or not len(captured.call):
            return calls
        of_captures = np.split(np.arange(len(captured.call)), np.flatnonzero(begins_run(captured.capture))[1:])
        captures = _Captures(of_captures, captured.kind, kernel, owner)
        first = np.flatnonzero(begins_run(self.replay))
        count = np.diff(np.append(first, len(self.work)))
        graph = self._graphs(first, count)
        for number in range(int(graph.max()) + 1):
            same = np.flatnonzero(graph == number)
            nodes = slice(int(first[same[0]]), int(first[same[0]] + count[same[0]]))
            ordered = bool(self.ordered[same].all())
            call = captures.best(self.name[nodes], self.kind[nodes], ordered)
            place = first[same][:, None] + np.arange(int(count[same[0]]))
            calls[self.work[place]] = take_known(captured.call, call)
        return calls

    def graphs(self) -> Int64:
        """Shape (replays,): equal numbers for those that ran the same sequence."""
        first = np.flatnonzero(begins_run(self.replay))
        count = np.diff(np.append(first, len(self.work)))
        return self._graphs(first, count) if len(first) else first

    def _graphs(self, first: Int64, count: Int64) -> Int64:
        """Shape (replays,): equal numbers for those that ran the same sequence."""
        place = np.arange(len(self.work)) - np.repeat(first, count)
        with np.errstate(over="ignore"):
            weight = (place.astype(np.uint64) * np.uint64(2) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
            weight ^= weight >> np.uint64(29)
            mixed = (self.name.astype(np.uint64) + np.uint64(1)) * (weight | np.uint64(1))
            key = np.add.reduceat(mixed, first).view(np.int64)
        by_key = distinct_places(key)[1]
        return distinct_places(by_key * (int(count.max()) + 1) + count)[1]


def captured_calls(trace: Trace, links: DeviceLinks) -> CapturedCalls:
    """Find the calls between …StreamBeginCapture and …StreamEndCapture of their thread that ran nothing."""
    events, launches = trace.events, trace.launches
    name, track, start = events.name[launches.row], events.track[launches.row], events.start[launches.row]
    begins = _named(trace, name, lambda text: "StreamBeginCapture" in text)
    chosen = np.empty(0, np.int64)
    capture = np.empty(0, np.int32)
    if begins.any():
        ends = _named(trace, name, lambda text: "StreamEndCapture" in text)
        begun, ended = (_times(np.flatnonzero(which), track, start) for which in (begins, ends))
        calls = np.flatnonzero(_named(trace, name, _NODE.match))
        calls = calls[np.bincount(links.launch[links.launch >= 0], minlength=len(launches))[calls] == 0]
        capture = last_started(track[begun], start[begun], track[calls], start[calls])
        last_end = last_started(track[ended], start[ended], track[calls], start[calls])
        closed = take_known(start[ended], last_end) >= take_known(start[begun], capture)
        inside = np.flatnonzero((capture >= 0) & ~((last_end >= 0) & closed))
        chosen, capture = calls[inside], capture[inside]
        # a driver call inside a runtime call is part of it
        nested = nest(track[chosen], start[chosen], events.end[launches.row[chosen]], np.zeros(len(chosen), np.int32))
        outer = np.sort(nested.order[nested.parent < 0])
        chosen, capture = chosen[outer], capture[outer]
        order = np.lexsort((start[chosen], capture))
        chosen, capture = chosen[order], capture[order]
    copies = _named(trace, name[chosen], lambda text: "Memcpy" in text)
    fills = _named(trace, name[chosen], lambda text: "Memset" in text)
    kind = np.where(copies, _COPY, np.where(fills, _FILL, _KERNEL))
    return CapturedCalls(chosen.astype(np.int32), capture, launches.kernel[chosen], kind)


def replays_of(trace: Trace, links: DeviceLinks) -> GraphReplays:
    """Collect the device work of graph launches."""
    events, work = trace.events, trace.device_work
    replays = _named(trace, events.name[trace.launches.row], _REPLAY.match)
    is_node = take_known(replays, links.launch, missing=0) & (links.launch >= 0)
    category = events.category[work.row]
    chosen = np.flatnonzero(is_node & np.isin(category, DEVICE_WORK))
    launch, start, node = links.launch[chosen], events.start[work.row[chosen]], work.graph_node_id[chosen]
    order = np.lexsort((start, launch))
    chosen, launch, node = chosen[order], launch[order], node[order]
    replay = np.cumsum(begins_run(launch)) - 1
    count = int(replay[-1]) + 1 if len(replay) else 0
    numbered = np.bincount(replay, node < 0, count) == 0
    by_node = np.where(numbered[replay], node, np.arange(len(chosen)))
    order = np.lexsort((by_node, replay))
    chosen, replay = chosen[order], replay[order]
    stream = work.stream[chosen]
    one_stream = greatest_at(replay, stream, count) == least_at(replay, stream, count)
    category = events.category[work.row[chosen]]
    kind = np.where(category == Category.MEMCPY, _COPY, np.where(category == Category.MEMSET, _FILL, _KERNEL))
    return GraphReplays(
        work=chosen,
        replay=replay,
        name=events.name[work.row[chosen]],
        kind=kind,
        ordered=numbered | one_stream,
        size=len(work),
    )


class _Captures(msgspec.Struct, frozen=True):
    """Captures that replays are compared with, by their nodes.

    nodes   of each capture, shape (its nodes,): positions in the columns below
    kind    shape (nodes,): as in `CapturedCalls`
    kernel  shape (nodes,): name in the string codes of the replays; -1 for texts that they do not have, 0 for none
    owner   shape (nodes,): name of what owns the call, -1 for none
    """

    nodes: list[Int64]
    kind: Int64
    kernel: Int32
    owner: Int32

    def best(self, name: Int32, kind: Int64, ordered: bool) -> Int64:
        """Find the captured node of each node of a replay, -1 for none.

        name, kind, ordered   of the nodes of the replay, as in `GraphReplays`
        """
        best: list[Int64] = []
        most = 0
        wanted = np.where(kind == _KERNEL, name, kind)
        for nodes in self.nodes:
            kinds, kernel = self.kind[nodes], self.kernel[nodes]
            if bool((kernel[kinds == _KERNEL] != 0).all()):
                match = _aligned(wanted, np.where(kinds == _KERNEL, kernel, kinds))
            elif ordered and np.array_equal(kind, kinds):
                match = np.arange(len(kind))
            else:
                continue
            agreeing = int(np.count_nonzero(match >= 0))
            if agreeing >= max(most, 1, LEAST_AGREEING * len(name)):
                best = [*(best if agreeing == most else []), take_known(nodes, match)]
                most = agreeing
        if not best:
            return np.full(len(name), -1, np.int64)
        names = np.array([take_known(self.owner, nodes) for nodes in best])
        return np.where((names == names[0]).all(axis=0), best[0], -1)


def _aligned(wanted: Int64, offered: Int64) -> Int64:
    """Place each wanted value in a sequence that may lack some, or have more; -1 for none."""
    match = np.full(len(wanted), -1, np.int64)
    shorter = min(len(wanted), len(offered))
    if shorter < LEAST_AGREEING * max(len(wanted), len(offered)):
        return match
    differ = np.flatnonzero(wanted[:shorter] != offered[:shorter])
    head = int(differ[0]) if len(differ) else shorter
    match[:head] = np.arange(head)
    backwards = slice(None, -(shorter - head) - 1, -1)
    differ = np.flatnonzero(wanted[backwards] != offered[backwards])
    tail = int(differ[0]) if len(differ) else shorter - head
    if tail:
        match[-tail:] = np.arange(len(offered) - tail, len(offered))
    middle = wanted[head : len(wanted) - tail], offered[head : len(offered) - tail]
    if len(middle[0]) and len(middle[1]):
        blocks = SequenceMatcher(None, middle[0].tolist(), middle[1].tolist(), autojunk=False).get_matching_blocks()
        for block in blocks:
            place = head + block.a + np.arange(block.size)
            match[place] = head + block.b + np.arange(block.size)
    return match


def _times(which: Int64, track: Int32, start: Int64) -> Int64:
    """Order calls by track, then start."""
    return which[np.lexsort((start[which], track[which]))]


def _named(trace: Trace, name: Int32, wanted: Callable[[str], object]) -> Bool:
    if not len(name):
        return np.empty(0, np.bool_)
    return trace.strings.where(wanted, name)[name]
