"""/api/… about one trace, or about several (docs/api.md)."""

from __future__ import annotations

from torch_tb_profiler.web.json_schema import TEXT, one_of
from torch_tb_profiler.web.openapi import shapes
from torch_tb_profiler.web.openapi.operation import LISTING, Operation
from torch_tb_profiler.web.openapi.parameters import (
    PAGE,
    RUN_AND_SPAN,
    STEPS,
    TRACE,
    choice,
    needed,
    query,
    shared,
)

_OPERATOR = [needed("name", "An operator."), query("input_shape", "Only its calls with these shapes.", TEXT)]
_HEALTH = Operation("trace", "What was recorded, and what is wrong with it", shapes.HEALTH, [*TRACE, *STEPS])
_SCOPE = [
    choice("of", "One trace of each run, those of a run, or all.", ("runs", "run", "all")),
    query("run", "Which run; required with of=run.", TEXT),
    query("worker", "With of=runs: whose trace of each run, where there is one.", TEXT),
    *shared("steps", "step_pattern"),
]


OPERATIONS: dict[str, Operation] = {
    "/api/overview": Operation("trace", "Steps, their parts, and advice", shapes.OVERVIEW, [*TRACE, *STEPS]),
    "/api/health": _HEALTH,
    "/health": _HEALTH,
    "/api/operators": Operation(
        "trace",
        "Operators",
        shapes.OPERATORS,
        [
            *TRACE,
            *STEPS,
            choice("group_by", "What makes a row.", ("name", "name_shape", "name_stack")),
            *PAGE,
        ],
    ),
    "/api/operators/stacks": Operation(
        "trace", "One operator by call stack", shapes.OPERATORS, [*TRACE, *STEPS, *_OPERATOR, *PAGE]
    ),
    "/api/operators/kernels": Operation(
        "trace", "Kernels that one operator launched", shapes.LAUNCHED, [*TRACE, *STEPS, *_OPERATOR, *PAGE]
    ),
    "/api/kernels": Operation(
        "trace",
        "Kernels",
        shapes.KERNELS,
        [*TRACE, *STEPS, choice("group_by", "What makes a row.", ("name", "name_op_launch")), *PAGE],
    ),
    "/api/figures": Operation("several traces", "The figures of one trace", shapes.FIGURES, [*TRACE, *STEPS]),
    "/api/traces": Operation("several traces", "A row for each trace", shapes.TRACES, [*_SCOPE, *PAGE], fails=LISTING),
    "/api/traces/names": Operation(
        "several traces",
        "Operators or kernels of several traces side by side",
        shapes.TRACES_BY_NAME,
        [
            *_SCOPE,
            choice("what", "Rows.", ("operators", "kernels")),
            query(
                "measure",
                "Of operators host_self_ns (default), device_self_ns or calls, of kernels total_ns (default) or calls.",
                one_of("host_self_ns", "device_self_ns", "total_ns", "calls"),
            ),
            choice("per", "Divided by the steps of the trace, or sums.", ("step", "all")),
            *PAGE,
        ],
        fails=LISTING,
    ),
    "/api/distributed": Operation("several traces", "All ranks of a run", shapes.DISTRIBUTED, RUN_AND_SPAN),
}
