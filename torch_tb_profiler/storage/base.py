"""The interface every storage offers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import msgspec
from msgspec.structs import asdict

from torch_tb_profiler.reason import Reason
from torch_tb_profiler.storage.url import restored, storable


class Entry(msgspec.Struct, frozen=True):
    """One file.

    path: relative to the listed root, `/` between its parts, printable text only (for people and for names)
    url: where it is, without any secret
    size: bytes
    modified_ns: ns since the epoch
    etag: changes with the content, where the storage knows such a thing; else empty
    """

    path: str
    url: str
    size: int
    modified_ns: int
    etag: str = ""

    @property
    def version(self) -> tuple[int, int, str]:
        """What differs between two states of the file."""
        return self.size, self.modified_ns, self.etag


class StorableEntry(Entry, frozen=True, kw_only=True):
    """A file as JSON can hold it: its address as `storable` makes it."""

    @staticmethod
    def fields_of(entry: Entry) -> dict[str, Any]:
        """Return the fields of an entry, its address storable."""
        return {**asdict(entry), "url": storable(entry.url)}

    @property
    def entry(self) -> Entry:
        return Entry(self.path, restored(self.url), self.size, self.modified_ns, self.etag)


class ListingProblem(msgspec.Struct, frozen=True):
    """A part of the tree that could not be listed; the rest was."""

    path: str
    reason: Reason


class Storage(Protocol):
    """Access to a tree of files; what is written there is a shared cache (`workspace/cache/stores.py`). Thread-safe."""

    @property
    def is_remote(self) -> bool:
        """Whether every read is a request to somewhere else."""
        ...

    def resolve(self, url: str) -> str:
        """Return the absolute form of a root as a user wrote it, without secrets. Raises StorageError."""
        ...

    def require(self, root: str) -> None:
        """Import the package that reads it. Raises StorageError when it is not installed."""
        ...

    def list(self, root: str, report: Callable[[ListingProblem], None]) -> Iterator[Entry]:
        """Yield all files below `root`, at any depth, in one pass and in no particular order.

        Parts that cannot be read are reported and left out. Raises StorageError when the root itself cannot
        be listed.
        """
        ...

    def stat(self, url: str) -> Entry:
        """Return what is known about one file now. Raises StorageError when it is gone."""
        ...

    def open(self, entry: Entry, ahead: bool = True) -> BinaryIO:
        """Open a seekable stream of the raw bytes of a file.

        ahead: whether all of it will be read, in order

        Raises StorageError, then or while it is read: also when the storage can tell that the file is not in the
        state of `entry` any more.
        """
        ...


class WritableStorage(Storage, Protocol):
    """One that a shared cache may be in. Files appear whole or not at all."""

    def put(self, url: str, source: Path | bytes, absent: bool = True) -> bool:
        """Write a file, of this content or that of a file of this machine.

        absent: leave what is there already alone; False is returned then

        Raises StorageError, and OSError when `source` cannot be read.
        """
        ...

    def remove(self, url: str) -> None:
        """Remove a file; one that is not there is removed already. Raises StorageError."""
        ...
