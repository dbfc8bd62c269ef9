"""What `torch-tb-profiler compare` does."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import msgspec

from torch_tb_profiler.analysis.answer import TraceMeta
from torch_tb_profiler.analysis.change.change import Recording, changed, recording, saved_recording
from torch_tb_profiler.analysis.change.figures import RecordingFigures
from torch_tb_profiler.analysis.change.question import MOST_ROWS, ROWS, ChangeAnswer, change_answer
from torch_tb_profiler.analysis.change.trends import Trends, numbered, trends
from torch_tb_profiler.analysis.health import troubles
from torch_tb_profiler.analysis.question import Subject
from torch_tb_profiler.arrays.plain import dumps_indented
from torch_tb_profiler.cli.errors import BAD_INPUT, UNSOUND, UserError
from torch_tb_profiler.cli.saying import tell
from torch_tb_profiler.cli.work.change_text import as_text
from torch_tb_profiler.cli.work.one_trace import step_choice
from torch_tb_profiler.cli.work.text_table import stdout_style
from torch_tb_profiler.cli.work.trends_text import trends_text
from torch_tb_profiler.discovery import Run, TraceFile
from torch_tb_profiler.model import Model, StepChoice
from torch_tb_profiler.workspace import Unavailable, logs
from torch_tb_profiler.workspace.local_workspace import LocalTrace, LocalWorkspace
from torch_tb_profiler.workspace.recordings import (
    RecordingError,
    expanded,
    find_spans,
    is_saved,
    recordings_of,
    saved_recordings,
    why_not_compared,
)


class _Read(msgspec.Struct, frozen=True):
    """A recording, and what it is called."""

    meta: TraceMeta
    recording: Recording


def run(arguments: argparse.Namespace) -> None:
    """Compare the two sides and print the result. Raises UserError."""
    logs.configure()
    if not 1 <= arguments.limit <= MOST_ROWS:
        raise UserError(f"--limit: {arguments.limit} is not between 1 and {MOST_ROWS}")
    choice = step_choice(arguments)
    sides = (arguments.base, arguments.paths) if arguments.base else (arguments.paths[:1], arguments.paths[1:])
    try:
        workspace = LocalWorkspace(arguments.cache_dir, is_alone=True)
        if arguments.each:
            _say_trends(_trends(arguments, workspace, choice), arguments)
            return
        _say_change(_change(arguments, workspace, choice), arguments)
    except RecordingError as error:
        raise UserError(why_not_compared(error, *sides), BAD_INPUT if error.missing else UNSOUND) from None


def _trends(arguments: argparse.Namespace, workspace: LocalWorkspace, choice: StepChoice | None) -> Trends:
    found = recordings_of([*arguments.base, *arguments.paths], workspace, choice, arguments.worker).recordings
    return trends(found, numbered(found), across_devices=arguments.across_devices)


def _say_trends(found: Trends, arguments: argparse.Namespace) -> None:
    if arguments.json:
        print(dumps_indented(found))
    else:
        print(trends_text(found, *stdout_style(arguments.color)))


def _change(arguments: argparse.Namespace, workspace: LocalWorkspace, choice: StepChoice | None) -> ChangeAnswer:
    def read(paths: Sequence[str]) -> list[_Read]:
        return [each for path in paths for each in _read(path, workspace, choice, arguments.worker)]

    if not arguments.base and len(arguments.paths) < 2:
        raise UserError("a baseline and a new recording are needed: compare BASE NEW, or --base BASE and NEW")
    base = read(arguments.base or arguments.paths[:1])
    new = read(arguments.paths if arguments.base else arguments.paths[1:])
    found = changed(*([each.recording for each in side] for side in (base, new)))
    return change_answer(found, base[0].meta, new[0].meta, ROWS if arguments.json else arguments.limit)


def _say_change(found: ChangeAnswer, arguments: argparse.Namespace) -> None:
    if arguments.json:
        print(dumps_indented(found))
    else:
        print(as_text(found, arguments.limit, *stdout_style(arguments.color)))


def _read(path: str, workspace: LocalWorkspace, choice: StepChoice | None, worker: str | None) -> list[_Read]:
    """The recordings of a path, those that were saved included. Raises UserError, RecordingError."""
    found = []
    for each in expanded(path):
        if is_saved(each):
            found += [_of_saved(each, figures) for figures in saved_recordings(each).recordings]
        else:
            found += _of_traces(each, workspace, choice, worker)
    return found


def _of_saved(path: str, figures: RecordingFigures) -> _Read:
    if figures.ranks > 1:
        raise UserError(
            f"{path} holds {figures.ranks} ranks together, whose causes do not add up to a step: save one of them with "
            "check --worker, or compare with --each",
            UNSOUND,
        )
    meta = TraceMeta(
        run=figures.run,
        worker="saved",
        span="1",
        device_type="CPU" if figures.basis == "host" else "GPU",
        notes=(),
    )
    return _Read(meta, saved_recording(figures))


def _of_traces(path: str, workspace: LocalWorkspace, choice: StepChoice | None, worker: str | None) -> list[_Read]:
    """Of every run and span below a path: the worker that is named, else the first. Raises UserError, StorageError."""
    found = find_spans(path, worker)
    made = []
    for run, spans in found.of_runs:
        for file in _first(run, spans):
            try:
                trace = LocalTrace(workspace, file, choice)
                made.append(trace.ask(lambda model, run=run, file=file: _of(model, run, file)))  # type: ignore[misc]
            except Unavailable as error:
                raise UserError(str(error)) from None
    if not made:
        raise RecordingError(found.why_none, missing=True)
    return made


def _first(run: Run, spans: Sequence[Sequence[TraceFile]]) -> list[TraceFile]:
    """One of each span; says so where there are others."""
    first = [files[0] for files in spans]
    if any(len(files) > 1 for files in spans):
        told = ", ".join(dict.fromkeys(file.worker for file in first))
        tell(f"run {run.name}: only worker {told}; --worker chooses another")
    return first


def _of(model: Model, run: Run, file: TraceFile) -> _Read:
    workers = len({each.worker for each in run.traces})
    subject = Subject(model, run.name, file.worker, file.span, file.entry.size, workers, troubles)
    return _Read(TraceMeta(**subject.about("compare")), recording(model, run.name))
