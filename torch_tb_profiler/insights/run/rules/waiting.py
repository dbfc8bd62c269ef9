"""Communication that is mostly waiting for other ranks, now for this one, now for that one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.refusals import Refusal
from torch_tb_profiler.insights.rule import Evidence
from torch_tb_profiler.insights.run.facts import RunFacts
from torch_tb_profiler.insights.run.instance import RunInstance
from torch_tb_profiler.insights.run.lateness import steps_of_ranks
from torch_tb_profiler.insights.run.rule import RunFound, RunRule
from torch_tb_profiler.insights.shared.links import DDP_UNEVEN
from torch_tb_profiler.insights.shared.wording import ms

_CHANGES = Refusal(
    "late_in_turns",
    "savings",
    "No rank is late in most steps, so that a change of one rank does not remove this waiting. What is saved when "
    "ranks come at the same time depends on which of them becomes faster.",
)
_LISTED = 20


def _find(facts: RunFacts) -> Sequence[RunFound]:
    of = steps_of_ranks(facts)
    if not of.is_known:
        return ()
    wait, transfer = float(of.waiting_ns.mean()), float(np.maximum(of.transfer_ns, 0).mean())
    share = wait / of.step_ns if of.step_ns else 0.0
    if share <= facts.limit("waiting", "least_share") or wait <= transfer:
        return ()
    per_rank = of.waiting_ns.mean(axis=1)
    most = int(per_rank.argmax())
    worker = facts.ranks[most].rank.worker
    return (
        RunFound(
            title="Ranks wait for one another more than they transfer",
            detail=(
                f"In an average step a rank waits {ms(wait)} for others ({100 * share:.0f} %) in collectives whose "
                f"transfers take {ms(transfer)}; {worker} waits most, {ms(float(per_rank[most]))}."
            ),
            advice=(
                "Let ranks reach collectives at the same time: give them batches of the same size, and remove what "
                "takes another time on each rank (loading data, synchronizations, garbage collection). Faster links "
                "save nothing."
            ),
            values={
                "wait_ns": wait,
                "share": share,
                "transfer_ns": transfer,
                "worker": worker,
                "most_ns": float(per_rank[most]),
            },
            refused=_CHANGES,
            instances=_instances(facts),
            confidence="medium" if facts.is_partial or len(of.names) < 2 else "high",
            evidence=(
                Evidence("wait_per_step", "Waiting for other ranks, average per step", wait, "ns", "distributed"),
                Evidence("transfer_per_step", "Transfer, average per step", transfer, "ns", "distributed"),
            ),
            links=(DDP_UNEVEN,),
        ),
    )


def _instances(facts: RunFacts) -> tuple[RunInstance, ...]:
    """The collectives with the longest waits."""
    found: list[RunInstance] = []
    matching = facts.distributed.matching
    for each, transfer, known in zip(facts.ranks, matching.transfer, matching.is_known, strict=True):
        communications, items = each.rank.communications, each.graph.items
        ranges = communications.ranges
        # the first range of an operation is where it waits
        first = np.flatnonzero(np.append(True, ranges.operation[1:] != ranges.operation[:-1])[: len(ranges.operation)])
        operation = ranges.operation[first]
        wait = (communications.duration - transfer)[operation]
        chosen = np.flatnonzero(known[operation] & (wait > 0) & (each.rank.step[operation] >= 0))
        chosen = chosen[np.argsort(-wait[chosen], kind="stable")[:_LISTED]]
        of = items.is_communication
        at = dict(zip(items.start[of].tolist(), items.row[of].tolist(), strict=True))
        for k in chosen.tolist():
            start = int(ranges.start[first[k]])
            if start in at:
                name = communications.names[int(communications.operations.name[operation[k]])]
                found += each.instances(np.array([at[start]]), name, np.array([start]), np.array([int(wait[k])]), 1)
    return tuple(sorted(found, key=lambda one: -one.duration_ns)[:_LISTED])


RULE = RunRule("waiting", "R44", _find)
