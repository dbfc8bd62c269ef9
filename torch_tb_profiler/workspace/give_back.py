"""Memory that is free, back to the system."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator

#: bytes: what glibc keeps at the end of its heap, and from which size on a block is of pages of its own
TRIM_THRESHOLD, MMAP_THRESHOLD = 16 << 20, 32 << 20
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


def give_back() -> None:
    """Freed memory to the system: of a large trace glibc keeps more than half, below some small block in use."""
    with _other_libraries():
        ctypes.CDLL(None).malloc_trim(0)


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
