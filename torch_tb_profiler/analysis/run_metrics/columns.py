"""Any number of traces in one table."""

from __future__ import annotations

from msgspec import UNSET
from msgspec.structs import replace

from torch_tb_profiler.analysis.definition import Definition, by_key
from torch_tb_profiler.analysis.overview.overview import OVERVIEW

#: of use only now and then, beside other traces
_RARE = frozenset(
    "communicating sm_efficiency achieved_occupancy occupancy_known_share tensor_cores_unknown memcpy memset".split()
)


def _of_step(key: str) -> Definition:
    return replace(OVERVIEW[key], hidden=key in _RARE or UNSET)


#: a row is named by its title: run, worker and span are for other code
TRACES = by_key(
    "traces",
    Definition("trace", "Trace", "string", None, "Run, worker, and the span if there are several."),
    Definition("run", "Run", "string", None, "The directory of the trace.", hidden=True),
    Definition("worker", "Worker", "string", None, "The process that was recorded.", hidden=True),
    Definition("span", "Span", "string", None, "Which recording of the worker it is.", hidden=True),
    Definition("devices", "Devices", "string", None, "The devices that ran kernels.", hidden=True),
    Definition("steps", "Steps", "number", "count", "How many steps are averaged."),
    _of_step("step"),
    Definition("slowest_step_ns", "Slowest step", "number", "ns", "The longest of the steps."),
    *(
        _of_step(key)
        for key in (
            *("busy", "computing", "communicating", "exposed_communication"),
            *("sm_efficiency", "achieved_occupancy", "occupancy_known_share"),
            *("tensor_cores_yes", "tensor_cores_unknown"),
        )
    ),
    Definition(
        "exposed_communication_ns",
        "Exposed communication per step",
        "number",
        "ns",
        "Time of the average step in which communication kernels ran on a device and no compute kernel did; mean over "
        "the devices that ran kernels. Copies do not hide communication.",
        hidden=True,
    ),
    *(
        _of_step(key)
        for key in ("kernel", "memcpy", "memset", "communication", "runtime", "dataloader", "cpu_exec", "other")
    ),
    Definition(
        "peak_bytes",
        "Memory peak",
        "number",
        "bytes",
        "The most memory in use at once on the device that used most; on the host if no device was recorded.",
    ),
    Definition(
        "top_operator", "Largest operator", "string", None, "The operator with the most self time.", hidden=True
    ),
    Definition("top_kernel", "Largest kernel", "string", None, "The kernel with the most time.", hidden=True),
)

TRACES_BY_NAME = by_key(
    "traces_by_name",
    Definition("name", "Name", "string", None, "Name of the operator or kernel."),
    Definition(
        "spread",
        "Spread",
        "number",
        "ns",
        "The largest of the numbers in this row − the smallest; a trace without it counts as 0.",
    ),
)
