"""The old plugin's answers about several workers, key by key; shapes frozen as in `legacy`."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.capture import DeviceProperties
from torch_tb_profiler.analysis.json_schema import Json
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.ranks import DistributedRanks
from torch_tb_profiler.ranks.distributed import operation_table
from torch_tb_profiler.web.old_plugin.wire import microseconds

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
