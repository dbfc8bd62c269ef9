"""What the server and its worker processes say to each other: one line of JSON per message."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from torch_tb_profiler.trace import Limits


class Summary(msgspec.Struct, frozen=True):
    """What is worth knowing about a trace without opening it.

    views: ids of the views that have data
    rank, world_size: None when the trace does not say
    host_name: empty when the trace does not say
    """

    events: int
    notes: int
    views: tuple[str, ...]
    rank: int | None
    world_size: int | None
    host_name: str


class Job(msgspec.Struct, frozen=True):
    """Read the file at `url` and write its columns to `target`.

    size, modified_ns: of the file when the job was given
    expansion: to how many times its size the file may unpack
    """

    id: int
    url: str
    size: int
    modified_ns: int
    target: str
    expansion: int = Limits.expansion


class Reading(msgspec.Struct, frozen=True, tag="reading"):
    """How far a job is."""

    bytes_done: int
    events: int


class Done(msgspec.Struct, frozen=True, tag="done"):
    """The columns are written."""

    summary: Summary
    seconds: float


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """The file cannot be read.

    reason: a sentence that goes on after the file's name
    details: for the log, when it is our fault
    """

    reason: str
    details: str = ""


Message = Reading | Done | Failed

encode = msgspec.json.Encoder().encode
decode_job = msgspec.json.Decoder(Job).decode
decode_message: Callable[[bytes], Message] = msgspec.json.Decoder(Message).decode
