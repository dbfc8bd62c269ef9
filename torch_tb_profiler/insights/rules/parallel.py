"""Models on several devices: DataParallel, DistributedDataParallel, and weights that FSDP gathers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from torch_tb_profiler.analysis.memory.records import memory_curves
from torch_tb_profiler.analysis.replay.changes import free, kernels
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.insights.facts import COMMUNICATION, DEVICE, HOST, MEMORY, PROPERTIES, STEPS, Facts
from torch_tb_profiler.insights.rule import Found, evidence, has_host_range, link, rule
from torch_tb_profiler.insights.shared.collective_calls import (
    FSDP,
    CollectiveCalls,
    collective_calls,
    exposed_share,
    has_fsdp,
)
from torch_tb_profiler.insights.shared.communication import ONE_RANK, exposed_communication
from torch_tb_profiler.insights.shared.matmuls import step_matmuls
from torch_tb_profiler.model.communication import nccl_tests_bytes


@rule("R49", HOST, DEVICE)
def data_parallel(facts: Facts) -> Iterator[Found]:
    """DataParallel on several devices."""
    devices = facts.model.used_devices
    if len(devices) < 2 or not has_host_range(facts.model, "DataParallel.forward"):
        return
    yield Found(
        values={"devices": len(devices)},
        severity="medium",
        evidence=(evidence("devices_in_use", len(devices), "count", "overview"),),
        links=(link("ddp_instead"),),
    )


@rule("R51", STEPS, DEVICE, COMMUNICATION, over_ranks=True)
def fp32_gradients(facts: Facts) -> Iterator[Found]:
    """Gradients that are all-reduced in 32 bits, though the model computes in 16."""
    exposed = exposed_communication(facts)
    if exposed is None or not facts.is_training:
        return
    halves = _halves(facts)
    if halves < facts.limit("fp32_gradients", "least_share_of_products"):
        return
    calls = collective_calls(facts)
    calls = calls.take(calls.has_kind("all_reduce") & (calls.in_bytes > 0))
    names = [each.lower() in ("float", "float32", "c10::float") for each in calls.of.dtypes]
    singles = calls.take(np.array(names, np.bool_)[calls.of.operations.dtype[calls.operation]])
    total, wide = int(calls.in_bytes.sum()), int(singles.in_bytes.sum())
    per_step = wide / max(facts.steps, 1)
    if wide < facts.limit("fp32_gradients", "least_share_of_bytes") * total or per_step < facts.limit(
        "fp32_gradients", "least_bytes"
    ):
        return
    yield Found(
        values={"share": wide / total, "bytes": round(per_step), "products": halves},
        rows=facts.longest_first(singles.row),
        changes=(kernels(0.5, rows=singles.row),),
        refused=ONE_RANK,
        confidence="medium",
        evidence=(exposed.evidence, evidence("fp32_bytes", per_step, "bytes", "distributed")),
        links=(link("bf16_compress_hook"),),
    )


def _halves(facts: Facts) -> float:
    """Return the share of 16 bits in the time of matmuls and convolutions, 0…1; 0 where they are unknown."""
    matmuls = step_matmuls(facts)
    if matmuls is None:
        return 0.0
    whole = np.ones(len(matmuls.chosen), np.bool_)
    return matmuls.time(matmuls.has_element("bf16", "fp16")) / max(matmuls.time(whole), 1)


_SEARCH = "torch.distributed.ddp.reducer::search_unused_parameters"


@rule("R52", STEPS, HOST)
def unused_parameters(facts: Facts) -> Iterator[Found]:
    """DistributedDataParallel that looks for unused parameters in every step."""
    tree = facts.model.structure.tree
    code = facts.trace.strings.code(_SEARCH)
    if code < 0 or not len(tree):
        return
    rows = facts.in_steps(tree.row[tree.name == code])
    in_steps = len(distinct(facts.step_of(rows)))
    # a static graph is searched once
    if in_steps < 2 or 2 * in_steps < facts.steps:
        return
    spent = int(facts.duration(rows).sum())
    if facts.share(spent) < facts.limit("unused_parameters", "least_share"):
        return
    yield Found(
        values={"calls": len(rows), "share": facts.share(spent)},
        rows=facts.longest_first(rows),
        changes=(free(rows=rows),),
        evidence=(evidence("unused_search", spent / facts.steps, "ns", "operators"),),
        links=(link("ddp_unused"),),
    )


@rule("R53", STEPS, HOST, DEVICE, COMMUNICATION, over_ranks=True)
def late_gathers(facts: Facts) -> Iterator[Found]:
    """Weights of FSDP that are gathered only when they are needed."""
    if not has_fsdp(facts):
        return
    calls = collective_calls(facts)
    on_device = calls.of.operations.on_device[calls.operation]
    calls = calls.take(calls.has_kind("all_gather") & on_device & (calls.duration > 0))
    if not len(calls):
        return
    part = exposed_share(facts, calls)
    chosen = part >= facts.limit("late_gathers", "least_bare")
    late = calls.take(chosen)
    ns = float((part * calls.duration)[chosen].sum())
    if late.per_step < facts.limit("late_gathers", "least_per_step") or facts.share(ns) < facts.limit(
        "late_gathers", "least_share"
    ):
        return
    yield Found(
        values={"late": len(late), "all": len(calls), "share": facts.share(ns)},
        rows=facts.longest_first(late.row),
        changes=(kernels(0, rows=late.row),),
        refused=ONE_RANK,
        confidence="medium",
        evidence=(
            evidence("late_gathers", len(late), "count", "distributed"),
            evidence("late_gather_time", ns / facts.steps, "ns", "distributed"),
        ),
        links=(link("fsdp_prefetch"),),
    )


@rule("R54", STEPS, HOST, DEVICE, COMMUNICATION, MEMORY, PROPERTIES, over_ranks=True)
def resharding(facts: Facts) -> Iterator[Found]:
    """Weights of FSDP that are given up after the forward pass and gathered again, though there is memory for them."""
    if not has_fsdp(facts):
        return
    calls = collective_calls(facts)
    known = calls.of.operations.on_device[calls.operation] & (calls.duration > 0) & (calls.in_bytes > 0)
    calls = calls.take(calls.has_kind("all_gather") & known)
    again = _again(calls)
    if not len(again):
        return
    share = facts.share(float((exposed_share(facts, again) * again.duration).sum()))
    kept = _most_kept(again)
    curves = memory_curves(facts.model).curves
    used = [(curve.peak.reserved + kept) / curve.device_bytes for curve in curves if curve.device_bytes]
    after = max(used, default=1.0)
    if (
        share < facts.limit("resharding", "least_share")
        or len(again) < facts.limit("resharding", "least_part") * (len(calls) - len(again))
        or after > facts.limit("resharding", "most_memory")
    ):
        return
    yield Found(
        values={"calls": round(again.per_step), "share": share, "kept_bytes": kept, "used": after},
        rows=facts.longest_first(again.row),
        changes=(kernels(0, rows=again.row),),
        refused=ONE_RANK,
        confidence="medium",
        evidence=(
            evidence("gathered_again", again.per_step, "count", "distributed"),
            evidence("kept_weights", kept, "bytes", "memory"),
        ),
        links=(link("fsdp_reshard"),),
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
    size = [nccl_tests_bytes("all_gather", given, got, groups[number].size) or 0 for given, got, number in sizes]
    return int(np.bincount(calls.step, np.array(size, np.float64)).max())
