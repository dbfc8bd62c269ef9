"""Makes the tables of commands about several traces."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from torch_tb_profiler.analysis.question import Listed, NoParameters, Scope
from torch_tb_profiler.analysis.run_metrics.question import FIGURES, TRACES
from torch_tb_profiler.analysis.table import PageMeta, Table
from torch_tb_profiler.cli.chosen import chosen_run
from torch_tb_profiler.cli.errors import UserError
from torch_tb_profiler.cli.work.one_trace import chosen, open_local, readable_path
from torch_tb_profiler.discovery import RunFiles, TraceFile
from torch_tb_profiler.model import Model
from torch_tb_profiler.ranks import distributed, rank_of
from torch_tb_profiler.ranks.distributed import operation_table
from torch_tb_profiler.ranks.ranges import ranges_of_ranks
from torch_tb_profiler.ranks.summary import summarize
from torch_tb_profiler.workspace import Unavailable
from torch_tb_profiler.workspace.answering.asking import subject_of, trace_of
from torch_tb_profiler.workspace.local_workspace import LocalTrace, LocalWorkspace, find_traces, without_traces

R = TypeVar("R")


def _of_ranks(arguments: argparse.Namespace, of: Callable[[Model, str], R]) -> list[R]:
    """What is made of each trace of the first span."""
    with chosen(arguments) as found:
        spans = list(dict.fromkeys(file.span for file in found.files))
        return [
            found.ask(lambda subject, worker=file.worker: of(subject.model, worker), at)  # type: ignore[misc]
            for at, file in enumerate(found.files)
            if file.span == spans[0]
        ]


def _communication(arguments: argparse.Namespace) -> Table[PageMeta]:
    table = operation_table(distributed(_of_ranks(arguments, rank_of)))
    return table.table(PageMeta())


def _rank_ranges(arguments: argparse.Namespace) -> Table[PageMeta]:
    table = ranges_of_ranks(_of_ranks(arguments, summarize))
    return table.table(PageMeta())


def _traces(arguments: argparse.Namespace) -> Table[Any]:
    with readable_path(arguments.path) as path:
        found = find_traces(path)
        workspace = open_local(arguments.cache_dir)
        if not found.runs:
            raise UserError(without_traces(path, found))
        runs = found.runs if arguments.run is None else (chosen_run(path, arguments.run),)
        listed = [
            _listed(workspace, run, file)
            for run in runs
            for file in run.traces
            if file.kind == "trace" and arguments.span in (None, file.span)
        ]
        if not any(file.kind == "trace" for run in runs for file in run.traces):
            raise UserError(without_traces(path, found, arguments.run))
    table: Table[Any] = TRACES.compute(listed, Scope(of="all"))
    return table


def _listed(workspace: LocalWorkspace, run: RunFiles, file: TraceFile) -> Listed:
    def asked(model: Model) -> Any:
        return FIGURES.compute(subject_of(model, trace_of(run, file)), NoParameters())

    try:
        answers = {"figures": LocalTrace(workspace, file).ask(asked)}
    except Unavailable:
        return Listed(run.name, file.worker, file.span, file.entry.path, "failed")
    return Listed(run.name, file.worker, file.span, file.entry.path, "ready", answers)


SOURCES: Mapping[str, Callable[[argparse.Namespace], Table[Any]]] = {
    "communication": _communication,
    "rank-ranges": _rank_ranges,
    "traces": _traces,
}
