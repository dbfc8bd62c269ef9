"""What-if over several ranks: a collective begins when its last rank is there, so that waiting is not a duration."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import msgspec

from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.changes import Change, NoStraggler, is_bound
from torch_tb_profiler.analysis.replay.effects import ChangeEffect
from torch_tb_profiler.analysis.replay.graph import Graph
from torch_tb_profiler.analysis.replay.quality import Quality, ReplayRefusal, scopes_of
from torch_tb_profiler.analysis.replay.recorded_path import recorded_quality
from torch_tb_profiler.analysis.replay.scenario import apply_effects, effect_of, unchanged
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.ranks.joint_graph import join
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
        apply_effects(each.graph, effects)
        for each, effects in zip(ranks, _effects(ranks, changes, workers), strict=True)
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
) -> list[list[ChangeEffect]]:
    """What the changes do on each rank."""
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
