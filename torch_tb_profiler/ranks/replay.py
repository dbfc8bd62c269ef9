"""What-if over several ranks: a collective begins when its last rank is there, so that waiting is not a duration."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.calibrate import calibrate
from torch_tb_profiler.analysis.replay.changes import Change, NoStraggler, is_bound
from torch_tb_profiler.analysis.replay.edges import Edge
from torch_tb_profiler.analysis.replay.effects import Effect
from torch_tb_profiler.analysis.replay.graph import Graph, Node
from torch_tb_profiler.analysis.replay.lags import Lags
from torch_tb_profiler.analysis.replay.recorded import recorded_quality
from torch_tb_profiler.analysis.replay.refusals import Quality, Refusal, scopes_of
from torch_tb_profiler.analysis.replay.scenario import Scenario, after, effect_of, unchanged
from torch_tb_profiler.analysis.replay.solve import solve
from torch_tb_profiler.arrays.types import Bool, Int8, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.ranks.clock_lines import LOOSE_BACKENDS, TOGETHER, GroupEnds, RankEnds, common_lines
from torch_tb_profiler.ranks.matching import match
from torch_tb_profiler.ranks.rank import Rank, rank_of
from torch_tb_profiler.ranks.stragglers import without_straggler
from torch_tb_profiler.trace import Trace


class ReplayRank(msgspec.Struct, frozen=True):
    """What is needed of one rank."""

    rank: Rank
    trace: Trace
    graph: Graph
    quality: Quality

    @property
    def origin_ns(self) -> int:
        """Since the epoch."""
        return self.trace.origin_ns


class Joinable(Protocol):
    """What is needed of a rank to replay it with others."""

    @property
    def rank(self) -> Rank: ...

    @property
    def graph(self) -> Graph: ...

    @property
    def origin_ns(self) -> int: ...


@dataclass(frozen=True)
class JointRank:
    """One rank of a joint answer, ns.

    step_after_ns   shape (steps,); None if the changes are refused
    """

    worker: str
    names: tuple[str, ...]
    before_ns: int
    after_ns: int | None
    step_before_ns: Int64 = field(repr=False)
    step_after_ns: Int64 | None = field(repr=False)
    refused: tuple[Refusal, ...]


class JointWhatIf(msgspec.Struct, frozen=True):
    """How long the steps of each rank take after some changes, when ranks wait for one another.

    collectives   how many were found on several ranks
    loaded        how many ranks were replayed
    world_size    how many there are, when a trace says so. With fewer loaded, what a collective takes still holds
                  waiting for the others
    bound         what is saved is the most that any remedy can
    """

    ranks: tuple[JointRank, ...]
    collectives: int
    loaded: int
    world_size: int | None
    bound: bool


def replay_rank(model: Model, worker: str) -> ReplayRank:
    """One rank, for `joint_what_if`."""
    return ReplayRank(rank_of(model, worker), model.trace, graph_of(model), recorded_quality(model))


def joint_what_if(
    ranks: Sequence[ReplayRank], changes: Sequence[Change], workers: Collection[str] | None = None
) -> JointWhatIf:
    """The steps of all ranks after all of some changes, on all ranks or on those of some workers.

    Raises ValueError for a factor that is no number.
    """
    joint = join(ranks)
    before = joint.solve([unchanged(each.graph) for each in ranks])
    scenarios = [
        after(each.graph, effects) for each, effects in zip(ranks, _effects(ranks, changes, workers), strict=True)
    ]
    then = joint.solve(scenarios)
    # ranks wait for one another: what one cannot answer, none can
    needed = {scope for change in changes for scope in scopes_of(change)}
    refused = tuple(
        dict.fromkeys(
            why for each in ranks for why in each.quality.refusals if why.scope in ("everything", "savings", *needed)
        )
    )
    found = []
    for each, was, now in zip(ranks, before, then, strict=True):
        total = int(was.sum())
        names = each.graph.steps.names
        if refused:
            found.append(JointRank(each.rank.worker, names, total, None, was, None, refused))
        else:
            found.append(JointRank(each.rank.worker, names, total, int(now.sum()), was, now, ()))
    world = max((each.rank.world_size for each in ranks if each.rank.world_size), default=None)
    return JointWhatIf(tuple(found), joint.collectives, len(ranks), world, any(map(is_bound, changes)))


def _effects(
    ranks: Sequence[ReplayRank], changes: Sequence[Change], workers: Collection[str] | None
) -> list[list[Effect]]:
    """What the changes do on each rank."""
    level: list[Effect] = []
    if any(isinstance(change, NoStraggler) for change in changes):
        level = without_straggler([(each.trace, each.graph) for each in ranks])
    found = []
    for number, each in enumerate(ranks):
        mine = []
        for change in changes if workers is None or each.rank.worker in workers else ():
            is_level = isinstance(change, NoStraggler)
            mine.append(level[number] if is_level else effect_of(each.trace, each.graph, change))
        found.append(mine)
    return found


class JointGraph(msgspec.Struct, frozen=True):
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
        """Per rank the durations of its steps, ns, when the graphs of the ranks are as in some scenarios."""
        length = np.zeros(len(self.source), np.int64)
        kept: Bool = np.ones(len(self.source), np.bool_)
        lag = self.lag.copy()
        for number, (graph, scenario) in enumerate(zip(self.graphs, scenarios, strict=True)):
            mine = np.flatnonzero((self.rank == number) & (self.edge >= 0))
            edge = self.edge[mine]
            length[mine] = scenario.length[edge]
            kept[mine] = scenario.kept[edge]
            limited = scenario.lag[edge] < graph.lag[edge]
            lag[mine[limited]] = np.minimum(lag[mine[limited]], scenario.lag[edge[limited]])
            matched = mine[self.transfer[mine] >= 0]
            item = graph.item[self.edge[matched]]
            # a change of the duration is one of the transfer: waiting has no length
            transfer = graph.items.duration.copy()
            transfer[item] = self.transfer[matched]
            length[matched] = np.rint(scenario.shortened(transfer)[item]).astype(np.int64)
        delay = np.maximum(length + lag, 0)
        chosen = np.flatnonzero(kept)
        time = solve(len(self.time), self.source[chosen].tolist(), self.target[chosen].tolist(), delay[chosen])
        return [np.diff(time[number[graph.ends]]) for graph, number in zip(self.graphs, self.number, strict=True)]


def join(ranks: Sequence[Joinable]) -> JointGraph:
    """One graph of all ranks."""
    graphs = tuple(each.graph for each in ranks)
    matched = _meetings(ranks)
    shift = _shifts(ranks, matched)
    sizes = [graph.nodes for graph in graphs]
    first = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    time = np.concatenate([graph.time + by for graph, by in zip(graphs, shift, strict=True)])
    kind = np.concatenate([graph.kind for graph in graphs])
    item_nodes = [graph.item_nodes + at for graph, at in zip(graphs, first.tolist(), strict=False)]
    meets: dict[tuple[int, int], int] = {}
    meet_time: list[int] = []
    arriving: list[tuple[int, int]] = []
    for meeting in matched:
        number = int(first[-1]) + len(meet_time)
        nodes = [int(item_nodes[rank][item]) for rank, item in meeting.members]
        meet_time.append(max(int(time[node]) for node in nodes))
        arriving += [(node, number) for node in nodes]
        meets |= dict.fromkeys(meeting.members, number)
    time = np.concatenate((time, np.array(meet_time, np.int64)))
    kind = np.concatenate((kind, np.full(len(meet_time), Node.MEET, np.int8)))
    root = len(time)
    time, kind = np.append(time, time.min() if root else 0), np.append(kind, np.int8(Node.ROOT))
    columns = [_of_rank(number, graph, int(first[number]), meets, time) for number, graph in enumerate(graphs)]
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


def _of_rank(number: int, graph: Graph, first: int, meets: dict[tuple[int, int], int], time: Int64) -> _Columns:
    """The edges of a rank; those that left a matched collective leave its meeting."""
    source = graph.source + first
    length = unchanged(graph).length.copy()
    transfer = np.full(len(source), -1, np.int64)
    mine = {item: meet for (rank, item), meet in meets.items() if rank == number}
    if mine:
        meet_of = np.full(len(graph.items), -1, np.int64)
        meet_of[list(mine)] = list(mine.values())
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
    graphs: tuple[Graph, ...], first: Int64, time: Int64, kind: Int8, found: _Columns, collectives: int
) -> JointGraph:
    order = np.lexsort((np.arange(len(time)), kind, time))
    # a rank's own root comes after the common one
    order = np.concatenate(([len(time) - 1], order[order != len(time) - 1]))
    number = np.empty(len(time), np.int64)
    number[order] = np.arange(len(time))
    forward = number[found.source] < number[found.target]
    kept = np.flatnonzero(forward)
    reached = np.zeros(len(time), np.bool_)
    reached[found.target[kept]] = True
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
    found = _Columns.joined([found.take(kept), pinned])
    found = found.take(np.argsort(number[found.target], kind="stable"))
    source, target = number[found.source], number[found.target]
    typical = [graph.lags for graph in graphs]
    lags = Lags(*(max((getattr(each, name) for each in typical), default=0) for name in ("launch", "gap", "wake")))
    made = calibrate(time[order], source, target, found.kind, found.lag, found.length, lags)
    return JointGraph(
        graphs=graphs,
        number=tuple(number[at : at + graph.nodes] for at, graph in zip(first.tolist(), graphs, strict=False)),
        source=source,
        target=target,
        lag=made.lag,
        rank=found.rank,
        edge=found.edge,
        transfer=found.transfer,
        collectives=collectives,
        time=time[order],
        dropped=int(np.count_nonzero(~forward)),
    )


class _Meeting(msgspec.Struct, frozen=True):
    """A collective that several ranks have: its piece of work on each, (rank, item); whether all ranks end together."""

    ends_together: bool
    members: list[tuple[int, int]]


def _meetings(ranks: Sequence[Joinable]) -> list[_Meeting]:
    """The collectives that several ranks have."""
    matching = match([each.rank for each in ranks])
    found: dict[tuple[int, int], _Meeting] = {}
    for number, each in enumerate(ranks):
        kinds = each.rank.communications.operations.kind.tolist()
        ranges, items = each.rank.communications.ranges, each.graph.items
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
                meeting = found.setdefault((group, place), _Meeting(kinds[operation] in TOGETHER, []))
                meeting.members.append((number, item))
    return [each for each in found.values() if len({rank for rank, _ in each.members}) == len(each.members) > 1]


def _shifts(ranks: Sequence[Joinable], meetings: Sequence[_Meeting]) -> list[int]:
    """Per rank, ns to add to its times: where nothing tells of its clock, those since the epoch are compared."""
    ended: list[list[tuple[int, int]]] = [[] for _ in ranks]
    for number, meeting in enumerate(meetings):
        for rank, item in meeting.members if meeting.ends_together else ():
            ended[rank].append((number, item))
    clocks = []
    for each, mine in zip(ranks, ended, strict=True):
        time, origin = each.graph.time, each.origin_ns
        middle = origin + (int(time.min()) + int(time.max())) // 2 if len(time) else origin
        pairs = np.array(mine, np.int64).reshape(-1, 2)
        ends = GroupEnds(0, pairs[:, 0], each.graph.items.end[pairs[:, 1]] + origin)
        groups = () if each.rank.backend in LOOSE_BACKENDS else (ends,)
        clocks.append(RankEnds(each.rank.host_name, origin, middle, groups))
    # times only have to be near enough for collectives to meet: one that was ended together is enough
    shifts = common_lines(clocks, least=1).shift_ns
    return [
        each.origin_ns - ranks[0].origin_ns if shift is None else shift
        for each, shift in zip(ranks, shifts, strict=True)
    ]
