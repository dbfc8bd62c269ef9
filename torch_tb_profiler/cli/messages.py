"""Errors that a user can cause, exit codes, and messages on stderr with escaped names."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from torch_tb_profiler.reason import ErrorWithReason

#: only `check`: a limit was broken
REGRESSED = 1
#: wrong usage, and input that is missing, unreadable or of the wrong kind
BAD_INPUT = 2
#: `check` cannot tell, or `doctor` has found errors in a trace
UNSOUND = 3
#: a fault of this program; the 1 of Python would mean a regression
OUR_FAULT = 70
INTERRUPTED = 130
#: the reader of the output has closed the pipe
CLOSED_PIPE = 141


class UserError(Exception):
    """Printed without a traceback; the process ends with `exit_code`."""

    def __init__(self, message: str, exit_code: int = BAD_INPUT) -> None:
        super().__init__(message)
        self.exit_code = exit_code


_IS_ASCII = re.compile(r"[ -~]*\Z")


def safe(text: str) -> str:
    """Replace control characters and line breaks by U+FFFD.

    >>> safe(f"a{chr(27)}[2J") == f"a{chr(0xFFFD)}[2J"
    True
    """
    if _IS_ASCII.match(text):
        return text
    return "".join(each if each.isprintable() else "\ufffd" for each in text)


def tell(*lines: str) -> None:
    """Print lines on stderr; if that fails, the exit code alone has to tell."""
    with contextlib.suppress(OSError, MemoryError):
        print(*map(safe, lines), sep="\n", file=sys.stderr)


def lines_of(error: ErrorWithReason) -> list[str]:
    """Return the message; that of a failed query has lines below it, which point at a place in the statement."""
    if error.reason.kind != "sql_failed":
        return [str(error)]
    first, *more = str(error).splitlines()
    return [first, *(f"  {line}" for line in more if line.strip())]


def drop(stream: TextIO) -> None:
    """Discard the rest of an output: Python flushes it again at exit, which must not fail again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def drop_unwritten(stream: TextIO) -> None:
    """Discard the rest of an output that cannot be written: Python would exit with 120 instead of our code."""
    try:
        stream.flush()
    except OSError:
        drop(stream)


#: limit of names that are compared, as that takes time
_MOST_NAMES = 1000


def nearest(text: str, known: Sequence[str]) -> str:
    """Return the end of a message about an unknown name; empty if no known name is similar.

    >>> nearest("callz", ["calls", "name"])
    " (did you mean 'calls'?)"
    """
    import difflib

    found = difflib.get_close_matches(text, known[:_MOST_NAMES], n=1)
    return f" (did you mean {found[0]!r}?)" if found else ""
