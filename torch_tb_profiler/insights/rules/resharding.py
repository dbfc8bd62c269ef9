"""Weights of FSDP that are given up after the forward pass and gathered again, though there is memory to keep them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.memory.curve import memory_curves
from torch_tb_profiler.analysis.replay.changes import kernels
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import COMMUNICATION, DEVICE, HOST, MEMORY, PROPERTIES, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.collective_calls import FSDP, CollectiveCalls, bare, collective_calls, has_fsdp
from torch_tb_profiler.insights.shared.exposed import ONE_RANK
from torch_tb_profiler.insights.shared.wording import gibibytes
from torch_tb_profiler.ranks.bandwidth import volume


def _find(facts: Facts) -> Sequence[Found]:
    if not has_fsdp(facts):
        return ()
    calls = collective_calls(facts)
    known = calls.of.operations.on_device[calls.operation] & (calls.duration > 0) & (calls.in_bytes > 0)
    calls = calls.take(calls.are("all_gather") & known)
    again = _again(calls)
    if not len(again):
        return ()
    exposed = float((bare(facts, again) * again.duration).sum())
    kept = _most_kept(again)
    curves = memory_curves(facts.model).curves
    used = [(curve.peak.reserved + kept) / curve.device_bytes for curve in curves if curve.device_bytes]
    after = max(used, default=1.0)
    if (
        facts.share(exposed) < facts.limit(_ID, "least_share")
        or len(again) < facts.limit(_ID, "least_part") * (len(calls) - len(again))
        or after > facts.limit(_ID, "most_memory")
    ):
        return ()
    return (
        Found(
            title="FSDP gathers weights twice, though memory is left",
            detail=(
                f"{again.per_step:.0f} all-gathers of the backward pass of a step bring weights that its forward pass "
                f"had; nothing hides them for {100 * facts.share(exposed):.1f} % of the steps. With these weights "
                f"kept, {gibibytes(kept)}, {100 * after:.0f} % of the memory would be used."
            ),
            advice=(
                "Keep the weights from the forward to the backward pass: `fully_shard(block, "
                "reshard_after_forward=False)`, or "
                "`FullyShardedDataParallel(…, sharding_strategy=ShardingStrategy.SHARD_GRAD_OP)`."
            ),
            values={
                "calls": round(again.per_step),
                "share": facts.share(exposed),
                "kept_bytes": kept,
                "used": after,
            },
            rows=facts.longest_first(again.row),
            changes=(kernels(0, rows=again.row),),
            refused=ONE_RANK,
            confidence="medium",
            evidence=(
                Evidence("gathered_again", "Weights gathered again, per step", again.per_step, "count", "distributed"),
                Evidence("kept_weights", "Memory of weights that are kept", kept, "bytes", "memory"),
            ),
            links=(
                Link(
                    "fsdp_reshard",
                    "reshard_after_forward of fully_shard",
                    "https://docs.pytorch.org/docs/stable/distributed.fsdp.fully_shard.html"
                    "#torch.distributed.fsdp.fully_shard",
                ),
            ),
        ),
    )


def _in_backward(name: str) -> bool:
    return name.startswith("autograd::engine::") or (name.startswith(FSDP) and "backward" in name)


def _again(calls: CollectiveCalls) -> CollectiveCalls:
    """Gathers of the backward pass for which the forward pass of their step has one of the same size and group."""
    backward = calls.inside(_in_backward)
    group = calls.of.operations.group[calls.operation]
    keys = list(zip(calls.step.tolist(), group.tolist(), calls.in_bytes.tolist(), strict=True))
    left = Counter(key for key, is_again in zip(keys, backward.tolist(), strict=True) if not is_again)
    chosen = np.zeros(len(calls), np.bool_)
    for at in np.flatnonzero(backward).tolist():
        chosen[at] = left[keys[at]] > 0
        left[keys[at]] -= 1
    return calls.take(chosen)


def _most_kept(calls: CollectiveCalls) -> int:
    """Bytes of all weights of these gathers, in the step where they are most."""
    of, groups = calls.of.operations.take(calls.operation), calls.of.groups
    sizes = zip(of.in_bytes.tolist(), of.out_bytes.tolist(), of.group.tolist(), strict=True)
    size = [volume("all_gather", given, got, groups[number].size) or 0 for given, got, number in sizes]
    return int(np.bincount(calls.step, np.array(size, np.float64)).max())


_ID = "resharding"
RULE = Rule(_ID, "R54", (STEPS, HOST, DEVICE, COMMUNICATION, MEMORY, PROPERTIES), _find, over_ranks=True)
