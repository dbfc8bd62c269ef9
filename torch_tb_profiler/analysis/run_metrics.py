"""The figures of a whole trace, to be set beside those of any number of others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from torch_tb_profiler.analysis.answer import Definition
from torch_tb_profiler.analysis.device_use import DeviceUse, device_summary, mean_known, step_use
from torch_tb_profiler.analysis.memory.records import CPU, memory_curves
from torch_tb_profiler.analysis.overview import CATEGORIES, OVERVIEW, average_step, overview, step_times
from torch_tb_profiler.analysis.result import Result, column, definitions_of, fact
from torch_tb_profiler.model import Model


def _rare(key: str) -> Definition:
    """Define a column that is only rarely of use, beside other traces."""
    return replace(OVERVIEW[key], hidden=True)


class Figures(msgspec.Struct, frozen=True):
    """One trace in a row of numbers; None if it is not in the trace, or the trace has no steps.

    Times are means over the steps, in ns; shares 0…1, see `analysis.device_use.DeviceSummary`.

    devices                   those that ran kernels, by name
    steps                     how many steps the means are made of
    step                      mean length of a step, ns
    slowest_step_ns           the longest step
    busy                      part of the step time in which a device did anything, 0…1
    computing                 part in which a compute kernel ran, 0…1
    communicating             part in which a communication kernel ran, 0…1
    exposed_communication     part in which one ran and no compute kernel, 0…1
    exposed_communication_ns  the same of a step
    sm_efficiency             estimated part of the multiprocessors that compute kernels could fill, 0…1
    achieved_occupancy        estimated occupancy of the compute kernels where it is known, 0…1
    occupancy_known_share     part of the time of compute kernels whose occupancy is known, 0…1
    tensor_cores_yes          part of that time known to use tensor cores, 0…1; None if it is known of none
    tensor_cores_unknown      part of that time where it is unknown, 0…1
    kernel                    ns of a step in compute kernels
    memcpy                    ns of a step in copies, of what no category before has
    memset                    ns in fills, likewise
    communication             ns in communication, likewise
    runtime                   ns in calls of the runtime or driver, likewise
    dataloader                ns of waiting for the next batch, likewise
    cpu_exec                  ns in operators on the host, likewise
    other                     ns in none of these
    peak_bytes                most memory in use at once
    top_operator              name of the operator with most self time
    top_kernel                name of the kernel with most time
    """

    devices: Annotated[str, column("Devices", "The devices that ran kernels.", hidden=True)]
    steps: Annotated[int, column("Steps", "How many steps are averaged.")]
    step: Annotated[float | None, OVERVIEW["step"]]
    slowest_step_ns: Annotated[int | None, column("Slowest step", "The longest of the steps.")]
    busy: Annotated[float | None, OVERVIEW["busy"]]
    computing: Annotated[float | None, OVERVIEW["computing"]]
    communicating: Annotated[float | None, _rare("communicating")]
    exposed_communication: Annotated[float | None, OVERVIEW["exposed_communication"]]
    exposed_communication_ns: Annotated[
        float | None,
        column(
            "Exposed communication per step",
            "Time of the average step in which communication kernels ran on a device and no compute kernel did; mean "
            "over the devices that ran kernels. Copies do not hide communication.",
            hidden=True,
        ),
    ]
    sm_efficiency: Annotated[float | None, _rare("sm_efficiency")]
    achieved_occupancy: Annotated[float | None, _rare("achieved_occupancy")]
    occupancy_known_share: Annotated[float | None, _rare("occupancy_known_share")]
    tensor_cores_yes: Annotated[float | None, OVERVIEW["tensor_cores_yes"]]
    tensor_cores_unknown: Annotated[float | None, _rare("tensor_cores_unknown")]
    kernel: Annotated[float | None, OVERVIEW["kernel"]]
    memcpy: Annotated[float | None, _rare("memcpy")]
    memset: Annotated[float | None, _rare("memset")]
    communication: Annotated[float | None, OVERVIEW["communication"]]
    runtime: Annotated[float | None, OVERVIEW["runtime"]]
    dataloader: Annotated[float | None, OVERVIEW["dataloader"]]
    cpu_exec: Annotated[float | None, OVERVIEW["cpu_exec"]]
    other: Annotated[float | None, OVERVIEW["other"]]
    peak_bytes: Annotated[
        int | None,
        column(
            "Memory peak",
            "The most memory in use at once on the device that used most; on the host if no device was recorded.",
        ),
    ]
    top_operator: Annotated[
        str | None, column("Largest operator", "The operator with the most self time.", hidden=True)
    ]
    top_kernel: Annotated[str | None, column("Largest kernel", "The kernel with the most time.", hidden=True)]


class FigureTable(Result, group="traces"):
    """The figures of several traces: which, and a column for each field of `Figures`."""

    trace: Sequence[str] | None = column("Trace", "Run, worker, and the span if there are several.")
    # a row is named by its title: these are for other code
    run: Sequence[str] = column("Run", "The directory of the trace.", hidden=True)
    worker: Sequence[str] = column("Worker", "The process that was recorded.", hidden=True)
    span: Sequence[str] = column("Span", "Which recording of the worker it is.", hidden=True)
    figures: Sequence[Figures] = fact("of each trace")

    def __len__(self) -> int:
        return len(self.figures)

    def to_columns(self) -> dict[str, Any]:
        figures = {name: tuple(getattr(one, name) for one in self.figures) for name in Figures.__struct_fields__}
        return super().to_columns() | figures


#: what the columns mean
TRACES = {**FigureTable.columns, **definitions_of(Figures, "traces")}
for _key in ("exposed_communication_ns", *CATEGORIES, "peak_bytes", "top_operator", "top_kernel"):
    TRACES[_key] = TRACES.pop(_key)  # in a table, times stand behind shares
# without a title, these name a row
FigureTable.defined = TRACES | {key: replace(TRACES[key], hidden=UNSET) for key in ("run", "worker", "span")}


def figures(model: Model) -> Figures:
    """Compute the figures of a trace that are comparable between any two traces."""
    overall, steps, average = overview(model), step_times(model), average_step(model)
    device, use = device_summary(model), step_use(model)
    has_steps = len(steps) > 0
    categories = average.category_ns if has_steps else {}
    exposed = None if use is None else use.exposed_communication_ns

    return Figures(
        devices=_named(overall.devices),
        steps=len(steps),
        step=average.step_ns if has_steps else None,
        slowest_step_ns=int(steps.duration_ns.max()) if has_steps else None,
        busy=device.busy,
        computing=device.computing,
        communicating=device.communicating,
        exposed_communication=device.exposed_communication,
        exposed_communication_ns=float(exposed.mean()) if has_steps and exposed is not None else None,
        sm_efficiency=mean_known([use.sm_efficiency for use in overall.devices]),
        achieved_occupancy=device.occupancy.mean,
        occupancy_known_share=device.occupancy.known_share,
        tensor_cores_yes=device.tensor_cores.yes,
        tensor_cores_unknown=device.tensor_cores.unknown,
        kernel=categories.get("kernel"),
        memcpy=categories.get("memcpy"),
        memset=categories.get("memset"),
        communication=categories.get("communication"),
        runtime=categories.get("runtime"),
        dataloader=categories.get("dataloader"),
        cpu_exec=categories.get("cpu_exec"),
        other=categories.get("other"),
        peak_bytes=memory_peak(model),
        top_operator=overall.top_operators[0].name if overall.top_operators else None,
        top_kernel=overall.top_kernels[0].name if overall.top_kernels else None,
    )


def memory_peak(model: Model) -> int | None:
    """Return the peak of the device that used most; of the host where no device has a curve."""
    curves = memory_curves(model).curves
    of_devices = [curve.peak.allocated for curve in curves if curve.device.type != CPU]
    return max(of_devices or [curve.peak.allocated for curve in curves], default=None)


def _named(devices: Sequence[DeviceUse]) -> str:
    """Join the names of devices in their order, with how often each is there: `4 × NVIDIA H100`."""
    counts = Counter(device.name or f"GPU {device.id}" for device in devices)
    return ", ".join(name if count == 1 else f"{count} × {name}" for name, count in counts.items())
