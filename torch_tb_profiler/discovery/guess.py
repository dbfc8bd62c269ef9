"""Worker and time from names that programs other than torch's own handler gave to their traces."""

from __future__ import annotations

import re

import msgspec

from torch_tb_profiler.lazy_pattern import lazy_pattern

#: for a file whose name is nothing but a time
NAMELESS = "trace"

_ENDING = lazy_pattern(r"(?:\.pt)?(?:\.trace)?\.json(?:\.gz|\.zst)?\Z", re.IGNORECASE)
_DATE = lazy_pattern(
    r"(?<![0-9])(20[0-9]{2})[-_.]?([01][0-9])[-_.]?([0-3][0-9])"
    r"[-_.T ]?([0-2][0-9])[-_.:h]?([0-5][0-9])[-_.:m]?([0-5][0-9])(?![0-9])"
)
# time.time() as text has a point
_EPOCH = lazy_pattern(r"(?<![0-9])(?:([0-9]{10})\.([0-9]{1,9})|([0-9]{10,20}))(?![0-9])")
_RANK = lazy_pattern(r"(?<![A-Za-z])(?<!local[-_])rank[-_ =\[(]*([0-9]{1,7})(?![0-9])", re.IGNORECASE)
_COORDINATE = r"(?:tp|dp|pp|ep|cp|sp|dcp|pcp)[-_]?[0-9]+"
_COORDINATES = lazy_pattern(rf"(?<![A-Za-z0-9]){_COORDINATE}(?:[-_]{_COORDINATE})*(?![A-Za-z0-9])", re.IGNORECASE)
_WORKER = lazy_pattern(r"(?<![A-Za-z])worker[-_]?([0-9]{1,7})(?![0-9])", re.IGNORECASE)
_SEPARATORS = "-_. "


class Guess(msgspec.Struct, frozen=True):
    """What a name seems to say.

    worker: as a part of the name says it; empty if none does
    rank: None if the name has none
    rest: the name without its ending and time, never empty
    order: sorts files of one worker by their time; None if the name has none
    """

    worker: str
    rank: int | None
    rest: str
    order: tuple[int, int] | None


def guess(name: str) -> Guess:
    stem = _ENDING.sub("", name)
    order, rest = _time(stem)
    rest = rest or NAMELESS
    rank = rank_in(rest)
    if rank is not None:
        return Guess(f"rank{rank}", rank, rest, order)
    if coordinates := _COORDINATES.search(rest):
        return Guess(coordinates.group(), None, rest, order)
    worker = _WORKER.search(rest)
    return Guess(f"worker{int(worker[1])}" if worker else "", None, rest, order)


def rank_in(text: str) -> int | None:
    """The number after `rank`."""
    match = _RANK.search(text)
    return int(match[1]) if match else None


def _time(stem: str) -> tuple[tuple[int, int] | None, str]:
    """When a name says that it was recorded, and what is left of the name."""
    if match := _DATE.search(stem):
        order = (0, int("".join(match.groups())))
    elif match := _EPOCH.search(stem):
        seconds, fraction, digits = match.groups()
        order = (1, int(seconds + fraction.ljust(9, "0")) if seconds else _nanoseconds(digits))
    else:
        return None, stem.strip(_SEPARATORS)
    before, after = stem[: match.start()].rstrip(_SEPARATORS), stem[match.end() :].lstrip(_SEPARATORS)
    return order, "-".join(part for part in (before, after) if part).strip(_SEPARATORS)


def _nanoseconds(digits: str) -> int:
    """Seconds, ms, µs or ns since the epoch, told apart by their length, which is the same until the year 2286."""
    return int(digits + "0" * max(0, 9 - 3 * ((len(digits) - 10) // 3)))
