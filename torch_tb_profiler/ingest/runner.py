"""The two ways to have ranks read have one interface: this machine's processes, and a cluster's workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import msgspec

from torch_tb_profiler.ingest.tasks import Outcome, Target, Task
from torch_tb_profiler.storage import StorableEntry


class CannotBegin(Exception):
    """Nothing was read, for a reason that a user can do something about; the message says which."""


class WorkLost(Exception):
    """The cluster is gone; the message says how. left: what was not read."""

    def __init__(self, message: str, left: list[Task]) -> None:
        super().__init__(message)
        self.left = left


class Progress(msgspec.Struct, frozen=True):
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


class Check(StorableEntry, frozen=True, kw_only=True):
    """What a worker is asked before the first rank: a file that it must be able to read.

    nonce: name of a file that it is to write to the place
    """

    nonce: str
    target: Target


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
Told = Callable[[int, int], None]


class Runner(Protocol):
    """Reads ranks; `close` it."""

    def probe(self, check: Check) -> list[WorkerFact]:
        """Ask every worker. Raises CannotBegin."""
        ...

    def run(self, tasks: Iterable[Task], told: Told) -> Iterator[Outcome]:
        """The outcomes as they come. Raises WorkLost.

        told: is told the number of a task and how many bytes of its file were read, from several threads
        """
        ...

    def close(self) -> None: ...
