"""What the name of a file says: which files may be traces, and the parts of the name torch gives them."""

from __future__ import annotations

import re

import msgspec

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.other_formats import may_be_other
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.words.reasons import because

#: of a worker that has one recording without a number
DEFAULT_SPAN = "default"

#: what is read, in the order in which one of several packings of a recording is taken
PACKINGS = ("", ".gz", ".zst")

_TRACE = lazy_pattern(
    r"(?P<worker>.*?)(?:\.(?P<stamp>[0-9]+))?\.pt\.trace\.json(?P<packing>\.gz|\.zst)?",
    re.DOTALL,
)
_CANDIDATE = lazy_pattern(r"\.json(?:\.gz|\.zst)?\Z", re.IGNORECASE)
_SNAPSHOT = lazy_pattern(r"\.(?:pickle|pkl|snapshot)(?:\.gz|\.zst)?\Z", re.IGNORECASE)
_SNAPSHOT_PAGE = lazy_pattern(r"(?:snapshot|mem|oom).*\.html?\Z", re.IGNORECASE)
_MOMENT_FOLDER = lazy_pattern(r"(?:step|iter(?:ation)?)[-_]?[0-9]+(?:_exit)?\Z", re.IGNORECASE)
_PACKED = lazy_pattern(r"\.(?:gz|zst)\Z", re.IGNORECASE)
_OTHERWISE_PACKED = lazy_pattern(r"\.json\.(?:zstd|bz2|xz|lz4|zip|br)\Z", re.IGNORECASE)
_TRACE_ENDING = lazy_pattern(r"\.pt\.trace\.json", re.IGNORECASE)
#: ns in the unit of a time stamp, by its number of digits; valid from 2001 to 2286
_UNITS = {10: 10**9, 13: 10**6, 16: 10**3, 19: 1}
_DIGITS = lazy_pattern(r"([0-9]+)")


class TraceName(msgspec.Struct, frozen=True):
    """worker: may be empty. stamp: the digits before the ending, as written; empty if there are none."""

    worker: str
    stamp: str


def parse_name(name: str) -> TraceName | None:
    """The parts of `<worker>[.<digits>].pt.trace.json[.gz|.zst]`, the name torch gives; None for another name."""
    match = _TRACE.fullmatch(name)
    if match is None:
        return None
    return TraceName(match["worker"], match["stamp"] or "")


def recorded_ns(name: str) -> int | None:
    """When a trace was recorded, ns since the epoch, by the stamp that torch puts into its name: in s, ms, µs or ns.

    None if there is none, or a number that is no time of this century.

    >>> recorded_ns("worker0.1700000000000.pt.trace.json.gz")
    1700000000000000000
    """
    found = parse_name(name)
    unit = _UNITS.get(len(found.stamp)) if found else None
    return int(found.stamp) * unit if found and unit else None


def is_named_as_trace(name: str) -> bool:
    """Whether a name has the extension that torch gives traces, however the file is packed."""
    return _TRACE_ENDING.search(name) is not None


def is_candidate(name: str) -> bool:
    """Whether a file may be a trace or a memory snapshot."""
    return _CANDIDATE.search(name) is not None or may_be_snapshot(name)


def is_looked_at(name: str) -> bool:
    """Whether the content of a file decides what it is: a trace, a memory snapshot, or another program's."""
    return is_candidate(name) or may_be_other(name)


def may_be_snapshot(name: str) -> bool:
    """Whether a file may be a memory snapshot."""
    return _SNAPSHOT.search(name) is not None or _SNAPSHOT_PAGE.search(name) is not None


def is_moment_folder(name: str) -> bool:
    """Whether a directory is named for a moment of a run: `iteration_12`, `iteration_12_exit`."""
    return _MOMENT_FOLDER.match(name) is not None


def unpacked(name: str) -> tuple[str, str]:
    """The name of what a file was packed from, and how it is packed: `""`, `.gz` or `.zst`."""
    match = _PACKED.search(name)
    return (name[: match.start()], match.group().lower()) if match else (name, "")


def why_skipped(name: str) -> Reason | None:
    """Why a file that looks like a trace to a person is no candidate; None for other files."""
    if _OTHERWISE_PACKED.search(name):
        return because("other_packing")
    if is_named_as_trace(name):
        return because("other_ending")
    return None


def concerns(name: str) -> bool:
    """Whether anything is said of a file: it may be a trace or a snapshot, or looks like one to a person."""
    return is_looked_at(name) or why_skipped(name) is not None


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """Sorts `run2` before `run10`; never equal for different texts."""
    parts = [(1, int(p), p) if p.isdigit() and p.isascii() else (0, 0, p) for p in _DIGITS.split(text)]
    return tuple(parts)
