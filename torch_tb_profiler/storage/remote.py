"""The common part of all object stores: buckets of objects, read as streams of ranges that are fetched ahead.

A range that breaks off is fetched again, with growing pauses, for a while.
"""

from __future__ import annotations

import importlib
import io
import mmap
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Protocol, TypeVar, cast

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.storage.base import Entry, ListingProblem, is_signed, printable, shown
from torch_tb_profiler.storage.errors import PASSING, Attempt, StorageError, StoreFailure, install, unused_signature
from torch_tb_profiler.words.sentences import because

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


class ObjectAddress(msgspec.Struct, frozen=True):
    """An object, or with an empty key a whole bucket.

    bucket: all of the address before the key, without a slash at its end
    """

    bucket: str
    key: str = ""


class Object(msgspec.Struct, frozen=True):
    """What a store says of one object; `etag` is what `Store.get` takes."""

    key: str
    size: int
    modified_ns: int
    etag: str


class Store(Protocol):
    """What differs between object stores. All methods raise Trouble."""

    #: the package that reads it, and our extra that installs the package
    package: str
    extra: str
    #: its key among the advice in `words/*/reasons.toml`
    name: str
    #: permissions that writing needs
    writing: str

    def place(self, url: str) -> ObjectAddress:
        """Split an address. Raises StorageError when it cannot be right."""
        ...

    def environment(self) -> dict[str, str]:
        """Return environment variables that give a worker process the access of this one."""
        ...

    def url(self, place: ObjectAddress) -> str:
        """Return the address without secrets."""
        ...

    def pages(self, place: ObjectAddress) -> Iterator[list[Object]]:
        """Yield the objects whose keys begin with the key of `place`, a request per page."""
        ...

    def stat(self, place: ObjectAddress) -> Object: ...

    def get(self, place: ObjectAddress, start: int, stop: int, etag: str) -> Iterable[bytes]:
        """Yield the bytes of a range, of the object of this etag only."""
        ...

    def put(self, place: ObjectAddress, source: BinaryIO, absent: bool) -> None:
        """Write an object in one request. absent: raise Trouble of kind `changed` if it exists."""
        ...

    def delete(self, place: ObjectAddress) -> None: ...


class ObjectStorage:
    """A store seen as folders, files and streams, as all storages are."""

    is_remote = True

    def __init__(self, store: Store) -> None:
        self._store = store

    def environment(self) -> dict[str, str]:
        return self._store.environment()

    def resolve(self, url: str) -> str:
        place = self._store.place(url)
        if is_signed(place.key):
            raise unused_signature(shown(url))
        return self._store.url(replace(place, key=place.key.strip("/")))

    def require(self, root: str) -> None:
        self._attempt(Attempt("unlistable", shown(root)), lambda: load(self._store.package, self._store.extra))

    def list(self, root: str, report: Callable[[ListingProblem], None]) -> Iterator[Entry]:  # noqa: ARG002 - all or nothing
        place = self._store.place(root)
        folder = replace(place, key=f"{place.key}/" if place.key else "")
        pages: Iterator[list[Object]] | None = None

        def next_page() -> list[Object] | None:
            # An iterator that has failed has ended: the listing starts again and skips known objects.
            nonlocal pages
            if pages is None:
                pages = self._store.pages(folder)
            try:
                return next(pages, None)
            except StoreFailure:
                pages = None
                raise

        seen: set[str] = set()
        while (page := self._attempt(Attempt("unlistable", root), lambda: patiently(next_page))) is not None:
            for found in page:
                # a key that ends with a slash marks an empty folder
                if found.key not in seen and not found.key.endswith("/"):
                    seen.add(found.key)
                    yield self._entry(replace(folder, key=found.key), found, found.key[len(folder.key) :])

    def stat(self, url: str) -> Entry:
        place = self._store.place(url)
        if not place.key:
            raise StorageError(because("no_file"), "missing")
        found = self._attempt(self._reading(place), lambda: patiently(lambda: self._store.stat(place)))
        return self._entry(place, found, place.key.rpartition("/")[2])

    def open(self, entry: Entry, ahead: bool = True) -> BinaryIO:
        place = self._store.place(entry.url)

        def fetch(start: int, stop: int) -> Iterable[bytes]:
            return self._store.get(place, start, stop, entry.etag)

        def as_error(trouble: StoreFailure) -> StorageError:
            return trouble.as_error(self._reading(place), self._store.name)

        return cast(BinaryIO, RangeStream(fetch, entry.size, ahead, as_error))

    def put(self, url: str, source: Path | bytes, absent: bool = True) -> bool:
        place = self._store.place(url)

        def send() -> bool:
            with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as stream:
                try:
                    self._store.put(place, cast(BinaryIO, stream), absent)
                except StoreFailure as trouble:
                    if absent and trouble.kind == "changed":
                        return False
                    raise
            return True

        return self._writing(place, send)

    def remove(self, url: str) -> None:
        place = self._store.place(url)

        def delete() -> None:
            try:
                self._store.delete(place)
            except StoreFailure as trouble:
                if trouble.kind != "missing":
                    raise

        self._writing(place, delete)

    def _writing(self, place: ObjectAddress, call: Callable[[], T]) -> T:
        try:
            return patiently(call)
        except StoreFailure as trouble:
            where = self._store.url(ObjectAddress(place.bucket))
            raise trouble.unwritable(where, self._store.writing) from None

    def _reading(self, place: ObjectAddress) -> Attempt:
        return Attempt("unreadable", self._store.url(ObjectAddress(place.bucket)))

    def _entry(self, place: ObjectAddress, found: Object, path: str) -> Entry:
        return Entry(printable(path), self._store.url(place), found.size, found.modified_ns, found.etag)

    def _attempt(self, attempt: Attempt, call: Callable[[], T]) -> T:
        try:
            return call()
        except StoreFailure as trouble:
            raise trouble.as_error(attempt, self._store.name) from None


def load(package: str, extra: str) -> None:
    """Import the package of a store. Raises Trouble when it is not installed."""
    try:
        importlib.import_module(package)
    except ImportError:
        raise StoreFailure("package", package, advice=install(extra)) from None


def nanoseconds(time: datetime | None) -> int:
    """Return a time in ns since the epoch; 0 for an object without a time."""
    return int(time.timestamp()) * 10**9 + time.microsecond * 1000 if time else 0
