"""Names of files that are still being written."""

from __future__ import annotations

import os
import zlib
from functools import cache
from pathlib import Path

#: how they end
PART = ".part"


def writer_mark(process: int) -> str:
    """What the names of a process's unfinished files contain.

    In a shared directory, a process of another machine or container may have the same number.
    """
    return f"{_place()}-{process}"


@cache
def _place() -> int:
    """A number for the machine and the namespace in which its processes are numbered."""
    host = os.uname().nodename if hasattr(os, "uname") else ""
    try:
        namespace = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        namespace = ""
    return zlib.crc32(f"{host} {namespace}".encode(errors="surrogateescape"))
