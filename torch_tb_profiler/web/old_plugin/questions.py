"""The old plugin's routes about traces, with its parameters; the other modules of this folder make their shapes.

Times are in microseconds, sizes and times as texts where the old plugin had texts. These shapes do not change any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from torch_tb_profiler.analysis.compare.comparison import ROOT
from torch_tb_profiler.analysis.json_schema import Json, ref
from torch_tb_profiler.analysis.memory.records import missing
from torch_tb_profiler.analysis.operators.question import OfKnown
from torch_tb_profiler.analysis.question import (
    JsonShape,
    NoParameters,
    NotFound,
    Question,
    Refused,
    RunSubject,
    Subject,
)
from torch_tb_profiler.model import Model
from torch_tb_profiler.ranks import DistributedRanks, Rank
from torch_tb_profiler.ranks.distributed_questions import RANK, distributed_of
from torch_tb_profiler.web.old_plugin import diff, distributed, memory, modules, shapes
from torch_tb_profiler.web.old_plugin import openapi_shapes as schemas

TAG = "old plugin"
_MICROSECONDS = "Times in microseconds."
_NO_MODULES = "no modules are recorded in this trace: with_stack=True or with_modules=True records them"
_NO_TREE = "the trace holds no host activity: ProfilerActivity.CPU records it"

Size = Literal["", "B", "K", "KB", "M", "MB", "G", "GB"]
Time = Literal["micro", "microsecond", "us", "milli", "millisecond", "ms", "", "second", "s"]
_SizeUnit = Annotated[Size, Meta(description="Unit of sizes, powers of 1024.")]
_TimeUnit = Annotated[Time, Meta(description="Unit of times.")]
_Timestamp = Annotated[
    Decimal | None,
    Meta(description="As the file counts time.", extra_json_schema={"type": "number"}, extra={"unit": "microseconds"}),
]


class ShapeParameters(msgspec.Struct, frozen=True):
    """Rows of operators."""

    group_by: Annotated[
        str | None, Meta(description=f"{shapes.BY_SHAPE} for a row of each shape; anything else groups by name.")
    ] = None


class KernelParameters(msgspec.Struct, frozen=True):
    """Rows of kernels."""

    group_by: Annotated[
        str | None,
        Meta(description=f"{shapes.BY_KERNEL} groups by name; anything else by operator and launch, too."),
    ] = None


class StackParameters(msgspec.Struct, frozen=True):
    """One operator."""

    op_name: Annotated[str, Meta(description="An operator.")]
    group_by: Annotated[
        str | None, Meta(description=f"{shapes.BY_SHAPE} for a row of each shape; anything else groups by name.")
    ] = None
    input_shape: Annotated[
        str | None, Meta(description=f"As in /operation/table; required with group_by={shapes.BY_SHAPE}.")
    ] = None


class MemoryParameters(msgspec.Struct, frozen=True):
    """A window of time."""

    start_ts: _Timestamp = None
    end_ts: _Timestamp = None
    memory_metric: _SizeUnit = "KB"


class CurveParameters(msgspec.Struct, frozen=True):
    """Units."""

    time_metric: _TimeUnit = "ms"
    memory_metric: _SizeUnit = "MB"


class EventsParameters(msgspec.Struct, frozen=True):
    """A window of time, and units."""

    start_ts: _Timestamp = None
    end_ts: _Timestamp = None
    time_metric: _TimeUnit = "ms"
    memory_metric: _SizeUnit = "KB"


class DiffParameters(msgspec.Struct, frozen=True):
    """Spans, which the old plugin asked for."""

    span: Annotated[str, Meta(description="The span of the first trace.")]
    exp_span: Annotated[str, Meta(description="The span of the second trace.")]


class NodeParameters(msgspec.Struct, frozen=True):
    """Spans, which the old plugin asked for, and a node."""

    span: Annotated[str, Meta(description="The span of the first trace.")]
    exp_span: Annotated[str, Meta(description="The span of the second trace.")]
    path: Annotated[str, Meta(description="Which node.")] = ROOT


def _of_trace(
    route: str,
    summary: str,
    schema: Json,
    compute: Callable[[Subject, Any], Any],
    parameters: type[msgspec.Struct] = NoParameters,
) -> Question:
    """Declare a question that is answered when first asked, and kept then: the page asks for none of these."""

    def answer(subject: Subject, params: msgspec.Struct) -> Any:
        return compute(subject, params)

    return Question(
        name=f"old{route}",
        route=route,
        summary=summary,
        answer=JsonShape(schema),
        parameters=parameters,
        tag=TAG,
        more=_MICROSECONDS,
        compute=answer,
    )


def _of_ranks(route: str, summary: str, schema: Json, shape: Callable[[DistributedRanks], Any]) -> Question:
    def compute(ranks: Annotated[RunSubject[Rank], RANK], _: NoParameters) -> Any:
        return shape(distributed_of(ranks))

    return Question(
        name=f"old{route}",
        route=route,
        summary=summary,
        answer=JsonShape(schema),
        tag=TAG,
        more=_MICROSECONDS,
        compute=compute,
    )


def _special(group_by: str | None, special: str) -> str | None:
    """Return the one value of `group_by` that means something special; None for all others."""
    return special if group_by == special else None


def _operation_stack(known: OfKnown, params: StackParameters) -> Any:
    shape = params.input_shape
    if params.group_by != shapes.BY_SHAPE:
        shape = None
    elif shape is None:
        raise Refused("Must specify input_shape in request url")
    found = shapes.operation_stack(known.details, params.op_name, params.group_by, shape)
    if found is None:
        raise NotFound(f"no call stack is known for {params.op_name!r}")
    return found


def _recorded(compute: Callable[[Model, Any], Any]) -> Callable[[Subject, Any], Any]:
    """Wrap a computation so that it refuses a trace without memory events."""

    def answer(subject: Subject, params: Any) -> Any:
        if not len(subject.model.memory):
            raise NotFound(missing("no_memory").text)
        return compute(subject.model, params)

    return answer


def _window(model: Model, params: MemoryParameters | EventsParameters) -> tuple[int | None, int | None]:
    """Return the times of a window, ns relative to the start of the trace."""
    origin = memory.file_origin_ns(model)
    start, end = (None if time is None else int(time * 1000) - origin for time in (params.start_ts, params.end_ts))
    return start, end


def _memory(model: Model, params: MemoryParameters) -> Any:
    return memory.memory(model, *_window(model, params), memory.SIZES[params.memory_metric])


def _memory_curve(model: Model, params: CurveParameters) -> Any:
    return memory.memory_curve(model, memory.TIMES[params.time_metric], memory.SIZES[params.memory_metric])


def _memory_events(model: Model, params: EventsParameters) -> Any:
    units = memory.TIMES[params.time_metric], memory.SIZES[params.memory_metric]
    return memory.memory_events(model, *_window(model, params), *units)


def _tree(question: Callable[[Model], Iterator[bytes] | None], missing: str) -> Callable[[Subject, Any], Any]:
    def answer(subject: Subject, _: NoParameters) -> Iterator[bytes]:
        found = question(subject.model)
        if found is None:
            raise NotFound(missing)
        return found

    return answer


def _diff(left: Subject, right: Subject, _: DiffParameters) -> Any:
    return diff.diff(left.model, right.model)


def _diffnode(left: Subject, right: Subject, params: NodeParameters) -> Any:
    found = diff.diffnode(left.model, right.model, params.path or ROOT)
    if found is None:
        raise NotFound(f"the comparison has no node {params.path!r}")
    return found


QUESTIONS: tuple[Question, ...] = (
    replace(
        _of_trace(
            "/overview",
            "Steps, advice and devices",
            schemas.OVERVIEW,
            lambda subject, _: shapes.overview(subject.model, subject.workers),
        ),
        of_run=True,
    ),
    _of_trace(
        "/operation",
        "Pies of operators",
        schemas.OPERATION,
        lambda subject, params: shapes.operation(subject.model, _special(params.group_by, shapes.BY_SHAPE)),
        ShapeParameters,
    ),
    _of_trace(
        "/operation/table",
        "Operators",
        schemas.OPERATION_TABLE,
        lambda subject, params: shapes.operation_table(subject.model, _special(params.group_by, shapes.BY_SHAPE)),
        ShapeParameters,
    ),
    Question(
        name="old/operation/stack",
        route="/operation/stack",
        summary="One operator by call stack",
        answer=JsonShape(schemas.OPERATION_STACK),
        tag=TAG,
        more=_MICROSECONDS,
        compute=_operation_stack,
    ),
    _of_trace("/kernel", "The pie of kernels", schemas.KERNEL, lambda subject, _: shapes.kernel(subject.model)),
    _of_trace(
        "/kernel/table",
        "Kernels",
        schemas.KERNEL_TABLE,
        lambda subject, params: shapes.kernel_table(subject.model, _special(params.group_by, shapes.BY_KERNEL)),
        KernelParameters,
    ),
    replace(
        _of_trace(
            "/kernel/tc_pie",
            "The share of tensor cores",
            schemas.KERNEL,
            lambda subject, _: shapes.kernel_tc_pie(subject.model),
        ),
        more="Fractions of the time of kernels.",
    ),
    _of_trace("/memory", "What operators allocated", schemas.MEMORY, _recorded(_memory), MemoryParameters),
    _of_trace(
        "/memory_curve",
        "Memory in use over time",
        schemas.MEMORY_CURVE,
        _recorded(_memory_curve),
        CurveParameters,
    ),
    _of_trace(
        "/memory_events",
        "Allocations with their releases",
        schemas.MEMORY_EVENTS,
        _recorded(_memory_events),
        EventsParameters,
    ),
    _of_trace("/module", "Modules as a tree", schemas.MODULE, _tree(modules.module, _NO_MODULES)),
    _of_trace(
        "/tree",
        "The call tree of the main thread",
        ref("OldNode"),
        _tree(modules.tree, _NO_TREE),
    ),
    Question(
        name="old/diff",
        route="/diff",
        summary="Two traces as a tree",
        answer=JsonShape(ref("OldDifference")),
        parameters=DiffParameters,
        tag=TAG,
        more=_MICROSECONDS,
        compute=_diff,
    ),
    Question(
        name="old/diffnode",
        route="/diffnode",
        summary="One node of the tree of two traces",
        answer=JsonShape(ref("OldDifferenceAtPath")),
        tag=TAG,
        more=_MICROSECONDS,
        compute=_diffnode,
    ),
    _of_ranks("/distributed/gpuinfo", "Devices of all ranks", schemas.GPU_INFO, distributed.gpuinfo),
    _of_ranks("/distributed/overlap", "Computation and communication by step", schemas.OF_STEPS, distributed.overlap),
    _of_ranks("/distributed/waittime", "Transfer and waiting by step", schemas.OF_STEPS, distributed.waittime),
    _of_ranks("/distributed/commops", "Communication operations by worker", schemas.COMMUNICATION, distributed.commops),
)
