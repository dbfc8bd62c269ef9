"""Makes the tables of commands about one trace, from what the list of tables says of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.idle import CAUSES
from torch_tb_profiler.analysis.modules import DEVICE_COLUMNS
from torch_tb_profiler.analysis.question import Question, Subject
from torch_tb_profiler.analysis.stacks.flame_graph import stack_weights
from torch_tb_profiler.analysis.table import Table, TableMeta
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.cli.errors import UserError
from torch_tb_profiler.codec import convert
from torch_tb_profiler.model import Model
from torch_tb_profiler.questions import QUESTIONS
from torch_tb_profiler.tables.columns import COLUMNS, DEPTH, STEP_NAME, STEP_START, NamedGaps
from torch_tb_profiler.tables.listing import ListedTable
from torch_tb_profiler.tables.results import RESULTS

Own = Mapping[str, str]


def table_of_trace(of: ListedTable, own: Own, subject: Subject) -> Table[Any]:
    """A table of one trace, with options of its own. Raises Refused and UserError."""
    return _SHAPED.get(of.name, _usual)(of, subject, own)


def is_of_steps(of: ListedTable) -> bool:
    """As `Question.of_steps`."""
    return not of.question or _question(of).of_steps


def _usual(of: ListedTable, subject: Subject, own: Own) -> Table[Any]:
    return _answer(of, subject, own) if of.question else _result(of, subject, own).table(_meta(of, subject))


def _question(of: ListedTable) -> Question:
    return next(each for each in QUESTIONS if each.scope == "trace" and each.name == of.question)


def _answer(of: ListedTable, subject: Subject, own: Own) -> Table[Any]:
    asked = _question(of)
    try:
        table: Table[Any] = asked.compute(subject, convert(dict(own), asked.parameters, strict=False))
    except msgspec.ValidationError as error:
        raise UserError(str(error)) from None
    return table


def _result(of: ListedTable, subject: Subject, own: Own) -> Any:
    try:
        return RESULTS[of.name](subject.model, own)
    except ValueError as error:
        raise UserError(str(error)) from None


def _meta(of: ListedTable, subject: Subject) -> TableMeta:
    return TableMeta(**subject.about(of.command.view))


def _steps(of: ListedTable, subject: Subject, own: Own) -> Table[TableMeta]:
    found, defined = _result(of, subject, own), COLUMNS[of.name]
    kind = {} if found.kind is None else {"kind": found.kind}
    columns = [STEP_NAME, STEP_START, *(defined[key] for key in (*kind, "step", *found.categories))]
    values = {"name": found.names, "start_ns": found.start_ns, **kind, "step": found.duration_ns, **found.category_ns}
    return Table(_meta(of, subject), columns, values)


def _idle(of: ListedTable, subject: Subject, own: Own) -> Table[TableMeta]:
    _needs_device(subject.model)
    return _without_stream(_usual(of, subject, own))


def _gaps(of: ListedTable, subject: Subject, own: Own) -> Table[TableMeta]:
    model = subject.model
    _needs_device(model)
    found = _result(of, subject, own)
    events, strings, work = model.trace.events, model.trace.strings, model.device_work

    def names(index: Int64) -> list[str]:
        return [strings[code] for code in events.name[work.row[index]].tolist()]

    gaps = NamedGaps(
        device=found.device,
        stream=found.stream,
        cause=[CAUSES[code] for code in found.cause.tolist()],
        duration_ns=found.duration_ns,
        start_ns=found.start_ns,
        step=_steps_at(model, found.start_ns),
        before=names(found.before),
        after=names(found.after),
    )
    return _without_stream(gaps.table(_meta(of, subject)))


def _needs_device(model: Model) -> None:
    if not model.has_device_work:
        raise UserError(
            "the trace has no device work, so that no device was idle: profile(activities=[ProfilerActivity.CPU, "
            "ProfilerActivity.CUDA]) records it"
        )


def _without_stream(table: Table[TableMeta]) -> Table[TableMeta]:
    """A gap of a whole device has no stream."""
    if (table.values["stream"] >= 0).any():
        return table
    return replace(table, columns=[column for column in table.columns if column.key != "stream"])


def _steps_at(model: Model, times: Int64) -> list[str | None]:
    steps = model.steps
    return [steps.names[at] if at >= 0 else None for at in steps.on_device(times).tolist()]


def _modules(of: ListedTable, subject: Subject, own: Own) -> Table[TableMeta]:
    found = _result(of, subject, own)
    without = () if subject.model.has_device_work else DEVICE_COLUMNS
    return _with_depth(found.table(_meta(of, subject), without=without), found.parent)


def _stacks(of: ListedTable, subject: Subject, own: Own) -> Table[TableMeta]:
    if own.get("weight") not in (None, *stack_weights(subject.model)):
        raise UserError("the trace has no device work: --weight host")
    found = _result(of, subject, own)
    return _with_depth(found.table(_meta(of, subject)), found.parent)


def _with_depth(table: Table[TableMeta], parent: Int64) -> Table[TableMeta]:
    depth = np.zeros(len(parent), np.int64)
    for row, above in enumerate(parent.tolist()):  # in preorder: what is around a row stands before it
        if above >= 0:
            depth[row] = depth[above] + 1
    return replace(table, columns=[*table.columns, DEPTH], given={**table.given, "depth": depth})


def _ranges(of: ListedTable, subject: Subject, own: Own) -> Table[TableMeta]:
    found = _answer(of, subject, own)
    place = {number: row for row, number in enumerate(found.given["id"].tolist())}
    parents = np.ma.filled(found.values["parent"], -1).tolist()
    return _with_depth(found, np.array([place.get(number, -1) for number in parents], np.int64))


def _copies(of: ListedTable, subject: Subject, own: Own) -> Table[TableMeta]:
    found = _result(of, subject, own)  # GB/s there, as vendors have it
    in_bytes = found.replace(bandwidth=found.bandwidth * 1e9, max_bandwidth=found.max_bandwidth * 1e9)
    table: Table[TableMeta] = in_bytes.table(_meta(of, subject))
    return table


def _slices(of: ListedTable, subject: Subject, own: Own) -> Table[TableMeta]:
    found = _result(of, subject, own)
    table = found.table(_meta(of, subject))
    return replace(table, meta=msgspec.structs.replace(table.meta, total=found.total))


#: tables that are more than what was found: derived columns, other units, checks
_SHAPED: Mapping[str, Callable[[ListedTable, Subject, Own], Table[Any]]] = {
    "steps": _steps,
    "idle": _idle,
    "gaps": _gaps,
    "modules": _modules,
    "stacks": _stacks,
    "ranges": _ranges,
    "copies": _copies,
    "slices": _slices,
}
