"""The cache directory: column files of traces, and what was made of them.

`KEY.columns`, and beside it `KEY.VERSION.json` (the summary), `.answers` (a folder) and `.timeline`. KEY stands for the
content of the trace file and the code that reads it, VERSION for the code that answers: columns stay when that changes.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from torch_tb_profiler.insights.thresholds import thresholds
from torch_tb_profiler.trace import Limits
from torch_tb_profiler.workspace.identity import answers_version
from torch_tb_profiler.workspace.protocol import Summary
from torch_tb_profiler.workspace.sealed import PART, read_sealed, write_sealed
from torch_tb_profiler.workspace.temporary import LEFT_OVER_SECONDS, TemporaryDirectory, remove_left_overs

log = logging.getLogger(__name__)

LIMIT_VARIABLE = "TORCH_TB_PROFILER_CACHE_BYTES"
DEFAULT_LIMIT = 10 * 1000**3
EXPANSION_VARIABLE = "TORCH_TB_PROFILER_MAX_EXPANSION"

_COLUMNS = ".columns"
_SUMMARY = ".json"
_ANSWERS = ".answers"
_CONTENTS = ".contents"
_TIMELINE = ".timeline"
#: of the limit, that is added between two sweeps
_SHARE = 20


class Cache:
    """A directory for column files. One that cannot be written is replaced by a temporary one until `close`.

    expansion: of packed files, `Limits.expansion`. What was read with another is not found: it may be cut off.
    version: of the code that makes answers and of the limits of rules; None for those in use
    """

    def __init__(
        self,
        directory: Path | None = None,
        limit: int | None = None,
        expansion: int | None = None,
        version: str | None = None,
    ) -> None:
        self.limit = number_from_environment(LIMIT_VARIABLE, DEFAULT_LIMIT) if limit is None else limit
        if expansion is None:
            expansion = number_from_environment(EXPANSION_VARIABLE, Limits.expansion, least=1)
        #: how much the files that come here may unpack to
        self.limits = Limits(expansion=max(1, expansion))
        self._read_with = "" if self.limits == Limits() else f"-x{self.limits.expansion}"
        self._version = answers_version() + thresholds().digest if version is None else version
        self.directory = directory or default_directory()
        self._temporary: TemporaryDirectory | None = None
        self._unswept = 0
        self._sweeping = threading.Lock()
        remove_left_overs()
        try:
            self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            with tempfile.TemporaryFile(dir=self.directory):
                pass
        except OSError as error:
            self._temporary = TemporaryDirectory()
            unusable, self.directory = self.directory, self._temporary.path
            log.warning("%s cannot be used as cache (%s); %s is, until exit", unusable, error, self.directory)

    def columns(self, key: str) -> Path:
        return self._path(key, _COLUMNS)

    def answers(self, key: str) -> Path:
        return self._path(key, _ANSWERS)

    def contents(self, name: str) -> Path:
        return self.directory / (name + _CONTENTS)

    def timeline(self, key: str) -> Path:
        return self._path(key, _TIMELINE)

    def has_columns(self, key: str) -> bool:
        """Whether the columns of a trace are here; without a summary other code has made it."""
        return self.columns(key).is_file()

    def find(self, key: str) -> Summary | None:
        """The summary of a trace whose columns are here."""
        try:
            if not self.has_columns(key):
                return None
            return msgspec.json.decode(read_sealed(self._summary(key)) or b"", type=Summary)
        except (OSError, msgspec.DecodeError):
            return None

    def add(self, key: str, summary: Summary) -> None:
        """The columns of `key` have been written: from now on they can be found."""
        path = self._summary(key)
        try:
            write_sealed(path, msgspec.json.encode(summary))
            self.added(self.columns(key).stat().st_size)
        except OSError as error:
            log.warning("%s cannot be written (%s); the trace is read again next time", path, error)

    def added(self, size: int) -> None:
        """So many bytes were written to the directory."""
        self._unswept += size

    def added_to(self, key: str) -> None:
        """A worker process has made answers and a timeline of a trace."""
        self.added(_size_of(self.timeline(key)) + sum(made.size for made in _files_in(self.answers(key))))

    def sweep_if_due(self) -> None:
        """`sweep` when so much was added since the last time that the limit may be reached."""
        if self._unswept > self.limit // _SHARE:
            self.sweep()

    def touch(self, key: str) -> None:
        """The columns of `key` are being used: forget them later than others."""
        try:
            for path in (self._summary(key), self.columns(key)):
                os.utime(path)
        except OSError:
            log.debug("%s is gone", key)

    def remove(self, key: str) -> None:
        """Forget a trace, and what this code has made of it."""
        for suffix in (_SUMMARY, _COLUMNS, _TIMELINE, _ANSWERS):
            _remove(self._path(key, suffix))

    def sweep(self) -> None:
        """Remove what was not used for the longest time until the rest fits, and what dead processes left.

        Columns and what different code has made of them go one by one. Of the trace that was used last columns and
        summary stay, however large; its answers, and then its timeline, go when nothing else is left to go.
        There is room afterwards for what comes until the next time.
        """
        if not self._sweeping.acquire(blocking=False):
            return
        try:
            self._sweep()
        finally:
            self._sweeping.release()

    def _sweep(self) -> None:
        self._unswept = 0
        try:
            units, total = self._units()
        except OSError as error:
            log.warning("%s cannot be swept: %s", self.directory, error)
            return
        most = self.limit - self.limit // _SHARE
        oldest_first = sorted(units, key=lambda unit: unit.used)
        last = next((unit.key for unit in reversed(oldest_first) if not unit.is_contents), "")
        stays = [unit for unit in oldest_first if unit.key == last and unit.version in ("", self._version)]
        for unit in oldest_first:
            if total > most and unit not in stays:
                for path in unit.paths:
                    _remove(path)
                total -= unit.size
        for made in sorted(
            (made for unit in stays for made in unit.made), key=lambda made: (made.is_timeline, made.used)
        ):
            if total > most:
                for path in made.paths:
                    _remove(path)
                total -= made.size

    def _units(self) -> tuple[list[_Unit], int]:
        """What can be removed, and the bytes of all that is here. Raises OSError."""
        units: dict[str, _Unit] = {}
        total = 0
        now = time.time()
        for path in list(self.directory.iterdir()):
            try:
                status = path.stat()
            except OSError:
                continue  # another server was faster
            made: list[_Made] = []
            size = status.st_size
            if path.suffix == _ANSWERS:
                made = _files_in(path)
                size = sum(each.size for each in made)
                for each in made:
                    _remove_left_over(each.paths[0], now - each.used)
            elif path.suffix == _TIMELINE:
                made = [_Made([path], size, status.st_mtime, is_timeline=True)]
            if path.suffix in (_COLUMNS, _SUMMARY, _ANSWERS, _CONTENTS, _TIMELINE):
                units.setdefault(path.stem, _Unit(path.stem)).add(path, size, status.st_mtime, made)
                total += size
            elif path.suffix == PART and not _remove_left_over(path, now - status.st_mtime):
                total += size
        return list(units.values()), total

    def close(self) -> None:
        if self._temporary:
            self._temporary.close()

    def _summary(self, key: str) -> Path:
        return self._path(key, _SUMMARY)

    def _path(self, key: str, suffix: str) -> Path:
        version = "" if suffix == _COLUMNS else f".{self._version}"
        return self.directory / f"{key}{self._read_with}{version}{suffix}"


@dataclass
class _Made:
    """One file that was made of columns, with all its names."""

    paths: list[Path]
    size: int
    used: float
    is_timeline: bool = False


@dataclass(eq=False)
class _Unit:
    """Files of one name: columns, or what one version has made of them.

    used: when the last time
    made: those that may go alone
    """

    name: str
    paths: list[Path] = field(default_factory=list)
    size: int = 0
    used: float = 0.0
    made: list[_Made] = field(default_factory=list)

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
        return any(path.suffix == _CONTENTS for path in self.paths)

    @property
    def version(self) -> str:
        return self.name.partition(".")[2]


def _remove(path: Path) -> None:
    """What cannot be removed stays."""
    try:
        if path.suffix == _ANSWERS:
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        log.warning("%s cannot be removed from the cache: %s", path, error)


def _remove_left_over(path: Path, age: float) -> bool:
    """Whether it is a file that a dead process has begun; it is removed."""
    if path.suffix != PART or age <= LEFT_OVER_SECONDS:
        return False
    _remove(path)
    return True


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _files_in(folder: Path) -> list[_Made]:
    """Of a folder of answers, which others may change meanwhile; equal answers are one file."""
    files: dict[int, _Made] = {}
    with contextlib.suppress(OSError):
        for path in list(folder.iterdir()):
            with contextlib.suppress(OSError):
                status = path.stat()
                made = files.setdefault(status.st_ino, _Made([], status.st_size, status.st_mtime))
                made.paths.append(path)
    return list(files.values())


def default_directory() -> Path:
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The specification says that relative paths are to be ignored.
    root = Path(base) if os.path.isabs(base) else Path("~/.cache").expanduser()  # noqa: PTH117
    return root / "torch_tb_profiler"


def number_from_environment(variable: str, default: int, least: int = 0) -> int:
    """What a variable of the environment says; `default` when it is not set, or no number from `least` up."""
    text = os.environ.get(variable, "")
    if text.isdecimal() and int(text) >= least:
        return int(text)
    if text:
        log.warning("%s=%s is not a number from %d up; %d is used", variable, text, least, default)
    return default
