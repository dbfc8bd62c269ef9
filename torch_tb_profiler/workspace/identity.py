"""What makes a column file the right one for a trace file."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

from torch_tb_profiler import __version__
from torch_tb_profiler.discovery import Root
from torch_tb_profiler.storage import Entry, Storage

EDGE_BYTES = 64 * 1024


def content_key(storage: Storage, entry: Entry) -> str:
    """A name for the columns of this content, read by this code. Raises StorageError."""
    digest = blake2b(code_fingerprint(), digest_size=20)
    digest.update(f"{entry.url}\0{entry.size}\0{entry.modified_ns}\0{entry.etag}".encode("utf-8", "surrogateescape"))
    if not storage.is_remote:
        # Times of files are coarse, and some copy tools keep them. Elsewhere a look would be a download.
        with storage.open(entry, ahead=False) as stream:
            digest.update(stream.read(EDGE_BYTES))
            stream.seek(max(0, entry.size - EDGE_BYTES))
            digest.update(stream.read(EDGE_BYTES))
    return digest.hexdigest()


def contents_name(roots: Iterable[Root]) -> str:
    """A name for what is known of the contents of files in these log directories."""
    return blake2b(repr((code_fingerprint(), [root.url for root in roots])).encode(), digest_size=20).hexdigest()


@functools.cache
def code_fingerprint() -> bytes:
    """Changes with every change of the code whose results are in the cache.

    That is nearly all of it. Names, sizes and times of the files are looked at: reading them would take longer than
    the first answer from the cache.
    """
    package = Path(__file__).parents[1]
    sources = sorted((str(path.relative_to(package)), path.stat()) for path in package.rglob("*.py"))
    stated = [(name, status.st_size, status.st_mtime_ns) for name, status in sources]
    return blake2b(repr((__version__, stated)).encode()).digest()
