"""Many layers of SyncBatchNorm, each of which exchanges its statistics on its own."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.analysis.replay.changes import kernels
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import COMMUNICATION, HOST, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.collective_calls import collective_calls
from torch_tb_profiler.insights.shared.exposed import ONE_RANK
from torch_tb_profiler.late_pattern import late_pattern

_NAME = late_pattern(r"^SyncBatchNorm(?:Backward)?$")


def is_sync_batchnorm(name: str) -> bool:
    """Whether an operator is a SyncBatchNorm, forward or backward."""
    return _NAME.match(name) is not None


def _find(facts: Facts) -> Sequence[Found]:
    calls = collective_calls(facts)
    calls = calls.take(calls.inside(is_sync_batchnorm))
    if calls.per_step <= facts.limit("sync_batchnorm", "least_per_step"):
        return ()
    spent = float(calls.duration.sum()) / facts.steps
    return (
        Found(
            title="SyncBatchNorm exchanges statistics many times",
            detail=(
                f"{calls.per_step:.0f} collectives a step are those of SyncBatchNorm, which all later work waits for."
            ),
            advice=(
                "With enough samples on each rank an ordinary `BatchNorm2d` works as well: leave out "
                "`convert_sync_batchnorm`, or use `GroupNorm`, which needs no other rank."
            ),
            values={"calls": round(calls.per_step)},
            rows=facts.longest_first(calls.row),
            changes=(kernels(0, rows=calls.row),),
            refused=ONE_RANK,
            confidence="medium",
            evidence=(
                Evidence(
                    "sync_batchnorm_calls",
                    "Collectives of SyncBatchNorm, per step",
                    calls.per_step,
                    "count",
                    "distributed",
                ),
                Evidence("sync_batchnorm_time", "Their time, average per step", spent, "ns", "distributed"),
            ),
            links=(
                Link(
                    "sync_batchnorm",
                    "SyncBatchNorm",
                    "https://docs.pytorch.org/docs/stable/generated/torch.nn.SyncBatchNorm.html",
                ),
            ),
        ),
    )


RULE = Rule("sync_batchnorm", "R57", (STEPS, HOST, COMMUNICATION), _find, over_ranks=True)
