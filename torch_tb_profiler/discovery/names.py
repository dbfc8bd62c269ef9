"""What the name of a file says."""

from __future__ import annotations

import re
from dataclasses import dataclass

EXPECTED = "<worker>[.<number>].pt.trace.json[.gz]"

_TRACE = re.compile(r"(?P<worker>.*?)(?:\.(?P<stamp>[0-9]+))?\.pt\.trace\.json(?P<gz>\.gz)?", re.DOTALL)
_PACKED = re.compile(r"\.json\.(?:gz|zst|zstd|bz2|xz|lz4|zip)$", re.IGNORECASE)
_PLAIN = re.compile(r"trace.*\.json$", re.IGNORECASE)
_LEFT_OVER = re.compile(r"\.pt\.trace\.json", re.IGNORECASE)
_DIGITS = re.compile(r"([0-9]+)")


@dataclass(frozen=True)
class TraceName:
    """worker: may be empty. stamp: the digits before the ending, as written; empty when there are none."""

    worker: str
    stamp: str
    compressed: bool


def parse_name(name: str) -> TraceName | None:
    """The parts of the name of a trace file, or None for another file."""
    match = _TRACE.fullmatch(name)
    if match is None:
        return None
    return TraceName(match["worker"], match["stamp"] or "", match["gz"] is not None)


def why_skipped(name: str) -> str | None:
    """Why a file that looks like a trace to a person is not taken for one; None for other files."""
    if _LEFT_OVER.search(name) or _PACKED.search(name) or _PLAIN.search(name):
        return f"is not named like a trace: {EXPECTED} is expected"
    return None


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """Sorts `run2` before `run10`; never equal for different texts."""
    parts = [(1, int(p), p) if p.isdigit() and p.isascii() else (0, 0, p) for p in _DIGITS.split(text)]
    return tuple(parts)
