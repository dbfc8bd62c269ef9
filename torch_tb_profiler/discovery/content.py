"""What a file is: a trace, and whose, by its first bytes; a memory snapshot, by its first bytes or by its name."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence

import msgspec

from torch_tb_profiler.discovery.names import DEFAULT_SPAN, is_moment_folder, natural_key, rank_in
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.other_formats import ROCPROF, not_json, other_format
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.storage import Entry
from torch_tb_profiler.words.sentences import because

_BOM = b"\xef\xbb\xbf"
_EVENTS = lazy_pattern(rb'"traceEvents"\s*:\s*\[')
#: keys that torch writes before traceEvents; with many process groups these fill more than what is looked at
_HEADER = lazy_pattern(rb'"(?:deviceProperties|distributedInfo|baseTimeNanoseconds)"\s*:')
#: the first key of a trace that `export` cut from another
EXPORTER = ("exporter", "torch-tb-profiler")
_EXPORT = lazy_pattern(rb'\A\{"%s":"%s' % tuple(each.encode() for each in EXPORTER))
_EVENT = lazy_pattern(rb'"ph"\s*:\s*"[A-Za-z(),]"')
_NUMBERS = lazy_pattern(rb"\[[\s\[]*-?[0-9]")
# `rank` stands before the first nested value of distributedInfo
_RANK = lazy_pattern(rb'"distributedInfo"\s*:\s*\{[^{}\[\]]*?"rank"\s*:\s*([0-9]{1,9})(?![0-9.])')

#: the pickle of a dict whose first key is one of a snapshot, in the protocols that have been written
_PICKLE = lazy_pattern(
    rb"\A\x80[\x02-\x05](?:\x95.{8})?\}(?:\x94|q.|r.{4})?\(.{0,64}?(?:\x8c.|X.{4})"
    rb"(?:segments|device_traces|allocator_settings|external_annotations|host_segments|host_traces)",
    re.DOTALL,
)
_ANY_PICKLE = lazy_pattern(rb"\A\x80[\x02-\x05]")
#: a page that `_memory_viz.py trace_plot` or Composer wrote
_PAGE = lazy_pattern(rb"\A<")
#: a page that export_memory_timeline wrote
_PICTURE_PAGE = (lazy_pattern(rb"<title>[^<]{0,40}Memory Timeline"), lazy_pattern(rb"<img src=.data:image/png;base64,"))
_SNAPSHOT_PAGE = (lazy_pattern(rb"MemoryViz", re.IGNORECASE), lazy_pattern(rb'"base64"\s*:\s*"gA[IMQUF]'))


def picture() -> Reason:
    """Return the reason for the page that export_memory_timeline writes."""
    return because("no_snapshot", {"is": "picture"})


class Content(msgspec.Struct, frozen=True):
    """What is in a file.

    is_snapshot: whether it is a memory snapshot
    is_export: whether it is a trace that `export` cut from another
    reason: why it is no trace; None for a trace
    rank: None if the trace does not contain it, or not among its first bytes
    """

    reason: Reason | None = None
    rank: int | None = None
    is_snapshot: bool = False
    is_export: bool = False


def examine(text: bytes, whole: bool) -> Content:
    """Judge a file by its first bytes, unpacked; `whole` says that there are no more."""
    if _ANY_PICKLE.match(text):
        if _PICKLE.match(text):
            return Content(is_snapshot=True)
        return Content(other_format(text) or because("no_snapshot", {"is": "pickle"}))
    text = text.removeprefix(_BOM)
    if not text.lstrip().startswith((b"{", b"[", b"<")) and (other := other_format(text)) is not None:
        return Content(other)
    text = text.lstrip()
    if _PAGE.match(text):
        if all(mark.search(text) for mark in _SNAPSHOT_PAGE):
            return Content(is_snapshot=True)
        if all(mark.search(text) for mark in _PICTURE_PAGE):
            return Content(picture())
        return Content(because("no_snapshot", {"is": "page"}))
    if not text:
        return Content(because("empty"))
    if text.startswith(b"{") and text[1:2] != b"\0":
        return _object(text, whole)
    if text.startswith(b"[") and text[1:2] != b"\0":
        return _list(text, whole)
    return Content(not_json(text))


def _object(text: bytes, whole: bool) -> Content:
    events = _EVENTS.search(text)
    if events and ROCPROF.is_that_of(text):
        return Content(because(ROCPROF.kind))
    if events or (not whole and _HEADER.search(text)):
        rank = _RANK.search(text, 0, events.start() if events else len(text))
        return Content(rank=int(rank[1]) if rank else None, is_export=_EXPORT.match(text) is not None)
    if (other := other_format(text)) is not None:
        return Content(other)
    first = "" if whole else _length(text)
    return Content(because("no_trace_events", {"first": first, "json": True}))


def _list(text: bytes, whole: bool) -> Content:
    if _NUMBERS.match(text):
        return Content(because("numbers"))
    if text[1:].lstrip().startswith(b"{") and _EVENT.search(text):
        return Content()
    first = "" if whole else _length(text)
    return Content(because("no_events_in_list", {"first": first}))


def _length(text: bytes) -> str:
    return f"{max(1, round(len(text) / 1024))} KiB"


_ENDING = lazy_pattern(r"\.(?:pickle|pkl|snapshot|html?)(?:\.gz|\.zst)?\Z", re.IGNORECASE)
#: `oom_rank-3`, `rank3`, `rank_3`
_SNAPSHOT_RANK = lazy_pattern(r"(?<![A-Za-z])rank[-_]?[0-9]+", re.IGNORECASE)
_LAST_NUMBER = lazy_pattern(r"_([0-9]+)\Z")
_SEPARATORS = "-_. "


class Snapshot(msgspec.Struct, frozen=True):
    """A memory snapshot and the names it goes by. span: of several moments of a worker which."""

    worker: str
    span: str
    entry: Entry
    rank: int | None


class _Named(msgspec.Struct, frozen=True):
    entry: Entry
    rank: int | None
    rest: str


def named_snapshots(entries: Sequence[Entry], taken: Collection[str]) -> list[Snapshot]:
    """Return the snapshots of a run by worker, then moment. taken: names of its other workers."""
    stems = [_stem(entry) for entry in entries]
    # a number at the end is a rank where files differ in nothing else
    ends: defaultdict[str, list[str]] = defaultdict(list)
    for stem in stems:
        if (number := _LAST_NUMBER.search(stem)) and rank_in(stem.replace("-", "_")) is None:
            ends[stem[: number.start()]].append(number[1])
    named = []
    for entry, stem in zip(entries, stems, strict=True):
        rank, rest = rank_in(stem), _SNAPSHOT_RANK.sub("", stem)
        number = _LAST_NUMBER.search(stem)
        if rank is None and number and len(set(ends[stem[: number.start()]])) > 1 and len(number[1]) < 8:
            rank, rest = int(number[1]), stem[: number.start()]
        named.append(_Named(entry, rank, re.sub(r"[-_. ]{2,}", "_", rest).strip(_SEPARATORS)))
    by_worker: defaultdict[str, list[_Named]] = defaultdict(list)
    for snapshot in named:
        name = (snapshot.rest or "snapshot") if snapshot.rank is None else f"rank{snapshot.rank}"
        by_worker[f"{name} (memory)" if name in taken or snapshot.rank is not None else name].append(snapshot)
    found = []
    for worker in sorted(by_worker, key=natural_key):
        mine = sorted(by_worker[worker], key=lambda snapshot: natural_key(snapshot.entry.path))
        spans = [_moment(snapshot, alone=len(mine) == 1) for snapshot in mine]
        for place, (snapshot, span) in enumerate(zip(mine, spans, strict=True)):
            again = spans[:place].count(span)
            found.append(Snapshot(worker, f"{span} ({again + 1})" if again else span, snapshot.entry, snapshot.rank))
    return found


def _stem(entry: Entry) -> str:
    return _ENDING.sub("", entry.path.rpartition("/")[2]).strip(_SEPARATORS)


def _moment(named: _Named, alone: bool) -> str:
    """Return the directory of its moment, else what its name says besides the rank."""
    folder = named.entry.path.rpartition("/")[0].rpartition("/")[2]
    if is_moment_folder(folder):
        return folder
    return DEFAULT_SPAN if alone else named.rest or DEFAULT_SPAN
