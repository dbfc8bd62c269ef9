"""Ranks that others wait for: one of them in most steps, slow launches of one, all in turns, stages of a pipeline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.replay.changes import collectives, no_straggler, scale
from torch_tb_profiler.analysis.replay.effects import ChangeEffect, WorkEffect
from torch_tb_profiler.analysis.replay.host_time import Label
from torch_tb_profiler.analysis.replay.launched_work import WorkKind
from torch_tb_profiler.analysis.replay.quality import ReplayRefusal
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Float64, Int64
from torch_tb_profiler.insights.rule import Evidence, RunInstance, evidence, link
from torch_tb_profiler.insights.run.facts import RunFacts, RunFound, RunRank, run_rule
from torch_tb_profiler.insights.run.lateness import (
    PLACES,
    Excess,
    Late,
    excess_of,
    from_the_middle,
    late_ranks,
    steps_of_ranks,
)
from torch_tb_profiler.model.communication import KINDS, POINT_TO_POINT
from torch_tb_profiler.ranks.run.answers import Straggler
from torch_tb_profiler.ranks.what_if import KERNELS, without_excess
from torch_tb_profiler.reason import Value

#: instances that a finding lists
_LISTED = 20

_NO_CAUSE = ReplayRefusal("lateness_unknown", "savings")
#: more kernels than the median rank by this part is more work; else the same work is slower
_MORE_KERNELS = 0.05
#: by the cause that the reduction of the ranks names: where the time goes, and what is advised
_CAUSES: Mapping[str, tuple[str, str]] = {
    "input": ("data", "data"),
    "slow_compute": ("kernels", "slower"),
    "more_work": ("kernels", "more"),
    "slow_operator": ("operator", "operator"),
    "late_launches": ("operator", "operator"),
    "allocator": ("allocator", "allocator"),
}


@run_rule("R45", replaces=("waiting",))
def straggler(facts: RunFacts) -> Iterator[RunFound]:
    """Find a rank that the others wait for in most steps, and what it spends more time on than they do."""
    late = late_ranks(facts)
    waited_for = {facts.ranks[late_rank.rank].rank.worker for late_rank in late}
    # in a pipeline stages wait for one another, whoever is slow: own time tells it
    slow = [rank for rank in facts.stragglers.values() if rank.named and rank.worker not in waited_for]
    if not late and not slow:
        return
    level = without_excess([rank.spent for rank in facts.ranks])
    place = {rank.rank.worker: number for number, rank in enumerate(facts.ranks)}
    slow_hosts = {worker for cause in slow_host.find(facts) for worker in cause.workers}
    for late_rank in late[:3]:
        excess = excess_of(facts, late_rank.rank)
        # slow launches are the cause, and have a finding of their own
        if excess is None or excess.place != "launch" or facts.ranks[late_rank.rank].rank.worker not in slow_hosts:
            yield _by_waiting(facts, late_rank, excess, level[late_rank.rank])
    for by_own in sorted(slow, key=lambda own: -(own.saving_ns or 0))[:3]:
        if by_own.worker in place:
            yield _by_own_time(facts, by_own, level[place[by_own.worker]])


def _by_own_time(facts: RunFacts, slow: Straggler, effect: ChangeEffect) -> RunFound:
    """Describe a rank that the reduction of the ranks names, while waiting does not show it."""
    where, advised = _CAUSES.get(slow.cause, ("", ""))
    return RunFound(
        values={
            "worker": slow.worker,
            "peers": slow.peers,
            "steps": slow.steps,
            "of": slow.of_steps,
            "late_ns": slow.late_ns,
            "advice": advised,
            **({"place": where} if where else {}),
            **({"name": slow.operator} if where and slow.operator else {}),
        },
        workers=(slow.worker,),
        remedy=facts.on(slow.worker, effect),
        changes=(no_straggler(),),
        bound=False,
        alone_ns=slow.saving_ns,
        evidence=(evidence("late_excess", slow.late_ns, "ns", "overview"),),
        links=(link("ddp_uneven"),),
        confidence="medium" if facts.is_partial else "high",
        refused=None if slow.saving_ns is not None else _NO_CAUSE,
    )


def _by_waiting(facts: RunFacts, late: Late, excess: Excess | None, effect: ChangeEffect) -> RunFound:
    """Describe a rank that others wait for."""
    rank = facts.ranks[late.rank]
    worker = rank.rank.worker
    by_own = facts.stragglers.get(worker)
    return RunFound(
        values={
            "worker": worker,
            "others": facts.loaded - 1,
            "steps": late.steps,
            "of": late.of_steps,
            "waited_ns": late.waited_ns,
            "step_ns": facts.step_ns,
            **_more_of(excess),
        },
        workers=(worker,),
        remedy=facts.on(worker, effect),
        changes=(no_straggler(),),
        bound=False,
        alone_ns=None if by_own is None else by_own.saving_ns,
        instances=() if excess is None else _spent_on(rank, PLACES.index(excess.place), excess.name),
        evidence=tuple(_lateness(late, excess)),
        links=(link("ddp_uneven"),),
        confidence="low" if late.of_steps < 2 else "medium" if facts.loaded == 2 or facts.is_partial else "high",
        refused=None if excess is not None else _NO_CAUSE,
    )


def _more_of(excess: Excess | None) -> dict[str, Value]:
    """Return the values of a sentence about the extra time of a rank."""
    if excess is None:
        return {"advice": ""}
    advice = excess.place
    if excess.kernels is not None:
        advice = "more" if excess.kernels > _MORE_KERNELS else "slower"
    values: dict[str, Value] = {
        "place": excess.place,
        "advice": advice,
        "excess_ns": excess.ns,
        "name": excess.name,
    }
    return {**values, "name_ns": excess.name_ns} if excess.name and excess.name_ns > 0 else values


def _lateness(late: Late, excess: Excess | None) -> Iterator[Evidence]:
    yield evidence("late_wait", late.waited_ns, "ns", "distributed")
    if late.z is not None:
        yield evidence("late_deviations", round(late.z, 1), "count", "distributed")
    if excess is not None:
        yield evidence("late_excess", excess.ns, "ns", "overview")


def _spent_on(rank: RunRank, label: int, name: str) -> tuple[RunInstance, ...]:
    """Return the longest pieces of what the rank spends more time on."""
    spent = rank.spent
    kind = next((number for number, each in enumerate(spent.kinds) if each == (label, name)), -1)
    if label == KERNELS:
        items = rank.graph.items
        chosen = spent.item[spent.of_item == kind]
        return rank.instances(
            items.row[chosen].astype(np.int64), name, items.start[chosen], items.duration[chosen], _LISTED
        )
    at = np.flatnonzero((spent.of_piece == kind) & (spent.row >= 0))
    pieces = spent.pieces.take(at)
    return rank.instances(spent.row[at], name, pieces.start, pieces.end - pieces.start, _LISTED)


@run_rule("R18", replaces=("waiting",))
def slow_host(facts: RunFacts) -> Iterator[RunFound]:
    """Find a rank whose launch calls take longer than those of the other ranks of its host."""
    calls = [_launches(each) for each in facts.ranks]
    by_node: dict[str, list[int]] = {}
    for number, place in enumerate(facts.distributed.places):
        if len(calls[number]) >= facts.limit("slow_host", "least_calls"):
            by_node.setdefault(place.node, []).append(number)
    for members in by_node.values():
        if len(members) < 3:
            continue
        of = [median(_durations(facts.ranks[k], calls[k])) for k in members]
        middle, z = from_the_middle(of, facts.limit("slow_host", "least_deviation"))
        for number, mine, far in zip(members, of, z.tolist(), strict=True):
            if far > facts.limit("slow_host", "deviations") and mine > facts.limit("slow_host", "least_ratio") * middle:
                yield _slow_launches(facts, number, calls[number], mine, middle)


def _launches(rank: RunRank) -> Int64:
    """Return the calls of the steps that start work."""
    steps, calls = rank.graph.steps, rank.graph.calls
    return np.flatnonzero((steps.on_host(calls.start) >= 0) & (calls.release >= 0))


def _durations(rank: RunRank, chosen: Int64) -> Int64:
    """Of some calls, ns."""
    return rank.graph.calls.end[chosen] - rank.graph.calls.start[chosen]


def _slow_launches(facts: RunFacts, number: int, chosen: Int64, mine: float, middle: float) -> RunFound:
    rank = facts.ranks[number]
    worker, calls = rank.rank.worker, rank.graph.calls
    factors = np.ones(len(Label))
    factors[Label.LAUNCH] = middle / mine
    row, start, duration = calls.row[chosen].astype(np.int64), calls.start[chosen], _durations(rank, chosen)
    return RunFound(
        values={"worker": worker, "mine_ns": mine, "middle_ns": middle, "calls": len(chosen)},
        workers=(worker,),
        remedy=facts.on(worker, ChangeEffect(labels=factors)),
        changes=(scale("launch", middle / mine),),
        bound=False,
        instances=rank.instances(row, "launch", start, duration, _LISTED),
        count=len(chosen),
        confidence="medium",
        evidence=(
            evidence("launch_median", mine, "ns", "overview"),
            evidence("launch_median_middle", middle, "ns", "overview"),
        ),
        links=(link("numa_binding"),),
    )


_IN_TURNS = ReplayRefusal("late_in_turns", "savings")


@run_rule("R44")
def waiting(facts: RunFacts) -> Iterator[RunFound]:
    """Communication that is mostly waiting for other ranks, now for this one, now for that one."""
    steps = steps_of_ranks(facts)
    if not steps.is_known:
        return
    wait, transfer = float(steps.waiting_ns.mean()), float(np.maximum(steps.transfer_ns, 0).mean())
    share = wait / steps.step_ns if steps.step_ns else 0.0
    if share <= facts.limit("waiting", "least_share") or wait <= transfer:
        return
    per_rank = steps.waiting_ns.mean(axis=1)
    most = int(per_rank.argmax())
    yield RunFound(
        values={
            "wait_ns": wait,
            "share": share,
            "transfer_ns": transfer,
            "worker": facts.ranks[most].rank.worker,
            "most_ns": float(per_rank[most]),
        },
        refused=_IN_TURNS,
        instances=_longest(each for rank in range(facts.loaded) for each in _waits(facts, rank)),
        confidence="medium" if facts.is_partial or len(steps.names) < 2 else "high",
        evidence=(
            evidence("wait_per_step", wait, "ns", "distributed"),
            evidence("transfer_per_step", transfer, "ns", "distributed"),
        ),
        links=(link("ddp_uneven"),),
    )


def _waits(facts: RunFacts, number: int) -> Iterator[RunInstance]:
    """Return the collectives with the longest waits of a rank."""
    rank, matching = facts.ranks[number], facts.distributed.matching
    communications, items = rank.rank.communications, rank.graph.items
    ranges = communications.ranges
    # the first range of an operation is where it waits
    first = np.flatnonzero(np.append(True, ranges.operation[1:] != ranges.operation[:-1])[: len(ranges.operation)])
    operation = ranges.operation[first]
    wait = (communications.duration - matching.transfer[number])[operation]
    chosen = np.flatnonzero(matching.is_known[number][operation] & (wait > 0) & (rank.rank.step[operation] >= 0))
    chosen = chosen[np.argsort(-wait[chosen], kind="stable")[:_LISTED]]
    of = items.is_communication
    at = dict(zip(items.start[of].tolist(), items.row[of].tolist(), strict=True))
    for k in chosen.tolist():
        start = int(ranges.start[first[k]])
        if start in at:
            name = communications.names[int(communications.operations.name[operation[k]])]
            yield from rank.instances(np.array([at[start]]), name, np.array([start]), np.array([int(wait[k])]), 1)


def _longest(found: Iterable[RunInstance]) -> tuple[RunInstance, ...]:
    return tuple(sorted(found, key=lambda one: -one.duration_ns)[:_LISTED])


_UNNAMED = ReplayRefusal("microbatches_unnamed", "savings")


@run_rule("R55", replaces=("exposed_transfer", "waiting"))
def pipeline_bubble(facts: RunFacts) -> Iterator[RunFound]:
    """Stages of a pipeline that wait for one another."""
    known = [rank.stage for rank in facts.ranks if rank.stage is not None]
    of = steps_of_ranks(facts)
    if not of.names or len(known) < facts.loaded:
        return
    step = of.step_ns
    at_stages = np.array([stage.wait_ns for stage in known]) * facts.loaded / facts.steps
    # who is done early waits in what comes after the pipeline: the exchange of gradients, or the clipping of their norm
    later = np.maximum(np.maximum(of.waiting_ns, 0).mean(axis=1) - _matched(facts) / len(of.names), 0)
    bubble = float((at_stages + later).mean())
    if bubble < facts.limit("pipeline_bubble", "least_share") * step or float(at_stages.mean()) < bubble / 2:
        return
    p, m = max(stage.stages for stage in known), max(stage.microbatches for stage in known)
    cause = RunFound(
        values={"wait_ns": bubble, "share": bubble / step, "stages": p},
        refused=_UNNAMED,
        instances=_longest(wait for rank in facts.ranks for wait in _stage_waits(rank)),
        confidence="medium",
        evidence=(evidence("stage_wait", bubble, "ns", "distributed"),),
        links=(link("pipelining"),),
    )
    if not m:
        yield cause
        return
    # a schedule that fills and drains computes in m of m + p − 1 slots; the rest is for stages that are unlike
    ideal = min((step - bubble) * (p - 1) / m, bubble)
    is_uneven = bubble - ideal > ideal
    shorter = bubble - ideal if is_uneven else ideal / 2
    yield replace(
        cause,
        values={**cause.values, "microbatches": m, "ideal_ns": ideal, "uneven": is_uneven},
        refused=None,
        remedy=tuple(
            (_shorter(rank, max(shorter - after, 0.0), wait, step - wait - after),)
            for rank, wait, after in zip(facts.ranks, at_stages.tolist(), later.tolist(), strict=True)
        ),
        changes=(collectives(0.5),),
        bound=False,
        evidence=(*cause.evidence, evidence("stage_ideal", ideal, "ns", "distributed")),
    )


def _matched(facts: RunFacts) -> Float64:
    """Shape (ranks,), ns: waiting in sends and receives whose partner is known, of all steps together."""
    kinds = [number for number, kind in enumerate(KINDS) if kind in POINT_TO_POINT]
    matching = facts.distributed.matching
    found = []
    for each, transfer, known in zip(facts.ranks, matching.transfer, matching.is_known, strict=True):
        communications = each.rank.communications
        mine = known & np.isin(communications.operations.kind, kinds) & (each.rank.step >= 0)
        found.append(np.maximum(communications.duration - transfer, 0)[mine].sum())
    return np.array(found, np.float64)


def _shorter(rank: RunRank, less: float, wait: float, computing: float) -> ChangeEffect:
    """Return what ends a stage earlier: it waits less, and where that is not enough, computes less. ns of a step."""
    items = rank.graph.items
    at_stages = rank.stage.item if rank.stage is not None else np.empty(0, np.int64)
    kernels = np.flatnonzero((items.kind == WorkKind.KERNEL) & ~items.is_communication)
    beyond = max(less - wait, 0.0)
    return ChangeEffect(
        work=(
            WorkEffect(at_stages, 1 - min(less / max(wait, 1.0), 1.0)),
            WorkEffect(kernels, 1 - min(beyond / max(computing, 1.0), 1.0)),
        )
    )


def _stage_waits(rank: RunRank) -> Sequence[RunInstance]:
    """Return the longest waits of a stage."""
    if rank.stage is None:
        return ()
    items, item = rank.graph.items, rank.stage.item
    row = items.row[item].astype(np.int64)
    return rank.instances(row, "send and receive", items.start[item], rank.stage.bare_ns, _LISTED)
