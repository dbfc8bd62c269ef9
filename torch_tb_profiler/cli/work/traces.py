"""Choose the run, traces and steps of a command: PATH, --run, --worker, --span, --step-rule and --steps."""

from __future__ import annotations

import argparse
import contextlib
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from torch_tb_profiler.analysis.question import Question, Subject
from torch_tb_profiler.arrays.types import dumps
from torch_tb_profiler.cli.messages import UserError, nearest, tell
from torch_tb_profiler.cli.work.progress import ReadingLine
from torch_tb_profiler.codec import from_json
from torch_tb_profiler.discovery import RunFiles, RunListing, TraceFile
from torch_tb_profiler.model import Model, StepChoice
from torch_tb_profiler.model.patterns import check_pattern
from torch_tb_profiler.model.selection import StepRange
from torch_tb_profiler.model.steps import RULES
from torch_tb_profiler.storage import shown
from torch_tb_profiler.trace.unpack import GZIP_MAGIC
from torch_tb_profiler.workspace.answering.answerer import plain_answer_key, subject_of, trace_of
from torch_tb_profiler.workspace.cache.answer_store import answer_name
from torch_tb_profiler.workspace.local_workspace import (
    LocalTrace,
    LocalWorkspace,
    address_of,
    find_traces,
    without_traces,
)
from torch_tb_profiler.workspace.reading.protocol import Message, Reading

#: limit of names in a message
_MOST_NAMES = 20


def chosen_run(path: str, name: str | None) -> RunFiles:
    """Return the run, or captures, of this name; without a name, the only run. Raises UserError and StorageError."""
    listing = find_traces(path)
    runs = [run.name for run in listing.runs]
    if not runs:
        raise UserError(without_traces(path, listing))
    if name is None and len(runs) > 1:
        raise UserError(f"{shown(path)} has {len(runs)} runs, one must be named with --run: {_names_listed(runs)}")
    if name is None:
        return listing.runs[0]
    for run in (*listing.runs, *listing.captures):
        if run.name == name:
            return run
    raise UserError(f"{shown(path)} has no run {name!r}{nearest(name, runs)}, only {_names_listed(runs)}")


def chosen_traces(run: RunFiles, workers: Sequence[str], span: str | None) -> list[TraceFile]:
    """Return the traces of the workers (all if none is named) and of the span. Raises UserError: one is missing."""
    files = [f for f in run.traces if (not workers or f.worker in workers) and span in (None, f.span)]
    if not files or set(workers) - {f.worker for f in files}:
        named = [file.worker for file in run.traces]
        wrong = next((worker for worker in workers if worker not in named), None)
        near = "" if wrong is None else nearest(wrong, named)
        raise UserError(f"run {run.name!r} has no such worker or span{near}, only {listed_traces(run.traces)}")
    return files


def listed_traces(files: Sequence[TraceFile]) -> str:
    """List names of traces, for a message."""
    return _names_listed([f"{f.worker} (span {f.span})" for f in files])


def _names_listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMES]) + (" …" if len(names) > _MOST_NAMES else "")


T = TypeVar("T")

STDIN = "-"
_MOST_SHOWN = 8
_RANKS = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_NUMBER_AT_END = re.compile(r"(\d+)\D*\Z")


class Chosen(msgspec.Struct, frozen=True):
    """What was chosen. `files` are traces of `run`; a command about one trace takes the first."""

    path: str
    run: RunFiles
    files: Sequence[TraceFile]
    traces: Sequence[LocalTrace]
    steps: str | None

    def ask(self, question: Callable[[Subject], T], place: int = 0, of_steps: bool = True) -> T:
        """Ask one of the traces a question about the chosen steps. Raises ErrorWithReason and UserError.

        of_steps: as `Question.of_steps`
        """

        def asked(model: Model) -> T:
            steps = None if self.steps is None else steps_of(model, self.steps)
            selected = model if steps is None or not of_steps else model.of_steps(steps)
            return question(subject_of(selected, trace_of(self.run, self.files[place]), steps))

        return self.traces[place].ask(asked)

    def answer(self, question: Question, params: msgspec.Struct, place: int = 0) -> Any:
        """Answer a declared question about one of the traces; answers about all steps share the cache of the server.

        Raises ErrorWithReason and UserError.
        """
        if self.steps is not None:
            return self.ask(lambda subject: question.compute(subject, params), place, of_steps=question.of_steps)
        trace = self.traces[place]
        opened = trace_of(self.run, trace.file)
        name = answer_name(opened, plain_answer_key(question, params, opened, trace.choice or StepChoice()))

        def make() -> bytes:
            return dumps(self.ask(lambda subject: question.compute(subject, params), place))

        return from_json(trace.workspace.remember(trace.file, name, make), question.answer)


@contextlib.contextmanager
def chosen(arguments: argparse.Namespace, all_of_run: bool = False, ranks: str | None = None) -> Iterator[Chosen]:
    """Open the traces that the arguments of `options.declare_trace` choose. Raises UserError and StorageError.

    If they leave a choice, stderr names the chosen trace, unless all traces are meant.
    ranks: only these, such as `0,2-4`; None for any
    """
    choice = step_choice(arguments)
    address = address_of(arguments.path)
    with readable_path(address.path) as path:
        run = chosen_run(path, arguments.run)
        worker = getattr(arguments, "worker", None) or address.worker
        files = [
            file
            for file in chosen_traces(run, [] if worker is None else [worker], arguments.span or address.span)
            if file.kind == "trace"
        ]
        files = files if ranks is None else _of_ranks(files, ranks)
        if not files:
            raise UserError(without_traces(arguments.path, RunListing((run,), run.skipped), arguments.run))
        if hasattr(arguments, "worker") and not all_of_run and len(files) > 1:
            message = f"the first of {len(files)} traces; --worker and --span choose others: {listed_traces(files)}"
            tell(message)
        workspace = open_local(arguments.cache_dir)
        traces = [LocalTrace(workspace, file, choice) for file in files]
        yield Chosen(arguments.path, run, files, traces, getattr(arguments, "steps", None))


@contextlib.contextmanager
def readable_path(path: str) -> Iterator[str]:
    """Return the path to read; for `-`, a temporary file with the content of stdin. Raises UserError."""
    if path != STDIN:
        yield path
        return
    with contextlib.ExitStack() as until:
        try:
            folder = until.enter_context(tempfile.TemporaryDirectory(prefix="torch_tb_profiler_"))
            stream = sys.stdin.buffer
            begin = stream.read(len(GZIP_MAGIC))
            file = Path(folder) / f"stdin.pt.trace.json{'.gz' if begin == GZIP_MAGIC else ''}"
            with file.open("wb") as target:
                target.write(begin)
                shutil.copyfileobj(stream, target)
        except OSError as error:
            raise UserError(f"stdin cannot be kept in a temporary file: {error.strerror}; set TMPDIR") from None
        yield str(file)


def open_local(cache_dir: str | None) -> LocalWorkspace:
    """Open a workspace that shows progress on a terminal. Raises StorageError."""
    line = ReadingLine(sys.stderr)

    def told(file: TraceFile, message: Message) -> None:
        if isinstance(message, Reading):
            line.show(file.entry.path, file.entry.size, message.bytes_done, message.events)
        else:
            line.end()

    return LocalWorkspace(cache_dir, told, is_alone=True)


def steps_of(model: Model, text: str) -> StepRange:
    """Parse `FIRST:LAST` or one step: each a name, or the number at its end. Raises UserError."""
    names = model.steps.names
    if not names:
        raise UserError("--steps: no steps were found in this trace")
    cuts = [at for at, each in enumerate(text) if each == ":"]
    for first, last in [(text, text), *((text[:at], text[at + 1 :]) for at in cuts)]:
        ends = _step(names, first), _step(names, last)
        if ends[0] is not None and ends[1] is not None:
            return StepRange(ends[0], ends[1])
    shown = ", ".join(names[:_MOST_SHOWN]) + (f" … {names[-1]}" if len(names) > _MOST_SHOWN else "")
    raise UserError(f"--steps: there is no step {text!r}{nearest(text, names)}; there are {shown}")


def _step(names: Sequence[str], text: str) -> str | None:
    if text in names:
        return text
    if text.isdecimal():
        ended = [name for name in names if (found := _NUMBER_AT_END.search(name)) and int(found[1]) == int(text)]
        return ended[0] if len(ended) == 1 else None
    return None


def _of_ranks(files: Sequence[TraceFile], text: str) -> list[TraceFile]:
    """Return the traces of the listed ranks. Raises UserError."""
    wanted: list[tuple[int, int]] = []
    for part in text.split(","):
        found = _RANKS.fullmatch(part.strip())
        if not found or (found[2] and int(found[2]) < int(found[1])):
            raise UserError(f"--ranks is a list of numbers such as 0,2-4, not {text!r}")
        wanted.append((int(found[1]), int(found[2] or found[1])))
    ranks = [_rank(file) for file in files]
    missing = [each for each in wanted if not any(rank is not None and each[0] <= rank <= each[1] for rank in ranks)]
    if missing:
        known = ", ".join(str(rank) for rank in ranks[:_MOST_SHOWN])
        raise UserError(f"--ranks: there is no rank {missing[0][0]}; there are {known}")
    return [
        file
        for file, rank in zip(files, ranks, strict=True)
        if rank is not None and any(first <= rank <= last for first, last in wanted)
    ]


def _rank(file: TraceFile) -> int | None:
    """Return the rank in the file, else the number at the end of the worker's name."""
    if file.rank is not None:
        return file.rank
    found = _NUMBER_AT_END.search(file.worker)
    return int(found[1]) if found else None


def step_choice(arguments: argparse.Namespace) -> StepChoice | None:
    """Return the choice of --step-rule and --step-pattern; None without them. Raises UserError."""
    rule, pattern = getattr(arguments, "step_rule", None), getattr(arguments, "step_pattern", None)
    if rule is not None and rule not in RULES:
        raise UserError(f"--step-rule: there is no rule {rule!r}{nearest(rule, list(RULES))}, only {', '.join(RULES)}")
    if pattern is not None:
        try:
            check_pattern(pattern)
        except ValueError as error:
            raise UserError(f"--step-pattern: {error}") from None
    return None if rule is None and pattern is None else StepChoice(rule, pattern)
