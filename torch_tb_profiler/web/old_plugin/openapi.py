"""The old plugin's routes about traces: its parameters and shapes, for those who script against them."""

from __future__ import annotations

from torch_tb_profiler.web.old_plugin import openapi_shapes as shapes
from torch_tb_profiler.web.old_plugin.memory import SIZES, TIMES
from torch_tb_profiler.web.old_plugin.shapes import BY_KERNEL, BY_SHAPE
from torch_tb_profiler.web.openapi.operation import Operation
from torch_tb_profiler.web.openapi.parameters import RUN_AND_SPAN, STEPS, TRACE, needed, query, shared
from torch_tb_profiler.web.openapi.schema import TEXT, US, Json, one_of, ref

_ASKED = [*TRACE, *STEPS]
_TWO = [
    *(
        needed(f"{side}{name}", f"The {name} of the {which} trace.")
        for side, which in (("", "first"), ("exp_", "second"))
        for name in ("run", "worker", "span")
    ),
    *STEPS,
    *shared("exp_from_step", "exp_to_step"),
]
_GROUP_BY = query("group_by", f"{BY_SHAPE} for a row of each shape; anything else groups by name.", TEXT)
_BY_KERNEL = query("group_by", f"{BY_KERNEL} groups by name; anything else by operator and launch, too.", TEXT)
_WINDOW = [query("start_ts", "As the file counts time.", US), query("end_ts", "As the file counts time.", US)]


def _unit(name: str, description: str, units: dict[str, str], default: str) -> Json:
    return query(name, description, {**one_of(*units), "default": default})


def _size(default: str) -> Json:
    return _unit("memory_metric", "Unit of sizes, powers of 1024.", SIZES, default)


_TIME = _unit("time_metric", "Unit of times.", TIMES, "ms")


def _old(summary: str, schema: Json, takes: list[Json], more: str = "Times in microseconds.") -> Operation:
    return Operation("old plugin", summary, schema, takes, more)


OPERATIONS: dict[str, Operation] = {
    "/overview": _old("Steps, advice and devices", shapes.OVERVIEW, _ASKED),
    "/operation": _old("Pies of operators", shapes.OPERATION, [*_ASKED, _GROUP_BY]),
    "/operation/table": _old("Operators", shapes.OPERATION_TABLE, [*_ASKED, _GROUP_BY]),
    "/operation/stack": _old(
        "One operator by call stack",
        shapes.OPERATION_STACK,
        [
            *_ASKED,
            needed("op_name", "An operator."),
            _GROUP_BY,
            query("input_shape", f"As in /operation/table; required with group_by={BY_SHAPE}.", TEXT),
        ],
    ),
    "/kernel": _old("The pie of kernels", shapes.KERNEL, _ASKED),
    "/kernel/table": _old("Kernels", shapes.KERNEL_TABLE, [*_ASKED, _BY_KERNEL]),
    "/kernel/tc_pie": _old("The share of tensor cores", shapes.KERNEL, _ASKED, "Fractions of the time of kernels."),
    "/distributed/gpuinfo": _old("Devices of all ranks", shapes.GPU_INFO, RUN_AND_SPAN),
    "/distributed/overlap": _old("Computation and communication by step", shapes.OF_STEPS, RUN_AND_SPAN),
    "/distributed/waittime": _old("Transfer and waiting by step", shapes.OF_STEPS, RUN_AND_SPAN),
    "/distributed/commops": _old("Communication operations by worker", shapes.COMMUNICATION, RUN_AND_SPAN),
    "/memory": _old("What operators allocated", shapes.MEMORY, [*_ASKED, *_WINDOW, _size("KB")]),
    "/memory_curve": _old("Memory in use over time", shapes.MEMORY_CURVE, [*_ASKED, _TIME, _size("MB")]),
    "/memory_events": _old(
        "Allocations with their releases", shapes.MEMORY_EVENTS, [*_ASKED, *_WINDOW, _TIME, _size("KB")]
    ),
    "/module": _old("Modules as a tree", shapes.MODULE, _ASKED),
    "/tree": _old("The call tree of the main thread", ref("OldNode"), _ASKED),
    "/diff": _old("Two traces as a tree", ref("OldDifference"), _TWO),
    "/diffnode": _old(
        "One node of the tree of two traces",
        ref("OldDifferenceAtPath"),
        [*_TWO, query("path", "Which node.", {**TEXT, "default": "0"})],
    ),
}
