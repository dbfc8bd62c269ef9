"""Places that caches are shared in: a folder or an object store that several processes, users and machines use.

An entry is written once and never changed: its name says what it is made of, so whoever was first, the content is the
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
from torch_tb_profiler.storage.url import scheme_of
from torch_tb_profiler.trace.files import PART
from torch_tb_profiler.workspace.own_files import require_private
from torch_tb_profiler.workspace.sealed import part_of

#: stands in a folder that is shared: who finds it leaves everything where it is, and keeps what is its own elsewhere
MARK = "shared.place"
_MARK_TEXT = b"A cache shared by several users of torch-tb-profiler. Nothing is removed from it by itself.\n"

#: what another client has written to a file system of a network may be unseen for so long
LATE_SECONDS = 5.0

_COPIED = 1 << 20
#: bytes of a file that is read as a whole: a catalog takes a kilobyte for each trace
_MOST_READ = 1 << 29


def _flat(name: str) -> str:
    """A name as it is. Raises FileNotFoundError: no file of a place has it, whoever has sent it."""
    if not name or name in (".", "..") or any(each in name for each in "/\\\0"):
        raise FileNotFoundError(errno.ENOENT, "no file of a cache has this name", name)
    return name


class Place(Protocol):
    """Files with flat names. Thread-safe. All methods raise StorageError and OSError.

    url: where it is, without secrets
    """

    url: str

    def names(self) -> frozenset[str]:
        """Of all files, in one listing."""
        ...

    def has(self, name: str) -> bool:
        """Whether a file is there."""
        ...

    def version(self, name: str) -> tuple[int, int, str]:
        """What differs between two states of a file that is replaced, as `Entry.version`."""
        ...

    def read(self, name: str) -> bytes:
        """A small file as it is stored. Raises FileNotFoundError when it is not there."""
        ...

    def fetch(self, name: str, target: Path) -> None:
        """Copy a file to one of this machine, which appears whole. Raises FileNotFoundError when it is not there."""
        ...

    def put(self, name: str, source: Path | bytes, absent: bool = True) -> bool:
        """Write a file; `absent`: only if it is not there, else False is returned and it stays as it is."""
        ...

    def remove(self, name: str) -> None: ...


class Folder:
    """A folder, perhaps of a network.

    is_private: whether its files are for their owner alone
    part: begins the names of files that are being written, so that a writer knows its own
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
        return frozenset(os.listdir(self._path))  # noqa: PTH208 - names are enough

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
    """Raises OSError: a file that is read as a whole has more bytes than any of a cache."""
    if size > _MOST_READ:
        raise OSError(errno.EFBIG, "is too large for a file of a cache")


def _create(path: Path, mode: int) -> BinaryIO:
    return open(path, "xb", opener=lambda name, flags: os.open(name, flags, mode))


def _put(part: Path, target: Path, absent: bool) -> bool:
    """Give a file its name; whether it was not there when that was asked for."""
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


class Stored:
    """A folder of an object store, or of another file system; objects appear whole."""

    def __init__(self, url: str) -> None:
        self.url = storage_for(url).resolve(url)
        self._storage = writable_storage_for(self.url)

    def prepare(self) -> None:
        """Whether it can be written shows when it is."""

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
        """Nothing is left of an object that was not written."""

    def _at(self, name: str) -> str:
        return f"{self.url}/{_flat(name)}"


def _not_found(error: StorageError) -> Exception:
    return FileNotFoundError(str(error)) if error.kind == "missing" else error


AnyPlace = Folder | Stored


def place_at(address: str, part: str = "") -> AnyPlace:
    """The shared place at an address or path. Raises StorageError: the address cannot be right."""
    if is_local(address):
        return Folder(Path(storage_for(address).resolve(address)), part=part)
    return Stored(without_slash(address))


def is_shared(address: str) -> bool:
    """Whether a cache directory is a shared place: an address of a store always, a folder that was marked as one."""
    return not is_local(address) or (Path(storage_for(address).resolve(address)) / MARK).is_file()


def read_late(place: Place, name: str, seconds: float = LATE_SECONDS) -> bytes:
    """A file that somebody else says to have written: it may come in sight a little later."""
    until = time.monotonic() + seconds
    while True:
        try:
            return place.read(name)
        except FileNotFoundError:
            if time.monotonic() >= until:
                raise
            time.sleep(0.1)


def remove_all(place: Place, names: Iterable[str]) -> None:
    """Remove files as far as that can be done."""
    for name in names:
        with contextlib.suppress(OSError, StorageError):
            place.remove(name)
