"""Most memory of the device is free, and kernels are small: a larger batch would fit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.device_use import device_use
from torch_tb_profiler.analysis.memory.curve import memory_curves
from torch_tb_profiler.analysis.shared.kernel_use import durations, is_compute
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import DEVICE, HOST, MEMORY, PROPERTIES, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule


def _find(facts: Facts) -> Sequence[Found]:
    if not facts.is_training:
        return ()
    model = facts.model
    curves = [curve for curve in memory_curves(model).curves if curve.device_bytes]
    busy = {use.id: use.busy for use in device_use(model) if use.busy is not None}
    if not curves or not busy:
        return ()
    fullest = max(curves, key=lambda curve: int(curve.reserved.max()) / (curve.device_bytes or 1))
    device, capacity = fullest.device.number, fullest.device_bytes or 1
    used = max(int(fullest.reserved.max()), fullest.peak.allocated) / capacity
    small = _share_of_small_kernels(facts, device)
    if (
        used >= facts.limit("unused_memory", "most_used")
        or busy.get(device, 0.0) < facts.limit("unused_memory", "least_busy")
        or small < facts.limit("unused_memory", "least_small_share")
    ):
        return ()
    return (
        Found(
            title="Most memory of the device is not used",
            detail=(
                f"At most {100 * used:.0f} % of the {capacity / 2**30:.1f} GiB of GPU {device} is reserved, and "
                f"kernels shorter than {facts.limit('unused_memory', 'small_ns') / 1e3:.0f} µs make up "
                f"{100 * small:.0f} % of its compute time: they do not fill it."
            ),
            advice=(
                "Try a larger batch, `DataLoader(…, batch_size=2 * batch_size)`, with the learning rate to match; "
                "samples a second should rise. If they do not, memory is not the limit here."
            ),
            values={
                "used": used,
                "capacity_bytes": capacity,
                "gpu": device,
                "small": small,
                "small_ns": facts.limit("unused_memory", "small_ns"),
            },
            evidence=(
                Evidence("memory_used", "Most memory reserved, of the device", used, "fraction", "memory", gpu=device),
                Evidence("small_kernels", "Compute time in short kernels", small, "fraction", "kernels"),
                Evidence("busy", f"Device busy, GPU {device}", busy[device], "fraction", "overview", gpu=device),
            ),
            confidence="low",
            links=(
                Link(
                    "batch_size",
                    "Batch sizes and matrix sizes",
                    "https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html",
                ),
            ),
        ),
    )


def _share_of_small_kernels(facts: Facts, device: int) -> float:
    """Of the time of the compute kernels of a device, 0…1."""
    model = facts.model
    chosen = is_compute(model) & (model.device_work.device == device) & (facts.step_of(model.device_work.row) >= 0)
    time = durations(model)[chosen]
    whole = int(time.sum())
    small = int(np.where(time < facts.limit("unused_memory", "small_ns"), time, 0).sum())
    return small / whole if whole else 0.0


RULE = Rule("unused_memory", "R39", (STEPS, HOST, DEVICE, MEMORY, PROPERTIES), _find)
