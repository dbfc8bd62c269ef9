"""The common part of all object stores: buckets of objects with slashes in their names."""

from __future__ import annotations

import importlib
import io
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Protocol, TypeVar, cast

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.storage.base import Entry, ListingProblem
from torch_tb_profiler.storage.errors import Attempt, StorageError, StoreFailure, install, unused_signature
from torch_tb_profiler.storage.ranges import RangeStream, patiently
from torch_tb_profiler.storage.url import is_signed, printable, shown
from torch_tb_profiler.words.reasons import because

T = TypeVar("T")


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
