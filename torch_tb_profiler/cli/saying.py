"""Messages on stderr. Names of files and from traces are made harmless to the terminal."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from typing import TextIO

_IS_ASCII = re.compile(r"[ -~]*\Z")


def safe(text: str) -> str:
    """Replace control characters and line breaks by U+FFFD.

    >>> safe(f"a{chr(27)}[2J") == f"a{chr(0xFFFD)}[2J"
    True
    """
    if _IS_ASCII.match(text):
        return text
    return "".join(each if each.isprintable() else "\ufffd" for each in text)


def tell(text: str) -> None:
    """Print a line on stderr; where that takes nothing, or without memory, the exit code says it all."""
    with contextlib.suppress(OSError, MemoryError):
        print(safe(text), file=sys.stderr)


def drop(stream: TextIO) -> None:
    """Send what is left of an output nowhere: Python flushes once more when it ends, which must not fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def drop_unwritten(stream: TextIO) -> None:
    """The same of an output that takes nothing: Python would end with 120, whatever the exit code is."""
    try:
        stream.flush()
    except OSError:
        drop(stream)
