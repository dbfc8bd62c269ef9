"""What `torch-tb-profiler compare` does."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import msgspec

from torch_tb_profiler.analysis.answer import TraceMeta
from torch_tb_profiler.analysis.change.change import Recording, changed, recording
from torch_tb_profiler.analysis.change.question import MOST_ROWS, ROWS, ChangeAnswer, change_answer
from torch_tb_profiler.analysis.health import troubles
from torch_tb_profiler.analysis.question import Subject
from torch_tb_profiler.cli.errors import UserError
from torch_tb_profiler.cli.work.change_text import as_text, lines_of_each
from torch_tb_profiler.cli.work.one_trace import step_choice
from torch_tb_profiler.cli.work.text_table import safe, stdout_style
from torch_tb_profiler.discovery import Run, TraceFile
from torch_tb_profiler.model import Model, StepChoice
from torch_tb_profiler.storage import StorageError, shown
from torch_tb_profiler.web.http import dumps
from torch_tb_profiler.workspace import Unavailable, logs
from torch_tb_profiler.workspace.local_workspace import LocalTrace, LocalWorkspace, find_traces, without_traces


class _Read(msgspec.Struct, frozen=True):
    """A recording, and what it is called."""

    meta: TraceMeta
    recording: Recording


def run(arguments: argparse.Namespace) -> None:
    """Compare the two sides and print the result. Raises UserError."""
    logs.configure()
    if not 1 <= arguments.limit <= MOST_ROWS:
        raise UserError(f"--limit: {arguments.limit} is not between 1 and {MOST_ROWS}")
    if not arguments.base and len(arguments.paths) < 2:
        raise UserError("a baseline and a new recording are needed: compare BASE NEW, or --base BASE and NEW")
    choice = step_choice(arguments)
    try:
        workspace = LocalWorkspace(arguments.cache_dir)
    except StorageError as error:
        raise UserError(str(error)) from None

    def read(paths: Sequence[str]) -> list[_Read]:
        return [each for path in paths for each in _read(path, workspace, choice, arguments.worker)]

    base = read(arguments.base or arguments.paths[:1])
    new = read(arguments.paths if arguments.base else arguments.paths[1:])
    limit = ROWS if arguments.json else arguments.limit
    sides = [[each] for each in new] if arguments.each else [new]
    answers = [_answer(base, side, limit) for side in sides]
    if arguments.json:
        print(msgspec.json.format(dumps(answers if arguments.each else answers[0])).decode())
    elif arguments.each:
        print(lines_of_each(answers, *stdout_style(arguments.color)))
    else:
        print(as_text(answers[0], arguments.limit, *stdout_style(arguments.color)))


def _answer(base: Sequence[_Read], new: Sequence[_Read], limit: int) -> ChangeAnswer:
    found = changed(*([each.recording for each in side] for side in (base, new)))
    return change_answer(found, base[0].meta, new[0].meta, limit)


def _read(path: str, workspace: LocalWorkspace, choice: StepChoice | None, worker: str | None) -> list[_Read]:
    """Each recording of a path: of every run and span the worker that is named, else the first. Raises UserError."""
    try:
        found = find_traces(path)
    except StorageError as error:
        raise UserError(str(error)) from None
    made = []
    for run in found.runs:
        for file in _files(run, worker):
            try:
                trace = LocalTrace(workspace, file, choice)
                made.append(trace.ask(lambda model, run=run, file=file: _of(model, run, file)))  # type: ignore[misc]
            except (StorageError, Unavailable) as error:
                raise UserError(str(error)) from None
    if not made and worker is not None and found.runs:
        raise UserError(f"{shown(path)} holds no trace of a worker {worker!r}")
    if not made:
        raise UserError(without_traces(path, found))
    return made


def _files(run: Run, worker: str | None) -> list[TraceFile]:
    """One of each span."""
    of_span: dict[str, list[TraceFile]] = {}
    for file in run.traces:
        if file.kind == "trace" and worker in (None, file.worker):
            of_span.setdefault(file.span, []).append(file)
    first = [files[0] for files in of_span.values()]
    if worker is None and len({file.worker for file in run.traces if file.kind == "trace"}) > 1:
        told = ", ".join(dict.fromkeys(file.worker for file in first))
        print(f"run {safe(run.name)}: only worker {safe(told)}; --worker chooses another", file=sys.stderr)
    return first


def _of(model: Model, run: Run, file: TraceFile) -> _Read:
    workers = len({each.worker for each in run.traces})
    subject = Subject(model, run.name, file.worker, file.span, file.entry.size, workers, troubles)
    return _Read(TraceMeta(**subject.about("compare")), recording(model, run.name))
