"""Runs: the directories that hold traces.

The rules
    run     a directory that directly holds a trace; it is called by its path below the log directory. The log
            directory itself is called by its own name, or `.` when a directory below it has that name.
    trace   a file that torch's own handler named, `<worker>[.<number>].pt.trace.json`, whatever is in it; of the
            other JSON files those whose content says so.
    worker  the text before the number and the ending of a name that torch gave. For other names the rank in the
            file's header, or what the name says, or the name itself. The header's ranks are not taken when they
            cannot tell the workers of a run apart: two servers have a rank 0 each.
    span    the files of one worker, numbered from 1 in the order of the numbers in their names; `default` for
            a file without a number. Names that torch gave come first, so that others never change their spans.
    twins   `x.json` beside `x.json.gz` is one recording: while a file is being compressed the plain one is the
            complete one, so that is taken.
    captures    traces of graphs being captured, in a directory of an engine's name below that of a run. They are no run
            of their own: that run replays the graphs.
    dumps   flight-recorder dumps of a directory are its hang report. They make no run of it.
    snapshots   memory snapshots of a directory, known by their content. They are workers of their own, by rank, and
            their moments are spans. Those in a directory named for a moment (`iteration_12`) belong to the run above.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.discovery.content import Content, Snapshot, named_snapshots
from torch_tb_profiler.discovery.dumps import DumpFolder, dumps_by_folder
from torch_tb_profiler.discovery.names import (
    DEFAULT_SPAN,
    PACKINGS,
    Guess,
    Root,
    TraceName,
    base_name,
    guess,
    is_candidate,
    is_capture_folder,
    is_looked_at,
    is_moment_folder,
    may_be_snapshot,
    natural_key,
    parse_name,
    rank_in,
    unpacked,
    why_skipped,
)
from torch_tb_profiler.other_formats import other_by_name
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.storage import Entry
from torch_tb_profiler.words.sentences import because

TraceKind = Literal["trace", "snapshot"]


class TraceFile(msgspec.Struct, frozen=True):
    """One trace: the names it goes by and the file it is in.

    rank: as the first bytes of the file or its name say; None if they do not
    kind: whether it is a trace or a memory snapshot
    """

    worker: str
    span: str
    entry: Entry
    rank: int | None = None
    kind: TraceKind = "trace"


class Skipped(msgspec.Struct, frozen=True):
    """A file or directory that was not taken, and why.

    unlisted: whether it is a directory that could not be listed, with traces in it perhaps
    """

    file: str
    reason: Reason
    unlisted: bool = False


class RunFiles(msgspec.Struct, frozen=True):
    """traces: by worker, then span. skipped: files of the same directory. parent: of captures the run that replays."""

    name: str
    traces: tuple[TraceFile, ...]
    skipped: tuple[Skipped, ...] = ()
    parent: str | None = None


class RunListing(msgspec.Struct, frozen=True):
    """runs: in natural order. skipped: what lies outside of all runs, with its path.

    complete: false when there are files whose content is still unknown
    dumps: folders of flight-recorder dumps, whether runs or not
    captures: what is in folders for the captures of runs
    """

    runs: tuple[RunFiles, ...]
    skipped: tuple[Skipped, ...]
    complete: bool = True
    dumps: tuple[DumpFolder, ...] = ()
    captures: tuple[RunFiles, ...] = ()


#: reasons that do not say what a file is
_SAYS_NOTHING = frozenset(("empty", "no_events_in_list", "no_trace_events", "not_json"))

#: what is known of the content of a file; None if nothing is
ContentOf = Callable[[Entry], Content | None]


def must_be_examined(entry: Entry) -> bool:
    """Return whether the content of a file decides if it is a trace."""
    file = _base(entry)
    return is_looked_at(file) and parse_name(file) is None


def discover(listings: Iterable[tuple[Root, Sequence[Entry]]], content_of: ContentOf) -> RunListing:
    """Find runs in listings. Files whose content is still unknown are left out."""
    runs: list[RunFiles] = []
    skipped: list[Skipped] = []
    dumps: list[DumpFolder] = []
    parents: dict[str, str] = {}
    for root, entries in listings:
        by_directory: defaultdict[str, list[Entry]] = defaultdict(list)
        for entry in entries:
            by_directory[_directory(entry)].append(entry)
        names, run_of = {run.name for run in runs}, dict[str, str]()
        # The log directory itself comes last: those below it have the older right to its name.
        for directory in sorted(by_directory, key=lambda d: (not d, natural_key(d))):
            traces, left = _traces(by_directory[directory], content_of)
            if traces:
                name = _run_name(root, directory, names)
                names.add(name)
                run_of[directory] = name
                runs.append(RunFiles(name, traces, left))
            else:
                prefix = "/".join(part for part in (root.name, directory) if part)
                skipped += [Skipped(f"{prefix}/{s.file}" if prefix else s.file, s.reason) for s in left]
        for directory, name in run_of.items():
            above, _, last = directory.rpartition("/")
            if is_capture_folder(last) and above in run_of:
                parents[name] = run_of[above]
        for directory, files in dumps_by_folder(by_directory, content_of, run_of).items():
            name = run_of.get(directory) or _run_name(root, directory, names)
            names.add(name)
            dumps.append(DumpFolder(name, tuple(files)))
    runs.sort(key=lambda run: natural_key(run.name))
    captures = tuple(replace(run, parent=parents[run.name]) for run in runs if run.name in parents)
    runs = [run for run in runs if run.name not in parents]
    return RunListing(tuple(runs), tuple(skipped), dumps=tuple(dumps), captures=captures)


def _directory(entry: Entry) -> str:
    """Return the directory whose run a file belongs to."""
    directory, _, file = entry.path.rpartition("/")
    above, _, last = directory.rpartition("/")
    return above if may_be_snapshot(file) and is_moment_folder(last) else directory


def _run_name(root: Root, directory: str, taken: set[str]) -> str:
    name = "/".join(part for part in (root.name, directory) if part) or base_name(root.url)
    if name in taken and not directory and not root.name:
        name = "."
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = f"{name} ({number})", number + 1
    return candidate


def _traces(entries: Iterable[Entry], content_of: ContentOf) -> tuple[tuple[TraceFile, ...], tuple[Skipped, ...]]:
    """Return the traces of one directory, and what else in it looks like one."""
    named: list[tuple[TraceName, Entry]] = []
    others: list[_Other] = []
    skipped: list[Skipped] = []
    snapshots: list[Entry] = []
    for entry in entries:
        file = _base(entry)
        name = parse_name(file)
        if name is not None:
            named.append((name, entry))
        elif is_looked_at(file):
            content = content_of(entry)
            if content is not None and content.reason is not None:
                if (reason := _why_no_trace(file, content.reason)) is not None:
                    skipped.append(Skipped(file, reason))
            elif content is not None and content.is_snapshot:
                snapshots.append(entry)
            elif content is not None:
                others.append(_Other(entry, guess(file), content.rank))
        elif reason := why_skipped(file):
            skipped.append(Skipped(file, reason))
    twins = _twins([entry for _, entry in named] + [other.entry for other in others])
    skipped += [Skipped(twin, _same_as(shown)) for twin, shown in twins.items()]
    by_worker: defaultdict[str, list[tuple[TraceName, Entry]]] = defaultdict(list)
    for name, entry in named:
        if _base(entry) not in twins:
            by_worker[name.worker].append((name, entry))
    others_by_worker = _by_worker([other for other in others if _base(other.entry) not in twins])
    traces: list[TraceFile] = []
    for worker in sorted(by_worker.keys() | others_by_worker.keys(), key=natural_key):
        spans = _spans(by_worker[worker])
        traces += [TraceFile(worker, span, entry, rank_in(worker)) for span, entry in spans]
        numbered = sum(1 for span, _ in spans if span != DEFAULT_SPAN)
        traces += _others(worker, others_by_worker.get(worker, []), numbered, alone=not spans)
    traces += [_snapshot(each) for each in named_snapshots(snapshots, {trace.worker for trace in traces})]
    return tuple(traces), tuple(sorted(skipped, key=lambda s: natural_key(s.file)))


def _why_no_trace(file: str, reason: Reason) -> Reason | None:
    """Return why a file that was looked at is no trace; None of one that nobody would take for one."""
    if reason.kind not in _SAYS_NOTHING:
        return reason
    return other_by_name(file) or why_skipped(file) or (reason if is_candidate(file) else None)


def _snapshot(found: Snapshot) -> TraceFile:
    return TraceFile(found.worker, found.span, found.entry, found.rank, "snapshot")


def _twins(entries: Iterable[Entry]) -> dict[str, str]:
    """Return files that are another packing of a recording that is there, and the one that is taken."""
    packings: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for entry in entries:
        file = _base(entry)
        name, packing = unpacked(file)
        packings[name].append((PACKINGS.index(packing), file))
    found: dict[str, str] = {}
    for files in packings.values():
        (_, shown), *rest = sorted(files)
        found.update((file, shown) for _, file in rest)
    return found


def _same_as(shown: str) -> Reason:
    return because("same_recording", {"shown": shown})


def _spans(files: list[tuple[TraceName, Entry]]) -> list[tuple[str, Entry]]:
    """Return the files of one worker with the names of their spans."""
    stamped = sorted((f for f in files if f[0].stamp), key=lambda f: (int(f[0].stamp), f[0].stamp, _base(f[1])))
    spans = [(str(number), entry) for number, (_, entry) in enumerate(stamped, start=1)]
    return spans + [(DEFAULT_SPAN, entry) for name, entry in files if not name.stamp]


class _Other(msgspec.Struct, frozen=True):
    """A trace whose name was given. rank: that of its header."""

    entry: Entry
    guess: Guess
    rank: int | None


def _by_worker(others: Sequence[_Other]) -> dict[str, list[_Other]]:
    names_of_rank: defaultdict[int, set[str]] = defaultdict(set)
    for other in others:
        if other.rank is not None and other.guess.worker:
            names_of_rank[other.rank].add(other.guess.worker)
    ranks_tell = all(len(names) == 1 for names in names_of_rank.values())
    found: defaultdict[str, list[_Other]] = defaultdict(list)
    for other in others:
        of_header = "" if other.rank is None else f"rank{other.rank}"
        of_name = other.guess.worker
        worker = (of_header or of_name) if ranks_tell else (of_name or of_header)
        found[worker or other.guess.rest].append(other)
    return found


def _others(worker: str, files: Sequence[_Other], numbered: int, alone: bool) -> list[TraceFile]:
    """Return the traces of one worker that torch did not name; `numbered` of those it named come before them."""

    def place(other: _Other) -> tuple[object, ...]:
        order = other.guess.order
        return order is None, order or (), natural_key(_base(other.entry))

    def trace(span: str, other: _Other) -> TraceFile:
        return TraceFile(worker, span, other.entry, other.guess.rank if other.rank is None else other.rank)

    if alone and len(files) == 1 and files[0].guess.order is None:
        return [trace(DEFAULT_SPAN, files[0])]
    return [trace(str(number), other) for number, other in enumerate(sorted(files, key=place), numbered + 1)]


def _base(entry: Entry) -> str:
    return entry.path.rpartition("/")[2]
