"""Keep a bounded number of files open between reads; name files still being written; read what can be unpacked."""

from __future__ import annotations

import errno
import itertools
import os
import threading
import weakref
import zlib
from collections import OrderedDict, deque
from functools import cache
from pathlib import Path
from typing import BinaryIO, NamedTuple

from torch_tb_profiler.regular_file import open_handle
from torch_tb_profiler.trace.unpack import Limits, Readable, StoredFile, UnpackError, text_of

#: handles of files; most systems give a process 256 or 1,024, for connections, pipes and everything else
MOST = 64

_SCARCE = frozenset(
    getattr(errno, name)
    for name in ("EMFILE", "ENFILE", "ENOMEM", "ENOSPC", "EDQUOT", "EAGAIN", "ENOBUFS")
    if hasattr(errno, name)
)


def is_scarce(error: BaseException) -> bool:
    """Return whether an error is a lack of handles, memory or disk space: a later attempt may succeed."""
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno in _SCARCE)


class FileUser(NamedTuple):
    """Of one user of a file."""

    number: int
    path: Path


class OpenFiles:
    """Handles of files that are read; the one that was not used for the longest time is closed. Thread-safe.

    Whoever reads when its handle was closed gets a new one of the same path.
    """

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._numbers = itertools.count()
        self._handles: OrderedDict[int, int] = OrderedDict()
        self._gone: deque[int] = deque()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._handles)

    def hold(self, user: object, path: Path) -> tuple[FileUser, int]:
        """Keep a file open until its user is gone. Return its user and its size, bytes. Raises OSError."""
        place = FileUser(next(self._numbers), path)
        with self._lock:
            size = os.fstat(self._handle(place)).st_size
        weakref.finalize(user, self._let_go, place.number)
        return place, size

    def read(self, place: FileUser, offset: int, length: int) -> bytes:
        """Read up to `length` bytes; fewer at the end of the file. Raises OSError."""
        with self._lock:  # Windows has no `pread`
            handle = self._handle(place)
            os.lseek(handle, offset, os.SEEK_SET)
            return os.read(handle, length)

    def _handle(self, place: FileUser) -> int:
        self._close_gone()
        handle = self._handles.get(place.number)
        if handle is None:
            self._close_until(self._most - 1)
            try:
                handle = open_handle(place.path)
            except OSError as error:
                if error.errno not in (errno.EMFILE, errno.ENFILE) or not self._handles:
                    raise
                self._close_until(0)  # each can be reopened
                handle = open_handle(place.path)
            self._handles[place.number] = handle
        self._handles.move_to_end(place.number)
        return handle

    def _let_go(self, number: int) -> None:
        """Note that a user is gone. Collection can happen at any point, even while this thread has the lock."""
        self._gone.append(number)
        if self._lock.acquire(blocking=False):
            try:
                self._close_gone()
            finally:
                self._lock.release()

    def _close_gone(self) -> None:
        while self._gone:
            handle = self._handles.pop(self._gone.popleft(), None)
            if handle is not None:
                os.close(handle)

    def _close_until(self, most: int) -> None:
        while len(self._handles) > most:
            os.close(self._handles.popitem(last=False)[1])


#: handles belong to the process, so there is one of these
OPEN_FILES = OpenFiles()


#: suffix of unfinished files
PART = ".part"


def writer_mark(process: int) -> str:
    """Return the mark in the names of a process's unfinished files.

    In a shared directory, a process of another machine or container may have the same number.
    """
    return f"{_namespace()}-{process}"


@cache
def _namespace() -> int:
    """Return a number for the machine and the namespace in which its processes are numbered."""
    host = os.uname().nodename if hasattr(os, "uname") else ""
    try:
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        namespace = ""
    return zlib.crc32(f"{host} {namespace}".encode(errors="surrogateescape"))


class Rereadable:
    """What was given back comes first. How much is read at once never depends on how it is unpacked."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._ahead = memoryview(b"")
        self._end: OSError | bool = False

    def readinto(self, buffer: memoryview) -> int:
        """Fill the buffer; less only at the end of the text. Raises OSError where the text breaks off, each time."""
        done = min(len(buffer), len(self._ahead))
        buffer[:done] = self._ahead[:done]
        self._ahead = self._ahead[done:]
        while done < len(buffer) and not self._end:
            try:
                count = self._stream.readinto(buffer[done:])
            except OSError as error:
                self._end = error
                break
            if not count:
                self._end = True
                break
            done += count
        if not done and isinstance(self._end, OSError):
            raise self._end
        return done

    def give_back(self, text: bytes) -> None:
        self._ahead = memoryview(text + bytes(self._ahead))


class ReadableText:
    """The text of a stored file, up to its end or to where it cannot be unpacked.

    What shows or copies a trace ends where its reader does.
    """

    def __init__(self, stream: BinaryIO, limits: Limits | None = None) -> None:
        self._text = text_of(StoredFile(stream), limits or Limits())
        self._ended = False

    def readinto(self, buffer: memoryview) -> int:
        """Read some bytes; 0 at the end. Raises OSError and StorageError when the file itself cannot be read."""
        try:
            count = 0 if self._ended else self._text.readinto(buffer) or 0
        except UnpackError:
            count = 0
        self._ended = not count
        return count
