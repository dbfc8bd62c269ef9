"""The cache directory: column files of traces, and what was made of them.

`KEY.columns`, and beside it `KEY.VERSION.json` (the summary), `.answers` (a folder) and `.timeline`. KEY stands for the
content of the trace file and the code that reads it, VERSION for the code that answers: columns stay when that changes.
"""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from torch_tb_profiler.insights.thresholds import thresholds
from torch_tb_profiler.trace import Limits
from torch_tb_profiler.workspace.identity import answers_version
from torch_tb_profiler.workspace.protocol import Summary
from torch_tb_profiler.workspace.sealed import read_sealed, write_sealed

log = logging.getLogger(__name__)

LIMIT_VARIABLE = "TORCH_TB_PROFILER_CACHE_BYTES"
DEFAULT_LIMIT = 10 * 1000**3
EXPANSION_VARIABLE = "TORCH_TB_PROFILER_MAX_EXPANSION"

_COLUMNS = ".columns"
_SUMMARY = ".json"
_ANSWERS = ".answers"
_CONTENTS = ".contents"
_TIMELINE = ".timeline"
_LEFT_OVER_SECONDS = 24 * 3600


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
        self._temporary = False
        self._unswept = 0
        try:
            self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            with tempfile.TemporaryFile(dir=self.directory):
                pass
        except OSError as error:
            unusable, self.directory = self.directory, Path(tempfile.mkdtemp(prefix="torch_tb_profiler-"))
            self._temporary = True
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
            self._unswept += self.columns(key).stat().st_size
        except OSError as error:
            log.warning("%s cannot be written (%s); the trace is read again next time", path, error)

    def sweep_if_due(self) -> None:
        """`sweep` when much was added since the last time."""
        if self._unswept > self.limit // 20:
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

        Columns and what different code has made of them go one by one. What was used last stays, however large.
        """
        self._unswept = 0
        units: dict[str, _Unit] = {}
        now = time.time()
        try:
            paths = list(self.directory.iterdir())
        except OSError as error:
            log.warning("%s cannot be swept: %s", self.directory, error)
            return
        for path in paths:
            try:
                status = path.stat()
                if path.suffix in (_COLUMNS, _SUMMARY, _ANSWERS, _CONTENTS, _TIMELINE):
                    size = _size_of_folder(path) if path.suffix == _ANSWERS else status.st_size
                    units.setdefault(path.stem, _Unit(path.stem)).add(path, size, status.st_mtime)
                elif now - status.st_mtime > _LEFT_OVER_SECONDS and (_COLUMNS in path.name or _TIMELINE in path.name):
                    path.unlink(missing_ok=True)
            except OSError:
                continue  # another server was faster
        oldest_first = sorted(units.values(), key=lambda unit: unit.used)
        last = oldest_first[-1].key if units else ""
        total = sum(unit.size for unit in oldest_first)
        for unit in oldest_first:
            if total <= self.limit:
                break
            if unit.key != last or unit.version not in ("", self._version):
                for path in unit.paths:
                    _remove(path)
                total -= unit.size

    def close(self) -> None:
        if self._temporary:
            shutil.rmtree(self.directory, ignore_errors=True)

    def _summary(self, key: str) -> Path:
        return self._path(key, _SUMMARY)

    def _path(self, key: str, suffix: str) -> Path:
        version = "" if suffix == _COLUMNS else f".{self._version}"
        return self.directory / f"{key}{self._read_with}{version}{suffix}"


@dataclass
class _Unit:
    """Files of one name: columns, or what one version has made of them. used: when the last time."""

    name: str
    paths: list[Path] = field(default_factory=list)
    size: int = 0
    used: float = 0.0

    def add(self, path: Path, size: int, used: float) -> None:
        self.paths.append(path)
        self.size += size
        self.used = max(self.used, used)

    @property
    def key(self) -> str:
        return self.name.partition(".")[0]

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


def _size_of_folder(path: Path) -> int:
    # of a file with several names once
    return sum({status.st_ino: status.st_size for status in map(os.stat, path.iterdir())}.values())


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
