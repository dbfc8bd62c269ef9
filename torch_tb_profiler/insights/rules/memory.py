"""Memory that is nearly full, unused, in pieces, grows, or is got from the driver again and again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from torch_tb_profiler.analysis.device_use import device_use
from torch_tb_profiler.analysis.memory.records import CPU, MemoryCurve, memory_curves, memory_records
from torch_tb_profiler.analysis.replay.changes import free, kernels, without
from torch_tb_profiler.analysis.shared.backward_links import recomputed
from torch_tb_profiler.analysis.shared.kernel_use import durations, is_compute
from torch_tb_profiler.arrays.grouping import each_value
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Int32
from torch_tb_profiler.insights.facts import CALLS, DEVICE, HOST, MEMORY, PROPERTIES, STEPS, Facts
from torch_tb_profiler.insights.rule import Found, evidence, link, rule
from torch_tb_profiler.insights.shared.allocations import (
    Allocations,
    allocations_of,
    freeing_waits,
    in_steady_state,
)
from torch_tb_profiler.trace import Category

#: requests up to this many bytes are served from segments of 2 MiB (`kSmallSize` of the allocator)
_SMALL = 1 << 20


@rule("R37", STEPS, HOST, DEVICE, MEMORY, PROPERTIES)
def recompute(facts: Facts) -> Iterator[Found]:
    """Find a forward pass that is computed twice, though memory is left."""
    model, tree = facts.model, facts.model.tree
    nodes = recomputed(model)
    nodes = nodes[facts.step_of(tree.row[nodes]) >= 0]
    used = [curve.peak.reserved / curve.device_bytes for curve in memory_curves(model).curves if curve.device_bytes]
    if not len(nodes) or not used or max(used) >= facts.limit("recompute", "most_memory"):
        return
    is_again = np.zeros(len(tree), np.bool_)
    is_again[nodes] = True
    inside = nearest(tree.parent, is_again, model.device_links.node) >= 0
    work = model.device_work.row[
        inside & (model.device_category == Category.KERNEL) & ~model.device_links.is_communication
    ]
    rows = tree.row[nodes]
    spent = int(facts.duration(work).sum())
    share = facts.share(spent)
    if share < facts.limit("recompute", "least_share"):
        return
    yield Found(
        values={"share": share, "used": max(used)},
        rows=facts.longest_first(rows),
        changes=(free(rows=rows.tolist()), kernels(0.0, rows=work.tolist())),
        evidence=(
            evidence("recompute_ns", spent / facts.steps, "ns", "kernels"),
            evidence("memory_used", max(used), "fraction", "memory"),
        ),
        confidence="medium",
        links=(link("selective_checkpointing"),),
    )


@rule("R38", MEMORY, PROPERTIES)
def memory_limit(facts: Facts) -> Iterator[Found]:
    """Device memory is nearly full."""
    model, memory = facts.model, facts.model.memory
    known = np.flatnonzero((memory.device_type != CPU) & (memory.device >= 0) & (memory.total_allocated >= 0))
    for device, of_device in each_value(memory.device[known]):
        here = known[of_device]
        highest = int(here[np.argmax(memory.total_allocated[here])])
        peak = int(memory.total_allocated[highest])
        capacity = (model.trace.header.device(device) or {}).get("totalGlobalMem")
        if not isinstance(capacity, int) or capacity <= 0:
            continue
        # to be saved until it is not nearly full any more
        above = peak - int(facts.limit("memory_limit", "peak_share") * capacity)
        if above <= 0:
            continue
        yield Found(
            values={"share": peak / capacity, "capacity_bytes": capacity, "gpu": device},
            severity="medium",
            rows=memory.row[highest : highest + 1],
            evidence=(
                evidence("peak_allocated", peak, "bytes", "memory", gpu=device),
                evidence("gpu_memory", capacity, "bytes", "memory", gpu=device),
                evidence("memory_to_save", above, "bytes", "memory", gpu=device),
            ),
            links=(link("checkpointing"),),
        )


@rule("R39", STEPS, HOST, DEVICE, MEMORY, PROPERTIES)
def unused_memory(facts: Facts) -> Iterator[Found]:
    """Most memory of the device is free, and kernels are small: a larger batch would fit."""
    if not facts.is_training:
        return
    model = facts.model
    curves = [curve for curve in memory_curves(model).curves if curve.device_bytes]
    busy = {use.id: use.busy for use in device_use(model) if use.busy is not None}
    if not curves or not busy:
        return
    fullest = max(curves, key=lambda curve: int(curve.reserved.max()) / (curve.device_bytes or 1))
    device, capacity = fullest.device.number, fullest.device_bytes or 1
    used = max(int(fullest.reserved.max()), fullest.peak.allocated) / capacity
    small = _share_of_small_kernels(facts, device)
    if (
        used >= facts.limit("unused_memory", "most_used")
        or busy.get(device, 0.0) < facts.limit("unused_memory", "least_busy")
        or small < facts.limit("unused_memory", "least_small_share")
    ):
        return
    yield Found(
        values={
            "used": used,
            "capacity_bytes": capacity,
            "gpu": device,
            "small": small,
            "small_ns": facts.limit("unused_memory", "small_ns"),
        },
        evidence=(
            evidence("memory_used", used, "fraction", "memory", gpu=device),
            evidence("small_kernels", small, "fraction", "kernels"),
            evidence("busy", busy[device], "fraction", "overview", gpu=device),
        ),
        confidence="low",
        links=(link("batch_size"),),
    )


def _share_of_small_kernels(facts: Facts, device: int) -> float:
    """Of the time of the compute kernels of a device, 0…1."""
    model = facts.model
    chosen = is_compute(model) & (model.device_work.device == device) & (facts.step_of(model.device_work.row) >= 0)
    time = durations(model)[chosen]
    whole = int(time.sum())
    small = int(np.where(time < facts.limit("unused_memory", "small_ns"), time, 0).sum())
    return small / whole if whole else 0.0


@rule("R40", STEPS, CALLS)
def allocator_churn(facts: Facts) -> Iterator[Found]:
    """Memory of the device is got from the driver, and given back, in every step."""
    calls = allocations_of(facts).of_device()
    off, steady = _is_off(facts, calls), in_steady_state(facts, calls)
    # a program that warms up only allocates: releases to make room are reported from the second step on
    retried = calls.retries & (facts.step_of(calls.row) > 0)
    if not off and not steady and not retried.any():
        return
    waits = facts.in_steps(freeing_waits(facts.model))
    rows = facts.longest_first(calls.row)
    n, took = facts.steps, float(facts.duration(rows).sum() + facts.duration(waits).sum())
    least = facts.limit("allocator_churn", "least_ns") * (n if off or steady else 1)
    if took < least or facts.share(took) < facts.limit("allocator_churn", "least_share"):
        return
    given = int(np.count_nonzero(calls.releases))
    yield Found(
        values={
            "calls": len(rows),
            "steps": n,
            "ns": took / n,
            "step_ns": facts.step_ns,
            "call": _heaviest(facts, calls),
            "waits": len(waits),
            "why": "off" if off else "emptied" if _is_emptied(calls) else "full" if steady else "retried",
        },
        rows=rows,
        changes=(free(rows=calls.row), *([without("sync", rows=waits)] if len(waits) else [])),
        evidence=(
            evidence("allocator_per_step", took / n, "ns", "trace"),
            evidence("allocations", (len(rows) - given) / n, "count", "trace"),
            evidence("releases", given / n, "count", "trace"),
        ),
        links=(link("memory_management"),),
        confidence="high" if off else "medium",
    )


def _is_off(facts: Facts, calls: Allocations) -> bool:
    """Tell whether operators that once asked the driver do so nearly each time, and nearly all of it is given back.

    With a cache an operator asks at first, and little is ever given back.
    """
    asks = calls.take(~calls.releases)
    if len(asks) < facts.limit("allocator_churn", "fewest_when_off") or np.count_nonzero(calls.releases) < facts.limit(
        "allocator_churn", "least_released"
    ) * len(asks):
        return False
    # to the end of the recording
    start = facts.trace.events.start[asks.row]
    steps = facts.model.steps
    middle = (int(steps.host_start[0]) + int(steps.host_end[-1])) // 2
    if np.count_nonzero(start >= middle) < facts.limit("allocator_churn", "least_late") * len(asks):
        return False
    return calls.asking_share >= facts.limit("allocator_churn", "least_asking")


def _is_emptied(found: Allocations) -> bool:
    """Tell whether most releases are outside of operators: an operator that finds no room releases inside itself."""
    outside = found.releases & (found.operator < 0)
    return 2 * int(np.count_nonzero(outside)) > int(np.count_nonzero(found.releases))


def _heaviest(facts: Facts, found: Allocations) -> str:
    names = facts.trace.events.name[found.row]
    return str(facts.trace.strings[int(np.bincount(names, facts.duration(found.row)).argmax())])


@rule("R40", STEPS, CALLS)
def host_allocation(facts: Facts) -> Iterator[Found]:
    """Pinned memory of the host is allocated in every step."""
    found = allocations_of(facts).of_host()
    rows = facts.longest_first(found.row)
    n, took = facts.steps, float(facts.duration(rows).sum())
    if not in_steady_state(facts, found, released=False) or facts.share(took) < facts.limit(
        "host_allocation", "least_share"
    ):
        return
    name = str(facts.trace.strings[facts.trace.events.name[rows[0]]])
    yield Found(
        values={"calls": len(rows), "steps": n, "call": name, "ns": took / n, "step_ns": facts.step_ns},
        rows=rows,
        changes=(free(rows=rows),),
        evidence=(
            evidence("allocator_per_step", took / n, "ns", "trace"),
            evidence("pinned_calls", len(rows) / n, "count", "trace"),
        ),
        links=(link("pinned_memory"),),
        confidence="medium",
    )


@rule("R41", MEMORY)
def fragmentation(facts: Facts) -> Iterator[Found]:
    """Find that the allocator reserves more memory though much of what it has is free: it is in pieces."""
    for curve in memory_curves(facts.model).curves:
        if curve.device.type != CPU and len(curve) > 1:
            yield from _fragmentation_of(facts, curve)


def _fragmentation_of(facts: Facts, curve: MemoryCurve) -> Iterator[Found]:
    """Find requests that would fit into what is free, and yet need more memory: it is in pieces."""
    grown = np.diff(curve.reserved)
    unused = curve.reserved[:-1] - curve.allocated[:-1]
    least = facts.limit("fragmentation", "least_share") * curve.reserved[:-1]
    large = facts.limit("fragmentation", "least_bytes")
    # small requests have segments of their own
    records = memory_records(facts.model)
    asked = records.bytes[curve.position[1:]] > _SMALL
    growths = np.flatnonzero(asked & (grown > 0) & (unused >= least) & (unused >= large) & (unused >= 2 * grown))
    held, reserved = curve.device_bytes, int(curve.reserved.max())
    # where little is reserved there is enough
    if not len(growths) or (held is not None and reserved < facts.limit("fragmentation", "least_reserved") * held):
        return
    growths = growths[np.argsort(-unused[growths], kind="stable")]
    most, total = int(unused[growths[0]]), int(curve.reserved[growths[0]])
    number = curve.device.number
    yield Found(
        values={"times": len(growths), "device": curve.device.name, "unused_bytes": most, "share": most / total},
        rows=facts.model.memory.row[records.entry[curve.position[growths + 1]]],
        severity="medium" if held is not None and reserved > 0.8 * held else "low",
        confidence="medium",  # what another stream holds is free to that one alone
        evidence=(
            evidence("unused_reserved", most, "bytes", "memory", gpu=number),
            evidence("most_reserved", reserved, "bytes", "memory", gpu=number),
        ),
        links=(link("expandable_segments"),),
    )


@rule("R42", STEPS, MEMORY)
def memory_growth(facts: Facts) -> Iterator[Found]:
    """Memory that grows from step to step, as of a leak."""
    # inference may fill its cache
    if not facts.is_training or facts.steps < facts.limit("memory_growth", "least_steps"):
        return
    for curve in memory_curves(facts.model).curves:
        yield from _growth_of(facts, curve)


def _growth_of(facts: Facts, curve: MemoryCurve) -> Iterator[Found]:
    """Find memory that grows in every step but the first, in which optimizers and caches are filled."""
    held = [int(curve.last_at(end).allocated) for end in facts.model.steps.host_end.tolist()]
    grown = np.diff(held)
    mean = int(grown.mean())
    least = max(facts.limit("memory_growth", "least_share") * held[0], facts.limit("memory_growth", "least_bytes"))
    # every step, and by about the same
    if int(grown.min()) < least or int(grown.max()) > 2 * int(grown.min()):
        return
    rows = _never_released(facts, curve)
    if not len(rows):
        return
    number = curve.device.number if curve.device.number >= 0 else None
    yield Found(
        values={
            "mean_bytes": mean,
            "device": curve.device.name,
            "first_bytes": held[0],
            "last_bytes": held[-1],
            "steps": facts.steps,
        },
        rows=rows,
        severity="medium",
        confidence="medium",
        evidence=(
            evidence("growth", mean, "bytes", "memory", gpu=number),
            evidence("in_use_at_end", held[-1], "bytes", "memory", gpu=number),
        ),
        links=(link("memory_faq"),),
    )


def _never_released(facts: Facts, curve: MemoryCurve) -> Int32:
    """Allocations of all steps but the last that were not released, the largest first."""
    records, steps = memory_records(facts.model), facts.model.steps
    device = records.device_index(curve.device.name)
    kept = np.flatnonzero(
        (records.device == (-1 if device is None else device))
        & records.is_allocation
        & (records.mate < 0)
        & (records.time >= steps.host_start[0])
        & (records.time < steps.host_since[-1])
    )
    kept = kept[np.argsort(-records.bytes[kept], kind="stable")]
    found: Int32 = facts.model.memory.row[records.entry[kept]]
    return found
