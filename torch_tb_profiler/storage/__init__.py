"""Bytes from anywhere: listing and opening files behind one small, read-only interface.

Belongs here: one file per scheme, and `storage_for`, which picks it. Does not belong here: what a file is
called or means (`discovery`), what is in it (`trace`), when it is looked at (`workspace`).
"""

from __future__ import annotations

from torch_tb_profiler.storage.base import Entry, Problem, Storage, StorageError
from torch_tb_profiler.storage.local import LocalStorage
from torch_tb_profiler.storage.url import scheme_of

__all__ = ["Entry", "Problem", "Storage", "StorageError", "storage_for"]

_EXTRAS = {"s3": "s3", "s3a": "s3", "https": "blob", "http": "blob", "gs": "gs", "hdfs": "hdfs"}


def storage_for(url: str) -> Storage:
    """The storage that can read `url`.

    Raises StorageError when there is none.
    """
    scheme = scheme_of(url)
    if scheme in ("", "file"):
        return LocalStorage()
    if scheme in _EXTRAS:
        raise StorageError(
            f"{url}: log directories on {scheme}:// arrive in a later release, with pip install"
            f" 'torch-tb-profiler[{_EXTRAS[scheme]}]'; until then copy the traces to a local directory"
        )
    raise StorageError(f"{url}: there is no storage for {scheme}://; a local directory is needed")
