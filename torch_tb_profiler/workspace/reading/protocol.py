"""Messages between the server and its worker processes, one line of JSON each, and the answers these promise."""

from __future__ import annotations

import threading
from collections.abc import Callable, Set
from pathlib import Path

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.codec import json_decoder
from torch_tb_profiler.defaults import EXPANSION
from torch_tb_profiler.discovery import TraceKind
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.storage import Entry, restored, storable
from torch_tb_profiler.workspace.cache.checksummed import remove_parts
from torch_tb_profiler.workspace.status import OpenTrace, TraceSummary


class Answering(msgspec.Struct, frozen=True):
    """Answer ahead what the page will ask about a trace.

    questions: the function that names them, as "module:function"; see `Questions` in workspace/reading/worker.py
    trace: its names
    folder: where the answers are put
    timeline: where the timeline is written
    """

    questions: str
    trace: OpenTrace
    folder: str
    timeline: str


class Job(msgspec.Struct, frozen=True, tag="job"):
    """Read a file, write its columns to `target`, then answer.

    entry: the file as it was when the job was given
    is_read: whether the trace has been read and summarized, so that only answers are wanted
    has_columns: whether `target` exists, and is only to be summarized unless it turns out unusable
    rank: file for what questions about all ranks need of this one; empty for none
    kind: what is in the file
    expansion: how many times its size the file may unpack to
    helpers: how many processes may help to read it
    """

    id: int
    entry: Entry
    target: str
    answering: Answering | None = None
    is_read: bool = False
    expansion: int = EXPANSION
    has_columns: bool = False
    rank: str = ""
    kind: TraceKind = "trace"
    helpers: int = 0

    def remove_parts(self, process: int) -> None:
        """Remove what a process that has ended has left unfinished of this job."""
        target = Path(self.target)
        remove_parts([target.parent], target.name.partition(".")[0], process)
        if self.answering is not None:
            remove_parts([Path(self.answering.folder)], "", process)


class ReleaseHelpers(msgspec.Struct, frozen=True, tag="alone"):
    """A job is to go on without helpers: other jobs want their processors."""

    id: int


class Reading(msgspec.Struct, frozen=True, tag="reading"):
    """Progress of a job."""

    bytes_done: int
    events: int


class Done(msgspec.Struct, frozen=True, tag="done"):
    """The columns are written. The last message of a job that is not to answer."""

    summary: TraceSummary
    seconds: float


#: the name of the timeline of a trace among those of answers
TIMELINE = "timeline"


class Preparing(msgspec.Struct, frozen=True, tag="preparing"):
    """These answers will be made, in this order; names as in `answer_store.answer_name`."""

    names: tuple[str, ...]


class Answered(msgspec.Struct, frozen=True, tag="answered"):
    """An answer was put into its folder, or will not be.

    details: for the log, when it will not be by our fault
    """

    name: str
    details: str = ""


class Prepared(msgspec.Struct, frozen=True, tag="prepared"):
    """The last message of a job that is to answer.

    details: for the log, when there are no answers by our fault
    """

    seconds: float
    details: str = ""


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """The file cannot be read.

    details: for the log, when it is our fault
    passes: whether it may be possible later, though the file has not changed
    """

    reason: Reason
    details: str = ""
    passes: bool = False


Message = Reading | Done | Preparing | Answered | Prepared | Failed

encode = msgspec.json.Encoder().encode
_decode_order = json_decoder(Job | ReleaseHelpers).decode


def encode_job(job: Job) -> bytes:
    """Encode a job as a line for a worker process. Names of files may be any bytes, which JSON does not hold."""
    return encode(_with_paths(job, storable))


def decode_order(line: bytes) -> Job | ReleaseHelpers:
    """Decode a line for a worker process."""
    order: Job | ReleaseHelpers = _decode_order(line)
    return _with_paths(order, restored) if isinstance(order, Job) else order


def _with_paths(job: Job, changed: Callable[[str], str]) -> Job:
    answering = job.answering
    if answering is not None:
        answering = replace(answering, folder=changed(answering.folder), timeline=changed(answering.timeline))
    entry = replace(job.entry, url=changed(job.entry.url))
    return replace(job, entry=entry, target=changed(job.target), rank=changed(job.rank), answering=answering)


decode_message: Callable[[bytes], Message] = json_decoder(Message).decode


#: seconds for which a request waits for an answer that a worker process has promised
LONGEST_WAIT = 120.0


class _Everything(frozenset[str]):
    """Contains every name: a promise before it is known which answers will be made."""

    def __contains__(self, _: object) -> bool:
        return True


EVERYTHING = _Everything()


class PendingAnswers:
    """Names of answers by the content key of their trace. Thread-safe."""

    def __init__(self) -> None:
        self._names: dict[str, Set[str]] = {}
        self._changed = threading.Condition()

    def __len__(self) -> int:
        """Count the traces for which answers are awaited."""
        with self._changed:
            return len(self._names)

    def names(self, key: str) -> Set[str]:
        with self._changed:
            return self._names.get(key, frozenset())

    def promise(self, key: str, names: Set[str] = EVERYTHING) -> None:
        with self._changed:
            self._names[key] = names
            self._changed.notify_all()

    def receive(self, key: str, message: Preparing | Answered | Prepared) -> None:
        """Take over a message of the worker process that answers about this trace."""
        with self._changed:
            if isinstance(message, Preparing):
                self._names[key] = frozenset(message.names)
            elif isinstance(message, Answered):
                self._names[key] = self._names.get(key, frozenset()) - {message.name}
            else:
                self._names.pop(key, None)
            self._changed.notify_all()

    def wait_for(self, key: str, name: str) -> None:
        """Wait until an answer is given, or will not be."""
        with self._changed:
            self._changed.wait_for(lambda: name not in self._names.get(key, ()), LONGEST_WAIT)

    def clear(self) -> None:
        """Forget all promises: nothing will be given any more."""
        with self._changed:
            self._names.clear()
            self._changed.notify_all()
