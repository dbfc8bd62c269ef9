"""How devices were used during the steps: busy, computing, communicating, and what their compute kernels did with them.

Shares of step time are those of one device, or the mean over the devices that ran kernels, whatever view shows them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Fraction
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.device_time import DeviceTime, device_time
from torch_tb_profiler.analysis.result import Result, column, definitions_of, fact
from torch_tb_profiler.analysis.shared.device_roles import (
    GPU_BUSY,
    communication_spans,
    device_spans,
    kernels_by_device,
    share,
    work_by_device,
)
from torch_tb_profiler.analysis.shared.kernel_use import (
    Occupancy,
    TensorCores,
    blocks_per_sm,
    is_compute,
    occupancy,
    tensor_cores,
)
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.grouping import each_value
from torch_tb_profiler.arrays.intervals import StepFunction
from torch_tb_profiler.arrays.types import Bool, Float64, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category
from torch_tb_profiler.trace.schema import EventPhase


class DeviceUse(msgspec.Struct, frozen=True):
    """One device that ran kernels. Fractions 0…1, None if the trace does not contain it enough.

    `name`, `memory_bytes` and `compute_capability` come from the
    `deviceProperties` of the file; shares of step time are of all steps, those of compute kernels of all that are
    selected.

    id                     number of the device
    name                   as its vendor calls it
    memory_bytes           memory of the device
    compute_capability     major.minor, as CUDA or HIP numbers it
    busy                   share of step time in which a kernel, copy or fill ran, 0…1
    computing              share of step time in which a compute kernel ran, 0…1
    communicating          share of step time in which a communication kernel ran, 0…1
    exposed_communication  share of step time in which a communication kernel ran and no compute kernel, 0…1
    sm_efficiency          estimated part of the multiprocessors that compute kernels could fill, over step time, 0…1
    achieved_occupancy     estimated occupancy of the compute kernels where it is known, 0…1
    occupancy_known_share  part of the time of compute kernels that these are, 0…1
    tensor_cores           parts of the time of compute kernels
    """

    id: int
    name: str | None
    memory_bytes: int | None
    compute_capability: str | None
    busy: Annotated[
        float | None,
        column(
            "Device busy",
            "Time of the steps in which at least one kernel, copy or fill ran on the device ÷ time of the steps; mean "
            "over the devices that ran kernels.",
            unit="fraction",
        ),
    ]
    computing: Annotated[
        float | None,
        column(
            "Computing",
            "Time of the steps in which at least one compute kernel ran on the device ÷ time of the steps; mean over "
            "the devices that ran kernels. Communication, copies and fills do not count.",
            unit="fraction",
        ),
    ]
    communicating: Annotated[
        float | None,
        column(
            "Communicating",
            "Time of the steps in which at least one communication kernel ran on the device ÷ time of the steps, "
            "hidden behind compute or not; mean over the devices that ran kernels. Empty if communication is known "
            "only from calls on the host (gloo, MPI).",
            unit="fraction",
        ),
    ]
    exposed_communication: Annotated[
        float | None,
        column(
            "Exposed communication",
            "Time of the steps in which communication kernels ran on the device and no compute kernel did ÷ time of "
            "the steps; mean over the devices that ran kernels. Copies do not hide communication. Empty if "
            "communication is known only from calls on the host (gloo, MPI).",
            unit="fraction",
        ),
    ]
    sm_efficiency: Annotated[
        float | None,
        column(
            "Est. SM efficiency",
            "How much of the device's multiprocessors (SMs) compute kernels could fill. At each moment the blocks per "
            "SM of the running compute kernels are added, at most 1; this is averaged over the time of the steps. "
            "Estimated from launch configurations, not measured.",
            unit="fraction",
        ),
    ]
    achieved_occupancy: Annotated[
        float | None,
        column(
            "Est. achieved occupancy",
            "Active warps ÷ the maximum number of warps of an SM, as estimated by the profiler for each kernel, "
            "otherwise computed from the launch (compute capabilities 7.0, 7.5, 8.0 and 9.0); mean over the compute "
            "kernels for which it is known, weighted by duration.",
            unit="fraction",
        ),
    ]
    occupancy_known_share: Annotated[
        float | None,
        column(
            "Occupancy known",
            "Duration of the compute kernels whose occupancy is known ÷ duration of all compute kernels.",
        ),
    ]
    tensor_cores: TensorCores


#: what each share of a device means
DEVICE_SHARES = definitions_of(DeviceUse, "overview") | definitions_of(TensorCores, "overview", "tensor_cores_")


class StepUse(Result, group="step_use"):
    """Of each step, mean over the devices that ran kernels; parallel to the steps of the model, in ns.

    communicating_ns and exposed_communication_ns are None if communication is only known from calls on the host.
    """

    busy_ns: Float64 = fact("a kernel, copy or fill ran")
    computing_ns: Float64 = fact("a compute kernel ran")
    communicating_ns: Float64 | None = fact("a communication kernel ran")
    exposed_communication_ns: Float64 | None = column(
        "Exposed communication",
        "Time of the step in which communication kernels ran on a device and no compute kernel did; copies do not "
        "hide it. Mean over the devices. Empty if communication is known only from calls on the host (gloo, MPI).",
        id="ranks.exposed_communication_ns",
    )

    def __len__(self) -> int:
        return len(self.busy_ns)


class DeviceSummary(msgspec.Struct, frozen=True):
    """The devices of a trace together. Fractions 0…1, None if the trace does not contain it enough.

    busy                   share of step time in which a kernel, copy or fill ran: over all steps, mean over the devices
                           that ran kernels, 0…1
    computing              the same of compute kernels, 0…1
    communicating          the same of communication kernels, 0…1
    exposed_communication  the same of communication kernels while no compute kernel ran, 0…1
    tensor_cores           parts of the time of all compute kernels that are selected, of every device
    occupancy              of all compute kernels that are selected, of every device
    """

    busy: Fraction | None
    computing: Fraction | None
    communicating: Fraction | None
    exposed_communication: Fraction | None
    tensor_cores: TensorCores
    occupancy: Occupancy


@cached(for_good=True)
def device_use(model: Model) -> tuple[DeviceUse, ...]:
    """Return every device that ran kernels, by number."""
    time = device_time(model, "steps")
    rows = dict(each_value(time.device))
    on_devices = _communication_is_on_devices(model)
    return tuple(_use(model, device, time, rows[device], on_devices) for device in kernel_devices(model))


@cached(for_good=True)
def step_use(model: Model) -> StepUse | None:
    """Return what devices did in each step; None if no device ran kernels."""
    devices = kernel_devices(model)
    if not devices:
        return None
    time = device_time(model, "steps")
    rows = dict(each_value(time.device))
    of = [rows[device] for device in devices]

    def mean(ns: Int64) -> Float64:
        means: Float64 = np.mean([ns[mask] for mask in of], axis=0)
        return means

    known = _communication_is_on_devices(model)
    return StepUse(
        busy_ns=mean(time.busy_ns),
        computing_ns=mean(time.computing_ns),
        communicating_ns=mean(time.communicating_ns) if known else None,
        exposed_communication_ns=mean(time.exposed_communication_ns) if known else None,
    )


def device_summary(model: Model) -> DeviceSummary:
    """Summarise the devices of a trace in a few numbers."""
    uses, computes = device_use(model), is_compute(model)
    return DeviceSummary(
        busy=mean_known([use.busy for use in uses]),
        computing=mean_known([use.computing for use in uses]),
        communicating=mean_known([use.communicating for use in uses]),
        exposed_communication=mean_known([use.exposed_communication for use in uses]),
        tensor_cores=tensor_cores(model, computes),
        occupancy=occupancy(model, computes),
    )


def mean_known(values: Sequence[float | None]) -> float | None:
    """Return the arithmetic mean of known values; None if there are none."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def filled_ns(model: Model, chosen: Bool | Int64) -> float:
    """Integrate over the steps the part of the multiprocessors that the chosen kernels could fill, at most 1."""
    events, steps, work = model.trace.events, model.steps, model.device_work.take(chosen)
    blocks = blocks_per_sm(model.trace, work)
    known = blocks > 0
    row = work.row[known]
    filled = intervals.step_function(events.start[row], events.end[row], blocks[known], cap=1.0)
    return intervals.integral(filled, intervals.union(steps.start, steps.end))


def kernel_devices(model: Model) -> list[int]:
    """List the devices that ran kernels."""
    return list(kernels_by_device(model))


def _communication_is_on_devices(model: Model) -> bool:
    """Return whether all known communication was on devices: with gloo or MPI only the host knows of it."""
    return bool(model.device_links.is_communication.any()) or not communication_spans(model).size


def _use(model: Model, device: int, time: DeviceTime, mine: Int64, on_devices: bool) -> DeviceUse:
    """Summarise a device.

    mine         its rows in `time`
    on_devices   see `_communication_is_on_devices`
    """
    window = int(time.window_ns[mine].sum())

    def of_steps(ns: Int64) -> float | None:
        return share(int(ns[mine].sum()), window)

    chosen = work_by_device(model)[device]
    chosen = chosen[is_compute(model)[chosen]]
    filled, warps = filled_ns(model, chosen), occupancy(model, chosen)
    properties = model.trace.header.device(device) or {}
    major, minor = properties.get("computeMajor"), properties.get("computeMinor")
    memory, name = properties.get("totalGlobalMem"), properties.get("name")
    return DeviceUse(
        id=device,
        name=name if isinstance(name, str) and name else None,
        memory_bytes=memory if isinstance(memory, int) else None,
        compute_capability=None if major is None or minor is None else f"{major}.{minor}",
        busy=of_steps(time.busy_ns),
        computing=of_steps(time.computing_ns),
        communicating=of_steps(time.communicating_ns) if on_devices else None,
        exposed_communication=of_steps(time.exposed_communication_ns) if on_devices else None,
        sm_efficiency=share(filled, window) if filled > 0 else None,
        achieved_occupancy=warps.mean,
        occupancy_known_share=warps.known_share,
        tensor_cores=tensor_cores(model, chosen),
    )


#: the range of the Trace event that the profiler writes about its window
WINDOW_NAME = "PyTorch Profiler (0)"

SHORTEST_BUCKET_NS = 1000
MOST_BUCKETS = 100


class DeviceCounters(msgspec.Struct, frozen=True):
    """Of one device that ran kernels; times in ns from the start of the trace.

    start        shape (buckets + 1,): where each bucket begins; the last one is the end of the window
    utilization  shape (buckets + 1,): part of the bucket in which a kernel ran, 0…1; the last one is 0
    efficiency   estimated SM efficiency 0…1 over time; without segments when no kernel says how many blocks it has
    """

    device: int
    start: Int64
    utilization: Float64
    efficiency: StepFunction


class UtilizationCounters(msgspec.Struct, frozen=True):
    """begin: of the window, ns from the start of the trace."""

    begin: int
    devices: tuple[DeviceCounters, ...]

    @property
    def size(self) -> int:
        """Bytes."""
        arrays = (a for d in self.devices for a in (d.start, d.utilization, *d.efficiency))
        return 256 + sum(array.nbytes for array in arrays)


def utilization_counters(model: Model) -> UtilizationCounters:
    """Return the counters of every device that ran kernels, by number."""
    begin, end = profiler_window(model)
    work = model.device_work
    kernels = kernels_by_device(model)
    if not kernels:
        return UtilizationCounters(begin, ())
    buckets = _buckets(begin, end)
    counters = []
    for device, chosen in kernels.items():
        of_device = work.take(chosen)
        start, stop = model.trace.events.start[of_device.row], model.trace.events.end[of_device.row]
        blocks = blocks_per_sm(model.trace, of_device)
        sized = blocks > 0
        counters.append(
            DeviceCounters(
                device,
                buckets,
                _utilization(GPU_BUSY.spans(device_spans(model, chosen)), buckets),
                intervals.step_function(start[sized], stop[sized], blocks[sized], cap=1.0),
            )
        )
    return UtilizationCounters(begin, tuple(counters))


def profiler_window(model: Model) -> tuple[int, int]:
    """Return when recording began and ended: as the profiler says, else from the first to the last range."""
    events = model.trace.events
    spans = np.flatnonzero(events.category == Category.SPAN)  # of the whole trace, whatever is selected
    named = spans[events.name[spans] == model.trace.strings.code(WINDOW_NAME)]
    ranges = named[-1:] if len(named) else np.flatnonzero(events.phase == EventPhase.COMPLETE)
    if not len(ranges):
        return 0, 0
    return int(events.start[ranges].min()), int(events.end[ranges].max())


def _buckets(begin: int, end: int) -> Int64:
    """Return the boundaries of at most a hundred buckets of 1, 10, 100 … µs; the rest belongs to the last one."""
    length = SHORTEST_BUCKET_NS
    while (end - begin) / length > MOST_BUCKETS:
        length *= 10
    if end <= begin:
        return np.empty(0, np.int64)
    count = max((end - begin) // length, 1)
    return np.append(begin + length * np.arange(count, dtype=np.int64), np.int64(end))


def _utilization(busy: intervals.Spans, buckets: Int64) -> Float64:
    if not len(buckets):
        return np.empty(0)
    covered = intervals.Coverage(busy).between(buckets[:-1], buckets[1:])
    return np.append(covered / (buckets[1:] - buckets[:-1]), 0.0)
