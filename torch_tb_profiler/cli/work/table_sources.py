"""The tables that commands print, of one trace or of several."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.idle import CAUSES
from torch_tb_profiler.analysis.modules import DEVICE_COLUMNS
from torch_tb_profiler.analysis.question import Listed, NoParameters, Question, Scope, Subject
from torch_tb_profiler.analysis.stacks.flame_graph import stack_weights
from torch_tb_profiler.analysis.tabular import PageMeta, Table, TableMeta
from torch_tb_profiler.analysis.traces import FIGURES, TRACES
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.cli.messages import UserError
from torch_tb_profiler.cli.work.traces import chosen, chosen_run, open_local, readable_path
from torch_tb_profiler.codec import convert
from torch_tb_profiler.discovery import RunFiles, TraceFile
from torch_tb_profiler.model import Model
from torch_tb_profiler.questions import QUESTIONS
from torch_tb_profiler.ranks import distributed, rank_of
from torch_tb_profiler.ranks.distributed import operation_table
from torch_tb_profiler.ranks.ranges import ranges_of_ranks
from torch_tb_profiler.ranks.summary import summarize
from torch_tb_profiler.tables.listing import ListedTable
from torch_tb_profiler.tables.results import COLUMNS, DEPTH, RESULTS, STEP_NAME, STEP_START, NamedGaps
from torch_tb_profiler.workspace import Unavailable
from torch_tb_profiler.workspace.answering.answerer import subject_of, trace_of
from torch_tb_profiler.workspace.local_workspace import LocalTrace, LocalWorkspace, find_traces, without_traces

Own = Mapping[str, str]


def table_of_trace(listed: ListedTable, params: Own, subject: Subject) -> Table[Any]:
    """Return a table of one trace, with options of its own. Raises Refused and UserError."""
    return _SHAPED.get(listed.name, _usual)(listed, subject, params)


def is_of_steps(listed: ListedTable) -> bool:
    """Return `Question.of_steps` of a table."""
    return not listed.question or _question(listed).of_steps


def _usual(listed: ListedTable, subject: Subject, params: Own) -> Table[Any]:
    return (
        _answer(listed, subject, params)
        if listed.question
        else _result(listed, subject, params).table(_meta(listed, subject))
    )


def _question(listed: ListedTable) -> Question:
    return next(each for each in QUESTIONS if each.scope == "trace" and each.name == listed.question)


def _answer(listed: ListedTable, subject: Subject, params: Own) -> Table[Any]:
    question = _question(listed)
    try:
        table: Table[Any] = question.compute(subject, convert(dict(params), question.parameters, strict=False))
    except msgspec.ValidationError as error:
        raise UserError(str(error)) from None
    return table


def _result(listed: ListedTable, subject: Subject, params: Own) -> Any:
    try:
        return RESULTS[listed.name](subject.model, params)
    except ValueError as error:
        raise UserError(str(error)) from None


def _meta(listed: ListedTable, subject: Subject) -> TableMeta:
    return TableMeta(**subject.about(listed.command.view))


def _steps(listed: ListedTable, subject: Subject, params: Own) -> Table[TableMeta]:
    found, defined = _result(listed, subject, params), COLUMNS[listed.name]
    kind = {} if found.kind is None else {"kind": found.kind}
    columns = [STEP_NAME, STEP_START, *(defined[key] for key in (*kind, "step", *found.categories))]
    values = {"name": found.names, "start_ns": found.start_ns, **kind, "step": found.duration_ns, **found.category_ns}
    return Table(_meta(listed, subject), columns, values)


def _idle(listed: ListedTable, subject: Subject, params: Own) -> Table[TableMeta]:
    _needs_device(subject.model)
    return _without_stream(_usual(listed, subject, params))


def _gaps(listed: ListedTable, subject: Subject, params: Own) -> Table[TableMeta]:
    model = subject.model
    _needs_device(model)
    idle_gaps = _result(listed, subject, params)
    events, strings, work = model.trace.events, model.trace.strings, model.device_work

    def names(index: Int64) -> list[str]:
        return [strings[code] for code in events.name[work.row[index]].tolist()]

    gaps = NamedGaps(
        device=idle_gaps.device,
        stream=idle_gaps.stream,
        cause=[CAUSES[code] for code in idle_gaps.cause.tolist()],
        duration_ns=idle_gaps.duration_ns,
        start_ns=idle_gaps.start_ns,
        step=_steps_at(model, idle_gaps.start_ns),
        before=names(idle_gaps.before),
        after=names(idle_gaps.after),
    )
    return _without_stream(gaps.table(_meta(listed, subject)))


def _needs_device(model: Model) -> None:
    if not model.has_device_work:
        raise UserError(
            "the trace has no device work, so that no device was idle: profile(activities=[ProfilerActivity.CPU, "
            "ProfilerActivity.CUDA]) records it"
        )


def _without_stream(table: Table[TableMeta]) -> Table[TableMeta]:
    """Drop the column of streams where all gaps are of whole devices."""
    if (table.values["stream"] >= 0).any():
        return table
    return replace(table, columns=[column for column in table.columns if column.key != "stream"])


def _steps_at(model: Model, times: Int64) -> list[str | None]:
    steps = model.steps
    return [steps.names[at] if at >= 0 else None for at in steps.on_device(times).tolist()]


def _modules(listed: ListedTable, subject: Subject, params: Own) -> Table[TableMeta]:
    found = _result(listed, subject, params)
    without = () if subject.model.has_device_work else DEVICE_COLUMNS
    return _with_depth(found.table(_meta(listed, subject), without=without), found.parent)


def _stacks(listed: ListedTable, subject: Subject, params: Own) -> Table[TableMeta]:
    if params.get("weight") not in (None, *stack_weights(subject.model)):
        raise UserError("the trace has no device work: --weight host")
    found = _result(listed, subject, params)
    return _with_depth(found.table(_meta(listed, subject)), found.parent)


def _with_depth(table: Table[TableMeta], parent: Int64) -> Table[TableMeta]:
    depth = np.zeros(len(parent), np.int64)
    for row, above in enumerate(parent.tolist()):  # in preorder: what is around a row stands before it
        if above >= 0:
            depth[row] = depth[above] + 1
    return replace(table, columns=[*table.columns, DEPTH], given={**table.given, "depth": depth})


def _ranges(listed: ListedTable, subject: Subject, params: Own) -> Table[TableMeta]:
    found = _answer(listed, subject, params)
    place = {number: row for row, number in enumerate(found.given["id"].tolist())}
    parents = np.ma.filled(found.values["parent"], -1).tolist()
    return _with_depth(found, np.array([place.get(number, -1) for number in parents], np.int64))


def _copies(listed: ListedTable, subject: Subject, params: Own) -> Table[TableMeta]:
    found = _result(listed, subject, params)  # GB/s there, as vendors have it
    in_bytes = found.replace(bandwidth=found.bandwidth * 1e9, max_bandwidth=found.max_bandwidth * 1e9)
    table: Table[TableMeta] = in_bytes.table(_meta(listed, subject))
    return table


def _slices(listed: ListedTable, subject: Subject, params: Own) -> Table[TableMeta]:
    found = _result(listed, subject, params)
    table = found.table(_meta(listed, subject))
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


R = TypeVar("R")


def _from_each_rank(arguments: argparse.Namespace, of: Callable[[Model, str], R]) -> list[R]:
    """Return what a function makes of each trace of the first span."""
    with chosen(arguments) as found:
        spans = list(dict.fromkeys(file.span for file in found.files))
        return [
            found.ask(partial(_of_worker, of, file.worker), at)
            for at, file in enumerate(found.files)
            if file.span == spans[0]
        ]


def _communication(arguments: argparse.Namespace) -> Table[PageMeta]:
    table = operation_table(distributed(_from_each_rank(arguments, rank_of)))
    return table.table(PageMeta())


def _rank_ranges(arguments: argparse.Namespace) -> Table[PageMeta]:
    table = ranges_of_ranks(_from_each_rank(arguments, summarize))
    return table.table(PageMeta())


def _table_of_traces(arguments: argparse.Namespace) -> Table[Any]:
    with readable_path(arguments.path) as path:
        listing = find_traces(path)
        workspace = open_local(arguments.cache_dir)
        if not listing.runs:
            raise UserError(without_traces(path, listing))
        runs = listing.runs if arguments.run is None else (chosen_run(path, arguments.run),)
        listed = [
            _listed_trace(workspace, run, file)
            for run in runs
            for file in run.traces
            if file.kind == "trace" and arguments.span in (None, file.span)
        ]
        if not any(file.kind == "trace" for run in runs for file in run.traces):
            raise UserError(without_traces(path, listing, arguments.run))
    table: Table[Any] = TRACES.compute(listed, Scope(of="all"))
    return table


def _listed_trace(workspace: LocalWorkspace, run: RunFiles, file: TraceFile) -> Listed:
    def asked(model: Model) -> Any:
        return FIGURES.compute(subject_of(model, trace_of(run, file)), NoParameters())

    try:
        answers = {"figures": LocalTrace(workspace, file).ask(asked)}
    except Unavailable:
        return Listed(run.name, file.worker, file.span, file.entry.path, "failed")
    return Listed(run.name, file.worker, file.span, file.entry.path, "ready", answers)


TABLES_OF_RUNS: Mapping[str, Callable[[argparse.Namespace], Table[Any]]] = {
    "communication": _communication,
    "rank-ranges": _rank_ranges,
    "traces": _table_of_traces,
}


def _of_worker(of: Callable[[Model, str], R], worker: str, subject: Subject) -> R:
    return of(subject.model, worker)
