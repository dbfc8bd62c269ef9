"""Weights of FSDP that are gathered only when they are needed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import kernels
from torch_tb_profiler.analysis.shared.device_roles import device_spans
from torch_tb_profiler.analysis.shared.kernel_use import is_compute
from torch_tb_profiler.arrays.intervals import union_of
from torch_tb_profiler.arrays.types import Float64
from torch_tb_profiler.insights.collective_calls import CollectiveCalls, collective_calls
from torch_tb_profiler.insights.exposed import ONE_RANK
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import COMMUNICATION, DEVICE, HOST, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule

_FSDP = ("FSDP::", "FullyShardedDataParallel.")


def _find(facts: Facts) -> Sequence[Found]:
    tree, strings = facts.model.structure.tree, facts.trace.strings
    if not strings.where(lambda name: name.startswith(_FSDP), tree.name)[tree.name].any():
        return ()
    calls = collective_calls(facts)
    on_device = calls.of.operations.on_device[calls.operation]
    calls = calls.take(calls.are("all_gather") & on_device & (calls.duration > 0))
    if not len(calls):
        return ()
    bare = _bare(facts, calls)
    chosen = bare >= facts.limit("late_gathers", "least_bare")
    late = calls.take(chosen)
    ns = float((bare * calls.duration)[chosen].sum())
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


def _bare(facts: Facts, calls: CollectiveCalls) -> Float64:
    """Shape (calls,): the part of each in which nothing is computed, 0…1; of their last range to the end."""
    computing = union_of(device_spans(facts.model, is_compute(facts.model)))
    end = calls.start + calls.duration
    before = np.concatenate(([0], np.cumsum(computing.end - computing.start)))

    def until(time: Float64) -> Float64:
        """Σ of computing until some times."""
        at = np.searchsorted(computing.start, time, side="right")
        inside = np.maximum(np.append(computing.end, 0)[at - 1] - time, 0) * (at > 0)
        found: Float64 = before[at] - inside
        return found

    return 1 - (until(end.astype(np.float64)) - until(calls.start.astype(np.float64))) / calls.duration


RULE = Rule("late_gathers", "R53", (STEPS, HOST, DEVICE, COMMUNICATION), _find, over_ranks=True)
