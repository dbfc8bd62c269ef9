"""The graphs of several ranks as one, in which a collective begins when its last rank is there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.graph import DROPPABLE, Edge, Graph, GraphNode, calibrate
from torch_tb_profiler.analysis.replay.scenario import Scenario, unchanged
from torch_tb_profiler.analysis.replay.solve import Solver
from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.types import Int8, Int64
from torch_tb_profiler.ranks.matching.match import match
from torch_tb_profiler.ranks.rank import Rank
from torch_tb_profiler.ranks.run.clocks import ENDING_TOGETHER, LOOSE_BACKENDS, GroupEnds, RankEnds, fit_clock_lines


class Joinable(Protocol):
    """A rank that can be replayed with others."""

    @property
    def rank(self) -> Rank: ...

    @property
    def graph(self) -> Graph: ...

    @property
    def origin_ns(self) -> int: ...


class JointGraph(msgspec.Struct, frozen=True, dict=True):
    """The graphs of all ranks, with a node where all ranks of a collective have come.

    number       per rank, shape (nodes,): its nodes in the joint graph
    source, target, lag   shape (edges,), by target
    rank, edge   shape (edges,): the rank and its edge, -1 for edges between ranks
    transfer     shape (edges,), ns: what a matched collective takes once all ranks are there, -1 for other edges
    collectives  how many are matched
    time         shape (nodes,), ns: as recorded, on the common clock
    """

    graphs: tuple[Graph, ...]
    number: tuple[Int64, ...]
    source: Int64
    target: Int64
    lag: Int64
    rank: Int64
    edge: Int64
    transfer: Int64
    collectives: int
    time: Int64
    dropped: int

    def solve(self, scenarios: Sequence[Scenario]) -> list[Int64]:
        """Return per rank the durations of its steps, ns, when the graphs of the ranks are as in some scenarios."""
        length = np.zeros(len(self.source), np.int64)
        lag = self.lag.copy()
        dropped = [np.empty(0, np.int64)]
        for graph, scenario, of_rank in zip(self.graphs, scenarios, self._of_ranks, strict=True):
            length[of_rank.at] = scenario.length[of_rank.edge]
            if len(scenario.dropped):
                dropped.append(of_rank.at[~scenario.kept[of_rank.edge]])
            if scenario.lag is not graph.lag:
                limited = of_rank.at[scenario.lag[of_rank.edge] < graph.lag[of_rank.edge]]
                lag[limited] = np.minimum(lag[limited], scenario.lag[self.edge[limited]])
            # a change of the duration is one of the transfer: waiting has no length
            transfer = graph.items.duration.copy()
            transfer[of_rank.item] = self.transfer[of_rank.matched]
            length[of_rank.matched] = np.rint(scenario.shortened(transfer)[of_rank.item]).astype(np.int64)
        delay = np.maximum(length + lag, 0)
        ends = np.concatenate(self._ends)
        time = self.solver.times(delay, np.concatenate(dropped), ends)
        each = np.split(time, np.cumsum([len(of) for of in self._ends])[:-1])
        return [np.diff(of) for of in each]

    @cached_property
    def solver(self) -> Solver:
        """Works out when nodes come."""
        droppable = np.zeros(len(self.source), np.bool_)
        for graph, of_rank in zip(self.graphs, self._of_ranks, strict=True):
            droppable[of_rank.at] = one_of(graph.edge[of_rank.edge], DROPPABLE)
        return Solver.of(len(self.time), self.source, self.target, ~droppable)

    @cached_property
    def _of_ranks(self) -> list[_OfRank]:
        """The edges of each rank."""
        own = np.flatnonzero(self.edge >= 0)
        own = own[stable_order(self.rank[own])]
        begins = np.searchsorted(self.rank[own], np.arange(len(self.graphs) + 1))
        found = []
        for graph, first, last in zip(self.graphs, begins[:-1].tolist(), begins[1:].tolist(), strict=True):
            at = own[first:last]
            edge = self.edge[at]
            matched = at[self.transfer[at] >= 0]
            found.append(_OfRank(at, edge, matched, graph.item[self.edge[matched]]))
        return found

    @cached_property
    def _ends(self) -> list[Int64]:
        """The nodes where the first step of each rank begins and where each step ends, in the joint graph."""
        return [number[graph.ends] for graph, number in zip(self.graphs, self.number, strict=True)]


class _OfRank(msgspec.Struct, frozen=True):
    """The edges of a rank.

    at       positions in the joint graph, ascending
    edge     parallel to them: which of the graph of the rank
    matched  positions of those with a transfer
    item     parallel to these: the piece of work of the rank
    """

    at: Int64
    edge: Int64
    matched: Int64
    item: Int64


def join_graphs(ranks: Sequence[Joinable]) -> JointGraph:
    """One graph of all ranks."""
    graphs = tuple(each.graph for each in ranks)
    matched = _meetings(ranks)
    shift = _shifts(ranks, matched)
    sizes = [graph.nodes for graph in graphs]
    first = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    time = np.concatenate([graph.time + by for graph, by in zip(graphs, shift, strict=True)])
    kind = np.concatenate([graph.kind for graph in graphs])
    item_nodes = [graph.item_nodes + at for graph, at in zip(graphs, first.tolist(), strict=False)]
    meets: list[dict[int, int]] = [{} for _ in ranks]
    meet_time: list[int] = []
    arriving: list[tuple[int, int]] = []
    for meeting in matched:
        number = int(first[-1]) + len(meet_time)
        nodes = [int(item_nodes[rank][item]) for rank, item in meeting.members]
        meet_time.append(max(int(time[node]) for node in nodes))
        arriving += [(node, number) for node in nodes]
        for rank, item in meeting.members:
            meets[rank][item] = number
    time = np.concatenate((time, np.array(meet_time, np.int64)))
    kind = np.concatenate((kind, np.full(len(meet_time), GraphNode.MEET, np.int8)))
    root = len(time)
    time, kind = np.append(time, time.min() if root else 0), np.append(kind, np.int8(GraphNode.ROOT))
    columns = [_of_rank(number, graph, int(first[number]), meets[number], time) for number, graph in enumerate(graphs)]
    arrive = np.array(arriving, np.int64).reshape(-1, 2)
    roots = first[:-1]
    none = np.full(len(arrive) + len(roots), -1, np.int64)
    between = _Columns(
        source=np.concatenate((arrive[:, 0], np.full(len(roots), root))),
        target=np.concatenate((arrive[:, 1], roots)),
        kind=np.concatenate((np.full(len(arrive), Edge.MEET), np.full(len(roots), Edge.ROOT))).astype(np.int8),
        lag=np.concatenate((np.zeros(len(arrive), np.int64), time[roots] - time[root])),
        length=np.zeros(len(none), np.int64),
        rank=none,
        edge=none,
        transfer=none,
    )
    return _ordered(graphs, first, time, kind, _Columns.joined([*columns, between]), len(matched))


class _Columns(msgspec.Struct, frozen=True):
    """Edges of the joint graph before they are ordered; as in JointGraph, and `length` as recorded, ns."""

    source: Int64
    target: Int64
    kind: Int8
    lag: Int64
    length: Int64
    rank: Int64
    edge: Int64
    transfer: Int64

    @classmethod
    def joined(cls, parts: Sequence[_Columns]) -> _Columns:
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__struct_fields__))

    def take(self, chosen: Int64) -> _Columns:
        return _Columns(*(getattr(self, name)[chosen] for name in self.__struct_fields__))


def _of_rank(number: int, graph: Graph, first: int, meets: dict[int, int], time: Int64) -> _Columns:
    """Return the edges of a rank; those that left a matched collective leave its meeting.

    meets   the meeting of a piece of work
    """
    source = graph.source + first
    length = unchanged(graph).length.copy()
    transfer = np.full(len(source), -1, np.int64)
    if meets:
        meet_of = np.full(len(graph.items), -1, np.int64)
        meet_of[list(meets)] = list(meets.values())
        leaving = np.flatnonzero(graph.item >= 0)
        leaving = leaving[meet_of[graph.item[leaving]] >= 0]
        meet = meet_of[graph.item[leaving]]
        end = time[source[leaving]] + graph.items.duration[graph.item[leaving]]
        transfer[leaving] = np.maximum(end - time[meet], 0)
        length[leaving] = transfer[leaving]
        source[leaving] = meet
    return _Columns(
        source=source,
        target=graph.target + first,
        kind=graph.edge,
        lag=graph.lag,
        length=length,
        rank=np.full(len(source), number),
        edge=np.arange(len(source)),
        transfer=transfer,
    )


def _ordered(
    graphs: tuple[Graph, ...], first: Int64, time: Int64, kind: Int8, edges: _Columns, collectives: int
) -> JointGraph:
    order = np.lexsort((np.arange(len(time)), kind, time))
    # a rank's own root comes after the common one
    order = np.concatenate(([len(time) - 1], order[order != len(time) - 1]))
    number = np.empty(len(time), np.int64)
    number[order] = np.arange(len(time))
    forward = number[edges.source] < number[edges.target]
    kept = np.flatnonzero(forward)
    reached = np.zeros(len(time), np.bool_)
    reached[edges.target[kept]] = True
    reached[-1] = True
    alone = np.flatnonzero(~reached)
    none = np.full(len(alone), -1, np.int64)
    pinned = _Columns(
        source=np.full(len(alone), len(time) - 1),
        target=alone,
        kind=np.full(len(alone), Edge.ROOT, np.int8),
        lag=time[alone] - time[-1],
        length=np.zeros(len(alone), np.int64),
        rank=none,
        edge=none,
        transfer=none,
    )
    edges = _Columns.joined([edges.take(kept), pinned])
    edges = edges.take(np.argsort(number[edges.target], kind="stable"))
    source, target = number[edges.source], number[edges.target]
    return JointGraph(
        graphs=graphs,
        number=tuple(number[at : at + graph.nodes] for at, graph in zip(first.tolist(), graphs, strict=False)),
        source=source,
        target=target,
        lag=calibrate(time[order], source, target, edges.kind, edges.lag, edges.length).lag,
        rank=edges.rank,
        edge=edges.edge,
        transfer=edges.transfer,
        collectives=collectives,
        time=time[order],
        dropped=int(np.count_nonzero(~forward)),
    )


class _Meeting(msgspec.Struct, frozen=True):
    """A collective that several ranks have: its piece of work on each, (rank, item); whether all ranks end together."""

    ends_together: bool
    members: list[tuple[int, int]]


def _meetings(ranks: Sequence[Joinable]) -> list[_Meeting]:
    """Match the collectives that several ranks have."""
    matching = match([rank.rank.called for rank in ranks])
    meetings: dict[tuple[int, int], _Meeting] = {}
    for number, source in enumerate(ranks):
        kinds = source.rank.communications.operations.kind.tolist()
        ranges, items = source.rank.communications.ranges, source.graph.items
        candidates = np.flatnonzero(items.is_communication)
        by_time = dict(
            zip(
                zip(items.start[candidates].tolist(), items.end[candidates].tolist(), strict=True),
                candidates.tolist(),
                strict=True,
            )
        )
        nth: dict[int, int] = {}
        for operation, start, end in zip(
            ranges.operation.tolist(), ranges.start.tolist(), ranges.end.tolist(), strict=True
        ):
            place = nth[operation] = nth.get(operation, -1) + 1
            group, item = int(matching.match[number][operation]), by_time.get((start, end))
            if group >= 0 and item is not None:
                meeting = meetings.setdefault((group, place), _Meeting(kinds[operation] in ENDING_TOGETHER, []))
                meeting.members.append((number, item))
    return [each for each in meetings.values() if len({rank for rank, _ in each.members}) == len(each.members) > 1]


def _shifts(ranks: Sequence[Joinable], meetings: Sequence[_Meeting]) -> list[int]:
    """Return per rank the ns to add to its times: without a common clock, times since the epoch are compared."""
    ended: list[list[tuple[int, int]]] = [[] for _ in ranks]
    for number, meeting in enumerate(meetings):
        for rank, item in meeting.members if meeting.ends_together else ():
            ended[rank].append((number, item))
    clocks = []
    for joined, mine in zip(ranks, ended, strict=True):
        time, origin = joined.graph.time, joined.origin_ns
        middle = origin + (int(time.min()) + int(time.max())) // 2 if len(time) else origin
        pairs = np.array(mine, np.int64).reshape(-1, 2)
        ends = GroupEnds(0, pairs[:, 0], joined.graph.items.end[pairs[:, 1]] + origin)
        groups = () if joined.rank.backend in LOOSE_BACKENDS else (ends,)
        clocks.append(RankEnds(joined.rank.worker, joined.rank.host_name, origin, middle, groups))
    # times only have to be near enough for collectives to meet: one that was ended together is enough
    shifts = fit_clock_lines(clocks, least=1).shift_ns
    return [
        joined.origin_ns - ranks[0].origin_ns if shift is None else shift
        for joined, shift in zip(ranks, shifts, strict=True)
    ]
