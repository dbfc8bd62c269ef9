"""Recordings to compare: those below a path, and saved ones, as a baseline or as a line of a history."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import logging
import os
import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Literal

import msgspec

from torch_tb_profiler.analysis.change.figures import SCHEMA, RecordingFigures, combined_ranks, recording_figures
from torch_tb_profiler.analysis.change.shares import TimesOfName
from torch_tb_profiler.codec import from_json
from torch_tb_profiler.discovery import RunFiles, TraceFile
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import StepChoice
from torch_tb_profiler.storage import StorageError, is_local, shown, storage_for
from torch_tb_profiler.workspace.local_workspace import (
    LocalTrace,
    LocalWorkspace,
    address_of,
    find_traces,
    without_traces,
)
from torch_tb_profiler.workspace.status import Unavailable

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

log = logging.getLogger(__name__)

#: the first value of a file, by which it is told from a trace
FORMAT: Literal["torch-tb-profiler baseline"] = "torch-tb-profiler baseline"
_BEGIN = lazy_pattern(rb'\s*\{\s*"format"\s*:\s*"torch-tb-profiler')
_HEAD = 200

#: a saved baseline is some ten kilobytes for each recording
_MOST_BYTES = 500_000_000
_MOST_NS = 2**62
_BLOCK = 1_048_576


class RecordingError(Exception):
    """Recordings cannot be read; the message is a sentence. missing: nothing is there, probably a typo."""

    def __init__(self, message: str, missing: bool = False) -> None:
        super().__init__(message)
        self.missing = missing


class DamagedError(RecordingError):
    """A saved recording is not what was written."""


class SavedBaseline(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a file: recordings, and the version of their type."""

    format: str
    schema: int
    recordings: list[RecordingFigures]


class Recordings(msgspec.Struct, frozen=True):
    """Recordings of some paths.

    recordings  in the order of the paths
    damaged     how many lines of histories cannot be read; the log says which, and why
    """

    recordings: list[RecordingFigures]
    damaged: int = 0


class _Head(msgspec.Struct):
    schema: int


def recordings_of(
    paths: Sequence[str], workspace: LocalWorkspace, choice: StepChoice | None = None, worker: str | None = None
) -> Recordings:
    """Return the recordings of paths, in their order.

    A path is a trace, a run, `RUN~WORKER~SPAN`, a log directory, a saved baseline, a history, or a glob. Each recording
    of a run (`span`) is one, of all its ranks together, or of the worker that is named. Raises RecordingError.
    """
    recordings: list[RecordingFigures] = []
    damaged = 0
    for path in paths:
        for each in expanded(path):
            if is_saved(each):
                saved = saved_recordings(each)
                recordings += saved.recordings
                damaged += saved.damaged
            else:
                recordings += _read(each, workspace, choice, worker)
    return Recordings(recordings, damaged)


def saved_text(recordings: Sequence[RecordingFigures]) -> str:
    """Encode a baseline as one line of text, which may also be a line of a history; equal recordings give one text."""
    saved = SavedBaseline(format=FORMAT, schema=SCHEMA, recordings=list(recordings))
    return msgspec.json.encode(saved, order="sorted").decode() + "\n"


def append_to_history(file: str, recordings: Sequence[RecordingFigures]) -> None:
    """Append a line for each recording to a file: all of them, or none.

    Raises RecordingError: the file is something else, or there is no room.
    """
    path = Path(file)
    lines = "".join(saved_text([each]) for each in recordings).encode()
    try:
        is_other = path.exists() and not (path.is_file() and (path.stat().st_size == 0 or is_saved(file)))
        if is_other:
            raise RecordingError(f"{file} is not a history of recordings; nothing was appended to it", missing=True)
        # not buffered: the lines are one write, so those of two processes do not mix
        with path.open("a+b", buffering=0) as stream:
            _append(stream.fileno(), lines)
    except OSError as error:
        raise RecordingError(f"{file} cannot be written: {error.strerror}", missing=True) from None


def _append(handle: int, lines: bytes) -> None:
    """Append lines; a line without an end is ended first. Raises OSError, and appends nothing then."""
    if fcntl is not None:
        with contextlib.suppress(OSError):  # not every file system has locks
            fcntl.flock(handle, fcntl.LOCK_EX)
    size = os.fstat(handle).st_size
    os.lseek(handle, max(size - 1, 0), os.SEEK_SET)
    left = memoryview(lines if os.read(handle, 1) in (b"", b"\n") else b"\n" + lines)
    written = 0
    try:
        while written < len(left):
            written += os.write(handle, left[written:])
        os.fsync(handle)
    except BaseException:
        if os.fstat(handle).st_size == size + written:  # nobody without a lock has appended meanwhile
            os.ftruncate(handle, size)
        raise


def expanded(path: str) -> list[str]:
    """Expand a glob as the shell would have done, where no shell ran the command. Raises RecordingError."""
    try:
        if "://" in path or Path(path).exists():
            return [path]
        found = sorted(glob.glob(path))  # noqa: PTH207 - the pattern may be absolute
    except (OSError, ValueError):  # a name that no file can have
        found = []
    if found:
        return found
    if address_of(path).worker is not None and Path(address_of(path).path).exists():
        return [path]
    raise RecordingError(f"{path} does not exist", missing=True)


def is_saved(path: str) -> bool:
    """Return whether a file is a saved baseline or a history. Raises RecordingError."""
    file = Path(path)
    if "://" in path or not file.is_file():
        return False
    try:
        with file.open("rb") as stream:
            return _BEGIN.match(stream.read(_HEAD)) is not None
    except OSError as error:
        raise RecordingError(f"{path} cannot be read: {error.strerror}") from None


def saved_recordings(path: str) -> Recordings:
    """Read a baseline, or a history, which has a baseline in each line.

    A damaged line of a history is left out, which the log says. Raises RecordingError.
    """
    file = Path(path)
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise RecordingError(f"{path} is too large for saved recordings")
        text = file.read_bytes()
    except OSError as error:
        raise RecordingError(f"{path} cannot be read: {error.strerror}") from None
    lines = [line for line in enumerate(text.split(b"\n"), 1) if line[1].strip()]
    is_history = len(lines) > 1 and (sum(bool(_BEGIN.match(line)) for _, line in lines) > 1 or _is_whole(lines[0][1]))
    recordings: list[RecordingFigures] = []
    damaged: list[str] = []
    for number, line in lines if is_history else [(0, text)]:
        try:
            recordings += _of_text(line, f"{path}, line {number}," if number else path)
        except DamagedError as error:
            if not number:
                raise
            damaged.append(str(error))
    if not recordings:
        raise RecordingError(damaged[0] if damaged else f"{path} contains no recording")
    for each in damaged:
        log.warning("%s; this line is left out", shown(each))
    return Recordings(recordings, len(damaged))


def _is_whole(line: bytes) -> bool:
    """Return whether a line is a document of its own, and not the beginning of one over several lines."""
    with contextlib.suppress(msgspec.DecodeError, RecursionError):
        from_json(line, _Head)
        return True
    return False


def _of_text(text: bytes, where: str) -> list[RecordingFigures]:
    try:
        if (schema := from_json(text, _Head).schema) > SCHEMA:
            raise RecordingError(
                f"{where} was saved by a newer version (schema {schema}, known up to {SCHEMA}): install that version"
            )
        found = from_json(text, SavedBaseline).recordings
    except (msgspec.DecodeError, RecursionError) as error:
        raise DamagedError(f"{where} is not a saved baseline, or is damaged: {error}") from None
    for each in found:
        if (wrong := _contradiction(each)) is not None:
            raise DamagedError(f"{where} is damaged: {wrong}")
    return found


def _contradiction(figures: RecordingFigures) -> str | None:
    """Return what no recording can be, since a file may say anything; None if nothing is wrong."""
    size = len(figures.steps)
    optional = [figures.sync_calls, figures.graph_breaks]
    columns = [figures.step_ns, figures.kernel_calls, figures.compilations, *figures.causes.values()]
    columns += [each for each in optional if each is not None]
    for table in (figures.kernels, figures.operators, figures.calls):
        rows: list[TimesOfName] = [*table.names, *([] if table.rest is None else [table.rest])]
        columns += [column for row in rows for column in (row.calls, row.device_ns, row.host_ns)]
    if any(len(column) != size for column in columns):
        return "not all its lists have an entry for each step"
    if any(abs(value) > _MOST_NS for column in columns for value in column):
        return "a number in it is too large"
    if min(figures.step_ns, default=0) < 0 or figures.lanes < 1 or figures.ranks < 1 or figures.first_kept > size:
        return "a number in it is impossible"
    return None


def _read(
    path: str, workspace: LocalWorkspace, choice: StepChoice | None, worker: str | None
) -> list[RecordingFigures]:
    try:
        named = find_spans(path, worker)
    except StorageError as error:
        raise RecordingError(str(error)) from None
    made = []
    for run, spans in named.of_runs:
        for files in spans:
            try:
                ranks = [
                    LocalTrace(workspace, file, choice).ask(partial(recording_figures, run=run.name)) for file in files
                ]
                hashes = [digest for file in files if (digest := sha256_of(file)) is not None]
            except (StorageError, Unavailable) as error:
                raise RecordingError(str(error)) from None
            made.append(msgspec.structs.replace(combined_ranks(ranks), sha256=hashes))
    if not made:
        raise RecordingError(named.why_none, missing=named.is_worker_missing)
    return made


def sha256_of(file: TraceFile) -> str | None:
    """Return the SHA-256 of a file as it is stored; None of a remote one, which would have to be fetched again."""
    if not is_local(file.entry.url):
        return None
    found = hashlib.sha256()
    with storage_for(file.entry.url).open(file.entry, ahead=False) as stream:
        while block := stream.read(_BLOCK):
            found.update(block)
    return found.hexdigest()


class PathTraces(msgspec.Struct, frozen=True):
    """The traces that a path names.

    of_runs            each run with the traces of each of its spans, by worker
    why_none           message for a path without traces
    is_worker_missing  there are runs, but none has the wanted worker or span
    """

    of_runs: Sequence[tuple[RunFiles, Sequence[Sequence[TraceFile]]]]
    why_none: str
    is_worker_missing: bool


def why_not_compared(error: RecordingError, base: Sequence[str], new: Sequence[str]) -> str:
    """Return why two sides cannot be read; of two memory snapshots, the command that compares them."""
    try:
        first = [expanded(side[0])[0] for side in (base, new) if side]
        if len(first) == 2 and not any(map(is_saved, first)) and all(map(_has_only_snapshots, first)):
            command = shlex.join(["torch-tb-profiler", "memory", first[1], "--against", first[0]])
            return f"these are memory snapshots, not traces: `{command}` compares them"
    except (RecordingError, StorageError):  # what is wrong is said already
        pass
    return str(error)


def _has_only_snapshots(path: str) -> bool:
    kinds = {file.kind for run in find_traces(address_of(path).path).runs for file in run.traces}
    return kinds == {"snapshot"}


def find_spans(path: str, worker: str | None) -> PathTraces:
    """Return all runs below a path; a worker or a span that it names comes before `worker`. Raises StorageError."""
    address = address_of(path)
    worker, span = address.worker or worker, address.span
    listing = find_traces(address.path)
    of_runs = []
    for run in listing.runs:
        by_span: dict[str, list[TraceFile]] = {}
        for file in run.traces:
            if file.kind == "trace" and worker in (None, file.worker) and span in (None, file.span):
                by_span.setdefault(file.span, []).append(file)
        of_runs.append((run, list(by_span.values())))
    is_missing = worker is not None and bool(listing.runs)
    of_span = "" if span is None else f" and a span {span!r}"
    why = f"{shown(address.path)} contains no trace of a worker {worker!r}{of_span}"
    return PathTraces(of_runs, why if is_missing else without_traces(path, listing), is_missing)
