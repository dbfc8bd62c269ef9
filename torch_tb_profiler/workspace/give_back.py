"""Memory that is free, back to the system."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator
from pathlib import Path

#: bytes: what glibc keeps at the end of its heap, and from which size on a block is of pages of its own
TRIM_THRESHOLD, MMAP_THRESHOLD = 16 << 20, 32 << 20
_STATM = Path("/proc/self/statm")
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


def give_back() -> None:
    """Freed memory to the system: of a large trace glibc keeps more than half, below some small block in use."""
    with _other_libraries():
        ctypes.CDLL(None).malloc_trim(0)


def held() -> int:
    """Bytes of memory that this process has now; 0 where the system does not say."""
    try:
        return int(_STATM.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def keep_little() -> None:
    """Let glibc keep less of what is freed from now on; for a process that is all ours."""
    with _other_libraries():
        library = ctypes.CDLL(None)
        library.mallopt(_M_MMAP_THRESHOLD, MMAP_THRESHOLD)
        library.mallopt(_M_TRIM_THRESHOLD, TRIM_THRESHOLD)


@contextlib.contextmanager
def _other_libraries() -> Iterator[None]:
    """Another C library, or none to be had."""
    with contextlib.suppress(AttributeError, OSError, TypeError):
        yield
