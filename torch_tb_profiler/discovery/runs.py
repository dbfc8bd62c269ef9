"""Runs: the directories that hold traces.

The rules
    run     a directory that directly holds a trace; it is called by its path below the log directory. The log
            directory itself is called by its own name, or `.` when a directory below it has that name.
    worker  the text before the number and the ending of the file name.
    span    the files of one worker, numbered from 1 in the order of the numbers in their names; `default` for
            a file without a number.
    twins   `x.pt.trace.json` beside `x.pt.trace.json.gz` is one recording: while a file is being compressed
            the plain one is the complete one, so that is taken.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from torch_tb_profiler.discovery.names import TraceName, natural_key, parse_name, why_skipped
from torch_tb_profiler.discovery.roots import Root, base_name
from torch_tb_profiler.storage import Entry

DEFAULT_SPAN = "default"


@dataclass(frozen=True)
class TraceFile:
    """One trace: the names it goes by and the file it is in."""

    worker: str
    span: str
    entry: Entry


@dataclass(frozen=True)
class Skipped:
    """A file or directory that was not taken, and why."""

    file: str
    reason: str


@dataclass(frozen=True)
class Run:
    """traces: by worker, then span. skipped: files of the same directory."""

    name: str
    traces: tuple[TraceFile, ...]
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True)
class Found:
    """runs: in natural order. skipped: what lies outside of all runs, with its path."""

    runs: tuple[Run, ...]
    skipped: tuple[Skipped, ...]


def discover(listings: Iterable[tuple[Root, Sequence[Entry]]]) -> Found:
    runs: list[Run] = []
    skipped: list[Skipped] = []
    for root, entries in listings:
        by_directory: defaultdict[str, list[Entry]] = defaultdict(list)
        for entry in entries:
            by_directory[entry.path.rpartition("/")[0]].append(entry)
        names = {run.name for run in runs}
        # The log directory itself comes last: those below it have the older right to its name.
        for directory in sorted(by_directory, key=lambda d: (not d, natural_key(d))):
            traces, left = _traces(by_directory[directory])
            if traces:
                name = _run_name(root, directory, names)
                names.add(name)
                runs.append(Run(name, traces, left))
            else:
                prefix = "/".join(part for part in (root.name, directory) if part)
                skipped += [Skipped(f"{prefix}/{s.file}" if prefix else s.file, s.reason) for s in left]
    runs.sort(key=lambda run: natural_key(run.name))
    return Found(tuple(runs), tuple(skipped))


def _run_name(root: Root, directory: str, taken: set[str]) -> str:
    name = "/".join(part for part in (root.name, directory) if part) or base_name(root.url)
    if name in taken and not directory and not root.name:
        name = "."
    candidate, number = name, 2
    while candidate in taken:
        candidate, number = f"{name} ({number})", number + 1
    return candidate


def _traces(entries: Iterable[Entry]) -> tuple[tuple[TraceFile, ...], tuple[Skipped, ...]]:
    """The traces of one directory, and what else in it looks like one."""
    named: list[tuple[TraceName, Entry]] = []
    skipped: list[Skipped] = []
    for entry in entries:
        file = entry.path.rpartition("/")[2]
        name = parse_name(file)
        if name is not None:
            named.append((name, entry))
        elif reason := why_skipped(file):
            skipped.append(Skipped(file, reason))
    plain = {(name.worker, name.stamp) for name, _ in named if not name.compressed}
    by_worker: defaultdict[str, list[tuple[TraceName, Entry]]] = defaultdict(list)
    for name, entry in named:
        if name.compressed and (name.worker, name.stamp) in plain:
            file = entry.path.rpartition("/")[2]
            skipped.append(Skipped(file, f"is the same recording as {file[: -len('.gz')]}, which is shown"))
        else:
            by_worker[name.worker].append((name, entry))
    traces = [
        TraceFile(worker, span, entry)
        for worker in sorted(by_worker, key=natural_key)
        for span, entry in _spans(by_worker[worker])
    ]
    return tuple(traces), tuple(sorted(skipped, key=lambda s: natural_key(s.file)))


def _spans(files: list[tuple[TraceName, Entry]]) -> list[tuple[str, Entry]]:
    """The files of one worker with the names of their spans."""
    stamped = sorted((f for f in files if f[0].stamp), key=lambda f: (int(f[0].stamp), f[0].stamp))
    spans = [(str(number), entry) for number, (_, entry) in enumerate(stamped, start=1)]
    return spans + [(DEFAULT_SPAN, entry) for name, entry in files if not name.stamp]
