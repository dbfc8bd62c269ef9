"""Weights of FSDP that are gathered only when they are needed."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.analysis.replay.changes import kernels
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import COMMUNICATION, DEVICE, HOST, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.collective_calls import bare, collective_calls, has_fsdp
from torch_tb_profiler.insights.shared.exposed import ONE_RANK


def _find(facts: Facts) -> Sequence[Found]:
    if not has_fsdp(facts):
        return ()
    calls = collective_calls(facts)
    on_device = calls.of.operations.on_device[calls.operation]
    calls = calls.take(calls.are("all_gather") & on_device & (calls.duration > 0))
    if not len(calls):
        return ()
    part = bare(facts, calls)
    chosen = part >= facts.limit("late_gathers", "least_bare")
    late = calls.take(chosen)
    ns = float((part * calls.duration)[chosen].sum())
    if late.per_step < facts.limit("late_gathers", "least_per_step") or facts.share(ns) < facts.limit(
        "late_gathers", "least_share"
    ):
        return ()
    return (
        Found(
            title="FSDP gathers weights only when they are needed",
            detail=(
                f"During {len(late)} of {len(calls)} all-gathers of weights nothing is computed: "
                f"{100 * facts.share(ns):.1f} % of the steps."
            ),
            advice=(
                "Gather the weights of the next block while this one computes: "
                "`module.set_modules_to_forward_prefetch([…])` of `fully_shard`, or "
                "`FullyShardedDataParallel(…, forward_prefetch=True, limit_all_gathers=True, "
                "backward_prefetch=BackwardPrefetch.BACKWARD_PRE)`."
            ),
            values={"late": len(late), "all": len(calls), "share": facts.share(ns)},
            rows=facts.longest_first(late.row),
            changes=(kernels(0, rows=late.row),),
            refused=ONE_RANK,
            confidence="medium",
            evidence=(
                Evidence("late_gathers", "All-gathers that nothing hides", len(late), "count", "distributed"),
                Evidence("late_gather_time", "Their time, average per step", ns / facts.steps, "ns", "distributed"),
            ),
            links=(
                Link(
                    "fsdp_prefetch",
                    "Prefetching of fully_shard",
                    "https://docs.pytorch.org/docs/stable/distributed.fsdp.fully_shard.html",
                ),
            ),
        ),
    )


RULE = Rule("late_gathers", "R53", (STEPS, HOST, DEVICE, COMMUNICATION), _find, over_ranks=True)
