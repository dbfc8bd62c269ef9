"""A remote file as a stream: ranges of it, fetched ahead of the reader, each tried again where it broke off.

What passes by itself is waited for, with growing pauses, for a while.
"""

from __future__ import annotations

import io
import mmap
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from torch_tb_profiler.storage.errors import PASSING, StorageError, StoreFailure

T = TypeVar("T")

TRIES = 4
FIRST_PAUSE = 0.25
LONGEST_PAUSE = 20.0


def pause(tried: int, asked: float = 0.0) -> float:
    """Return seconds to wait after so many tries: doubled each time, or what the store asked for; never all at once."""
    return float(min(max(FIRST_PAUSE * 2 ** (tried - 1), asked), LONGEST_PAUSE) * random.uniform(1.0, 1.25))  # noqa: S311


def patiently(call: Callable[[], T]) -> T:
    """Return the outcome of the first of a few calls that has one. Raises Trouble."""
    for tried in range(1, TRIES):
        try:
            return call()
        except StoreFailure as trouble:
            if trouble.kind not in PASSING:
                raise
            time.sleep(pause(tried, trouble.wait))
    return call()


#: bytes of a range at most; the first ones are shorter, so that the reader can begin
RANGE_BYTES = 4 * 1024 * 1024
FIRST_BYTES = 1024 * 1024
#: bytes that are fetched when fewer are asked for
LEAST_BYTES = 64 * 1024
#: ranges of one file under way at once; together with the number of worker processes the bound on connections
MOST_AHEAD = 4

#: the bytes of a file from `start` to before `stop`, in pieces. Raises Trouble.
Fetch = Callable[[int, int], Iterable[bytes]]
#: the error for a file that cannot be read
AsError = Callable[[StoreFailure], StorageError]


class RangeStream(io.BufferedIOBase):
    """A stream of what `fetch` gives.

    size: of the file
    ahead: whether it will be read in order, to its end; then ranges are fetched before they are asked for, more of
        them the longer that goes on
    tries: at a range without getting a byte of it

    Raises StorageError when a range cannot be had, or is not what it should be.
    """

    def __init__(self, fetch: Fetch, size: int, ahead: bool, as_error: AsError, tries: int = TRIES) -> None:
        self._fetch = fetch
        self._size = size
        self._ahead = ahead
        self._as_error = as_error
        self._tries = tries
        self._position = 0
        self._block = memoryview(b"")
        self._block_start = 0
        #: start and bytes of ranges that are being fetched, in order, and the start of the next one
        self._coming: deque[tuple[int, Future[memoryview]]] = deque()
        self._next = 0
        self._next_bytes = FIRST_BYTES
        self._window = 1
        self._threads: ThreadPoolExecutor | None = None
        self._closing = threading.Event()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(0, base + offset)
        return self._position

    def read(self, size: int | None = -1) -> bytes:
        left = max(0, self._size - self._position)
        wanted = left if size is None or size < 0 else min(size, left)
        block = self._here(wanted)
        if len(block) >= wanted:
            self._position += wanted
            return bytes(block[:wanted])
        buffer = bytearray(wanted)
        self.readinto(buffer)
        return bytes(buffer)

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        view = memoryview(buffer).cast("B")
        count = 0
        while count < len(view):
            block = self._here(len(view) - count)[: len(view) - count]
            if not block:
                break
            view[count : count + len(block)] = block
            count += len(block)
            self._position += len(block)
        return count

    def close(self) -> None:
        self._closing.set()
        if self._threads:
            self._threads.shutdown(wait=False, cancel_futures=True)
        self._coming.clear()
        self._block = memoryview(b"")
        super().close()

    def _here(self, wanted: int) -> memoryview:
        """Return what is at hand from the position on, at least a byte of it unless the file ends there."""
        if self.closed:
            raise ValueError("the stream is closed")
        within = self._position - self._block_start
        if 0 <= within < len(self._block):
            return self._block[within:]
        if self._position >= self._size or not wanted:
            return memoryview(b"")
        self._block = memoryview(b"")  # gone before the next one is there, or there would be one more
        self._block = self._take(wanted)
        self._block_start = self._position
        return self._block

    def _take(self, wanted: int) -> memoryview:
        start = self._position
        if not self._ahead:
            return self._range(start, min(self._size, start + max(wanted, LEAST_BYTES)))
        while self._coming and self._coming[0][0] != start:
            self._coming.popleft()[1].cancel()  # the reader went elsewhere
        if not self._coming:
            if start != self._next:
                self._next, self._window, self._next_bytes = start, 1, FIRST_BYTES
            self._begin()
        _, coming = self._coming.popleft()
        # The longer it goes on in order, the more ranges are fetched behind the one that is waited for.
        while len(self._coming) < self._window - 1 and self._next < self._size:
            self._begin()
        self._window = min(self._window + 1, MOST_AHEAD)
        return coming.result()

    def _begin(self) -> None:
        """Fetch the next range."""
        if self._threads is None:
            self._threads = ThreadPoolExecutor(MOST_AHEAD, thread_name_prefix="torch-profiler-range")
        start, stop = self._next, min(self._size, self._next + self._next_bytes)
        self._coming.append((start, self._threads.submit(self._range, start, stop)))
        self._next = stop
        self._next_bytes = min(2 * self._next_bytes, RANGE_BYTES)

    def _range(self, start: int, stop: int) -> memoryview:
        """Return the bytes of a range. What breaks off is taken up again where it did. Raises StorageError."""
        # Pages of its own go back to the system with it; the heap would keep them when the file has been read.
        buffer = memoryview(mmap.mmap(-1, stop - start))
        done = tried = 0
        while True:
            before = done
            try:
                for piece in self._fetch(start + done, stop):
                    if len(piece) > len(buffer) - done:
                        raise StoreFailure("failed", "TooManyBytes")
                    buffer[done : done + len(piece)] = piece
                    done += len(piece)
                    if self._closing.is_set():
                        return buffer
                if done == len(buffer):
                    return buffer
                trouble = StoreFailure("unreachable", "Interrupted")
            except StoreFailure as error:
                trouble = error
            tried = 1 if done > before else tried + 1
            if trouble.kind not in PASSING or tried >= self._tries:
                raise self._as_error(trouble) from None
            self._closing.wait(pause(tried, trouble.wait))
