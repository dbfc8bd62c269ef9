"""Opening regular files of this machine, and nothing that could stand in their place."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO


def open_handle(path: str | Path) -> int:
    """Open a handle for reading. Raises OSError, also for a pipe or a device, which could block for ever."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "is no regular file", str(path))
    except BaseException:
        os.close(handle)
        raise
    return handle


def open_file(path: str | Path) -> BinaryIO:
    """Open a stream for reading, as `open_handle`."""
    return os.fdopen(open_handle(path), "rb")
