"""What can be said about a log directory and its traces at one moment."""

from __future__ import annotations

from typing import BinaryIO, Literal

import msgspec

from torch_tb_profiler.discovery import Skipped, TraceKind
from torch_tb_profiler.reason import OTHER, ErrorWithReason, Reason

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
    "Unavailable",
    "Unknown",
    "Unreadable",
]


class TraceStatus(msgspec.Struct, frozen=True):
    """One trace.

    file: its name within the run's directory
    size, bytes_done: bytes as stored; how much of them was read
    events: None until something is known
    reason: why it failed; else None
    notes: number of trace-health notes
    views: ids of the views that have data
    kind: whether it is a trace or a memory snapshot
    rank: of its process, as the trace says, else its name; None if neither does
    world_size, host_name: None and empty if the trace does not contain it, or was not read yet
    """

    worker: str
    span: str
    file: str
    size: int
    state: State
    bytes_done: int = 0
    events: int | None = None
    reason: Reason | None = None
    notes: int = 0
    views: tuple[str, ...] = ()
    rank: int | None = None
    world_size: int | None = None
    host_name: str = ""
    kind: TraceKind = "trace"


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
    """traces: by worker, then span. newest_ns: when the newest was recorded; None if nothing says it."""

    name: str
    traces: tuple[TraceStatus, ...]
    skipped: tuple[Skipped, ...] = ()
    newest_ns: int | None = None

    @property
    def state(self) -> RunState:
        states = {trace.state for trace in self.traces}
        if states & {"queued", "loading"}:
            return "loading"
        return "failed" if states == {"failed"} else "ready"


class Status(msgspec.Struct, frozen=True):
    """The log directory.

    scanning: true until it has been listed and its files looked at for the first time
    error: why it could not be listed the last time
    remote: whether a part of it is elsewhere
    skipped: JSON files outside all runs that are no traces, and directories that could not be listed
    """

    logdir: str
    scanning: bool
    error: Reason | None
    runs: tuple[RunStatus, ...]
    skipped: tuple[Skipped, ...] = ()
    remote: bool = False

    @property
    def loading(self) -> bool:
        return self.scanning or any(run.state == "loading" for run in self.runs)


class Unavailable(ErrorWithReason):
    """A trace cannot be asked; the message is a sentence for a user."""


class Unknown(Unavailable):
    """There is no such run, worker or span."""


class Loading(Unavailable):
    """The trace is not there yet."""

    def __init__(self, trace: TraceStatus) -> None:
        super().__init__(f"{trace.file} is still {'waiting to be read' if trace.state == 'queued' else 'loading'}")
        self.trace = trace


class Unreadable(Unavailable):
    """The trace could not be read."""

    def __init__(self, trace: TraceStatus) -> None:
        text = f"{trace.file} {trace.reason}"
        why = trace.reason or Reason(OTHER, "")
        super().__init__(
            Reason("trace_failed", text, {"file": trace.file, "why_kind": why.kind, "said": str(why), **why.values})
        )
        self.trace = trace
