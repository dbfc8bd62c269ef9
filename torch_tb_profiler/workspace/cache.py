"""The cache directory: column files of traces, each with a small summary and a folder of answers beside it."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
import time
from pathlib import Path

import msgspec

from torch_tb_profiler.trace import Limits
from torch_tb_profiler.workspace.protocol import Summary

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
    """

    def __init__(self, directory: Path | None = None, limit: int | None = None, expansion: int | None = None) -> None:
        self.limit = number_from_environment(LIMIT_VARIABLE, DEFAULT_LIMIT) if limit is None else limit
        if expansion is None:
            expansion = number_from_environment(EXPANSION_VARIABLE, Limits.expansion, least=1)
        #: how much the files that come here may unpack to
        self.limits = Limits(expansion=max(1, expansion))
        self._columns = _COLUMNS if self.limits == Limits() else f"-x{self.limits.expansion}{_COLUMNS}"
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
        return self.directory / (key + self._columns)

    def answers(self, key: str) -> Path:
        return self.directory / (key + _ANSWERS)

    def contents(self, name: str) -> Path:
        return self.directory / (name + _CONTENTS)

    def timeline(self, key: str) -> Path:
        return self.directory / (key + _TIMELINE)

    def find(self, key: str) -> Summary | None:
        """The summary of a trace whose columns are here."""
        try:
            if not self.columns(key).is_file():
                return None
            return msgspec.json.decode(self._summary(key).read_bytes(), type=Summary)
        except (OSError, msgspec.DecodeError):
            return None

    def add(self, key: str, summary: Summary) -> None:
        """The columns of `key` have been written: from now on they can be found."""
        path = self._summary(key)
        part = path.with_suffix(f".{os.getpid()}.part")
        try:
            part.write_bytes(msgspec.json.encode(summary))
            part.replace(path)
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
            os.utime(self._summary(key))
        except OSError:
            log.debug("%s is gone", key)

    def remove(self, key: str) -> None:
        """Forget a trace; what cannot be removed stays, and is not found without the rest."""
        try:
            for path in (self._summary(key), self.columns(key), self.contents(key), self.timeline(key)):
                path.unlink(missing_ok=True)
        except OSError as error:
            log.warning("%s cannot be removed from the cache: %s", key, error)
        shutil.rmtree(self.answers(key), ignore_errors=True)

    def sweep(self) -> None:
        """Remove what was not used for the longest time until the rest fits, and what dead processes left."""
        self._unswept = 0
        sizes: dict[str, int] = {}
        used: dict[str, float] = {}
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
                    sizes[path.stem] = sizes.get(path.stem, 0) + size
                    used[path.stem] = max(used.get(path.stem, 0.0), status.st_mtime)
                elif now - status.st_mtime > _LEFT_OVER_SECONDS and (_COLUMNS in path.name or _TIMELINE in path.name):
                    path.unlink(missing_ok=True)
            except OSError:
                continue  # another server was faster
        total = sum(sizes.values())
        for key in sorted(sizes, key=lambda key: used[key])[:-1]:
            if total <= self.limit:
                break
            self.remove(key)
            total -= sizes[key]

    def close(self) -> None:
        if self._temporary:
            shutil.rmtree(self.directory, ignore_errors=True)

    def _summary(self, key: str) -> Path:
        return self.columns(key).with_suffix(_SUMMARY)


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
