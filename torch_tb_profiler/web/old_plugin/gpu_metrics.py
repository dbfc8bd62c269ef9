"""How well each device was used, as the old plugin defined it: over all kernels, those of communication included."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

import numpy as np

from torch_tb_profiler.analysis.device_use import DeviceUse, device_use, filled_ns
from torch_tb_profiler.analysis.json_schema import Json
from torch_tb_profiler.analysis.result import Result, fact
from torch_tb_profiler.analysis.shared.device_roles import device_spans, kernels_by_device
from torch_tb_profiler.analysis.shared.kernel_use import durations
from torch_tb_profiler.analysis.shared.quantities import GPU_BUSY, share
from torch_tb_profiler.analysis.shared.residency import known_occupancy
from torch_tb_profiler.analysis.shared.tensor_cores import Use, use_of_device_work
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model import Model


class OldMetrics(Result):
    """Fractions 0…1 of one device, None if the trace does not contain it enough."""

    utilization: float | None = fact(
        "Time within the steps in which at least one kernel ran on the device ÷ time of the steps.",
        "GPU utilization",
    )
    sm_efficiency: float | None = fact(
        "How much of the device's multiprocessors (SMs) kernels could fill. At each moment the blocks per SM of "
        "the running kernels are added, at most 1; this is averaged over the time of the steps. Estimated from "
        "launch configurations, not measured.",
        "Est. SM efficiency",
    )
    achieved_occupancy: float | None = fact(
        "Active warps ÷ most warps an SM can hold, as estimated by the profiler for each kernel; mean over the "
        "kernels within the steps, weighted by duration.",
        "Est. achieved occupancy",
    )
    tensor_core_share: float | None = fact(
        "Duration of kernels known by name to use tensor cores ÷ duration of all kernels of the device. Kernels "
        "whose name leaves it open (Triton, some CUTLASS) count as not using them here, so this is a lower bound.",
        "Kernel time using tensor cores",
    )


def metrics(model: Model, device: int) -> OldMetrics:
    """Compute the metrics of one device; an occupancy of 0 counts as 0, also where the profiler could not know it."""
    events, steps = model.trace.events, model.steps
    chosen = kernels_by_device(model)[device]
    work = model.device_work.take(chosen)
    within = intervals.union(steps.start, steps.end)
    window = intervals.total(within)
    busy = intervals.total(intervals.intersection(GPU_BUSY.spans(device_spans(model, chosen)), within))
    in_steps = intervals.Coverage(within).between(events.start[work.row], events.end[work.row])
    percent = np.where(work.occupancy >= 0, work.occupancy, known_occupancy(model.trace, work))
    weights = np.where(percent >= 0, in_steps, 0)
    occupancy = np.where(percent >= 0, percent, 0.0)
    filled = filled_ns(model, chosen)
    return OldMetrics(
        utilization=share(busy, window),
        sm_efficiency=share(filled, window) if filled > 0 else None,
        achieved_occupancy=float((occupancy * weights).sum()) / int(weights.sum()) / 100 if weights.any() else None,
        tensor_core_share=tensor_core_share(model, chosen),
    )


def tensor_core_share(model: Model, kernels: Bool | Int64) -> float | None:
    """Return the time of these kernels known to use tensor cores ÷ the time of all of them; None without time."""
    duration = durations(model, kernels)
    uses = use_of_device_work(model)[kernels] == Use.YES
    return share(int(duration[uses].sum()), int(duration.sum()))


def gpu_metrics(model: Model) -> Json | None:
    """Return `gpu_metrics` of /overview; None if no device ran kernels."""
    devices = device_use(model)
    return _shown(model, devices) if devices else None


def _shown(model: Model, devices: Iterable[DeviceUse]) -> Json:
    data: list[Json] = []
    shown: list[str] = []
    for use in devices:
        if data:
            data.append({"title": "<hr/>", "value": ""})
        data.append({"title": f"GPU {use.id}:", "value": ""})
        if use.name is not None:
            data.append({"title": "Name", "value": escape(use.name)})
        if use.memory_bytes is not None:
            data.append({"title": "Memory", "value": f"{round(use.memory_bytes / 2**30, 2)} GB"})
        if use.compute_capability is not None:
            data.append({"title": "Compute Capability", "value": escape(use.compute_capability)})
        old = metrics(model, use.id)
        for key, title, value in (
            ("utilization", "GPU Utilization", old.utilization),
            ("sm_efficiency", "Est. SM Efficiency", old.sm_efficiency),
            ("achieved_occupancy", "Est. Achieved Occupancy", old.achieved_occupancy),
            ("tensor_core_share", "Kernel Time using Tensor Cores", old.tensor_core_share),
        ):
            if value is not None:
                data.append({"title": title, "value": f"{round(value * 100, 2)} %"})
                if key not in shown:
                    shown.append(key)
    definitions = OldMetrics.definitions
    explained = [f"{definitions[key].label}:\n{definitions[key].help}" for key in shown]
    return {"title": "GPU Summary", "data": data, "tooltip": "\n\n".join(["GPU usage metrics:", *explained])}
