"""Names of memory snapshots: of which rank, and of which moment."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence

import msgspec

from torch_tb_profiler.discovery.names import DEFAULT_SPAN, is_moment_folder, natural_key, rank_in
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.storage import Entry

_ENDING = lazy_pattern(r"\.(?:pickle|pkl|snapshot|html?)(?:\.gz|\.zst)?\Z", re.IGNORECASE)
#: `oom_rank-3`, `rank3`, `rank_3`
_RANK = lazy_pattern(r"(?<![A-Za-z])rank[-_]?[0-9]+", re.IGNORECASE)
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
        rank, rest = rank_in(stem), _RANK.sub("", stem)
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
