"""What the name of a file says: whether it may be a trace, and of which worker, rank and time; log directories."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

import msgspec

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.other_formats import may_be_other
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.storage import printable, without_slash
from torch_tb_profiler.storage.base import without_secrets
from torch_tb_profiler.words.sentences import because

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
#: `nccl_trace_rank_3`, `_dump_3`: flight-recorder dumps have no extension
_DUMP = lazy_pattern(r"(?:rank|dump)[-_]?[0-9]{1,7}\Z", re.IGNORECASE)
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
    """Split `<worker>[.<digits>].pt.trace.json[.gz|.zst]`, the name torch gives; None for another name."""
    match = _TRACE.fullmatch(name)
    if match is None:
        return None
    return TraceName(match["worker"], match["stamp"] or "")


def recorded_ns(name: str) -> int | None:
    """Return when a trace was recorded, ns since the epoch, by the stamp in torch's name for it: in s, ms, µs or ns.

    None if there is none, or a number that is no time of this century.

    >>> recorded_ns("worker0.1700000000000.pt.trace.json.gz")
    1700000000000000000
    """
    found = parse_name(name)
    unit = _UNITS.get(len(found.stamp)) if found else None
    return int(found.stamp) * unit if found and unit else None


def is_named_as_trace(name: str) -> bool:
    """Return whether a name has the extension that torch gives traces, however the file is packed."""
    return _TRACE_ENDING.search(name) is not None


def is_candidate(name: str) -> bool:
    """Return whether a file may be a trace or a memory snapshot."""
    return _CANDIDATE.search(name) is not None or may_be_snapshot(name)


def is_looked_at(name: str) -> bool:
    """Return whether the content of a file decides what it is: a trace, a memory snapshot, or another program's."""
    return is_candidate(name) or may_be_other(name) or _DUMP.search(name) is not None


def may_be_snapshot(name: str) -> bool:
    """Return whether a file may be a memory snapshot."""
    return _SNAPSHOT.search(name) is not None or _SNAPSHOT_PAGE.search(name) is not None


def is_moment_folder(name: str) -> bool:
    """Return whether a directory is named for a moment of a run: `iteration_12`, `iteration_12_exit`."""
    return _MOMENT_FOLDER.match(name) is not None


def is_capture_folder(name: str) -> bool:
    """Return whether engines write the captures of a run's graphs to directories of this name."""
    return name in ("capture_traces", "graph_capture_profile")


def unpacked(name: str) -> tuple[str, str]:
    """Return the name of what a file was packed from, and how it is packed: `""`, `.gz` or `.zst`."""
    match = _PACKED.search(name)
    return (name[: match.start()], match.group().lower()) if match else (name, "")


def why_skipped(name: str) -> Reason | None:
    """Return why a file that looks like a trace to a person is no candidate; None for other files."""
    if _OTHERWISE_PACKED.search(name):
        return because("other_packing")
    if is_named_as_trace(name):
        return because("other_ending")
    return None


def concerns(name: str) -> bool:
    """Return whether anything is said of a file: it may be a trace or a snapshot, or looks like one to a person."""
    return is_looked_at(name) or why_skipped(name) is not None


def natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    """Return a key that sorts `run2` before `run10`; never equal for different texts."""
    parts = [(1, int(p), p) if p.isdigit() and p.isascii() else (0, 0, p) for p in _DIGITS.split(text)]
    return tuple(parts)


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
    """Return the number after `rank`."""
    match = _RANK.search(text)
    return int(match[1]) if match else None


def _time(stem: str) -> tuple[tuple[int, int] | None, str]:
    """Return when a name says that it was recorded, and what is left of the name."""
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
    """Convert s, ms, µs or ns since the epoch, told apart by their length, which is the same until the year 2286."""
    return int(digits + "0" * max(0, 9 - 3 * ((len(digits) - 10) // 3)))


_URI = lazy_pattern(r"[a-zA-Z][0-9a-zA-Z.]*://.*")


class Root(msgspec.Struct, frozen=True):
    """A directory tree to look for runs in; `name`, unless empty, stands before the names of its runs."""

    url: str
    name: str = ""


def parse_logdir(logdir: str) -> tuple[Root, ...]:
    return (Root(without_slash(logdir)),)


def named_roots(paths: Sequence[str]) -> tuple[Root, ...]:
    """Log directories of a command. With several every one gets the name of its directory, a repeated one a number."""
    if len(paths) == 1:
        return parse_logdir(paths[0])
    roots: list[Root] = []
    for path in map(without_slash, paths):
        roots.append(Root(path, _unused(base_name(path), roots)))
    return tuple(roots)


def parse_logdir_spec(spec: str) -> tuple[Root, ...]:
    """Parse `name:path,path2` as TensorBoard's --logdir_spec.

    With several roots every one gets a name: a nameless one that of its directory, a repeated one a number.
    """
    roots: list[Root] = []
    items = [item.strip() for item in spec.split(",") if item.strip()]
    for item in items:
        name, colon, path = item.partition(":")
        if not colon or _URI.match(item) or item.startswith("/") or os.path.splitdrive(item)[0]:
            name, path = "", item
        path = without_slash(path)
        if len(items) > 1:
            name = _unused(name or base_name(path), roots)
        roots.append(Root(path, name))
    return tuple(roots)


def base_name(url: str) -> str:
    """Return the last part of a path or URL, as text."""
    return printable(re.split(r"[\\/]", without_slash(without_secrets(url)))[-1] or url)


def _unused(name: str, roots: Sequence[Root]) -> str:
    taken = {root.name for root in roots}
    number, candidate = 2, name
    while candidate in taken:
        candidate, number = f"{name}-{number}", number + 1
    return candidate
