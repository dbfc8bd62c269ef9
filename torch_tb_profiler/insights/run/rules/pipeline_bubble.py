"""Stages of a pipeline that wait for one another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import collectives
from torch_tb_profiler.analysis.replay.effects import Effect, OnWork
from torch_tb_profiler.analysis.replay.inputs import Work
from torch_tb_profiler.analysis.replay.refusals import Refusal
from torch_tb_profiler.arrays.types import Float64
from torch_tb_profiler.insights.rule import Evidence, Link
from torch_tb_profiler.insights.run.facts import RunFacts, RunRank
from torch_tb_profiler.insights.run.instance import RunInstance
from torch_tb_profiler.insights.run.lateness import steps_of_ranks
from torch_tb_profiler.insights.run.rule import RunFound, RunRule
from torch_tb_profiler.insights.shared.wording import ms
from torch_tb_profiler.model.communication_names import KINDS, POINT_TO_POINT

_UNNAMED = Refusal(
    "microbatches_unnamed",
    "savings",
    "The traces do not name microbatches, so that it is not known how much of the waiting is for filling and draining "
    "the pipeline.",
)
_LISTED = 20


def _find(facts: RunFacts) -> Sequence[RunFound]:
    known = [each.stage for each in facts.ranks if each.stage is not None]
    of = steps_of_ranks(facts)
    if not of.names or len(known) < facts.loaded:
        return ()
    step = of.step_ns
    at_stages = np.array([each.wait_ns for each in known]) * facts.loaded / facts.steps
    # who is done early waits in what comes after the pipeline: the exchange of gradients, or the clipping of their norm
    later = np.maximum(np.maximum(of.waiting_ns, 0).mean(axis=1) - _matched(facts) / len(of.names), 0)
    bubble = float((at_stages + later).mean())
    if bubble < facts.limit(_ID, "least_share") * step or float(at_stages.mean()) < bubble / 2:
        return ()
    p, m = max(each.stages for each in known), max(each.microbatches for each in known)
    if not m:
        return (_unnamed(facts, bubble, step, p),)
    # a schedule that fills and drains computes in m of m + p − 1 slots; the rest is for stages that are unlike
    ideal = min((step - bubble) * (p - 1) / m, bubble)
    is_uneven = bubble - ideal > ideal
    shorter = bubble - ideal if is_uneven else ideal / 2
    remedy = tuple(
        (_shorter(rank, max(shorter - after, 0.0), wait, step - wait - after),)
        for rank, wait, after in zip(facts.ranks, at_stages.tolist(), later.tolist(), strict=True)
    )
    return (
        RunFound(
            title="Stages of the pipeline wait for one another",
            detail=(
                f"In an average step a stage waits {ms(bubble)} for others ({100 * bubble / step:.0f} %). {p} stages "
                f"and {m} microbatches need {ms(ideal)} of that to fill and drain the pipeline."
            ),
            advice=(
                "Give all stages the same work: the slowest one sets the pace. Move layers from it to the others, and "
                "count the embedding and the loss as layers."
                if is_uneven
                else "Split the batch into twice as many microbatches, which halves what filling and draining takes, "
                "or use `ScheduleInterleaved1F1B` or `ScheduleInterleavedZeroBubble` of `torch.distributed.pipelining`."
            ),
            values={
                "wait_ns": bubble,
                "share": bubble / step,
                "stages": p,
                "microbatches": m,
                "ideal_ns": ideal,
                "uneven": is_uneven,
            },
            remedy=remedy,
            changes=(collectives(0.5),),
            bound=False,
            instances=_instances(facts),
            confidence="medium",
            evidence=(
                _waited(bubble),
                Evidence("stage_ideal", "What filling and draining takes", ideal, "ns", "distributed"),
            ),
            links=(_SCHEDULES,),
        ),
    )


def _unnamed(facts: RunFacts, bubble: float, step: float, stages: int) -> RunFound:
    """What can be said where the traces do not name microbatches."""
    return RunFound(
        title="Stages of the pipeline wait for one another",
        detail=(
            f"In an average step one of {stages} stages waits {ms(bubble)} for others ({100 * bubble / step:.0f} %): "
            "while the pipeline fills and drains, and for stages that take longer."
        ),
        advice=(
            "Split the batch into more microbatches, or interleave the schedule: filling and draining then takes less. "
            "Where the waits of the stages differ, move layers from the slowest stage to the others."
        ),
        values={"wait_ns": bubble, "share": bubble / step, "stages": stages},
        refused=_UNNAMED,
        instances=_instances(facts),
        confidence="medium",
        evidence=(_waited(bubble),),
        links=(_SCHEDULES,),
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


def _waited(bubble: float) -> Evidence:
    return Evidence("stage_wait", "Waiting for other stages, average per step", bubble, "ns", "distributed")


def _shorter(rank: RunRank, less: float, wait: float, computing: float) -> Effect:
    """A stage that is done earlier: it waits less, and where that is not enough, has less to compute. ns of a step."""
    items = rank.graph.items
    waiting = rank.stage.item if rank.stage is not None else np.empty(0, np.int64)
    kernels = np.flatnonzero((items.kind == Work.KERNEL) & ~items.is_communication)
    beyond = max(less - wait, 0.0)
    return Effect(
        work=(
            OnWork(waiting, 1 - min(less / max(wait, 1.0), 1.0)),
            OnWork(kernels, 1 - min(beyond / max(computing, 1.0), 1.0)),
        )
    )


def _instances(facts: RunFacts) -> tuple[RunInstance, ...]:
    """The longest waits of all stages."""
    found: list[RunInstance] = []
    for rank in facts.ranks:
        if rank.stage is not None:
            items, item = rank.graph.items, rank.stage.item
            row = items.row[item].astype(np.int64)
            found += rank.instances(row, "send and receive", items.start[item], rank.stage.bare_ns, _LISTED)
    return tuple(sorted(found, key=lambda one: -one.duration_ns)[:_LISTED])


_ID = "pipeline_bubble"
_SCHEDULES = Link(
    "pipelining",
    "Schedules of torch.distributed.pipelining",
    "https://docs.pytorch.org/docs/stable/distributed.pipelining.html",
)
RULE = RunRule(_ID, "R55", _find, replaces=("exposed_transfer", "waiting"))
