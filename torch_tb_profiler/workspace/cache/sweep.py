"""Remove files of a cache: those unused for the longest time, and what dead processes left.

Only regular files with names that a cache gives are touched, and what is in folders of answers. Others may have put
something into these folders: nothing is listed or removed through a link, whoever made it.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.trace.files import PART
from torch_tb_profiler.workspace.cache.checksummed import MAGIC
from torch_tb_profiler.workspace.cache.identity import ANSWERS, CONTENTS, RESULT, TIMELINE, is_own_name
from torch_tb_profiler.workspace.process import LEFT_OVER_SECONDS

#: whether the system can look at and remove names of a folder that is open; Windows cannot
_BY_HANDLE = {os.open, os.stat, os.unlink, os.rmdir} <= os.supports_dir_fd and os.scandir in os.supports_fd
_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)


def require_private(directory: Path) -> int:
    """Return the user id that owns files which this user makes in a directory.

    Raises OSError: it cannot be written, belongs to another user but the administrator, or everybody may write to it.
    Where all files have one owner, or rights that nobody has chosen, as on some file systems, these are no others'.
    """
    with tempfile.TemporaryFile(dir=directory) as probe:
        made = os.fstat(probe.fileno())
    status = directory.stat()
    # whoever owns a link decides what it leads to
    if not {status.st_uid, directory.lstat().st_uid} <= {made.st_uid, 0}:
        raise PermissionError(errno.EPERM, "it belongs to another user", str(directory))
    if status.st_mode & ~made.st_mode & stat.S_IWOTH:
        raise PermissionError(errno.EPERM, "everybody may write to it", str(directory))
    return made.st_uid


class OwnFolder:
    """An open folder: operations reach this folder, even if another one takes its name meanwhile. `close` it.

    handle: None where the system cannot look at and remove names by it
    owner: whose it must be, unless it is the administrator's
    above: the open folder that it is in, where it must be no link; None for a path of its own
    """

    def __init__(self, path: Path, owner: int, above: OwnFolder | None = None) -> None:
        """Open a folder. Raises OSError, also if it belongs to another user."""
        self.path, self.owner = path, owner
        self.handle: int | None = None
        if _BY_HANDLE:
            flags = _FLAGS if above is None else _FLAGS | os.O_NOFOLLOW
            name = path if above is None else path.name
            self.handle = os.open(name, flags, dir_fd=None if above is None else above.handle)
            status = os.fstat(self.handle)
        else:
            status = path.stat() if above is None else path.lstat()
        if status.st_uid not in (owner, 0) or not stat.S_ISDIR(status.st_mode):
            self.close()
            raise PermissionError(errno.EPERM, "it belongs to another user", str(path))

    def __enter__(self) -> OwnFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def inside(self, name: str) -> OwnFolder:
        """Open a folder in this one. Raises OSError."""
        return OwnFolder(self.path / name, self.owner, self)

    def close(self) -> None:
        if self.handle is not None:
            os.close(self.handle)
            self.handle = None

    def names(self) -> list[str]:
        return [entry.name for entry in os.scandir(self.path if self.handle is None else self.handle)]

    def status(self, name: str) -> os.stat_result:
        """Return the status of a file, or of a link itself. Raises OSError."""
        return os.stat(self._at(name), dir_fd=self.handle, follow_symlinks=False)

    def begin(self, name: str, size: int) -> bytes:
        """Return the first bytes of a regular file; empty for anything else."""
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with contextlib.suppress(OSError):
            handle = os.open(self._at(name), flags, dir_fd=self.handle)
            try:
                return os.read(handle, size) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
            finally:
                os.close(handle)
        return b""

    def remove(self, name: str) -> None:
        """Remove a file or a link. Raises OSError."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._at(name), dir_fd=self.handle)

    def remove_folder(self, name: str) -> None:
        """Remove an empty folder. Raises OSError."""
        os.rmdir(self._at(name), dir_fd=self.handle)

    def _at(self, name: str) -> str:
        return name if self.handle is not None else str(self.path / name)


log = logging.getLogger(__name__)

#: a sweep is due after this fraction (1/20) of the limit was added
SHARE = 20

#: the name of an answer while it is being written
_BEGUN = lazy_pattern(r"[\w-]+\.(?:\d+-)+\d+\.part")
#: a file used further in the future than this (seconds) was used before the clock was set back, nobody knows when
_CLOCKS_DIFFER = 86_400


class _Made(msgspec.Struct):
    """One file that was made of columns, with all its names."""

    paths: list[Path]
    size: int
    used: float
    is_timeline: bool = False


class _Unit(msgspec.Struct, eq=False):
    """Files of one name: columns, or what one version has made of them.

    used: when it was last used, seconds
    made: files that may be removed on their own
    """

    name: str
    paths: list[Path] = msgspec.field(default_factory=list)
    size: int = 0
    used: float = float("-inf")
    made: list[_Made] = msgspec.field(default_factory=list)

    def add(self, path: Path, size: int, used: float, made: list[_Made]) -> None:
        self.made += made
        self.paths.append(path)
        self.size += size
        self.used = max(self.used, used)

    @property
    def key(self) -> str:
        return self.name.partition(".")[0]

    @property
    def is_contents(self) -> bool:
        """Whether it belongs to no trace."""
        return any(path.suffix in (CONTENTS, RESULT) for path in self.paths)

    @property
    def version(self) -> str:
        return self.name.partition(".")[2]


class CacheFiles:
    """The files in a directory of a cache. Raises OSError where that is not of this user alone (`require_private`)."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._owner = require_private(directory)

    def sweep(self, limit: int, version: str) -> None:
        """Remove files as `TraceCache.sweep` does. version: of the code that answers now."""
        try:
            units, total = self._units()
        except OSError as error:
            log.warning("%s cannot be swept: %s", self.directory, error)
            return
        most = limit - limit // SHARE
        oldest_first = sorted(units, key=lambda unit: unit.used)
        last = next((unit.key for unit in reversed(oldest_first) if not unit.is_contents), "")
        stays = [unit for unit in oldest_first if unit.key == last and unit.version in ("", version)]
        for unit in oldest_first:
            if total > most and unit not in stays:
                self._remove_all(unit.paths)
                total -= unit.size
        for made in sorted(
            (made for unit in stays for made in unit.made), key=lambda made: (made.is_timeline, made.used)
        ):
            if total > most:
                self._remove_all(made.paths)
                total -= made.size

    def clear(self) -> None:
        """Remove everything that `sweep` may."""
        try:
            units, _ = self._units()
        except OSError as error:
            log.warning("%s cannot be emptied: %s", self.directory, error)
            return
        self._remove_all([path for unit in units for path in unit.paths])

    def remove(self, path: Path) -> None:
        """Remove a file, a link in its place, or a folder of answers, as far as that can be done."""
        self._remove_all([path])

    def size_of_answers(self, path: Path) -> int:
        """Return the bytes of a folder of answers."""
        with contextlib.suppress(OSError), self._open() as folder:
            return sum(made.size for made in self._answers_in(folder, path.name, time.time()))
        return 0

    def _open(self) -> OwnFolder:
        return OwnFolder(self.directory, self._owner)

    def _units(self) -> tuple[list[_Unit], int]:
        """Return what can be removed, and the bytes of all that is here. Raises OSError."""
        units: dict[str, _Unit] = {}
        total = 0
        now = time.time()
        with self._open() as folder:
            for name, status in _statuses(folder):
                path = self.directory / name
                kind = stat.S_IFDIR if path.suffix == ANSWERS else stat.S_IFREG
                if not is_own_name(name) or stat.S_IFMT(status.st_mode) != kind:
                    continue  # the user's, where the directory is used for something else, too
                used, size = _used(status, now), status.st_size
                if path.suffix == PART:
                    total += 0 if self._remove_left_over(path, status, now) else size
                    continue
                made: list[_Made] = []
                if path.suffix == ANSWERS:
                    made = self._answers_in(folder, name, now)
                    size = sum(each.size for each in made)
                elif path.suffix == TIMELINE:
                    made = [_Made([path], size, used, is_timeline=True)]
                units.setdefault(path.stem, _Unit(path.stem)).add(path, size, used, made)
                total += size
        return list(units.values()), total

    def _answers_in(self, above: OwnFolder, name: str, now: float) -> list[_Made]:
        """List a folder of answers, which others may change meanwhile; equal answers are one file."""
        files: dict[int, _Made] = {}
        with contextlib.suppress(OSError), above.inside(name) as folder:
            for each, status in _statuses(folder):
                path = folder.path / each
                if stat.S_ISREG(status.st_mode) and not self._remove_left_over(path, status, now):
                    files.setdefault(status.st_ino, _Made([], status.st_size, _used(status, now))).paths.append(path)
        return list(files.values())

    def _remove_left_over(self, path: Path, status: os.stat_result, now: float) -> bool:
        """Remove a file if a dead process has begun it; return whether it did."""
        if path.suffix != PART or now - status.st_mtime <= LEFT_OVER_SECONDS:
            return False
        self._remove_all([path])
        return True

    def _remove_all(self, paths: list[Path]) -> None:
        for path in paths:
            try:
                with self._open() as folder:
                    if path.parent.suffix == ANSWERS:
                        with folder.inside(path.parent.name) as answers:
                            _remove_answer(answers, path.name)
                    elif stat.S_ISDIR(folder.status(path.name).st_mode) and path.suffix == ANSWERS:
                        _remove_answers(folder, path.name)
                    else:
                        folder.remove(path.name)
            except FileNotFoundError:
                continue
            except OSError as error:
                log.warning("%s cannot be removed from the cache: %s", path, error)


def _statuses(folder: OwnFolder) -> Iterator[tuple[str, os.stat_result]]:
    for name in folder.names():
        with contextlib.suppress(OSError):  # another server was faster
            yield name, folder.status(name)


def _used(status: os.stat_result, now: float) -> float:
    """Return when a file was used, seconds; before everything else if its time is still to come."""
    return status.st_mtime - (0.0 if status.st_mtime <= now + _CLOCKS_DIFFER else 2.0**40)


def _remove_answers(above: OwnFolder, name: str) -> None:
    """Remove a folder of answers; files that are no answers stay, and then the folder does. Raises OSError."""
    with above.inside(name) as folder:
        for each in folder.names():
            _remove_answer(folder, each)
    above.remove_folder(name)


def _remove_answer(folder: OwnFolder, name: str) -> None:
    """Remove a file of a folder of answers if it is an answer by its name and, unless unfinished, by its content."""
    is_begun = _BEGUN.fullmatch(name) is not None
    if stat.S_ISREG(folder.status(name).st_mode) and (is_begun or folder.begin(name, len(MAGIC)) == MAGIC):
        folder.remove(name)
