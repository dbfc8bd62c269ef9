"""What can be said about a log directory and its traces at one moment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO, Literal

import msgspec

from torch_tb_profiler.analysis.answer import Bytes, Count
from torch_tb_profiler.discovery import Skipped, TraceKind
from torch_tb_profiler.discovery.dumps import DumpFolder
from torch_tb_profiler.reason import OTHER, ErrorWithReason, Reason, Why
from torch_tb_profiler.trace import Note
from torch_tb_profiler.words.sentences import because

State = Literal["queued", "loading", "ready", "failed"]
RunState = Literal["loading", "ready", "failed"]

__all__ = [
    "Loading",
    "OpenRun",
    "OpenTrace",
    "Original",
    "RunState",
    "RunStatus",
    "Skipped",
    "State",
    "Status",
    "TraceStatus",
    "TraceSummary",
    "Unavailable",
    "UnknownTrace",
    "Unreadable",
]


class TraceStatus(msgspec.Struct, frozen=True):
    """A trace and how far it is.

    worker       name of the process that was recorded
    span         which recording of the worker it is
    file         its name within the directory of the run
    size         of the file
    state        how far it is
    bytes_done   how much of it was read
    bytes_total  of the file
    events       how many were read; null until this is known
    reason       why it failed, a sentence that goes on after the name of the file
    why          the same as `reason`, for saying it in another language
    notes        how many trace-health notes it has
    views        that have data
    rank         number of the process, as in the trace, otherwise its name
    world_size   how many processes there were, null if the trace does not contain it
    host_name    null if the trace does not contain it
    kind         whether it is a trace or a memory snapshot
    devices      names of the devices in the file, each once
    program      16 hashes of 4 hexadecimal digits, made of the names of operators and module classes; the share of
                 equal ones estimates how much two programs are alike. Empty if unknown
    """

    worker: str
    span: str
    file: str
    size: Bytes
    state: State
    bytes_done: Bytes = 0
    bytes_total: Bytes = 0
    events: Count | None = None
    reason: str | None = None
    why: Why | None = None
    notes: Count = 0
    views: Sequence[str] = ()
    rank: int | None = None
    world_size: int | None = None
    host_name: str | None = None
    kind: TraceKind = "trace"
    devices: Sequence[str] = ()
    program: str = ""


class TraceSummary(msgspec.Struct, frozen=True):
    """What is kept of a trace so that it need not be opened.

    notes: how many there are in all
    warnings: the notes that answers about any view may name, so that they need not be found again
    views: ids of the views that have data
    rank, world_size: None if the trace does not contain it
    host_name: empty if the trace does not contain it
    devices, program: as in `TraceStatus`
    """

    events: int
    notes: int
    warnings: tuple[Note, ...] = msgspec.field(name="troubles")
    views: tuple[str, ...]
    rank: int | None
    world_size: int | None
    host_name: str
    devices: tuple[str, ...] = ()
    program: str = ""


class OpenTrace(msgspec.Struct, frozen=True):
    """A trace that can be asked: its names, and what identifies its content.

    size: bytes of the file
    kind: what is in it
    """

    run: str
    worker: str
    span: str
    key: str
    size: int
    workers_of_run: int
    kind: TraceKind = "trace"


class OpenRun(msgspec.Struct, frozen=True):
    """The traces of one span of a run: those that can be asked, by worker, and the others."""

    run: str
    span: str
    traces: tuple[OpenTrace, ...]
    others: tuple[TraceStatus, ...]


class Original(msgspec.Struct, frozen=True):
    """A trace file as it is stored. `stream` can be sought; the caller closes it."""

    name: str
    size: int
    stream: BinaryIO


class RunStatus(msgspec.Struct, frozen=True):
    """A run.

    traces: by worker, then span. newest_ns: when the newest was recorded; None if unknown. parent: of the captures of
    another run its name
    """

    name: str
    traces: tuple[TraceStatus, ...]
    skipped: tuple[Skipped, ...] = ()
    newest_ns: int | None = None
    parent: str | None = None

    @property
    def state(self) -> RunState:
        states = {trace.state for trace in self.traces}
        if states & {"queued", "loading"}:
            return "loading"
        return "failed" if states == {"failed"} else "ready"


class Status(msgspec.Struct, frozen=True):
    """The state of the log directories.

    scanning: true until they have been listed and their files looked at for the first time
    error: why they could not be listed the last time
    remote: whether a part of them is remote
    dumps: folders of flight-recorder dumps, also those that are no runs
    skipped: JSON files outside all runs that are no traces, and directories that could not be listed
    """

    logdir: str
    scanning: bool
    error: Reason | None
    runs: tuple[RunStatus, ...]
    skipped: tuple[Skipped, ...] = ()
    remote: bool = False
    dumps: tuple[DumpFolder, ...] = ()

    @property
    def loading(self) -> bool:
        return self.scanning or any(run.state == "loading" for run in self.runs)


class Unavailable(ErrorWithReason):
    """A trace cannot be asked; the message is a sentence for a user."""


class UnknownTrace(Unavailable):
    """There is no such run, worker or span."""


class Loading(Unavailable):
    """The trace has not been read yet."""

    def __init__(self, trace: TraceStatus) -> None:
        super().__init__(f"{trace.file} is still {'waiting to be read' if trace.state == 'queued' else 'loading'}")
        self.trace = trace


class Unreadable(Unavailable):
    """The trace could not be read."""

    def __init__(self, trace: TraceStatus) -> None:
        why = trace.why or Why(kind=OTHER, values={})
        super().__init__(
            because(
                "trace_failed",
                {"file": trace.file, "why_kind": why.kind, "said": trace.reason or "", **why.values},
            )
        )
        self.trace = trace
