"""Files of this machine."""

from __future__ import annotations

import errno
import os
import re
import stat as modes
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Literal
from urllib.parse import unquote

import msgspec

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.regular_file import open_file
from torch_tb_profiler.storage.base import Entry, ListingProblem, printable, scheme_of, shown
from torch_tb_profiler.storage.errors import Attempt, StorageError
from torch_tb_profiler.words.sentences import because

#: seconds without a change after which a directory is quiet: it is read rarely until its own times change
QUIET_SECONDS = 60.0
#: seconds between readings of a quiet directory: writing to a file in it does not change its times
READ_AGAIN_SECONDS = 30.0
#: seconds that pass between two readings of directories that have not changed, for each CPU second of the first
PAUSE_PER_CPU_SECOND = 60.0
#: shorter pauses do not count: whoever lists that often wants the latest changes
SHORTEST_PAUSE = 1.0

#: prefix and ending of the path of a file:// address
_FILE = lazy_pattern(r"^file://[^/?#]*|[?#].*", re.IGNORECASE | re.DOTALL)


class LocalStorage:
    """A directory tree; links are followed, but every real directory is visited once."""

    is_remote = False

    def resolve(self, url: str) -> str:
        path = unquote(_FILE.sub("", url)) if scheme_of(url) == "file" else url
        if not path:  # a variable of the shell that is not set, not the directory where the command is
            raise StorageError(f"{url}: the path is empty" if url else "the path is empty", "missing")
        if "\0" in path:
            raise StorageError(f"{shown(url)}: no file has such a name", "missing")
        return os.path.abspath(os.path.expanduser(os.path.expandvars(path)))  # noqa: PTH100, PTH111

    def require(self, root: str) -> None:
        pass

    def list(self, root: str, report: Callable[[ListingProblem], None]) -> Iterator[Entry]:
        yield from LocalTree(root).list(report)

    def stat(self, url: str) -> Entry:
        try:
            status = os.stat(url)  # noqa: PTH116
        except OSError as error:
            raise StorageError(_failed("unreadable", error)) from error
        if not modes.S_ISREG(status.st_mode):
            raise StorageError(because("no_file"))
        return _entry(printable(Path(url).name), url, status)

    def open(self, entry: Entry, ahead: bool = True) -> BinaryIO:  # noqa: ARG002 - the system reads ahead
        try:
            return open_file(entry.url)
        except OSError as error:
            raise StorageError(_failed("unreadable", error)) from error


#: (st_dev, st_ino, st_mtime_ns, st_ctime_ns) of a directory
_Stamp = tuple[int, int, int, int]


class _Directory(msgspec.Struct):
    """A directory as it was last read.

    entries  its wanted files
    folders  address and path of each directory in it, and whether that is a link
    read     when it was read (monotonic seconds)
    changed  when it was first read like this
    cost     CPU seconds that reading took
    """

    stamp: _Stamp
    entries: list[Entry]
    folders: list[tuple[str, str, bool]]
    problems: list[ListingProblem]
    read: float
    changed: float
    cost: float = 0.0

    def is_quiet(self, now: float) -> bool:
        """Return whether nothing changes in it; what could not be read may be readable at any time."""
        return now - self.changed >= QUIET_SECONDS and not self.problems


class LocalTree:
    """A directory tree that is listed again and again. Not thread-safe.

    wanted: whether a file of this name is listed
    heard: when the file system last answered (monotonic seconds)
    """

    def __init__(self, root: str, wanted: Callable[[str], bool] = lambda _: True) -> None:
        self.root = root
        self.heard = time.monotonic()
        self._wanted = wanted
        self._directories: dict[str, _Directory] = {}
        self._entries: list[Entry] = []

    def list(self, report: Callable[[ListingProblem], None]) -> list[Entry]:
        """Return all wanted files; the same list as last time when nothing of it has changed. Raises StorageError."""
        now = time.monotonic()
        pauses = self._pauses(now)
        seen: set[tuple[int, int]] = set()
        before, directories = self._directories, dict[str, _Directory]()
        is_same = True
        pending = deque([(self.root, "")])
        # Links wait until all real directories are known, so that a directory goes by its real name.
        links: deque[tuple[str, str]] = deque()
        while pending or links:
            url, path = pending.popleft() if pending else links.popleft()
            self.heard = time.monotonic()
            known = before.get(url)
            try:
                status = os.stat(url)  # noqa: PTH116
                identity = (status.st_dev, status.st_ino)
                if identity in seen:
                    continue
                seen.add(identity)
                stamp = (*identity, status.st_mtime_ns, status.st_ctime_ns)
                if known and known.stamp == stamp and now - known.read < pauses[known.is_quiet(now)]:
                    directory = known
                else:
                    directory = self._read(url, path, stamp, now)
            except OSError as error:
                if path and isinstance(error, FileNotFoundError):
                    continue  # removed or renamed since its parent was read
                if not path:
                    raise StorageError(_failed("unlistable", error, printable(self.root))) from error
                report(ListingProblem(path, _failed("unlistable", error)))
                continue
            directories[url] = directory
            is_same = is_same and known is not None and directory.entries is known.entries
            for problem in directory.problems:
                report(problem)
            for child, child_path, is_link in directory.folders:
                (links if is_link else pending).append((child, child_path))
        self._directories = directories
        if not is_same or len(directories) != len(before):
            self._entries = [entry for directory in directories.values() for entry in directory.entries]
        return self._entries

    def _pauses(self, now: float) -> dict[bool, float]:
        """Return seconds between two readings of a directory that has not changed, by whether it is quiet.

        Directories that are changing do not wait for all the others, which may be an archive.
        """
        costs = {False: 0.0, True: 0.0}
        for directory in self._directories.values():
            costs[directory.is_quiet(now)] += directory.cost
        active, quiet = (costs[is_quiet] * PAUSE_PER_CPU_SECOND for is_quiet in (False, True))
        return {False: active if active >= SHORTEST_PAUSE else 0.0, True: max(READ_AGAIN_SECONDS, quiet)}

    def _read(self, url: str, path: str, stamp: _Stamp, now: float) -> _Directory:
        """Read one directory. Raises OSError."""
        began = time.thread_time()
        with os.scandir(url) as children:
            by_name = sorted(children, key=lambda child: child.name)
        read = _Directory(stamp, [], [], [], now, now)
        for child in by_name:
            self.heard = time.monotonic()
            name = printable(child.name)
            child_path = f"{path}/{name}" if path else name
            try:
                if child.is_dir():
                    read.folders.append((child.path, child_path, child.is_symlink()))
                elif self._wanted(name) and child.is_file():  # opening pipes and devices would block
                    read.entries.append(_entry(child_path, child.path, child.stat()))
            except FileNotFoundError:
                pass  # removed or renamed since the directory was read
            except OSError as error:
                read.problems.append(ListingProblem(child_path, _failed("unreadable", error)))
        known = self._directories.get(url)
        if known and known.entries == read.entries:
            read.entries = known.entries
            if (known.stamp, known.folders) == (stamp, read.folders):
                read.changed = known.changed
        read.cost = time.thread_time() - began
        return read


def _entry(path: str, url: str, status: os.stat_result) -> Entry:
    # Copy tools set the time of the content, but not that of the last change. On Windows this is another time.
    changed = "" if os.name == "nt" else str(status.st_ctime_ns)
    return Entry(path, url, status.st_size, status.st_mtime_ns, changed)


def _failed(kind: Literal["unlistable", "unreadable"], error: OSError, place: str = "") -> Reason:
    why = error.strerror or type(error).__name__
    return Attempt(kind, place).failed({"why": why, "errno": errno.errorcode.get(error.errno or 0, "")})
