"""Folders of flight-recorder dumps, one file for each rank of a job that hangs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import msgspec

from torch_tb_profiler.discovery.content import Content
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.storage import Entry

#: `nccl_trace_rank_3`, `_dump_3`, `trace_rank_3.json`: the number is the rank
_NAME = lazy_pattern(r"(?P<prefix>.*?)(?P<rank>[0-9]{1,7})(?P<ending>\.(?:json|pkl|pickle|dump|bin))?\Z", re.DOTALL)


class DumpFile(msgspec.Struct, frozen=True):
    """A file that is named like a dump. family: its name around the rank, equal for all ranks of a job."""

    entry: Entry
    rank: int
    family: tuple[str, str]


class DumpFolder(msgspec.Struct, frozen=True):
    """The dumps of a job. name: of the run that the folder is, or would be with a trace in it."""

    name: str
    files: tuple[DumpFile, ...]


def dump_file(entry: Entry) -> DumpFile | None:
    """Return a file as its name describes it; None for one that is not named like a dump."""
    match = _NAME.fullmatch(entry.path.rpartition("/")[2])
    return match and DumpFile(entry, int(match["rank"]), (match["prefix"], match["ending"] or ""))


def dumps_by_folder(
    folders: Mapping[str, Iterable[Entry]], content_of: Callable[[Entry], Content | None], runs: Collection[str]
) -> dict[str, list[DumpFile]]:
    """Return the dumps of each folder: those whose content says so, and the other ranks of these.

    Nodes of one job may write into folders of their own: such folders are taken together, by the one above them, where
    no rank is in two of them and none of them is a run. runs: folders that hold traces.
    """
    by_folder: dict[str, list[DumpFile]] = {}
    for folder, entries in folders.items():
        files = [file for entry in entries if (file := dump_file(entry)) is not None]
        families = {file.family for file in files if _is_dump(content_of(file.entry))}
        if families:
            by_folder[folder] = [file for file in files if file.family in families]
    nodes: defaultdict[str, list[str]] = defaultdict(list)
    for folder in by_folder:
        if folder and folder not in runs:
            nodes[folder.rpartition("/")[0]].append(folder)
    for above, below in nodes.items():
        files = [file for folder in below for file in by_folder[folder]]
        if above not in by_folder and len(below) > 1 and not _has_twice(files):
            for folder in below:
                del by_folder[folder]
            by_folder[above] = files
    return by_folder


def _is_dump(content: Content | None) -> bool:
    return content is not None and content.reason is not None and content.reason.kind == "flight_recorder"


def _has_twice(files: Sequence[DumpFile]) -> bool:
    return len({(file.family, file.rank) for file in files}) < len(files)
