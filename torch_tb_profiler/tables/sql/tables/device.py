"""What ran on devices: kernels, copies and fills, and when nothing did."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from torch_tb_profiler.analysis.copies import copy_kinds
from torch_tb_profiler.analysis.idle import CAUSES, idle_gaps
from torch_tb_profiler.analysis.kernels import KernelTable
from torch_tb_profiler.analysis.shared.device_roles import (
    EXPOSED_COMMUNICATION,
    EXPOSED_COPY,
    Quantity,
    Role,
    device_roles,
    device_spans,
    work_by_device,
)
from torch_tb_profiler.analysis.shared.kernel_use import known_occupancy
from torch_tb_profiler.arrays.intervals import Coverage
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.kernel_names.families import family_of
from torch_tb_profiler.model.kernel_names.short import short_name
from torch_tb_profiler.tables.sql.columns import (
    LAUNCH_ROW,
    NAME,
    OPERATOR,
    OPERATOR_ROW,
    ROW,
    START,
    STEP,
    TIMES,
    SqlColumn,
    SqlTable,
    SqlTexts,
    SqlValues,
    event_values,
    known,
    of_definition,
    of_schema,
    operator_values,
    rows_at,
    step_values,
)
from torch_tb_profiler.trace import Category
from torch_tb_profiler.trace.schema import DeviceWork

#: columns of `DeviceWork` that are shown as they are
_WHERE = ("device", "stream")
_OF_KERNELS = ("grid", "block", "registers", "shared_memory", "graph_id", "correlation")
_OF_COPIES = ("bytes", "bandwidth", "graph_id", "correlation")

_DEVICE, _STREAM = (of_schema(DeviceWork, name) for name in _WHERE)
_EXPOSED = SqlColumn(
    "exposed_ns",
    "number",
    "ns",
    "of a kernel of communication the part of duration_ns in which no compute kernel runs on its device, of a copy or "
    "fill that in which no kernel does",
    "analysis.shared.quantities",
    "a compute kernel: nothing hides it",
)
_IS_COMMUNICATION = SqlColumn(
    "is_communication", "bool", "", "whether it is a kernel of a collective", "model.communication"
)


def _work(model: Model, *categories: Category) -> Int64:
    return np.flatnonzero(np.isin(model.device_category, categories))


def _of_work(model: Model, work: Int64, names: tuple[str, ...]) -> dict[str, SqlValues]:
    """Return what kernels, copies and fills have in common; work: positions in `Model.device_work`."""
    links, table = model.device_links, model.device_work
    schema = {column.name: column for column in DeviceWork.schema()}
    columns_found: dict[str, SqlValues] = {}
    for name in (*_WHERE, *names):
        values = getattr(table, name)[work]
        columns_found[name] = (
            SqlTexts(values, model.trace.strings)
            if schema[name].is_string
            else values
            if values.dtype.kind == "f"
            else known(values)
        )
    return {
        **event_values(model, table.row[work]),
        **operator_values(model, links.operator_node[work]),
        **columns_found,
        "exposed_ns": _exposed(model, work),
        "launch_row": known(rows_at(model.launches.row, links.launch[work])),
    }


def _exposed(model: Model, work: Int64) -> SqlValues:
    """Shape (work,), ns; -1 of compute kernels."""
    events, row, role = model.trace.events, model.device_work.row[work], device_roles(model)[work]
    found = np.full(len(work), -1, np.int64)
    hidden: dict[Role, Quantity] = {Role.COMMUNICATION: EXPOSED_COMMUNICATION, Role.COPY: EXPOSED_COPY}
    for device, all_of_it in work_by_device(model).items():
        spans = device_spans(model, all_of_it)
        for each, quantity in hidden.items():
            mine = np.flatnonzero((role == each) & (model.device_work.device[work] == device))
            start, end = events.start[row[mine]], events.end[row[mine]]
            found[mine] = Coverage(quantity.spans(spans)).between(start, end)
    return known(found)


def _kernels(model: Model) -> Mapping[str, SqlValues]:
    work = _work(model, Category.KERNEL)
    found = _of_work(model, work, _OF_KERNELS)
    names = found["name"]
    assert isinstance(names, SqlTexts)
    codes, texts = names.used()
    families = [None if text is None else family_of(text) for text in texts]
    return {
        **found,
        "short_name": SqlTexts(codes, ["" if text is None else short_name(text) for text in texts]),
        "kind": SqlTexts(codes, ["" if family is None else family.label for family in families]),
        "library": SqlTexts(codes, ["" if family is None else family.library or "" for family in families]),
        "is_communication": model.device_links.is_communication[work],
        "occupancy": known_occupancy(model.trace, model.device_work.take(work)),
    }


KERNELS = SqlTable(
    "kernels",
    "a kernel that ran on a device, of communication or not",
    (
        *(
            ROW,
            NAME,
            of_definition(KernelTable.columns["short_name"]),
            of_definition(KernelTable.columns["kind"], "the name is unknown"),
        ),
        *(of_definition(KernelTable.columns["library"], "the name does not tell"), _IS_COMMUNICATION),
        *(_DEVICE, _STREAM, *TIMES, _EXPOSED, LAUNCH_ROW, OPERATOR_ROW, OPERATOR, STEP),
        *(of_schema(DeviceWork, name) for name in _OF_KERNELS),
        of_schema(DeviceWork, "occupancy").called("occupancy", "neither in the file nor computed"),
    ),
    _kernels,
)


def _copies(model: Model) -> Mapping[str, SqlValues]:
    kinds = copy_kinds(model)
    work = model.device_work.take(kinds.index)
    duration = model.trace.events.duration[work.row]
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where((work.bytes >= 0) & (duration > 0), work.bytes / duration, np.nan)
    return {
        **_of_work(model, kinds.index, _OF_COPIES),
        "bandwidth": np.where(np.isnan(work.bandwidth), mean, work.bandwidth),
        "kind": SqlTexts(kinds.kind, kinds.names),
    }


COPIES = SqlTable(
    "copies",
    "a copy or fill that ran on a device",
    (
        *(
            ROW,
            NAME,
            SqlColumn("kind", "string", "", "first words of the name: Memcpy HtoD, Memset", "analysis.copies"),
        ),
        *(_DEVICE, _STREAM, *TIMES, _EXPOSED, LAUNCH_ROW, OPERATOR_ROW, OPERATOR, STEP),
        *(of_schema(DeviceWork, name) for name in _OF_COPIES),
    ),
    _copies,
)


def _gaps(model: Model) -> Mapping[str, SqlValues]:
    if not model.has_device_work:
        none = np.zeros(0, np.int64)
        return {column.name: SqlTexts(none, ()) if column.type == "string" else none for column in GAPS.columns}
    found, rows = idle_gaps(model), model.device_work.row
    after = rows_at(rows, found.after)
    return {
        "device": known(found.device),
        "start_ns": found.start_ns,
        "duration_ns": found.duration_ns,
        "end_ns": found.start_ns + found.duration_ns,
        "cause": SqlTexts(found.cause.astype(np.int64), CAUSES),
        "before_row": rows_at(rows, found.before),
        "after_row": after,
        "step": step_values(model, after),
    }


GAPS = SqlTable(
    "gaps",
    "a time in which no kernel, copy or fill ran on a device, between its first and its last",
    (
        *(_DEVICE, START),
        SqlColumn("duration_ns", "number", "ns", "how long nothing ran", "analysis.idle"),
        SqlColumn("end_ns", "number", "ns", "start_ns + duration_ns", "analysis.idle"),
        SqlColumn(
            "cause",
            "string",
            "",
            "by the work that ends it: host_wait (launched after everything before it had ended), kernel_wait "
            "(queued, began soon), other (queued, something else held it up), unknown (its launch is not in the trace, "
            "or nothing tells why it began so late)",
            "analysis.idle",
        ),
        SqlColumn("before_row", "number", "row", "the work that ended last before it", "analysis.idle"),
        SqlColumn("after_row", "number", "row", "the work that ends it", "analysis.idle"),
        STEP.called("step", "the work that ends it belongs to no step"),
    ),
    _gaps,
)
