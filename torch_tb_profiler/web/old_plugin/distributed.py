"""The old plugin's answers about several workers and the use of each device; shapes frozen as in `legacy`."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

import numpy as np

from torch_tb_profiler.analysis.capture import DeviceProperties
from torch_tb_profiler.analysis.device_use import DeviceUse, device_use, filled_ns
from torch_tb_profiler.analysis.json_schema import Json
from torch_tb_profiler.analysis.result import Result, fact
from torch_tb_profiler.analysis.shared.device_roles import GPU_BUSY, device_spans, kernels_by_device, share
from torch_tb_profiler.analysis.shared.kernel_use import durations, known_occupancy
from torch_tb_profiler.analysis.shared.tensor_cores import Use, use_of_device_work
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.ranks import DistributedRanks
from torch_tb_profiler.ranks.distributed import operation_table
from torch_tb_profiler.web.old_plugin.modules import microseconds

#: what the old plugin called the step of operations outside all steps
NO_STEP = "null"

_COLUMNS = (
    "Name",
    "Calls",
    "Total Size (bytes)",
    "Avg Size (bytes)",
    "Total Latency (us)",
    "Avg Latency (us)",
    "Data Transfer Time (us)",
    "Avg Data Transfer Time (us)",
)


def gpuinfo(found: DistributedRanks) -> Json | None:
    """Answer /distributed/gpuinfo; None if no trace knows its devices."""
    nodes: dict[str, dict[str, Json]] = {}
    for rank, place in zip(found.ranks, found.places, strict=True):
        devices = {f"GPU{d.id}": shown for d in rank.devices if (shown := _device(d))}
        if rank.has_device_properties:
            nodes.setdefault(place.node, {}).setdefault(f"Process {place.process}", {}).update(devices)
    if not nodes:
        return None
    data = {node: dict(sorted(processes.items())) for node, processes in sorted(nodes.items())}
    return {"metadata": {"title": "Device Information"}, "data": data}


def overlap(found: DistributedRanks) -> Json:
    """Answer /distributed/overlap."""
    per_step: dict[str, Json] = {}
    average: Json = {}
    for rank in found.ranks:
        of = rank.overview_overlap
        parts = np.stack([of.computation_ns, of.overlap_ns, of.communication_only_ns, of.other_ns])
        average[rank.worker] = _mean(parts, len(of.names))
        for i, step in enumerate(of.names):
            per_step.setdefault(step, {})[rank.worker] = _us_list(parts[:, i])
    return {
        "metadata": {
            "title": "Computation/Communication Overview",
            "legends": ["Computation", "Overlapping", "Communication", "Other"],
            "units": "us",
        },
        "data": {"all": average, **per_step},
    }


def waittime(found: DistributedRanks) -> Json:
    """Answer /distributed/waittime."""
    per_step: dict[str, Json] = {}
    average: Json = {}
    for rank, waits in zip(found.ranks, found.waits, strict=True):
        # operations that cannot be matched count as moving data all the time here
        parts = np.stack([np.maximum(waits.transfer_ns, 0) + waits.unmatched_ns, np.maximum(waits.wait_ns, 0)])
        with_communication = np.flatnonzero(waits.calls).tolist()
        average[rank.worker] = _mean(parts, len(with_communication))
        for i in with_communication:
            step = rank.overlap.names[i] if i < len(rank.overlap.names) else NO_STEP
            per_step.setdefault(step, {})[rank.worker] = _us_list(parts[:, i])
    return {
        "metadata": {
            "title": "Synchronizing/Communication Overview",
            "legends": ["Data Transfer Time", "Synchronizing Time"],
            "units": "us",
        },
        "data": {"all": average, **per_step},
    }


def commops(found: DistributedRanks) -> Json:
    """Answer /distributed/commops."""
    table = operation_table(found, by_group=False)
    columns = [{"type": "string" if name == "Name" else "number", "name": name} for name in _COLUMNS]
    data: Json = {rank.worker: {"columns": columns, "rows": []} for rank in found.ranks}
    for i, worker in enumerate(table.worker):
        calls, size = int(table.calls[i]), int(np.nan_to_num(table.total_bytes[i]))
        latency = int(table.latency_ns[i])
        transfer = max(int(table.transfer_ns[i]), 0) + int(table.unmatched_ns[i])
        data[worker]["rows"].append(
            [
                table.name[i],
                calls,
                size,
                round(size / calls),
                microseconds(latency),
                round(latency / 1000 / calls),
                microseconds(transfer),
                round(transfer / 1000 / calls),
            ]
        )
    return {"metadata": {"title": "Communication Operations Stats"}, "data": data}


def _device(device: DeviceProperties) -> Json:
    shown: Json = {}
    if device.name is not None:
        shown["Name"] = device.name
    if device.memory_bytes is not None:
        shown["Memory"] = f"{round(device.memory_bytes / 2**30, 2)} GB"
        shown["Memory Raw"] = device.memory_bytes
    if device.compute_capability is not None:
        shown["Compute Capability"] = device.compute_capability
    return shown


def _mean(parts: Int64, steps: int) -> list[int]:
    """Return the means over all steps, cut off to whole microseconds."""
    return [int(total / 1000 / max(1, steps)) for total in parts.sum(axis=1).tolist()]


def _us_list(parts: Int64) -> list[int | float]:
    return [microseconds(ns) for ns in parts.tolist()]


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
