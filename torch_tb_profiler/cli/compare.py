"""`torch-tb-profiler compare`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from torch_tb_profiler.cli.messages import BAD_INPUT, UNSOUND, UserError, tell
from torch_tb_profiler.cli.parsers import declare_color, declare_sides, declare_step_choice
from torch_tb_profiler.defaults import declare_cache_dir

if TYPE_CHECKING:
    from torch_tb_profiler.analysis.answer import TraceMeta
    from torch_tb_profiler.analysis.change.change import Recording
    from torch_tb_profiler.analysis.change.figures import RecordingFigures
    from torch_tb_profiler.discovery import RunFiles, TraceFile
    from torch_tb_profiler.model import Model, StepChoice
    from torch_tb_profiler.workspace.local_workspace import LocalWorkspace


class _Read(NamedTuple):
    """A recording, and what it is called."""

    meta: TraceMeta
    recording: Recording


class CompareCommand:
    """Show what changed between recordings: by how much, how certain that is, in which kernels and operators.

    The change of the mean step is split up exactly: by cause, and by what happened to each kernel and operator. The
    exit code is 0 whatever changed; use `check` for a command that fails.
    """

    name = "compare"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        declare_sides(parser, "RUN~WORKER~SPAN, a log directory, a glob, a baseline of `check --save`, or a history")
        parser.add_argument(
            "--each",
            action="store_true",
            help="follow step time and busy time over any number of recordings, all ranks of each together: against "
            "the first and the one before, the last three against those before them, and where the level changed",
        )
        parser.add_argument(
            "--across-devices",
            action="store_true",
            help="with --each: give verdicts even if the devices or the number of processes differ",
        )
        parser.add_argument("--worker", help="which worker of each run (default: the first)")
        declare_step_choice(parser)
        parser.add_argument(
            "--limit", type=int, default=10, metavar="N", help="rows per table (default: 10; 200 in JSON)"
        )
        parser.add_argument(
            "--json",
            action="store_true",
            help="as JSON, exact: that of /api/compare/change, with --each that of /api/compare/trends",
        )
        declare_color(parser)
        declare_cache_dir(parser)
        parser.epilog = (
            "Examples:\n"
            "  torch-tb-profiler compare before/ after/\n"
            "  torch-tb-profiler compare --base a1 --base a2 b1 b2 --json\n"
            "  torch-tb-profiler compare main/ branch1/ branch2/ --each\n"
            "  torch-tb-profiler compare history.jsonl --each"
        )

    def run(self, arguments: argparse.Namespace) -> None:
        from torch_tb_profiler.analysis.change.question import MOST_ROWS
        from torch_tb_profiler.cli.work.traces import step_choice
        from torch_tb_profiler.workspace import process
        from torch_tb_profiler.workspace.local_workspace import LocalWorkspace
        from torch_tb_profiler.workspace.recordings import RecordingError, why_not_compared

        process.configure_logging()
        if not 1 <= arguments.limit <= MOST_ROWS:
            raise UserError(f"--limit: {arguments.limit} is not between 1 and {MOST_ROWS}")
        choice = step_choice(arguments)
        sides = (arguments.base, arguments.paths) if arguments.base else (arguments.paths[:1], arguments.paths[1:])
        compared = _trends if arguments.each else _change
        try:
            print(compared(arguments, LocalWorkspace(arguments.cache_dir, is_alone=True), choice))
        except RecordingError as error:
            raise UserError(why_not_compared(error, *sides), BAD_INPUT if error.missing else UNSOUND) from None


def _trends(arguments: argparse.Namespace, workspace: LocalWorkspace, choice: StepChoice | None) -> str:
    """Return what `--each` prints."""
    from torch_tb_profiler.analysis.change.trends import numbered, trends
    from torch_tb_profiler.arrays.types import dumps_indented
    from torch_tb_profiler.cli.work.compare_text import trends_text
    from torch_tb_profiler.cli.work.text_table import stdout_style
    from torch_tb_profiler.workspace.recordings import recordings_of

    recordings = recordings_of([*arguments.base, *arguments.paths], workspace, choice, arguments.worker).recordings
    answer = trends(recordings, numbered(recordings), across_devices=arguments.across_devices)
    return dumps_indented(answer) if arguments.json else trends_text(answer, *stdout_style(arguments.color))


def _change(arguments: argparse.Namespace, workspace: LocalWorkspace, choice: StepChoice | None) -> str:
    """Return what is printed of two sides. Raises UserError and RecordingError."""
    from torch_tb_profiler.analysis.change.change import changed
    from torch_tb_profiler.analysis.change.question import ROWS, change_answer
    from torch_tb_profiler.arrays.types import dumps_indented
    from torch_tb_profiler.cli.work.compare_text import change_text
    from torch_tb_profiler.cli.work.text_table import stdout_style

    def read(paths: Sequence[str]) -> list[_Read]:
        return [recording for path in paths for recording in _read(path, workspace, choice, arguments.worker)]

    if not arguments.base and len(arguments.paths) < 2:
        raise UserError("a baseline and a new recording are needed: compare BASE NEW, or --base BASE and NEW")
    base = read(arguments.base or arguments.paths[:1])
    new = read(arguments.paths if arguments.base else arguments.paths[1:])
    change = changed(*([each.recording for each in side] for side in (base, new)))
    answer = change_answer(change, base[0].meta, new[0].meta, ROWS if arguments.json else arguments.limit)
    if arguments.json:
        return dumps_indented(answer)
    return change_text(answer, arguments.limit, *stdout_style(arguments.color))


def _read(path: str, workspace: LocalWorkspace, choice: StepChoice | None, worker: str | None) -> list[_Read]:
    """Return the recordings of a path, those that were saved included. Raises UserError, RecordingError."""
    from torch_tb_profiler.workspace.recordings import expanded, is_saved, saved_recordings

    found = []
    for each in expanded(path):
        if is_saved(each):
            found += [_of_saved(each, figures) for figures in saved_recordings(each).recordings]
        else:
            found += _of_traces(each, workspace, choice, worker)
    return found


def _of_saved(path: str, figures: RecordingFigures) -> _Read:
    from torch_tb_profiler.analysis.answer import TraceMeta
    from torch_tb_profiler.analysis.change.change import saved_recording

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
    """Yield the named worker of every run and span below a path, else the first. Raises ErrorWithReason."""
    from torch_tb_profiler.workspace.local_workspace import LocalTrace
    from torch_tb_profiler.workspace.recordings import RecordingError, find_spans

    found = find_spans(path, worker)
    made = []
    for run, spans in found.of_runs:
        for file in _first(run, spans):
            trace = LocalTrace(workspace, file, choice)
            made.append(trace.ask(lambda model, run=run, file=file: _of(model, run, file)))  # type: ignore[misc]
    if not made:
        raise RecordingError(found.why_none, missing=True)
    return made


def _first(run: RunFiles, spans: Sequence[Sequence[TraceFile]]) -> list[TraceFile]:
    """Take one trace of each span, and say so where there are others."""
    first = [files[0] for files in spans]
    if any(len(files) > 1 for files in spans):
        told = ", ".join(dict.fromkeys(file.worker for file in first))
        tell(f"run {run.name}: only worker {told}; --worker chooses another")
    return first


def _of(model: Model, run: RunFiles, file: TraceFile) -> _Read:
    from torch_tb_profiler.analysis.answer import TraceMeta
    from torch_tb_profiler.analysis.change.change import recording
    from torch_tb_profiler.workspace.answering.answerer import subject_of, trace_of

    return _Read(TraceMeta(**subject_of(model, trace_of(run, file)).about("compare")), recording(model, run.name))
