"""Makes the tables of commands about one trace, from questions of `questions.py` and results of the Python API."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.copies import copies
from torch_tb_profiler.analysis.definition import Definition
from torch_tb_profiler.analysis.idle import CAUSES, idle_gaps, idle_times
from torch_tb_profiler.analysis.launch_delay import launch_stats
from torch_tb_profiler.analysis.module_sources import module_sources
from torch_tb_profiler.analysis.modules.columns import HOOKS, MODULES
from torch_tb_profiler.analysis.modules.table import hooks, modules
from torch_tb_profiler.analysis.overview.columns import OVERVIEW
from torch_tb_profiler.analysis.overview.overview import step_times
from torch_tb_profiler.analysis.program.columns import GRAPHS
from torch_tb_profiler.analysis.program.replayed import graphs
from torch_tb_profiler.analysis.question import Refused, Subject, TraceQuestion
from torch_tb_profiler.analysis.slices.columns import SLICES
from torch_tb_profiler.analysis.slices.table import slices
from torch_tb_profiler.analysis.stacks.columns import STACKS
from torch_tb_profiler.analysis.stacks.flame_graph import stack_weights, stacks
from torch_tb_profiler.analysis.table import Table, TableMeta, table_of
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.cli.errors import UserError
from torch_tb_profiler.cli.work.definitions import COPIES, DEPTH, GAPS, IDLE, LAUNCHES, STEP_NAME, STEP_START
from torch_tb_profiler.model import Model
from torch_tb_profiler.questions import QUESTIONS

#: all slices: what is asked for without a limit
_ALL = 2**31 - 1

Source = Callable[[Subject, Mapping[str, str]], Table[Any]]


def _question(name: str, subject: Subject, own: Mapping[str, str]) -> Table[Any]:
    """The table of a question. Raises Refused and UserError."""
    asked = next(each for each in QUESTIONS if isinstance(each, TraceQuestion) and each.name == name)
    try:
        table: Table[Any] = asked.compute(subject, msgspec.convert(dict(own), asked.parameters, strict=False))
    except msgspec.ValidationError as error:
        raise UserError(str(error)) from None
    return table


def _of_question(name: str) -> Source:
    return partial(_question, name)


def _table(subject: Subject, found: Any, defined: Sequence[Definition], view: str | None = None) -> Table[TableMeta]:
    by_key = {each.key: each for each in defined}
    return table_of(TableMeta(**subject.about(view)), found, by_key, by_key)


def _steps(subject: Subject, _: Mapping[str, str]) -> Table[TableMeta]:
    found = step_times(subject.model)
    columns = [STEP_NAME, STEP_START, OVERVIEW["step"], *(OVERVIEW[key] for key in found.categories)]
    values = {"name": found.names, "start_ns": found.start_ns, "step": found.duration_ns, **found.category_ns}
    return Table(TableMeta(**subject.about("overview")), columns, values)


def _idle(subject: Subject, own: Mapping[str, str]) -> Table[TableMeta]:
    _needs_device(subject.model)
    return _without_stream(_table(subject, idle_times(subject.model, own.get("group_by", "device")), IDLE))  # type: ignore[arg-type]


def _gaps(subject: Subject, own: Mapping[str, str]) -> Table[TableMeta]:
    model = subject.model
    _needs_device(model)
    found = idle_gaps(model, own.get("group_by", "device"))  # type: ignore[arg-type]
    events, strings, work = model.trace.events, model.trace.strings, model.device_work

    def names(index: Int64) -> list[str]:
        return [strings[code] for code in events.name[work.row[index]].tolist()]

    values = {
        "device": found.device,
        "stream": found.stream,
        "cause": [CAUSES[code] for code in found.cause.tolist()],
        "duration_ns": found.duration_ns,
        "start_ns": found.start_ns,
        "step": _steps_at(model, found.start_ns),
        "before": names(found.before),
        "after": names(found.after),
    }
    return _without_stream(Table(TableMeta(**subject.about("overview")), GAPS, values))


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
    if not len(steps):
        return [None] * len(times)
    place = np.searchsorted(steps.start, times, "right") - 1
    inside = (place >= 0) & (times < steps.end[place])
    return [steps.names[at] if there else None for at, there in zip(place.tolist(), inside.tolist(), strict=True)]


def _modules(subject: Subject, own: Mapping[str, str]) -> Table[TableMeta]:
    model = subject.model
    named = module_sources(model)
    found = modules(model, own.get("source") or (named[0] if named else "nn"))  # type: ignore[arg-type]
    columns = [d for d in MODULES.values() if model.has_device_work or "device" not in d.key]
    return _with_depth(_table(subject, found, columns, "modules"), found.parent)


def _hooks(subject: Subject, _: Mapping[str, str]) -> Table[TableMeta]:
    return _table(subject, hooks(subject.model), list(HOOKS.values()), "modules")


def _stacks(subject: Subject, own: Mapping[str, str]) -> Table[TableMeta]:
    weight = own.get("weight") or stack_weights(subject.model)[0]
    if weight not in stack_weights(subject.model):
        raise UserError("the trace has no device work: --weight host")
    found = stacks(subject.model, weight, own.get("direction", "top_down"), own.get("files", ""))  # type: ignore[arg-type]
    if found is None:  # only of a root, which is not asked for
        raise Refused("there is no such call stack")
    return _with_depth(_table(subject, found, list(STACKS.values()), "stacks"), found.parent)


def _with_depth(table: Table[TableMeta], parent: Int64) -> Table[TableMeta]:
    depth = np.zeros(len(parent), np.int64)
    for row, above in enumerate(parent.tolist()):  # in preorder: what is around a row stands before it
        if above >= 0:
            depth[row] = depth[above] + 1
    return replace(table, columns=[*table.columns, DEPTH], values={**table.values, "depth": depth})


def _ranges(subject: Subject, own: Mapping[str, str]) -> Table[TableMeta]:
    found = _question("ranges", subject, own)
    place = {number: row for row, number in enumerate(np.ma.getdata(found.values["id"]).tolist())}
    parents = np.ma.filled(found.values["parent"], -1).tolist()
    return _with_depth(found, np.array([place.get(number, -1) for number in parents], np.int64))


def _launches(subject: Subject, own: Mapping[str, str]) -> Table[TableMeta]:
    return _table(subject, launch_stats(subject.model, own.get("group_by", "api")), LAUNCHES, "kernels")  # type: ignore[arg-type]


def _copies(subject: Subject, _: Mapping[str, str]) -> Table[TableMeta]:
    found = copies(subject.model)  # GB/s there, as vendors have it
    return _table(
        subject,
        replace(found, bandwidth=found.bandwidth * 1e9, max_bandwidth=found.max_bandwidth * 1e9),
        COPIES,
        "kernels",
    )


def _slices(subject: Subject, own: Mapping[str, str]) -> Table[TableMeta]:
    try:
        found = slices(subject.model, own.get("name"), own.get("category"), limit=int(own.get("most", _ALL)))
    except ValueError as error:
        raise UserError(str(error)) from None
    table = _table(subject, found, list(SLICES.values()))
    return replace(table, meta=msgspec.structs.replace(table.meta, total=found.total))


def _graphs(subject: Subject, _: Mapping[str, str]) -> Table[TableMeta]:
    return _table(subject, graphs(subject.model), list(GRAPHS.values()), "overview")


#: they need the whole trace, and what of it is chosen
OF_ALL_STEPS = frozenset({"path"})

SOURCES: Mapping[str, Source] = {
    "steps": _steps,
    "operators": _of_question("operators"),
    "kernels": _of_question("kernels"),
    "idle": _idle,
    "gaps": _gaps,
    "modules": _modules,
    "hooks": _hooks,
    "stacks": _stacks,
    "launches": _launches,
    "copies": _copies,
    "ranges": _ranges,
    "roofline": _of_question("roofline"),
    "path": _of_question("critical_path/pieces"),
    "slices": _slices,
    "allocations": _of_question("memory/events"),
    "allocators": _of_question("memory/operators"),
    "graphs": _graphs,
}
