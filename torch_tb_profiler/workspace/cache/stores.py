"""Stores for shared caches: a folder or an object store that several processes, users and machines use.

A file is written once and never changed: its name says what it is made of, so whoever was first, the content is the
same. What is read here is checked as everything of the cache is (docs/reliability.md).
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import time
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO, Protocol

from torch_tb_profiler.regular_file import open_file
from torch_tb_profiler.storage import StorageError, is_local, storage_for, without_slash, writable_storage_for
from torch_tb_profiler.storage.base import scheme_of
from torch_tb_profiler.trace.files import PART
from torch_tb_profiler.workspace.cache.checksummed import part_of
from torch_tb_profiler.workspace.cache.sweep import require_private

#: marks a shared folder: a process that finds it removes nothing there, and keeps files of its own elsewhere
MARK = "shared.place"
_MARK_TEXT = b"A cache shared by several users of torch-tb-profiler. Nothing is removed from it by itself.\n"

#: seconds for which a file that another client wrote to a network file system may be invisible
VISIBLE_SECONDS = 5.0

_COPIED = 1 << 20
#: largest file that is read as a whole, bytes: a catalog takes a kilobyte for each trace
_MOST_READ = 1 << 29


def _flat(name: str) -> str:
    """Return the name unchanged. Raises FileNotFoundError: it has a path in it, so no file of a store has it."""
    if not name or name in (".", "..") or any(each in name for each in "/\\\0"):
        raise FileNotFoundError(errno.ENOENT, "no file of a cache has this name", name)
    return name


class CacheStore(Protocol):
    """Files with flat names. Thread-safe. All methods raise StorageError and OSError.

    url: where it is, without secrets
    """

    url: str

    def names(self) -> frozenset[str]:
        """Return the names of all files, from one listing."""
        ...

    def has(self, name: str) -> bool:
        """Return whether a file is there."""
        ...

    def version(self, name: str) -> tuple[int, int, str]:
        """Return what differs between two states of a file that is replaced, as `Entry.version`."""
        ...

    def read(self, name: str) -> bytes:
        """Return the content of a small file. Raises FileNotFoundError when it is not there."""
        ...

    def fetch(self, name: str, target: Path) -> None:
        """Copy a file to one of this machine, which appears whole. Raises FileNotFoundError when it is not there."""
        ...

    def put(self, name: str, source: Path | bytes, absent: bool = True) -> bool:
        """Write a file; `absent`: only if it is not there, else False is returned and it stays as it is."""
        ...

    def remove(self, name: str) -> None: ...


class FolderStore:
    """A folder, perhaps on a network file system.

    is_private: whether its files are for their owner alone
    part: prefix of files that are being written, by which a writer knows its own
    """

    def __init__(self, path: Path, is_private: bool = False, part: str = "") -> None:
        self.url = str(path)
        self.is_private = is_private
        self._path, self._part = path, part

    def prepare(self) -> None:
        """Make the folder; others may write to it where the user's mask lets them, unless it is private."""
        self._path.mkdir(parents=True, exist_ok=True, mode=0o700 if self.is_private else 0o777)
        if self.is_private:
            require_private(self._path)
        else:
            self.put(MARK, _MARK_TEXT)

    def names(self) -> frozenset[str]:
        return frozenset(entry.name for entry in os.scandir(self._path))

    def has(self, name: str) -> bool:
        return (self._path / _flat(name)).is_file()

    def version(self, name: str) -> tuple[int, int, str]:
        status = (self._path / _flat(name)).stat()
        return status.st_size, status.st_mtime_ns, str(status.st_ino)

    def read(self, name: str) -> bytes:
        with open_file(self._path / _flat(name)) as stored:
            _require_small(os.fstat(stored.fileno()).st_size)
            return stored.read()

    def fetch(self, name: str, target: Path) -> None:
        part = part_of(target)
        try:
            with open_file(self._path / _flat(name)) as stored, _create(part, 0o600) as out:
                shutil.copyfileobj(stored, out, _COPIED)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    def put(self, name: str, source: Path | bytes, absent: bool = True) -> bool:
        target = self._path / _flat(name)
        if absent and target.is_file():
            return False
        beside = part_of(target)
        part = beside.with_name(f"{self._part}{beside.name}")
        try:
            # a private file is for its owner; others are what the mask of the user makes of it
            with _create(part, 0o600 if self.is_private else 0o666) as out:
                if isinstance(source, bytes):
                    out.write(source)
                else:
                    with source.open("rb") as made:
                        shutil.copyfileobj(made, out, _COPIED)
                out.flush()
                os.fsync(out.fileno())
            return _put(part, target, absent)
        finally:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)

    def remove(self, name: str) -> None:
        (self._path / _flat(name)).unlink(missing_ok=True)

    def sweep(self) -> None:
        """Remove what writers of this `part` have begun and not ended."""
        for name in self.names():
            if self._part and name.startswith(self._part) and name.endswith(PART):
                self.remove(name)


def _require_small(size: int) -> None:
    """Refuse to read a whole file that is larger than any of a cache. Raises OSError."""
    if size > _MOST_READ:
        raise OSError(errno.EFBIG, "is too large for a file of a cache")


def _create(path: Path, mode: int) -> BinaryIO:
    return open(path, "xb", opener=lambda name, flags: os.open(name, flags, mode))


def _put(part: Path, target: Path, absent: bool) -> bool:
    """Give a file its name, with `absent` only if the name is free; return False if it is taken."""
    if absent:
        try:
            os.link(part, target)
        except FileExistsError:
            return False
        except OSError:  # no links there: equal content replaces what somebody was faster with
            part.replace(target)
        return True
    part.replace(target)
    return True


class RemoteStore:
    """A folder of an object store, or of another file system; objects appear whole."""

    def __init__(self, url: str) -> None:
        self.url = storage_for(url).resolve(url)
        self._storage = writable_storage_for(self.url)

    def prepare(self) -> None:
        """Do nothing: whether the store can be written shows when it is."""

    def names(self) -> frozenset[str]:
        try:
            found = self._storage.list(self.url, lambda _: None)
            return frozenset(entry.path for entry in found if "/" not in entry.path)
        except StorageError as error:
            if error.kind == "missing" and scheme_of(self.url) not in ("s3", "s3a", "gs", "https", "http"):
                return frozenset()  # a directory that nobody has made yet
            raise

    def has(self, name: str) -> bool:
        try:
            self._storage.stat(self._at(name))
        except StorageError as error:
            if error.kind == "missing":
                return False
            raise
        return True

    def version(self, name: str) -> tuple[int, int, str]:
        return self._storage.stat(self._at(name)).version

    def read(self, name: str) -> bytes:
        try:
            entry = self._storage.stat(self._at(name))
            _require_small(entry.size)
            with self._storage.open(entry) as stream:
                return stream.read()
        except StorageError as error:
            raise _not_found(error) from error

    def fetch(self, name: str, target: Path) -> None:
        part = part_of(target)
        try:
            with self._storage.open(self._storage.stat(self._at(name))) as stored, _create(part, 0o600) as out:
                shutil.copyfileobj(stored, out, _COPIED)
            part.replace(target)
        except StorageError as error:
            raise _not_found(error) from error
        finally:
            part.unlink(missing_ok=True)

    def put(self, name: str, source: Path | bytes, absent: bool = True) -> bool:
        return self._storage.put(self._at(name), source, absent)

    def remove(self, name: str) -> None:
        self._storage.remove(self._at(name))

    def sweep(self) -> None:
        """Do nothing: an object that was not written whole leaves nothing behind."""

    def _at(self, name: str) -> str:
        return f"{self.url}/{_flat(name)}"


def _not_found(error: StorageError) -> Exception:
    return FileNotFoundError(str(error)) if error.kind == "missing" else error


AnyStore = FolderStore | RemoteStore


def store_at(address: str, part: str = "") -> AnyStore:
    """Return the store at an address or path. Raises StorageError: the address cannot be right."""
    if is_local(address):
        return FolderStore(Path(storage_for(address).resolve(address)), part=part)
    return RemoteStore(without_slash(address))


def is_shared(address: str) -> bool:
    """Return whether a cache directory is shared: an address of a store always is, a folder if it was marked."""
    return not is_local(address) or (Path(storage_for(address).resolve(address)) / MARK).is_file()


def read_when_visible(store: CacheStore, name: str, seconds: float = VISIBLE_SECONDS) -> bytes:
    """Read a file that another client has written; it may become visible a little later."""
    until = time.monotonic() + seconds
    while True:
        try:
            return store.read(name)
        except FileNotFoundError:
            if time.monotonic() >= until:
                raise
            time.sleep(0.1)


def remove_all(store: CacheStore, names: Iterable[str]) -> None:
    """Remove files as far as that can be done."""
    for name in names:
        with contextlib.suppress(OSError, StorageError):
            store.remove(name)
