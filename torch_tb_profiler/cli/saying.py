"""What is said beside results: on stderr, and so that no name of a file or of a trace can steer the terminal."""

from __future__ import annotations

import re
import sys

_IS_ASCII = re.compile(r"[ -~]*\Z")


def safe(text: str) -> str:
    """Without signs that steer a terminal or break a line: what cannot be printed is U+FFFD.

    >>> safe(f"a{chr(27)}[2J") == f"a{chr(0xFFFD)}[2J"
    True
    """
    if _IS_ASCII.match(text):
        return text
    return "".join(each if each.isprintable() else "\ufffd" for each in text)


def tell(text: str) -> None:
    """A line on stderr."""
    print(safe(text), file=sys.stderr)
