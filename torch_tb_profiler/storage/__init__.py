"""Bytes from anywhere: listing and opening files behind one small interface, and writing those of a shared cache.

Belongs here: one file per scheme, and `storage_for`, which picks it; the package of a store is imported when its
scheme is used for the first time. Does not belong here: what a file is called or means (`discovery`), what is in it
(`trace`), when it is looked at (`workspace`).
"""

from __future__ import annotations

import functools

from torch_tb_profiler.storage.base import (
    Entry,
    ListingProblem,
    StorableEntry,
    Storage,
    WritableStorage,
    printable,
    restored,
    scheme_of,
    shown,
    storable,
    without_slash,
)
from torch_tb_profiler.storage.blob import Blobs
from torch_tb_profiler.storage.errors import StorageError
from torch_tb_profiler.storage.files import FileSystems
from torch_tb_profiler.storage.gs import Google
from torch_tb_profiler.storage.local import LocalStorage
from torch_tb_profiler.storage.remote import ObjectStorage
from torch_tb_profiler.storage.s3 import S3

__all__ = [
    "S3",
    "Blobs",
    "Entry",
    "Google",
    "ListingProblem",
    "StorableEntry",
    "Storage",
    "StorageError",
    "WritableStorage",
    "environment",
    "is_local",
    "printable",
    "restored",
    "shown",
    "storable",
    "storage_for",
    "without_slash",
    "writable_storage_for",
]

_STORES = {"s3": S3, "s3a": S3, "https": Blobs, "http": Blobs, "gs": Google}


def storage_for(url: str) -> Storage:
    """Return the storage that can read `url`, which may turn out to be none when it is used."""
    return LocalStorage() if is_local(url) else writable_storage_for(url)


def writable_storage_for(url: str) -> WritableStorage:
    """Return the storage of a shared cache at `url`, which is not local."""
    scheme = scheme_of(url)
    return _object_storage(_STORES[scheme]) if scheme in _STORES else FileSystems()


def is_local(url: str) -> bool:
    """Return whether an address is a path of this machine."""
    return scheme_of(url) in ("", "file")


def environment() -> dict[str, str]:
    """Return variables with which a worker process may read what this one may."""
    return {name: value for kind in (Blobs, Google) for name, value in _object_storage(kind).environment().items()}


@functools.cache
def _object_storage(kind: type[S3 | Blobs | Google]) -> ObjectStorage:
    """Return the one storage of a kind in this process: it knows what gives access."""
    return ObjectStorage(kind())
