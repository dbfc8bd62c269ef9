"""Nodes of graphs that are replayed, and the calls that captured them.

While a stream is captured the calls on it run nothing: they become the nodes of a graph, in their order. One call
(`…GraphLaunch`) replays them all. So node i of a replay is call i of the capture. ROCm writes the name of the kernel
with the call, and sequences are aligned by name; CUDA does not, and a capture is taken only if it has as many calls of
each kind, in the same order.

The pieces of a model, and captures for several sizes, have equal sequences. Of the graphs that fit a replay equally
well, the one at its place is taken if a range around replays has the same list of graphs as a range around captures.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from enum import IntEnum

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import begins_run, distinct_places
from torch_tb_profiler.arrays.grouping import greatest_at, least_at
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import last_started, nest
from torch_tb_profiler.arrays.types import Bool, Int32, Int64, UInt8
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.call_tree import CallTree
from torch_tb_profiler.model.launches import DeviceLinks, LaunchLinks
from torch_tb_profiler.trace import Category, Trace
from torch_tb_profiler.trace.schema import DEVICE_WORK

_REPLAY = lazy_pattern(r"(?:cuda|hip|cu)GraphLaunch")
_NODE = lazy_pattern(r"(?:cuda|hip|cu)\w*(?:Launch\w{0,100}Kernel|LaunchKernel|Memcpy|Memset)")

#: part of the nodes of a graph whose names must agree with those of a capture
LEAST_AGREEING = 0.9

#: kinds of nodes, where names are unknown
_KERNEL, _COPY, _FILL = -1, -2, -3


class CaptureMatch(IntEnum):
    """How the captured call of a node is known."""

    NONE = 0
    EXACT = 1  # one captured graph has the same sequence
    ALIGNED = 2  # one captured graph agrees in order, in most nodes
    BY_ORDER = 3  # several have, and a range has the same list of graphs as their range
    AMBIGUOUS = 4  # several have, and call the owner of the node the same


class GraphRanges(msgspec.Struct, frozen=True):
    """What ran around graphs.

    parent  shape (ranges,): position of the range around each, -1 for none
    node    shape (graphs,): innermost range around each graph, -1 for none
    start   shape (graphs,): ns
    """

    parent: Int32
    node: Int32
    start: Int64

    def lists(self) -> list[Int64]:
        """Return the graphs in each range in the order of time, the shortest list first; the last one has all."""
        everything = np.argsort(self.start, kind="stable")
        node, graph = self.node[everything], everything
        nodes, graphs = [np.full(len(graph), -1, np.int32)], [graph]
        while len(node):
            inside = node >= 0
            node, graph = node[inside], graph[inside]
            nodes.append(node)
            graphs.append(graph)
            node = self.parent[node]
        around, graph = np.concatenate(nodes), np.concatenate(graphs)
        order = np.lexsort((self.start[graph], around))
        parts = np.split(graph[order], np.flatnonzero(begins_run(around[order]))[1:])
        return sorted(parts, key=len)


class ReplayedCalls(msgspec.Struct, frozen=True):
    """What each piece of device work replays; parallel to `Trace.device_work`.

    call   index into the launches of the trace that has the capture, -1 for none; of AMBIGUOUS one of several
    match  CaptureMatch
    """

    call: Int32
    match: UInt8


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

    def calls_from(
        self,
        captured: CapturedCalls,
        kernel: Int32,
        owner: Int32,
        around: GraphRanges,
        captured_in: GraphRanges,
        agree: Callable[[Int32, Int32], bool] | None = None,
    ) -> ReplayedCalls:
        """Find the captured call that each piece of device work replays.

        kernel       as `captured.kernel`, in the string codes of this trace; -1 for texts that it does not have
        owner        shape (captured nodes,): name of what owns each call, -1 for none; where several captures fit
                     equally well the owners of a node must have one name
        around       of the replays
        captured_in  of the captures
        agree        returns whether the names of owners fit those of the kernels of a replay; asked where the names of
                     captured kernels are unknown
        """
        calls, match = np.full(self.size, -1, np.int32), np.zeros(self.size, np.uint8)
        if not len(self.work) or not len(captured.call):
            return ReplayedCalls(calls, match)
        captures = _Captures(_runs(captured.capture), captured.kind, kernel, owner, agree)
        first, count = self._spans()
        graph = self._graphs(first, count)
        fitting = []
        for replay in distinct_places(graph)[0].tolist():
            same = np.flatnonzero(graph == replay)
            nodes = slice(int(first[same[0]]), int(first[same[0]] + count[same[0]]))
            fitting.append(captures.best(self.name[nodes], self.kind[nodes], bool(self.ordered[same].all())))
        placed = _by_order(graph, fitting, around, captured_in) if any(len(fits) > 1 for fits in fitting) else {}
        chosen: defaultdict[tuple[int, tuple[int, ...]], list[int]] = defaultdict(list)
        for replay, number in enumerate(graph.tolist()):
            chosen[number, placed.get(replay, tuple(fitting[number]))].append(replay)
        for (number, candidates), replays in chosen.items():
            if not candidates:
                continue
            node = fitting[number][candidates[0]]
            names = np.array([take_known(owner, fitting[number][each]) for each in candidates])
            node = np.where((names == names[0]).all(axis=0), node, -1)
            place = first[replays][:, None] + np.arange(len(node))
            calls[self.work[place]] = take_known(captured.call, node)
            if len(candidates) > 1:
                how = CaptureMatch.AMBIGUOUS
            elif candidates != tuple(fitting[number]):
                how = CaptureMatch.BY_ORDER
            else:
                whole = len(captures.nodes[candidates[0]]) == len(node) and bool((node >= 0).all())
                how = CaptureMatch.EXACT if whole else CaptureMatch.ALIGNED
            match[self.work[place]] = np.where(node >= 0, how, CaptureMatch.NONE)
        return ReplayedCalls(calls, match)

    def graphs(self) -> Int64:
        """Shape (replays,): equal numbers for those that ran the same sequence."""
        first, count = self._spans()
        return self._graphs(first, count) if len(first) else first

    def _spans(self) -> tuple[Int64, Int64]:
        """Return the first node of each replay, and how many it has."""
        first = np.flatnonzero(begins_run(self.replay))
        return first, np.diff(np.append(first, len(self.work)))

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


def _runs(number: Int32) -> list[Int64]:
    """Split positions where a number changes."""
    return np.split(np.arange(len(number)), np.flatnonzero(begins_run(number))[1:])


def around_replays(trace: Trace, tree: CallTree, links: DeviceLinks, replays: GraphReplays) -> GraphRanges:
    """Return the ranges around the calls that replay graphs."""
    work = replays.work[begins_run(replays.replay)]
    launch = trace.launches.row[links.launch[work]]
    return GraphRanges(tree.parent, links.node[work], trace.events.start[launch])


def around_captures(trace: Trace, tree: CallTree, links: LaunchLinks, captured: CapturedCalls) -> GraphRanges:
    """Return the ranges around the first calls of captures."""
    call = captured.call[begins_run(captured.capture)]
    return GraphRanges(tree.parent, links.node[call], trace.events.start[trace.launches.row[call]])


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
    owner, agree   as in `GraphReplays.calls_from`
    """

    nodes: list[Int64]
    kind: Int64
    kernel: Int32
    owner: Int32
    agree: Callable[[Int32, Int32], bool] | None

    def best(self, name: Int32, kind: Int64, ordered: bool) -> dict[int, Int64]:
        """Find the captures that fit a replay best: for each the captured node of each of its nodes, -1 for none.

        name, kind, ordered   of the nodes of the replay, as in `GraphReplays`
        """
        best: dict[int, Int64] = {}
        least: tuple[float, int] = (max(1, LEAST_AGREEING * len(name)), -len(self.kind))
        wanted = np.where(kind == _KERNEL, name, kind)
        for number, nodes in enumerate(self.nodes):
            kinds, kernel = self.kind[nodes], self.kernel[nodes]
            if bool((kernel[kinds == _KERNEL] != 0).all()):
                match = _aligned(wanted, np.where(kinds == _KERNEL, kernel, kinds))
            elif (
                ordered and np.array_equal(kind, kinds) and (self.agree is None or self.agree(self.owner[nodes], name))
            ):
                match = np.arange(len(kind))
            else:
                continue
            # of those that agree in as many nodes, the one with the fewest others
            agreeing: tuple[float, int] = (int(np.count_nonzero(match >= 0)), -len(nodes))
            if agreeing >= least:
                best = {**(best if agreeing == least else {}), number: take_known(nodes, match)}
                least = agreeing
        return best


def _by_order(
    graph: Int64, fitting: Sequence[dict[int, Int64]], around: GraphRanges, captured_in: GraphRanges
) -> dict[int, tuple[int, ...]]:
    """Return the captures that replays have by their place, where a range has the list of a range of captures.

    Of several such ranges the one that leaves the fewest captures counts, then the smallest.
    graph    shape (replays,): index into `fitting`
    fitting  of each graph, by the number of the capture
    """
    lists: defaultdict[int, set[tuple[int, ...]]] = defaultdict(set)
    for captures in captured_in.lists():
        if len(captures) > 1:
            lists[len(captures)].add(tuple(captures.tolist()))
    placed: dict[int, tuple[int, ...]] = {}
    for replays in around.lists():
        numbers = graph[replays].tolist()
        same = [
            option
            for option in sorted(lists.get(len(replays), ()))
            if all(capture in fitting[number] for number, capture in zip(numbers, option, strict=True))
        ]
        for replay, *fits in zip(replays.tolist(), *same, strict=True):
            if fits and len(fits) < len(placed.get(replay, fitting[graph[replay]])):
                placed[replay] = tuple(fits)
    return placed


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
