"""What-if over several ranks: a collective begins when its last rank is there, so that waiting is not a duration.

Takes away, too, what one rank spends beyond the median of all (`NoStraggler`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.changes import Change, NoStraggler, is_bound
from torch_tb_profiler.analysis.replay.effects import ChangeEffect, HostEffect, WorkEffect
from torch_tb_profiler.analysis.replay.graph import Graph
from torch_tb_profiler.analysis.replay.host_time import HostSegments, Label
from torch_tb_profiler.analysis.replay.launched_work import WorkKind
from torch_tb_profiler.analysis.replay.on_path import recorded_quality
from torch_tb_profiler.analysis.replay.quality import Quality, ReplayRefusal, scopes_of
from torch_tb_profiler.analysis.replay.scenario import apply_effects, effect_of, unchanged
from torch_tb_profiler.arrays.grouping import group, sums_at
from torch_tb_profiler.arrays.types import Float64, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.ranks.joint_graph import join_graphs
from torch_tb_profiler.ranks.rank import Rank, rank_of
from torch_tb_profiler.trace import Trace


class ReplayRank(msgspec.Struct, frozen=True):
    """A rank for `joint_what_if`."""

    rank: Rank
    trace: Trace
    graph: Graph
    quality: Quality

    @property
    def origin_ns(self) -> int:
        """Since the epoch."""
        return self.trace.origin_ns


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
    refused: tuple[ReplayRefusal, ...]


class JointWhatIf(msgspec.Struct, frozen=True):
    """The durations of the steps of each rank after some changes, when ranks wait for one another.

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
    """Replay the steps of all ranks after some changes, on all ranks or on those of some workers.

    Raises ValueError for a factor that is no number.
    """
    joint = join_graphs(ranks)
    before = joint.solve([unchanged(rank.graph) for rank in ranks])
    scenarios = [
        apply_effects(rank.graph, effects)
        for rank, effects in zip(ranks, _effects(ranks, changes, workers), strict=True)
    ]
    then = joint.solve(scenarios)
    # ranks wait for one another: what one cannot answer, none can
    needed = {scope for change in changes for scope in scopes_of(change)}
    refused = tuple(
        dict.fromkeys(
            why for rank in ranks for why in rank.quality.refusals if why.scope in ("everything", "savings", *needed)
        )
    )
    answers = []
    for rank, was, now in zip(ranks, before, then, strict=True):
        total = int(was.sum())
        names = rank.graph.steps.names
        if refused:
            answers.append(JointRank(rank.rank.worker, names, total, None, was, None, refused))
        else:
            answers.append(JointRank(rank.rank.worker, names, total, int(now.sum()), was, now, ()))
    world = max((rank.rank.world_size for rank in ranks if rank.rank.world_size), default=None)
    return JointWhatIf(tuple(answers), joint.collectives, len(ranks), world, any(map(is_bound, changes)))


def _effects(
    ranks: Sequence[ReplayRank], changes: Sequence[Change], workers: Collection[str] | None
) -> list[list[ChangeEffect]]:
    """List the effects of the changes on each rank."""
    level: list[ChangeEffect] = []
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


#: share of the mean step from which a rank's time above the median is no chance
LEAST_SHARE = 0.01
#: beside the labels of host time
KERNELS = len(Label)
#: numbers that tell one range from the next of its kind: `ProfilerStep#3`
_COUNTED = lazy_pattern(r"#\d+")


class SpentTime(msgspec.Struct, frozen=True):
    """What the steps of a rank are spent on, by kind: a label, or kernels, with the name of the innermost event.

    pieces, of_piece   host time in the steps, and the kind of each piece
    row                shape (pieces,): the innermost event, -1 for none
    item, of_item      compute kernels of the steps, and the kind of each
    kinds              (label, name); the label `KERNELS` is that of kernels
    ns                 shape (kinds,): in an average step
    """

    pieces: HostSegments
    of_piece: Int64
    row: Int64
    item: Int64
    of_item: Int64
    kinds: list[tuple[int, str]]
    ns: Float64
    step_ns: float


def without_straggler(ranks: Sequence[tuple[Trace, Graph]]) -> list[ChangeEffect]:
    """`without_excess` of ranks."""
    return without_excess([spent_time(trace, graph) for trace, graph in ranks])


def without_excess(spent: Sequence[SpentTime]) -> list[ChangeEffect]:
    """For each rank what makes it as fast as the median; of an even number the lower of the middle two.

    First what it does of one name, where that is clearly more than what the median rank does of it: that names what is
    slow. Then all of a label, or all kernels, where the rank is slower throughout. Host time of collectives is left
    out: a part of it is waiting.
    """
    if not spent:
        return []
    kinds = sorted({kind for rank_spent in spent for kind in rank_spent.kinds})
    place = {kind: at for at, kind in enumerate(kinds)}
    ns = np.zeros((len(spent), len(kinds)))
    for rank, rank_spent in enumerate(spent):
        ns[rank, [place[kind] for kind in rank_spent.kinds]] = rank_spent.ns
    least = LEAST_SHARE * max(float(np.mean([rank_spent.step_ns for rank_spent in spent])), 1.0)
    by_name = _factors(ns, least)
    label = np.array([kind[0] for kind in kinds], np.int64)
    left = np.zeros((len(spent), KERNELS + 1))
    for number in range(KERNELS + 1):
        left[:, number] = (ns * by_name)[:, label == number].sum(axis=1)
    factors = by_name * _factors(left, least)[:, label]
    found = []
    for rank_spent, mine in zip(spent, factors, strict=True):
        of_kind = mine[[place[kind] for kind in rank_spent.kinds]]
        on_host, on_item = of_kind[rank_spent.of_piece], of_kind[rank_spent.of_item]
        work = tuple(WorkEffect(rank_spent.item[on_item == f], float(f)) for f in np.unique(on_item[on_item < 1]))
        slow = on_host < 1
        found.append(ChangeEffect(host=(HostEffect(rank_spent.pieces.take(slow), on_host[slow]),), work=work))
    return found


def _factors(ns: Float64, least: float) -> Float64:
    """Shape (ranks, kinds): median rank ÷ rank, where the rank has clearly more; else 1."""
    middle = np.sort(ns, axis=0)[(len(ns) - 1) // 2]
    found: Float64 = np.where(ns - middle > least, middle / np.maximum(ns, 1e-9), 1.0)
    return found


def spent_time(trace: Trace, graph: Graph) -> SpentTime:
    """Sum what the steps of a rank are spent on. Host time of collectives is left out: a part of it is waiting."""
    host, items, steps = graph.host, graph.items, len(graph.steps)
    until = int(graph.steps.end[-1]) if steps else 0
    counts = graph.lane_counts[graph.host_segments.edge] & (graph.host_segments.end <= until)
    pieces = graph.host_segments.take(counts & (graph.host_segments.label != Label.COLLECTIVE))
    node = host.node[host.place(pieces.lane.astype(np.int64), pieces.start)]
    names = trace.events.name
    of_event = np.append(names[host.row], -1)[node].astype(np.int64)
    kernels = (items.kind == WorkKind.KERNEL) & ~items.is_communication & (items.start >= graph.work_since)
    item = np.flatnonzero(kernels & (items.start < until))
    label = np.concatenate((pieces.label.astype(np.int64), np.full(len(item), KERNELS)))
    code = np.concatenate((of_event, names[items.row[item]].astype(np.int64)))
    length = np.concatenate((pieces.end - pieces.start, items.duration[item]))
    groups = group([label, code])
    keys = zip(label[groups.first].tolist(), code[groups.first].tolist(), strict=True)
    texts = [(at, _COUNTED.sub("#", trace.strings[c]) if c >= 0 else "") for at, c in keys]
    kinds = sorted(set(texts))
    number = {kind: at for at, kind in enumerate(kinds)}
    of = np.array([number[text] for text in texts], np.int64)[groups.inverse]
    step_ns = float(graph.steps.end[-1] - graph.steps.start[0]) / steps if steps else 0.0
    ns = sums_at(of, length, len(kinds)) / max(steps, 1)
    row = np.append(host.row.astype(np.int64), -1)[node]
    return SpentTime(pieces, of[: len(pieces)], row, item, of[len(pieces) :], kinds, ns, step_ns)
