"""The cache directory: column files of traces, and what was made of them.

`KEY.columns`, and beside it `KEY.VERSION.json` (the summary), `.answers` (a folder) and `.timeline`. KEY stands for the
content of the trace file and the code that reads it, VERSION for the code that answers: columns stay when that changes.
`KEY.RANKS.rank` is what the questions about all ranks need of one, RANKS the code that makes that.

What is found in a shared store (`stores.py`) is copied here when it is used.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import threading
from pathlib import Path

import msgspec

from torch_tb_profiler.codec import from_json
from torch_tb_profiler.defaults import DIRECTORY_VARIABLE, EXPANSION, EXPANSION_VARIABLE
from torch_tb_profiler.storage import StorageError
from torch_tb_profiler.trace import Limits
from torch_tb_profiler.workspace.cache.checksummed import read_checksummed, touch, write_checksummed
from torch_tb_profiler.workspace.cache.identity import ANSWERS, COLUMNS, CONTENTS, RANK, SUMMARY, TIMELINE, FileNames
from torch_tb_profiler.workspace.cache.shared_cache import SharedCache
from torch_tb_profiler.workspace.cache.stores import CacheStore, is_shared, store_at
from torch_tb_profiler.workspace.cache.sweep import SHARE, CacheFiles
from torch_tb_profiler.workspace.process import TemporaryDirectory, int_from_environment, remove_left_overs
from torch_tb_profiler.workspace.status import TraceSummary

log = logging.getLogger(__name__)

LIMIT_VARIABLE = "TORCH_TB_PROFILER_CACHE_BYTES"
DEFAULT_LIMIT = 10 * 1000**3


class TraceCache:
    """A directory for column files. One that cannot be written, or is not of this user alone (`require_private`), is
    replaced by a temporary one until `close`.

    expansion: of packed files, `Limits.expansion`. What was read with another is not found: it may be cut off.
    version: of the code that makes answers and of the limits of rules; None for those in use
    store: a shared one, from which what is missing is copied
    """

    def __init__(
        self,
        directory: Path | None = None,
        limit: int | None = None,
        expansion: int | None = None,
        version: str | None = None,
        store: CacheStore | None = None,
    ) -> None:
        self.limit = int_from_environment(LIMIT_VARIABLE, DEFAULT_LIMIT) if limit is None else limit
        if expansion is None:
            expansion = int_from_environment(EXPANSION_VARIABLE, EXPANSION, least=1)
        #: how much trace files may unpack to
        self.limits = Limits(expansion=max(1, expansion))
        self._names = FileNames(self.limits.expansion, version)
        self.version = self._names.version
        self.shared = None if store is None else SharedCache(store, self.version)
        #: why the wanted directory could not be used, a sentence; empty if it is used
        self.refused = ""
        self._temporary: TemporaryDirectory | None = None
        self._unswept = 0
        self._sweeping = threading.Lock()
        remove_left_overs()
        unusable = directory
        try:
            self.directory = unusable = directory or default_directory()
            self.directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._files = CacheFiles(self.directory)
        except OSError as error:
            where = unusable or "the directory of the user"
            self.refused = f"{where} cannot be used as cache ({error.strerror or error})"
            self._temporary, self._files = _in_place_of(unusable, error)
            self.directory = self._temporary.path
            log.warning("%s; %s is, until exit", self.refused, self.directory)

    def columns(self, key: str) -> Path:
        return self._path(key, COLUMNS)

    def columns_here(self, key: str) -> Path:
        """Return the path of the columns, copied from the shared cache where only that has them."""
        return self._here(self.columns(key))

    def rank(self, key: str) -> Path:
        """Return the path of what questions about all ranks need of this one."""
        return self._path(key, RANK)

    def rank_content(self, key: str) -> bytes | None:
        """Return the content of the file that `rank` names; None if it is nowhere, or damaged."""
        with contextlib.suppress(OSError):
            return read_checksummed(self._here(self.rank(key)))
        return None

    def result(self, name: str, is_own: bool = False) -> bytes | None:
        """Return a result of all ranks of a run; None if it is nowhere, or damaged. `name`: see `result_name`.

        is_own: of this cache alone, where nobody else puts such files
        """
        content = None
        with contextlib.suppress(OSError):
            path = self.directory / name if is_own else self._here(self.directory / name)
            content = read_checksummed(path)
            touch(path)  # it is forgotten later than others
        return content

    def keep_result(self, name: str, content: bytes) -> None:
        """Write a result of all ranks of a run; one that cannot be written is made again."""
        try:
            write_checksummed(self.directory / name, content)
            self.added(len(content))
        except OSError as error:
            log.debug("%s is not kept: %s", name, error)

    def _here(self, path: Path) -> Path:
        if self.shared and not path.is_file() and self.shared.fetch(path.name, path):
            self.added(path.stat().st_size)
        return path

    def _is_there(self, path: Path) -> bool:
        return path.is_file() or bool(self.shared and self.shared.has(path.name))

    def answers(self, key: str) -> Path:
        return self._path(key, ANSWERS)

    def contents(self, name: str) -> Path:
        return self.directory / (name + CONTENTS)

    def timeline(self, key: str) -> Path:
        return self._path(key, TIMELINE)

    def has_columns(self, key: str) -> bool:
        """Return whether the columns of a trace are here; without a summary other code has made them."""
        return self._is_there(self.columns(key))

    def find(self, key: str) -> TraceSummary | None:
        """Return the summary of a trace whose columns are here."""
        try:
            if not self.has_columns(key):
                return None
            return from_json(read_checksummed(self._summary(key)) or b"", TraceSummary)
        except (OSError, msgspec.DecodeError):
            return self.shared.summary(key, self._summary(key).name) if self.shared else None

    def add(self, key: str, summary: TraceSummary) -> None:
        """Write the summary of a trace whose columns have been written: from now on `find` finds it."""
        path = self._summary(key)
        try:
            write_checksummed(path, msgspec.json.encode(summary))
            self.added(self.columns(key).stat().st_size)
        except OSError as error:
            log.warning("%s cannot be written (%s); the trace is read again next time", path, error)

    def added(self, size: int) -> None:
        """Count bytes that were written to the directory."""
        self._unswept += size

    def added_to(self, key: str) -> None:
        """Count the answers and the timeline that a worker process has made of a trace."""
        self.added(_size_of(self.timeline(key)) + self._files.size_of_answers(self.answers(key)))

    def sweep_if_due(self) -> None:
        """Call `sweep` when so much was added since the last time that the limit may be reached."""
        if self._unswept > self.limit // SHARE:
            self.sweep()

    def touch(self, key: str) -> None:
        """Mark the columns of `key` as used now: they are forgotten later than others."""
        try:
            for path in (self._summary(key), self.columns(key)):
                touch(path)
        except OSError:
            log.debug("%s is gone", key)

    def remove(self, key: str) -> None:
        """Forget a trace, and what this code has made of it."""
        for suffix in (SUMMARY, COLUMNS, TIMELINE, ANSWERS, RANK):
            path = self._path(key, suffix)
            self._files.remove(path)
            if self.shared:
                self.shared.forget(path.name)

    def sweep(self) -> None:
        """Remove what was not used for the longest time until the rest fits, and what dead processes left.

        Columns and what different code has made of them go one by one. Of the trace that was used last columns and
        summary stay, however large; its answers, and then its timeline, go when nothing else is left to go.
        There is room afterwards for what comes until the next time.
        """
        if not self._sweeping.acquire(blocking=False):
            return
        self._unswept = 0
        try:
            self._files.sweep(self.limit, self.version)
        finally:
            self._sweeping.release()

    def clear(self) -> None:
        """Remove everything that `sweep` may: what is no file of a cache stays."""
        with self._sweeping:
            self._unswept = 0
            self._files.clear()

    def close(self) -> None:
        if self._temporary:
            self._temporary.close()

    def _summary(self, key: str) -> Path:
        return self._path(key, SUMMARY)

    def _path(self, key: str, suffix: str) -> Path:
        return self.directory / self._names.of(key, suffix)


def open_cache(directory: str | Path | None, expansion: int | None = None) -> TraceCache:
    """Return the cache that a user has named: a directory, or a shared store, beside which the user's own is used.

    directory: None for what the environment says, else the user's own

    Raises StorageError: an address cannot be right, or nothing can be written anywhere.
    """
    address = str(directory or os.environ.get(DIRECTORY_VARIABLE, ""))
    if not address:
        return TraceCache(expansion=expansion)
    if is_shared(address):
        return TraceCache(expansion=expansion, store=store_at(address))
    return TraceCache(Path(os.path.expanduser(address)), expansion=expansion)  # noqa: PTH111 - it does not raise


def _in_place_of(directory: Path | None, why: OSError) -> tuple[TemporaryDirectory, CacheFiles]:
    """Make a temporary cache directory. Raises StorageError: there is no room for temporary files either."""
    try:
        made = TemporaryDirectory()
        return made, CacheFiles(made.path)
    except OSError as error:
        what = "there is no directory for the cache" if directory is None else f"{directory} cannot be used as cache"
        message = f"{what} ({why.strerror or why}), and there is no temporary one ({error.strerror or error})"
        raise StorageError(f"{message}; name one that can be written") from None


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def default_directory() -> Path:
    """Return the user's own directory. Raises OSError: there is none, as for a user whom the system does not know."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The specification says that relative paths are to be ignored.
    root = Path(base if os.path.isabs(base) else os.path.expanduser("~/.cache"))  # noqa: PTH111, PTH117
    if not root.is_absolute():
        raise FileNotFoundError(errno.ENOENT, "the user has no home directory", str(root))
    return root / "torch_tb_profiler"
