"""The open log directory: watch it, read its traces in worker processes, remember answers, forget under pressure.

Rooms: `listing` (which traces there are), `reading` (worker processes), `answering` (models and timelines that are
open), `cache` (files that are kept).

Belongs here: everything that runs for as long as the server does; no other package starts a process, a thread
or a timer. Does not belong here: what a file is called (`discovery`), what is in it (`trace`), what it means
(`model` and above), how an answer looks (`web`).
"""

from __future__ import annotations

from torch_tb_profiler.discovery.runs import Skipped
from torch_tb_profiler.workspace.answering.answering_process import Unanswered
from torch_tb_profiler.workspace.cache.answer_store import (
    Body,
    Packed,
    RefusedAnswer,
    StoredAnswer,
    answer_name,
    compressed,
    pack,
    stored,
)
from torch_tb_profiler.workspace.status import (
    Loading,
    OpenRun,
    OpenTrace,
    Original,
    RunStatus,
    State,
    Status,
    TraceStatus,
    Unavailable,
    UnknownTrace,
    Unreadable,
)
from torch_tb_profiler.workspace.workspace import Key, Tier, Value, Workspace, open_workspace

__all__ = [
    "Body",
    "Key",
    "Loading",
    "OpenRun",
    "OpenTrace",
    "Original",
    "Packed",
    "RefusedAnswer",
    "RunStatus",
    "Skipped",
    "State",
    "Status",
    "StoredAnswer",
    "Tier",
    "TraceStatus",
    "Unanswered",
    "Unavailable",
    "UnknownTrace",
    "Unreadable",
    "Value",
    "Workspace",
    "answer_name",
    "compressed",
    "open_workspace",
    "pack",
    "stored",
]
