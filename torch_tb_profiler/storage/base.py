"""The interface every storage offers, the schemes of log directories, and addresses that are safe to show."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import msgspec
from msgspec.structs import asdict

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.reason import Reason

_SCHEME = lazy_pattern(r"([A-Za-z][A-Za-z0-9+.-]+)://")  # two letters at least: C:\ is a drive
#: prefix of an address that is not text, before its bytes in hexadecimal digits; no address contains it
_BYTES = "\0"
_USER = lazy_pattern(r"^([A-Za-z][A-Za-z0-9+.-]+://)[^/?#]*@")

#: the signature in an address of S3, Google or Azure
_SIGNATURE = lazy_pattern(
    r"\?(?:[^?]*&)?(?:X-(?:Amz|Goog)-[a-z-]+|(?:sig|signature|AWSAccessKeyId|GoogleAccessId))=", re.IGNORECASE
)


def scheme_of(url: str) -> str:
    """Return the scheme in lower case; empty for a plain path."""
    match = _SCHEME.match(url)
    return match[1].lower() if match else ""


def shown(url: str) -> str:
    """Return the address as text that is safe to show: `without_secrets` and `printable`."""
    return printable(without_secrets(url))


def without_secrets(url: str) -> str:
    """Return the address without possible secrets.

    These are name and password before an `@`, the query of an http address, and the signature after any other address.
    """
    if not scheme_of(url):
        return url
    url = _USER.sub(r"\1", url)
    if scheme_of(url) in ("http", "https"):
        return re.split(r"[?#]", url, maxsplit=1)[0]
    signature = _SIGNATURE.search(url)
    return url[: signature.start()] if signature else url


def is_signed(url: str) -> bool:
    """Return whether an address ends with a signature."""
    return bool(_SIGNATURE.search(url))


def without_slash(url: str) -> str:
    """Strip slashes at the end, except those of a bare scheme or of the root directory."""
    scheme = _SCHEME.match(url)
    head, rest = (scheme[0], url[scheme.end() :]) if scheme else ("", url)
    return head + rest.rstrip("/") or url


def printable(name: str) -> str:
    r"""Return the name as text that can be shown, logged and sent.

    Names of files may hold any byte but `/` and NUL; bytes that are not UTF-8 are written as escapes.

    >>> printable("caf\udce9\n")
    'caf\\xe9\\n'
    """
    return name if name.isprintable() else "".join(c if c.isprintable() else _escape(c) for c in name)


def _escape(character: str) -> str:
    if "\udc80" <= character <= "\udcff":  # how Python represents a byte that is not UTF-8
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character.encode("unicode_escape").decode("ascii")


def storable(url: str) -> str:
    """Return the address as text that JSON can hold: names of files may be any bytes. `restored` undoes it."""
    try:
        url.encode()
    except UnicodeEncodeError:
        return _BYTES + os.fsencode(url).hex()
    return url


def restored(text: str) -> str:
    """Return the address that `storable` encoded."""
    return os.fsdecode(bytes.fromhex(text.removeprefix(_BYTES))) if text.startswith(_BYTES) else text


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
