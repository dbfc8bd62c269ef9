"""What reads ranks (this machine's processes or a cluster's workers), what is sent to it and what comes back.

Nothing else is sent to a cluster, and no code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol

import msgspec

from torch_tb_profiler.codec import json_decoder
from torch_tb_profiler.discovery import TraceFile
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.storage import StorableEntry, restored, shown
from torch_tb_profiler.workspace.cache.identity import is_key
from torch_tb_profiler.workspace.cache.stores import FolderStore, RemoteStore, store_at
from torch_tb_profiler.workspace.status import TraceSummary


class IngestTarget(msgspec.Struct, frozen=True):
    """Where ranks are read to.

    place: its address, without secrets, as `storable` makes it
    is_private: whether its files are for their owner alone
    part: begins the names of files that are being written
    expansion: to how many times its size a file may unpack
    code: `answers_version` of who sends; others would give other results
    """

    place: str
    is_private: bool
    part: str
    expansion: int
    code: str

    @property
    def place_shown(self) -> str:
        """The address for messages."""
        return shown(restored(self.place))

    def open(self) -> FolderStore | RemoteStore:
        """Open the place. Raises StorageError: the address cannot be right."""
        place = store_at(restored(self.place), self.part)
        if isinstance(place, FolderStore):
            place.is_private = self.is_private
        return place


class Task(StorableEntry, frozen=True, kw_only=True):
    """Read a file. number: of the task."""

    number: int
    target: IngestTarget

    @classmethod
    def of(cls, number: int, file: TraceFile, target: IngestTarget) -> Task:
        return cls(**cls.fields_of(file.entry), number=number, target=target)


class RankKept(msgspec.Struct, frozen=True, tag="kept"):
    """The rank is in the shared cache under `key`. was_there: it had been read before."""

    number: int
    key: str
    summary: TraceSummary
    was_there: bool


class RankLost(msgspec.Struct, frozen=True, tag="lost"):
    """The rank could not be read: kind, text and values of the reason. details: for the log, when it is our fault."""

    number: int
    kind: str
    text: str
    values: Mapping[str, str | int | float | bool] = {}
    details: str = ""

    @classmethod
    def of(cls, number: int, reason: Reason, details: str = "") -> RankLost:
        return cls(number, reason.kind, reason.text, dict(reason.values), details)

    @property
    def reason(self) -> Reason:
        return Reason(self.kind, self.text, self.values)


Outcome = RankKept | RankLost

encode = msgspec.json.Encoder().encode
decode_task = json_decoder(Task).decode
_outcomes: msgspec.json.Decoder[Outcome] = json_decoder(Outcome)


def decode_outcome(content: bytes, number: int) -> Outcome:
    """Decode the outcome of the task `number`. Raises ValueError: it is about another, or none of our answers."""
    try:
        outcome = _outcomes.decode(content)
    except RecursionError as error:
        raise ValueError(str(error)) from None
    if outcome.number != number:
        raise ValueError(f"it is about task {outcome.number}")
    if isinstance(outcome, RankKept) and not is_key(outcome.key):
        raise ValueError("it names no file of a cache")
    return outcome


class IngestRefused(Exception):
    """Nothing was read, for a reason that a user can do something about; the message says which."""


class WorkLost(Exception):
    """The cluster is gone; the message says how. left: what was not read."""

    def __init__(self, message: str, left: list[Task]) -> None:
        super().__init__(message)
        self.left = left


class IngestProgress(msgspec.Struct, frozen=True):
    """How far it is.

    ranks, of: how many are done, and how many there are
    lost: how many of the done could not be read
    bytes_done, bytes_of: of the files
    seconds: since the start
    """

    ranks: int
    of: int
    lost: int
    bytes_done: int
    bytes_of: int
    seconds: float


class WorkerProbe(StorableEntry, frozen=True, kw_only=True):
    """What a worker is asked before the first rank: a file that it must be able to read.

    nonce: name of a file that it is to write to the place
    """

    nonce: str
    target: IngestTarget


class WorkerFact(msgspec.Struct, frozen=True):
    """What a worker says.

    host, python: where it runs, and on which version
    code: of its `answers_version`
    unreadable, unwritable: why the file could not be read, or the nonce not be written; else empty
    nonce: what it has written
    """

    host: str
    python: str
    code: str
    unreadable: str
    unwritable: str
    nonce: str
    address: str = ""


#: bytes of a task's file that are read by now
OnBytesRead = Callable[[int, int], None]


class Runner(Protocol):
    """Reads ranks; `close` it."""

    def probe(self, check: WorkerProbe) -> list[WorkerFact]:
        """Ask every worker. Raises IngestRefused."""
        ...

    def run(self, tasks: Iterable[Task], on_bytes: OnBytesRead) -> Iterator[Outcome]:
        """Yield the outcomes as they come. Raises WorkLost.

        on_bytes: called with the number of a task and the bytes read of its file, from several threads
        """
        ...

    def close(self) -> None: ...
