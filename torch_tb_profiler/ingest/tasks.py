"""What is sent to the process that reads a rank, and what comes back. Nothing else is sent, and no code."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from torch_tb_profiler.codec import json_decoder
from torch_tb_profiler.discovery import TraceFile
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.storage import StorableEntry, restored, shown
from torch_tb_profiler.workspace.cache.identity import is_key
from torch_tb_profiler.workspace.cache.stores import FolderStore, RemoteStore, store_at
from torch_tb_profiler.workspace.status import TraceSummary


class Target(msgspec.Struct, frozen=True):
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
        """Raises StorageError: the address cannot be right."""
        place = store_at(restored(self.place), self.part)
        if isinstance(place, FolderStore):
            place.is_private = self.is_private
        return place


class Task(StorableEntry, frozen=True, kw_only=True):
    """Read a file. number: of the task."""

    number: int
    target: Target

    @classmethod
    def of(cls, number: int, file: TraceFile, target: Target) -> Task:
        return cls(**cls.fields_of(file.entry), number=number, target=target)


class Kept(msgspec.Struct, frozen=True, tag="kept"):
    """The rank is in the shared cache under `key`. was_there: it had been read before."""

    number: int
    key: str
    summary: TraceSummary
    was_there: bool


class Lost(msgspec.Struct, frozen=True, tag="lost"):
    """The rank could not be read: kind, text and values of the reason. details: for the log, when it is our fault."""

    number: int
    kind: str
    text: str
    values: Mapping[str, str | int | float | bool] = {}
    details: str = ""

    @classmethod
    def of(cls, number: int, reason: Reason, details: str = "") -> Lost:
        return cls(number, reason.kind, reason.text, dict(reason.values), details)

    @property
    def reason(self) -> Reason:
        return Reason(self.kind, self.text, self.values)


Outcome = Kept | Lost

encode = msgspec.json.Encoder().encode
decode_task = json_decoder(Task).decode
_outcomes: msgspec.json.Decoder[Outcome] = json_decoder(Outcome)


def decode_outcome(content: bytes, number: int) -> Outcome:
    """What became of the task `number`. Raises ValueError: it is about another, or none of our answers."""
    try:
        outcome = _outcomes.decode(content)
    except RecursionError as error:
        raise ValueError(str(error)) from None
    if outcome.number != number:
        raise ValueError(f"it is about task {outcome.number}")
    if isinstance(outcome, Kept) and not is_key(outcome.key):
        raise ValueError("it names no file of a cache")
    return outcome
