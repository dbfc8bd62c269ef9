"""What rules over ranks look at: what is kept of each rank, and all replayed together; what such a rule is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, wraps
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.changes import Change
from torch_tb_profiler.analysis.replay.effects import ChangeEffect
from torch_tb_profiler.analysis.replay.graph import Graph
from torch_tb_profiler.analysis.replay.on_path import recorded_quality
from torch_tb_profiler.analysis.replay.quality import Quality, ReplayRefusal, scopes_of
from torch_tb_profiler.analysis.replay.scenario import apply_effects, effect_of, unchanged
from torch_tb_profiler.analysis.shared.device_roles import device_spans
from torch_tb_profiler.analysis.shared.kernel_use import is_compute
from torch_tb_profiler.analysis.shared.thresholds import Thresholds, thresholds
from torch_tb_profiler.arrays.distinct import distinct, distinct_counts
from torch_tb_profiler.arrays.intervals import Coverage, subtraction, total, union, union_of
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.insights.bound import Reservations, reservations_of
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.resources import BoundKind, resources_of
from torch_tb_profiler.insights.rule import Cause, Found, FoundCause, RunInstance
from torch_tb_profiler.insights.shared.communication import Held, held_transfers
from torch_tb_profiler.insights.shared.device_words import Platform, platform
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.communication import KINDS, POINT_TO_POINT
from torch_tb_profiler.ranks.distributed import DistributedRanks, distributed
from torch_tb_profiler.ranks.joint_graph import JointGraph, join_graphs
from torch_tb_profiler.ranks.peers import StepGrid
from torch_tb_profiler.ranks.rank import Rank, rank_of
from torch_tb_profiler.ranks.run.answers import Straggler
from torch_tb_profiler.ranks.run.data import RunData
from torch_tb_profiler.ranks.run.groups import described_role, groups_of
from torch_tb_profiler.ranks.stragglers.cost import stragglers_of
from torch_tb_profiler.ranks.stragglers.slow_ranks import slow_ranks
from torch_tb_profiler.ranks.summary import RankSummary, summarize
from torch_tb_profiler.ranks.what_if import SpentTime, spent_time
from torch_tb_profiler.trace.schema import TraceTable
from torch_tb_profiler.words import Section, section

#: what the schedules of torch.distributed.pipelining write around the forward pass of a microbatch on a stage
_FORWARD = lazy_pattern(r"(?:Forward |PP:(?P<stage>\d{1,9})F)(?P<microbatch>\d{1,9})")


class Stage(msgspec.Struct, frozen=True):
    """One rank of a pipeline.

    stages        how many ranks the pipeline has
    microbatches  in a step; 0 where the trace does not name them
    item          pieces of work that send to and receive from other stages in the steps, in the graph of the replay
    bare_ns       parallel to `item`: their time in which nothing is computed
    wait_ns       the same of all of them, each moment once
    """

    stages: int
    microbatches: int
    item: Int64
    bare_ns: Int64
    wait_ns: int


def stage_of(model: Model) -> Stage | None:
    """None if the trace does not show a pipeline."""
    microbatches = _microbatches(model)
    communications, steps = model.communications, model.steps
    kinds = [number for number, kind in enumerate(KINDS) if kind in POINT_TO_POINT]
    sends = np.isin(communications.operations.kind, kinds) & communications.operations.on_device
    if not microbatches:
        # others send to one another, too: a ring of attention, an exchange of experts
        described = [number for number, of in enumerate(communications.groups) if described_role(of) == "pp"]
        sends &= np.isin(communications.operations.group, described)
    if not sends.any():
        return None
    stages = max(communications.groups[number].size for number in set(communications.operations.group[sends].tolist()))
    starts = communications.ranges.start[sends[communications.ranges.operation]]
    items = graph_of(model).items
    known = items.is_communication & np.isin(items.start, starts)
    item = np.flatnonzero(known & (steps.on_device(items.start) >= 0))
    if stages < 2 or not len(item):
        return None
    computing = union_of(device_spans(model, is_compute(model)))
    start, end = items.start[item], items.start[item] + items.duration[item]
    bare = end - start - Coverage(computing).between(start, end)
    return Stage(stages, microbatches, item, bare, total(subtraction(union(start, end), computing)))


def _microbatches(model: Model) -> int:
    """Return the median number of microbatches per step; 0 where the trace does not name them."""
    tree, strings, steps = model.structure.tree, model.trace.strings, model.steps
    named = strings.where(lambda name: _FORWARD.fullmatch(name) is not None, tree.name)[tree.name]
    at = steps.on_host(tree.start[named])
    found = [_FORWARD.fullmatch(str(strings[code])) for code in tree.name[named].tolist()]
    number = np.array([int(each["microbatch"]) for each in found if each is not None], np.int64)
    inside = at >= 0
    if not inside.any():
        return 0
    size = int(number.max()) + 1
    pairs = distinct(at[inside] * size + number[inside])
    return int(median(distinct_counts(pairs // size)[1]))


class OfRank(msgspec.Struct, frozen=True):
    """What a rule about one trace found on a rank.

    rule    its id
    effects of the changes that remove it, on the graph of the rank
    """

    rule: str
    found: Found
    effects: tuple[ChangeEffect, ...]


class RunRank(msgspec.Struct, frozen=True):
    """What is kept of a rank: not its trace, since a run may have many.

    reliefs   by resource, what relieving it does
    found     what rules about one trace found, whose saving only all ranks show
    reservations   about what bounds it
    stage     of a pipeline; None if the trace does not show one
    has_device_work, is_training   as of the model
    platform  whose devices work in it
    held      what holds up its collectives; None where that may be the host
    """

    rank: Rank
    graph: Graph
    origin_ns: int
    quality: Quality
    spent: SpentTime
    reliefs: Mapping[BoundKind, tuple[ChangeEffect, ...]]
    changes: Mapping[BoundKind, tuple[Change, ...]]
    found: tuple[OfRank, ...]
    reservations: Reservations
    stage: Stage | None
    has_device_work: bool
    is_training: bool
    platform: Platform
    held: Held | None
    summary: RankSummary

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        kept = (self.graph, self.spent, self.reliefs, self.found, self.stage)
        return self.rank.size + self.summary.size + _bytes(kept, set())

    def instances(self, rows: Int64, name: str, start: Int64, duration: Int64, most: int) -> tuple[RunInstance, ...]:
        """List the longest of some events of this rank. rows, start, duration: shape (n,); times in ns."""
        steps = self.graph.steps
        step = np.searchsorted(steps.start, start, side="right") - 1
        chosen = np.argsort(-duration, kind="stable")[:most].tolist()
        return tuple(
            RunInstance(
                worker=self.rank.worker,
                row=int(rows[k]),
                name=name,
                start_ns=int(start[k]),
                duration_ns=int(duration[k]),
                step=steps.names[int(step[k])] if step[k] >= 0 and start[k] < steps.end[step[k]] else None,
            )
            for k in chosen
        )


def run_rank(model: Model, worker: str) -> RunRank:
    """One rank, for `run_diagnosis`."""
    # a server that only passes answers on needs no rules
    from torch_tb_profiler.insights.rules import RULES  # noqa: PLC0415

    graph, facts, held = graph_of(model), Facts(model, thresholds()), held_transfers(model)
    resources = resources_of(model)
    quality = recorded_quality(model)
    causes = [
        OfRank(rule.id, each, tuple(effect_of(model.trace, graph, change) for change in each.changes))
        for rule in RULES
        if rule.over_ranks and rule.id not in facts.thresholds.mute and all(need.held(model) for need in rule.needs)
        for each in rule.find(facts)
    ]
    return RunRank(
        rank=rank_of(model, worker),
        graph=graph,
        origin_ns=model.trace.origin_ns,
        quality=quality,
        spent=spent_time(model.trace, graph),
        reliefs={kind: tuple(effect_of(model.trace, graph, c) for c in these) for kind, these in resources.items()},
        changes=resources,
        found=tuple(causes),
        reservations=reservations_of(facts),
        stage=stage_of(model),
        has_device_work=model.has_device_work,
        is_training=facts.is_training,
        platform=platform(model),
        held=None if held is None else held.how,
        summary=summarize(model, worker),
    )


def _bytes(value: object, seen: set[int]) -> int:
    """Of all arrays in a value."""
    if id(value) in seen:
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return value.nbytes
    if isinstance(value, Mapping):
        return sum(_bytes(each, seen) for each in value.values())
    if isinstance(value, tuple | list):
        return sum(_bytes(each, seen) for each in value)
    if isinstance(value, msgspec.Struct):
        return sum(_bytes(getattr(value, name), seen) for name in value.__struct_fields__)
    if isinstance(value, TraceTable):
        return sum(_bytes(column, seen) for column in value.columns().values())
    return 0


#: effects of each rank, in the order of the ranks
Remedy = tuple[tuple[ChangeEffect, ...], ...]


class RunFacts(msgspec.Struct, frozen=True, dict=True):
    """All ranks of a run that were loaded."""

    ranks: tuple[RunRank, ...]
    thresholds: Thresholds

    def limit(self, rule: str, name: str) -> float:
        """One limit of a rule. Raises KeyError."""
        return self.thresholds.of(rule, name)

    @cached_property
    def distributed(self) -> DistributedRanks:
        """Waiting, transferring and process groups."""
        return distributed([each.rank for each in self.ranks])

    @cached_property
    def stragglers(self) -> Mapping[str, Straggler]:
        """Ranks that the reduction names or lists (docs/ranks.md), with their costs, by worker."""
        run = RunData.read([each.summary for each in self.ranks])
        grid = StepGrid.of([head.steps for head in run.heads])
        found, _ = stragglers_of(run, grid, slow_ranks(run, grid, whole=True), groups_of(run))
        return {each.worker: each for each in found}

    def is_slow(self, worker: str) -> bool:
        """Tell whether it is named as slow, by its own time."""
        return worker in self.stragglers and self.stragglers[worker].named

    @cached_property
    def joint(self) -> JointGraph:
        """The graphs of all ranks."""
        return join_graphs(self.ranks)

    def steps_after(self, remedies: Sequence[Remedy]) -> list[Int64]:
        """Per rank its steps after some remedies, ns."""
        of_ranks = [[effect for remedy in remedies for effect in remedy[number]] for number in range(self.loaded)]
        if not any(of_ranks):
            return self.before
        return self.joint.solve(
            [apply_effects(each.graph, effects) for each, effects in zip(self.ranks, of_ranks, strict=True)]
        )

    @cached_property
    def before(self) -> list[Int64]:
        """Per rank its steps as they are, ns."""
        return self.joint.solve([unchanged(each.graph) for each in self.ranks])

    @property
    def steps(self) -> int:
        """How many steps all ranks have together."""
        return sum(len(each) for each in self.before)

    @cached_property
    def step_ns(self) -> float:
        """The mean of the steps of all ranks; 0 without steps."""
        return sum(int(each.sum()) for each in self.before) / self.steps if self.steps else 0.0

    @property
    def platform(self) -> Platform:
        """Whose devices work in the run: all ranks have the same."""
        return self.ranks[0].platform if self.ranks else "cuda"

    @property
    def loaded(self) -> int:
        """Number of loaded ranks."""
        return len(self.ranks)

    @cached_property
    def world(self) -> int:
        """Number of ranks of the run by its traces: at least the loaded ones."""
        groups = [use.group.size for use in self.distributed.groups]
        return max([self.loaded, *groups, *(each.rank.world_size or 0 for each in self.ranks)])

    @property
    def is_partial(self) -> bool:
        """Some ranks are not loaded: what communication costs then holds waiting for them."""
        return self.loaded < self.world

    def refusal(self, changes: Sequence[Change]) -> ReplayRefusal | None:
        """Why changes cannot be replayed: ranks wait for one another, so what one cannot answer, none can."""
        needed = {"everything", "savings", *(scope for change in changes for scope in scopes_of(change))}
        return next((why for each in self.ranks for why in each.quality.refusals if why.scope in needed), None)

    def relief(self, kind: BoundKind) -> Remedy:
        """Return what relieves a resource on all ranks."""
        return tuple(each.reliefs.get(kind, ()) for each in self.ranks)

    def relief_changes(self, kind: BoundKind) -> tuple[Change, ...]:
        """Return the changes of `relief`."""
        return next((each.changes[kind] for each in self.ranks if kind in each.changes), ())

    def on(self, worker: str, *effects: ChangeEffect) -> Remedy:
        """Return some effects on one rank, and none on the others."""
        return tuple(effects if each.rank.worker == worker else () for each in self.ranks)


if TYPE_CHECKING:
    from torch_tb_profiler.analysis.replay.effects import ChangeEffect
    from torch_tb_profiler.insights.run.facts import RunFacts


class RunFinding(Cause, frozen=True, kw_only=True):
    """A cause of lost time in a run of several ranks. What it saves is of the average step of all ranks, when all are
    replayed together.

    workers     the ranks that have to change; empty if it is all of them
    instances   where it can be seen, the most costly first
    """

    workers: tuple[str, ...]
    instances: tuple[RunInstance, ...]


class RunFound(FoundCause, frozen=True, kw_only=True):
    """What a rule over ranks found, before its saving is known.

    workers, instances   as in RunFinding
    remedy    what removes the cause: effects of each rank, in their order; None for a warning
    changes   what `remedy` is made of: what refuses them, refuses it
    bound     what it saves is the most that any remedy can
    alone_ns  what it saves alone of an average step, where the reduction of the ranks says it (docs/ranks.md); None:
              what the replay says
    count     how many places there are; None: as many as instances
    """

    workers: tuple[str, ...] = ()
    remedy: tuple[tuple[ChangeEffect, ...], ...] | None = None
    bound: bool = True
    alone_ns: float | None = None
    instances: tuple[RunInstance, ...] = ()
    count: int | None = None


class RunRule(msgspec.Struct, frozen=True):
    """A rule over ranks.

    id, number, family   as of a Rule
    find      what it finds: nothing, or the causes with the most costly first
    replaces  ids of rules that say the same less precisely: left out when this one finds something
    """

    id: str
    number: str
    family: str
    find: Callable[[RunFacts], Sequence[RunFound]]
    replaces: tuple[str, ...] = ()

    @property
    def words(self) -> Section:
        """What it says."""
        return section(f"rules/{self.family}", self.id)


def run_rule(
    number: str, replaces: tuple[str, ...] = ()
) -> Callable[[Callable[[RunFacts], Iterable[RunFound]]], RunRule]:
    """Make a rule over ranks of a function with its name that yields what it finds."""

    def made(find: Callable[[RunFacts], Iterable[RunFound]]) -> RunRule:
        @wraps(find)
        def found(facts: RunFacts) -> tuple[RunFound, ...]:
            return tuple(find(facts))

        return RunRule(find.__name__, number, find.__module__.rpartition(".")[2], found, replaces)

    return made
