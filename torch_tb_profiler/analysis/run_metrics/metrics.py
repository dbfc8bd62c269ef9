"""The figures of a whole trace, to be set beside those of any number of others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from torch_tb_profiler.analysis.kernels.table import kernel_totals
from torch_tb_profiler.analysis.memory.curve import memory_curves
from torch_tb_profiler.analysis.memory.records import CPU
from torch_tb_profiler.analysis.overlap import step_overlap
from torch_tb_profiler.analysis.overview.overview import average_step, overview, step_gpu_busy, step_times
from torch_tb_profiler.analysis.tabular import Tabular
from torch_tb_profiler.analysis.utilization import DeviceUse
from torch_tb_profiler.model import Model


@dataclass(frozen=True)
class Figures:
    """One trace in a row of numbers; None where it does not say, or has no steps.

    Times are means over the steps, in ns; shares 0…1, means over the devices. Definitions: `columns.TRACES`.

    devices             those that ran kernels, by name
    steps               how many steps the means are made of
    step                mean length of a step, ns
    slowest_step_ns     the longest step
    gpu_busy_ns         time of a step in which a kernel ran on any device
    utilization         part of the time of the steps in which a kernel ran, 0…1
    sm_efficiency       estimated part of the multiprocessors that kernels could fill, 0…1
    achieved_occupancy  estimated occupancy of the kernels, 0…1
    tensor_core_share   part of the kernel time known to use tensor cores, 0…1
    kernel              ns of a step in compute kernels
    memcpy              ns of a step in copies, of what no category before has
    memset              ns in fills, likewise
    communication       ns in communication, likewise
    runtime             ns in calls of the runtime or driver, likewise
    dataloader          ns of waiting for the next batch, likewise
    cpu_exec            ns in operators on the host, likewise
    other               ns in none of these
    computation_ns      time of a step in which a device computed and did not communicate
    overlap_ns          time in which it did both
    exposed_ns          time in which it communicated only
    peak_bytes          most memory in use at once
    top_operator        name of the operator with most self time
    top_kernel          name of the kernel with most time
    """

    devices: str
    steps: int
    step: float | None
    slowest_step_ns: int | None
    gpu_busy_ns: float | None
    utilization: float | None
    sm_efficiency: float | None
    achieved_occupancy: float | None
    tensor_core_share: float | None
    kernel: float | None
    memcpy: float | None
    memset: float | None
    communication: float | None
    runtime: float | None
    dataloader: float | None
    cpu_exec: float | None
    other: float | None
    computation_ns: float | None
    overlap_ns: float | None
    exposed_ns: float | None
    peak_bytes: int | None
    top_operator: str | None
    top_kernel: str | None


@dataclass(frozen=True)
class FigureTable(Tabular):
    """The figures of several traces: which, and a column for each field of `Figures`."""

    run: tuple[str, ...]
    worker: tuple[str, ...]
    span: tuple[str, ...]
    figures: tuple[Figures, ...]

    def __len__(self) -> int:
        return len(self.figures)

    def to_columns(self) -> dict[str, object]:
        names = {"run": self.run, "worker": self.worker, "span": self.span}
        return names | {f.name: tuple(getattr(one, f.name) for one in self.figures) for f in fields(Figures)}


def figures(model: Model) -> Figures:
    """What is comparable between any two traces."""
    found, steps, overlap = overview(model), step_times(model), step_overlap(model)
    average, busy, kernels = average_step(model), step_gpu_busy(model), kernel_totals(model)
    has_steps = len(steps) > 0
    categories = average.category_ns if has_steps else {}

    def mean(values: np.ndarray | None) -> float | None:
        return float(values.mean()) if has_steps and values is not None else None

    return Figures(
        devices=_named(found.devices),
        steps=len(steps),
        step=average.step_ns if has_steps else None,
        slowest_step_ns=int(steps.duration_ns.max()) if has_steps else None,
        gpu_busy_ns=mean(busy),
        utilization=_mean([use.utilization for use in found.devices]),
        sm_efficiency=_mean([use.sm_efficiency for use in found.devices]),
        achieved_occupancy=_mean([use.achieved_occupancy for use in found.devices]),
        tensor_core_share=kernels.tensor_core_ns / kernels.kernel_ns if kernels.kernel_ns else None,
        kernel=categories.get("kernel"),
        memcpy=categories.get("memcpy"),
        memset=categories.get("memset"),
        communication=categories.get("communication"),
        runtime=categories.get("runtime"),
        dataloader=categories.get("dataloader"),
        cpu_exec=categories.get("cpu_exec"),
        other=categories.get("other"),
        computation_ns=mean(overlap.computation_ns),
        overlap_ns=mean(overlap.overlap_ns),
        exposed_ns=mean(overlap.exposed_communication_ns),
        peak_bytes=_peak(model),
        top_operator=found.top_operators[0].name if found.top_operators else None,
        top_kernel=found.top_kernels[0].name if found.top_kernels else None,
    )


def _peak(model: Model) -> int | None:
    """Of the device that used most; of the host where no device has a curve."""
    curves = memory_curves(model).curves
    of_devices = [curve.peak.allocated for curve in curves if curve.device.type != CPU]
    return max(of_devices or [curve.peak.allocated for curve in curves], default=None)


def _named(devices: Sequence[DeviceUse]) -> str:
    """Names in the order of the devices, with how often each is there: `4 × NVIDIA H100`."""
    names = [device.name or f"GPU {device.id}" for device in devices]
    counts = {name: names.count(name) for name in names}
    return ", ".join(name if count == 1 else f"{count} × {name}" for name, count in counts.items())


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
