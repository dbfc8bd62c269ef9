"""/api/… about one trace, or about several (docs/api.md)."""

from __future__ import annotations

from torch_tb_profiler.analysis.stacks.flame_graph import SMALLEST_SHARE
from torch_tb_profiler.trace import Category
from torch_tb_profiler.web import memory, trace_slices
from torch_tb_profiler.web.json_schema import NUMBER, TEXT, Json, one_of
from torch_tb_profiler.web.openapi import shapes
from torch_tb_profiler.web.openapi.operation import LISTING, Operation
from torch_tb_profiler.web.openapi.parameters import (
    DEVICE,
    PAGE,
    RUN_AND_SPAN,
    STEPS,
    TRACE,
    TWO_TRACES,
    WINDOW_NS,
    choice,
    needed,
    query,
    shared,
    whole,
)

_OPERATOR = [needed("name", "An operator."), query("input_shape", "Only its calls with these shapes.", TEXT)]
_HEALTH = Operation("trace", "What was recorded, and what is wrong with it", shapes.HEALTH, [*TRACE, *STEPS])
_SCOPE = [
    choice("of", "One trace of each run, those of a run, or all.", ("runs", "run", "all")),
    query("run", "Which run; required with of=run.", TEXT),
    query("worker", "With of=runs: whose trace of each run, where there is one.", TEXT),
    *shared("steps", "step_pattern"),
]


def _page(most: int, default: int) -> list[Json]:
    return [*shared("offset"), _limit(most, default)]


def _limit(most: int, default: int) -> Json:
    return whole("limit", "Rows of the answer.", minimum=1, maximum=most, default=default)


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
    "/api/memory/curve": Operation(
        "memory",
        "Memory in use over time",
        shapes.MEMORY_CURVE,
        [
            *TRACE,
            *STEPS,
            *WINDOW_NS,
            whole("bins", "Pieces at most.", minimum=1, maximum=memory.MOST_BINS, default=memory.MOST_BINS),
        ],
    ),
    "/api/memory/events": Operation(
        "memory",
        "Allocations with their releases",
        shapes.MEMORY_EVENTS,
        [*TRACE, *STEPS, *WINDOW_NS, DEVICE, *PAGE],
    ),
    "/api/memory/operators": Operation(
        "memory", "What operators allocated", shapes.MEMORY_OPERATORS, [*TRACE, *STEPS, *WINDOW_NS, DEVICE, *PAGE]
    ),
    "/api/memory/alive": Operation(
        "memory",
        "Blocks in use at a time",
        shapes.MEMORY_ALIVE,
        [
            *TRACE,
            *STEPS,
            DEVICE,
            whole("at_ns", "ns since the start of the trace; without it the peak."),
            _limit(memory.LARGEST_PAGE, memory.PAGE),
        ],
    ),
    "/api/modules": Operation(
        "trace",
        "Modules as a tree in a table",
        shapes.MODULES,
        [*TRACE, *STEPS, query("source", "Who named the modules; without it the first.", one_of("nn", "lightning"))],
    ),
    "/api/stacks": Operation(
        "trace",
        "Time by call stack as a tree in a table",
        shapes.STACKS,
        [
            *TRACE,
            *STEPS,
            query("weight", "Whose time; without it the first that there is.", one_of("device", "host")),
            choice("direction", "From callers to called, or the other way.", ("top_down", "bottom_up")),
            query("files", "Words of which the path of a frame must have one, and none after a minus.", TEXT),
            whole("root", "The id of the only entry that is asked about.", minimum=0, maximum=2**53, default=0),
            query(
                "smallest_share",
                "Entries with less of the whole are folded into one.",
                {**NUMBER, "minimum": 0, "maximum": 1, "default": SMALLEST_SHARE},
            ),
        ],
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
    "/api/compare": Operation(
        "several traces",
        "Two traces, part by part",
        shapes.COMPARE,
        [*TWO_TRACES, query("path", "Which part.", {**TEXT, "default": "0"})],
    ),
    "/api/distributed": Operation("several traces", "All ranks of a run", shapes.DISTRIBUTED, RUN_AND_SPAN),
    "/api/trace/slices": Operation(
        "trace",
        "The longest events",
        shapes.SLICES,
        [
            *TRACE,
            *STEPS,
            *WINDOW_NS,
            query("name", "A part of the name.", TEXT),
            query(
                "category",
                "As in meta.categories; without it all but span.",
                one_of(*(c.name.lower() for c in Category)),
            ),
            *_page(trace_slices.LARGEST_PAGE, trace_slices.PAGE),
        ],
    ),
}
