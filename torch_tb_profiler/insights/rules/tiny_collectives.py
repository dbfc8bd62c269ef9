"""Many collectives so small that each takes its latency, and no more for its size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import merged_collectives
from torch_tb_profiler.arrays.order import percentile
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import COMMUNICATION, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.rules.sync_batchnorm import is_sync_batchnorm
from torch_tb_profiler.insights.shared.collective_calls import CollectiveCalls, collective_calls
from torch_tb_profiler.insights.shared.exposed import ONE_RANK


def _find(facts: Facts) -> Sequence[Found]:
    calls = collective_calls(facts)
    small = (calls.in_bytes >= 0) & (calls.in_bytes < facts.limit("tiny_collectives", "small_bytes"))
    tiny = calls.take(small & calls.are("all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce"))
    tiny = tiny.take(~tiny.inside(is_sync_batchnorm))  # these depend on one another
    if tiny.per_step <= facts.limit("tiny_collectives", "least_per_step"):
        return ()
    groups = _groups(tiny)
    largest = int(tiny.in_bytes.max())
    return (
        Found(
            title="Many tiny collectives",
            detail=(
                f"{tiny.per_step:.0f} collectives a step send less than "
                f"{facts.limit('tiny_collectives', 'small_bytes') / 1024:.0f} KiB each: they take their latency, "
                "whatever they send."
            ),
            advice=(
                "Send many tensors at once: gradients in buckets (`DistributedDataParallel(…, bucket_cap_mb=…)`), "
                "others packed into one tensor with `torch.cat`."
            ),
            values={
                "calls": round(tiny.per_step),
                "kilobytes": round(facts.limit("tiny_collectives", "small_bytes") / 1024),
                "largest": largest,
            },
            rows=facts.longest_first(tiny.row),
            changes=(merged_collectives(groups, int(percentile(tiny.duration, 10))),) if groups else (),
            refused=ONE_RANK,
            evidence=(
                Evidence(
                    "tiny_collectives_per_step", "Tiny collectives, per step", tiny.per_step, "count", "distributed"
                ),
                Evidence(
                    "tiny_collectives_time",
                    "Their time, average per step",
                    float(tiny.duration.sum()) / facts.steps,
                    "ns",
                    "distributed",
                ),
            ),
            links=(
                Link(
                    "ddp_buckets",
                    "Buckets of DistributedDataParallel",
                    "https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html",
                ),
            ),
        ),
    )


def _groups(tiny: CollectiveCalls) -> list[list[int]]:
    """Rows of those that follow one another in a step, with the same kind, process group and element type."""
    of = tiny.of.operations
    key = np.stack((tiny.step, of.kind[tiny.operation], of.group[tiny.operation], of.dtype[tiny.operation]), axis=1)
    begins = np.flatnonzero(np.append(True, (key[1:] != key[:-1]).any(axis=1)))
    return [part.tolist() for part in np.split(tiny.row, begins[1:]) if len(part) > 1]


RULE = Rule("tiny_collectives", "R48", (STEPS, COMMUNICATION), _find, over_ranks=True)
