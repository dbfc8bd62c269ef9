"""The interface every storage offers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Protocol


class StorageError(Exception):
    """Something cannot be listed or opened; the message is a sentence for a user."""


@dataclass(frozen=True)
class Entry:
    """One file.

    path: relative to the listed root, `/` between its parts, printable text only (for people and for names)
    url: what `Storage.open` takes
    size: bytes
    modified_ns: ns since the epoch
    etag: changes with the content, where the storage knows such a thing; else empty
    """

    path: str
    url: str
    size: int
    modified_ns: int
    etag: str = ""


@dataclass(frozen=True)
class Problem:
    """A part of the tree that could not be listed; the rest was."""

    path: str
    reason: str


class Storage(Protocol):
    """Read-only access to a tree of files."""

    def resolve(self, url: str) -> str:
        """The absolute form of a root as a user wrote it."""
        ...

    def list(self, root: str, report: Callable[[Problem], None]) -> Iterator[Entry]:
        """All files below `root`, at any depth, in one pass and in no particular order.

        Parts that cannot be read are reported and left out. Raises StorageError when the root itself cannot
        be listed.
        """
        ...

    def stat(self, url: str) -> Entry:
        """What is known about one file now. Raises StorageError when it is gone."""
        ...

    def open(self, url: str) -> BinaryIO:
        """A seekable stream of the raw bytes. Raises StorageError."""
        ...
