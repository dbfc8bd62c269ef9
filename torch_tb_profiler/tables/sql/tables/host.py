"""What ran on the host: operators, annotations, calls of the device API, frames; and all events of the file."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.api_calls import Launched, launched
from torch_tb_profiler.analysis.operators.table import OperatorTable
from torch_tb_profiler.analysis.shared.operator_times import operator_times
from torch_tb_profiler.arrays.distinct import isin
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.modules import module_name, nn_modules
from torch_tb_profiler.tables.sql.columns import (
    CATEGORY,
    NAME,
    OPERATOR,
    OPERATOR_ROW,
    ROW,
    STEP,
    THREAD,
    TIMES,
    SqlColumn,
    SqlTable,
    SqlTexts,
    SqlValues,
    category_values,
    event_values,
    known,
    of_definition,
    of_field,
    of_schema,
    operator_values,
    rows_at,
    thread_values,
)
from torch_tb_profiler.trace.schema import EventPhase, Launches, OperatorRanges, PythonFrames

_NO_CALL = "an annotation, or a call that its only nested operator of the same name stands for"
_PARENT = SqlColumn("parent_row", "number", "row", "what directly encloses it", "model.call_tree", "nothing does")
_DEPTH = SqlColumn("depth", "number", "count", "how many of the same table enclose it", "model.call_tree")
_MODULE = SqlColumn(
    "module",
    "string",
    "",
    "the innermost nn.Module whose call contains it, according to Python frames",
    "model.modules",
    "it is in none, or frames were not recorded",
)


def _operators(model: Model) -> Mapping[str, SqlValues]:
    tree, times, trace = model.tree, operator_times(model), model.trace
    own = np.full((3, len(tree)), np.iinfo(np.int64).min)
    own[:, times.node] = times.host_self, times.device_self, times.device_total
    missing = own == np.iinfo(np.int64).min
    recorded = trace.operators.take(tree.operator)
    return {
        **event_values(model, tree.row),
        "category": category_values(model, tree.row),
        **{
            column: np.ma.array(values, mask=mask)
            for column, values, mask in zip(("self_ns", "device_self_ns", "device_total_ns"), own, missing, strict=True)
        },
        "parent_row": known(rows_at(tree.row, tree.parent)),
        "depth": tree.depth,
        "thread": thread_values(model, tree.row),
        "module": _modules(model),
        "input_shape": SqlTexts(recorded.input_dims, trace.strings),
        "input_type": SqlTexts(recorded.input_type, trace.strings),
        "external_id": known(recorded.external_id),
        "sequence": known(recorded.sequence),
    }


def _modules(model: Model) -> SqlTexts:
    """Return the module of each node of the call tree."""
    frames, strings = model.frames, model.trace.strings
    is_module = isin(frames.row, nn_modules(model).row)
    frame = nearest(frames.parent, is_module, model.tree.frame)
    code = take_known(frames.name, frame)
    used = np.unique(code[code >= 0])
    place = np.full(len(strings) + 1, -1, np.int64)
    place[used] = np.arange(len(used))
    return SqlTexts(place[code], [module_name(strings[each]) for each in used.tolist()])


OPERATORS = SqlTable(
    "operators",
    "a host range that torch recorded: an operator, a node of autograd, or an annotation (record_function)",
    (
        *(ROW, NAME, CATEGORY, *TIMES),
        of_definition(OperatorTable.columns["host_self_ns"], _NO_CALL).called("self_ns"),
        *(of_definition(OperatorTable.columns[name], _NO_CALL) for name in ("device_self_ns", "device_total_ns")),
        *(_PARENT, _DEPTH, THREAD, STEP, _MODULE),
        of_schema(OperatorRanges, "input_dims").called("input_shape"),
        *(of_schema(OperatorRanges, name) for name in ("input_type", "external_id", "sequence")),
    ),
    _operators,
)


_STARTED = ("pieces", "kernels", "device_ns", "delay_ns")


def _launches(model: Model) -> Mapping[str, SqlValues]:
    rows, found = model.launches.row, launched(model)
    started = np.full((len(_STARTED), len(rows)), -1, np.int64)
    for at, name in enumerate(_STARTED):
        started[at, found.launch] = getattr(found, name)
    return {
        **event_values(model, rows),
        **operator_values(model, model.launch_links.operator_node),
        "thread": thread_values(model, rows),
        "correlation": known(model.launches.correlation),
        "pieces": np.maximum(started[0], 0),
        "kernels": np.maximum(started[1], 0),
        "device_ns": known(started[2]),
        "delay_ns": known(started[3]),
    }


_NOTHING = "it started nothing that is in the trace"
LAUNCHES = SqlTable(
    "launches",
    "a call of the API of a device, runtime or driver, whether it started work or not",
    (
        *(ROW, NAME, *TIMES, THREAD),
        OPERATOR_ROW.called("operator_row", "it is in no operator"),
        OPERATOR.called("operator", "it is in no operator"),
        STEP,
        of_schema(Launches, "correlation"),
        *(of_field(Launched, name, "number", "count") for name in ("pieces", "kernels")),
        *(of_field(Launched, name, "number", "ns", _NOTHING) for name in ("device_ns", "delay_ns")),
    ),
    _launches,
)


def _frames(model: Model) -> Mapping[str, SqlValues]:
    frames, recorded = model.frames, model.trace.python_frames
    return {
        **event_values(model, frames.row),
        "parent_row": known(rows_at(frames.row, frames.parent)),
        "depth": frames.depth,
        "thread": thread_values(model, frames.row),
        "module_id": known(recorded.module_id[_place(recorded.row, frames.row)]),
    }


def _place(sorted_rows: Int32, rows: Int32) -> Int64:
    return np.searchsorted(sorted_rows, rows)


FRAMES = SqlTable(
    "frames",
    "a Python frame, a call of nn.Module among them; recorded with with_stack or with_modules",
    (
        *(ROW, NAME, *TIMES, _PARENT, _DEPTH, THREAD, STEP),
        of_schema(PythonFrames, "module_id"),
    ),
    _frames,
)


def _events(model: Model) -> Mapping[str, SqlValues]:
    rows = np.arange(len(model.trace.events), dtype=np.int32)
    phase = model.trace.events.phase.astype(np.int64)
    return {
        **event_values(model, rows),
        "phase": SqlTexts(phase, [each.name.lower() for each in EventPhase]),
        "category": category_values(model, rows),
        "track": thread_values(model, rows),
    }


_PHASE = SqlColumn("phase", "string", "", f"one of {', '.join(phase.name.lower() for phase in EventPhase)}", "ph")
_TRACK = replace(THREAD, name="track", meaning="host thread or stream of a device that it is on")

EVENTS = SqlTable(
    "events",
    "an event of the file, of whatever kind",
    (ROW, _PHASE, CATEGORY, NAME, _TRACK, *TIMES, STEP),
    _events,
)
