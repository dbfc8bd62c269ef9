"""Files of this machine."""

from __future__ import annotations

import errno
import os
import re
import stat as modes
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Literal
from urllib.parse import unquote

from torch_tb_profiler.late_pattern import late_pattern
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.regular_file import open_file
from torch_tb_profiler.storage.base import Entry, Problem
from torch_tb_profiler.storage.errors import Attempt, StorageError
from torch_tb_profiler.storage.url import printable, scheme_of, shown

#: what stands before and behind the path of a file:// address
_FILE = late_pattern(r"^file://[^/?#]*|[?#].*", re.IGNORECASE | re.DOTALL)


class LocalStorage:
    """A directory tree; links are followed, but every real directory is visited once."""

    is_remote = False

    def resolve(self, url: str) -> str:
        path = unquote(_FILE.sub("", url)) if scheme_of(url) == "file" else url
        if not path:  # a variable of the shell that is not set, not the directory where the command is
            raise StorageError("the path is empty", "missing")
        if "\0" in path:
            raise StorageError(f"{shown(url)}: no file has such a name", "missing")
        return os.path.abspath(os.path.expanduser(os.path.expandvars(path)))  # noqa: PTH100, PTH111

    def require(self, root: str) -> None:
        pass

    def list(self, root: str, report: Callable[[Problem], None]) -> Iterator[Entry]:
        seen: set[tuple[int, int]] = set()
        pending = deque([(root, "")])
        # Links wait until all real directories are known, so that a directory goes by its real name.
        links: deque[tuple[str, str]] = deque()
        while pending or links:
            directory, relative = pending.popleft() if pending else links.popleft()
            try:
                status = os.stat(directory)  # noqa: PTH116
                identity = (status.st_dev, status.st_ino)
                if identity in seen:
                    continue
                seen.add(identity)
                with os.scandir(directory) as found:
                    children = sorted(found, key=lambda child: child.name)
            except OSError as error:
                if not relative:
                    raise StorageError(_failed("unlistable", error, printable(root))) from error
                report(Problem(relative, _failed("unlistable", error)))
                continue
            for child in children:
                path = f"{relative}/{printable(child.name)}" if relative else printable(child.name)
                try:
                    if child.is_dir():
                        (links if child.is_symlink() else pending).append((child.path, path))
                    elif child.is_file():  # opening pipes and devices would block
                        yield _entry(path, child.path, child.stat())
                except OSError as error:
                    report(Problem(path, _failed("unreadable", error)))

    def stat(self, url: str) -> Entry:
        try:
            status = os.stat(url)  # noqa: PTH116
        except OSError as error:
            raise StorageError(_failed("unreadable", error)) from error
        if not modes.S_ISREG(status.st_mode):
            raise StorageError(Reason("no_file", "is not a file"))
        return _entry(printable(Path(url).name), url, status)

    def open(self, entry: Entry, ahead: bool = True) -> BinaryIO:  # noqa: ARG002 - the system reads ahead
        try:
            return open_file(entry.url)
        except OSError as error:
            raise StorageError(_failed("unreadable", error)) from error


def _entry(path: str, url: str, status: os.stat_result) -> Entry:
    # Copy tools set the time of the content, but not that of the last change. On Windows this is another time.
    changed = "" if os.name == "nt" else str(status.st_ctime_ns)
    return Entry(path, url, status.st_size, status.st_mtime_ns, changed)


def _failed(kind: Literal["unlistable", "unreadable"], error: OSError, place: str = "") -> Reason:
    why = error.strerror or type(error).__name__
    return Attempt(kind, place).failed(why, {"why": why, "errno": errno.errorcode.get(error.errno or 0, "")})
