"""How well each device was used during the steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.remember import remembered
from torch_tb_profiler.analysis.shared.device_roles import device_spans
from torch_tb_profiler.analysis.shared.quantities import GPU_BUSY, utilization
from torch_tb_profiler.analysis.shared.tensor_cores import Use, use_of_device_work
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category


@dataclass(frozen=True)
class DeviceUse:
    """One device that ran kernels. Fractions 0…1, None where the trace does not say enough.

    Definitions: `overview.columns.OVERVIEW`. `name`, `memory_bytes` and `compute_capability` come from the
    `deviceProperties` of the file.

    id                  number of the device
    name                as its vendor calls it
    memory_bytes        memory of the device
    compute_capability  major.minor, as CUDA or HIP numbers it
    utilization         part of the time of the steps in which a kernel ran, 0…1
    sm_efficiency       estimated part of the multiprocessors that kernels could fill, 0…1
    achieved_occupancy  estimated occupancy of the kernels, 0…1
    tensor_core_share   part of the kernel time known to use tensor cores, 0…1
    """

    id: int
    name: str | None
    memory_bytes: int | None
    compute_capability: str | None
    utilization: float | None
    sm_efficiency: float | None
    achieved_occupancy: float | None
    tensor_core_share: float | None


@remembered
def device_use(model: Model) -> tuple[DeviceUse, ...]:
    """Every device that ran kernels, by number."""
    kernels = model.device_category == Category.KERNEL
    devices = distinct(model.device_work.device[kernels])
    return tuple(_use(model, int(d)) for d in devices if d >= 0)


def _use(model: Model, device: int) -> DeviceUse:
    trace, steps = model.trace, model.steps
    chosen = (model.device_category == Category.KERNEL) & (model.device_work.device == device)
    work = model.device_work.take(chosen)
    start, end = trace.events.start[work.row], trace.events.end[work.row]
    uses = use_of_device_work(model)[chosen] == Use.YES
    within = intervals.union(steps.start, steps.end)
    window, in_steps = intervals.total(within), intervals.Coverage(within)

    known = work.blocks_per_sm > 0
    filled = intervals.profile(start[known], end[known], work.blocks_per_sm[known], cap=1.0)
    filled_ns = intervals.integral(filled, within)
    busy = intervals.total(intervals.intersection(GPU_BUSY.spans(device_spans(model, chosen)), within))
    weights = np.where(work.occupancy >= 0, in_steps.between(start, end), 0)
    occupancy = np.where(work.occupancy >= 0, work.occupancy, 0.0)
    total = int((end - start).sum())
    properties = trace.header.device(device) or {}
    major, minor = properties.get("computeMajor"), properties.get("computeMinor")
    memory = properties.get("totalGlobalMem")
    name = properties.get("name")
    return DeviceUse(
        id=device,
        name=name if isinstance(name, str) and name else None,
        memory_bytes=memory if isinstance(memory, int) else None,
        compute_capability=None if major is None or minor is None else f"{major}.{minor}",
        utilization=utilization(busy, window),
        sm_efficiency=filled_ns / window if filled_ns > 0 else None,
        achieved_occupancy=float((occupancy * weights).sum()) / int(weights.sum()) / 100 if weights.any() else None,
        tensor_core_share=int((end - start)[uses].sum()) / total if total else None,
    )
