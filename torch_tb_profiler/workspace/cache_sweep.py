"""Removing files of a cache: those that were not used for the longest time, and what dead processes left.

Only regular files with names that a cache gives are touched, and what is in folders of answers: never what a link
leads to, whoever made that (`own_files`).
"""

from __future__ import annotations

import contextlib
import logging
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.trace.files import PART
from torch_tb_profiler.workspace.file_names import ANSWERS, CONTENTS, RESULT, TIMELINE, is_own_name
from torch_tb_profiler.workspace.own_files import OwnFolder, require_private
from torch_tb_profiler.workspace.sealed import MAGIC
from torch_tb_profiler.workspace.temporary import LEFT_OVER_SECONDS

log = logging.getLogger(__name__)

#: of the limit, that is added between two sweeps
SHARE = 20

#: in a folder of answers: what one is called while it is written
_BEGUN = lazy_pattern(r"[\w-]+\.(?:\d+-)+\d+\.part")
#: what was used later than this from now (seconds) was used before the clock was set back, how long ago nobody knows
_CLOCKS_DIFFER = 86_400


class _Made(msgspec.Struct):
    """One file that was made of columns, with all its names."""

    paths: list[Path]
    size: int
    used: float
    is_timeline: bool = False


class _Unit(msgspec.Struct, eq=False):
    """Files of one name: columns, or what one version has made of them.

    used: when the last time
    made: those that may go alone
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
        """Whether it is no trace's."""
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
        """See `Cache.sweep`. version: of the code that answers now."""
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
        """See `Cache.clear`."""
        try:
            units, _ = self._units()
        except OSError as error:
            log.warning("%s cannot be emptied: %s", self.directory, error)
            return
        self._remove_all([path for unit in units for path in unit.paths])

    def remove(self, path: Path) -> None:
        """A file, a link in its place, or a folder of answers. What cannot be removed stays."""
        self._remove_all([path])

    def size_of_answers(self, path: Path) -> int:
        """Bytes of a folder of answers."""
        with contextlib.suppress(OSError), self._open() as folder:
            return sum(made.size for made in self._answers_in(folder, path.name, time.time()))
        return 0

    def _open(self) -> OwnFolder:
        return OwnFolder(self.directory, self._owner)

    def _units(self) -> tuple[list[_Unit], int]:
        """What can be removed, and the bytes of all that is here. Raises OSError."""
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
        """Of a folder of answers, which others may change meanwhile; equal answers are one file."""
        files: dict[int, _Made] = {}
        with contextlib.suppress(OSError), above.inside(name) as folder:
            for each, status in _statuses(folder):
                path = folder.path / each
                if stat.S_ISREG(status.st_mode) and not self._remove_left_over(path, status, now):
                    files.setdefault(status.st_ino, _Made([], status.st_size, _used(status, now))).paths.append(path)
        return list(files.values())

    def _remove_left_over(self, path: Path, status: os.stat_result, now: float) -> bool:
        """Whether it is a file that a dead process has begun; it is removed."""
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
    """When a file was used, seconds; before everything else if its time is still to come."""
    return status.st_mtime - (0.0 if status.st_mtime <= now + _CLOCKS_DIFFER else 2.0**40)


def _remove_answers(above: OwnFolder, name: str) -> None:
    """A folder of answers; what is in it besides stays, and so does the folder then. Raises OSError."""
    with above.inside(name) as folder:
        for each in folder.names():
            _remove_answer(folder, each)
    above.remove_folder(name)


def _remove_answer(folder: OwnFolder, name: str) -> None:
    """A file in a folder of answers if it is one: named like one, and sealed unless it is still being written."""
    is_begun = _BEGUN.fullmatch(name) is not None
    if stat.S_ISREG(folder.status(name).st_mode) and (is_begun or folder.begin(name, len(MAGIC)) == MAGIC):
        folder.remove(name)
