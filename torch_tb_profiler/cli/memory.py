"""`torch-tb-profiler memory`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from torch_tb_profiler.cli.messages import UserError, safe, tell

if TYPE_CHECKING:
    from torch_tb_profiler.analysis.snapshot.alive import AgainstRows, Side
    from torch_tb_profiler.cli.work.memory_text import SnapshotFacts
    from torch_tb_profiler.discovery import TraceFile
    from torch_tb_profiler.model import Model
    from torch_tb_profiler.snapshot.memory_timeline import MemoryTimeline
    from torch_tb_profiler.workspace.local_workspace import LocalTrace, LocalWorkspace

#: of files that export_memory_timeline may have written
_TIMELINE_ENDINGS = (".json", ".json.gz", ".json.zst", ".html", ".htm")


class MemoryCommand:
    """Summarize a memory snapshot: peaks, what was in use, and why memory ran out."""

    name = "memory"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "path", metavar="PATH", nargs="?", help="a memory snapshot, a trace, or a directory with one"
        )
        parser.add_argument(
            "--error", metavar="FILE", help="a file with the text of an OutOfMemoryError to explain; - reads stdin"
        )
        parser.add_argument("--run", help="which run of a log directory")
        parser.add_argument("--worker", help="which snapshot of the run (default: the first)")
        parser.add_argument("--span", help="which moment of the worker")
        parser.add_argument(
            "--device",
            type=int,
            help="number of the device (default: the one that ran out of memory, else the one with most records)",
        )
        parser.add_argument(
            "--at", metavar="MOMENT", help="list what is in use: start, peak, reserved_peak, oom, end, or a record"
        )
        parser.add_argument("--since", metavar="MOMENT", help="with --at: how much more is in use than at this moment")
        parser.add_argument("--against", metavar="PATH", help="another snapshot: how much more is in use than in it")
        parser.add_argument(
            "--by", choices=("line", "stack", "size", "module", "annotation"), default="line", help="what makes a row"
        )
        parser.add_argument("--ranks", action="store_true", help="compare all snapshots of the run side by side")
        parser.add_argument("--json", action="store_true", help="as JSON")
        parser.add_argument("--cache-dir", metavar="DIR", help="where snapshots are cached once they have been read")
        parser.epilog = (
            "Examples:\n  torch-tb-profiler memory snapshot.pickle --at peak\n"
            "  torch-tb-profiler memory snapshot.pickle --at end --since start --by module\n"
            "  torch-tb-profiler memory after.pickle --against before.pickle\n"
            "  torch-tb-profiler memory --error error.txt"
        )

    def run(self, arguments: argparse.Namespace) -> None:
        from torch_tb_profiler.workspace import process

        process.configure_logging()
        if arguments.error is not None:
            print(_of_text(arguments.error))
            return
        if arguments.path is None:
            raise UserError("a PATH, or --error, is needed")
        if arguments.since is not None and arguments.at is None and arguments.against is None:
            raise UserError("--since needs --at, the moment to compare with")
        if (timeline := _timeline(Path(arguments.path))) is not None:
            from torch_tb_profiler.cli.work.memory_text import timeline_text

            print(timeline_text(timeline))
            return
        print(_of_path(arguments))


def _of_path(arguments: argparse.Namespace) -> str:
    """Answer about the snapshots of a path, else about its traces. Raises UserError, Unavailable and Refused."""
    from torch_tb_profiler.arrays.types import dumps_indented
    from torch_tb_profiler.cli.work.memory_text import as_json, as_text
    from torch_tb_profiler.cli.work.traces import chosen_run, chosen_traces, listed_traces
    from torch_tb_profiler.workspace.local_workspace import LocalTrace, LocalWorkspace

    run = chosen_run(arguments.path, arguments.run)
    files = chosen_traces(run, [arguments.worker] if arguments.worker is not None else [], arguments.span)
    workspace = LocalWorkspace(arguments.cache_dir, is_alone=True)
    snapshots = [file for file in files if file.kind == "snapshot"]
    if not snapshots:
        return _of_traces(workspace, files, arguments.path)
    if len(snapshots) > 1 and arguments.ranks:
        return _side_by_side(workspace, snapshots, arguments.json)
    if len(snapshots) > 1:
        told = f"using the first of {len(snapshots)} snapshots; --worker and --span choose others, --ranks shows all"
        tell(f"{told}: {listed_traces(snapshots)}")
    other = None if arguments.against is None else LocalTrace(workspace, _other(arguments))
    facts = LocalTrace(workspace, snapshots[0]).ask(lambda model: _facts(model, arguments, other))
    for note in facts.notes:
        if note.severity != "info":
            tell(f"{note.severity}: {note.text}")
    return dumps_indented(as_json(facts)) if arguments.json else as_text(facts)


def _facts(model: Model, arguments: argparse.Namespace, other: LocalTrace | None) -> SnapshotFacts:
    """Return what was asked of a snapshot. other: the one that it is compared with."""
    from torch_tb_profiler.analysis.health.notes import troubles
    from torch_tb_profiler.analysis.snapshot.alive import alive_rows
    from torch_tb_profiler.analysis.snapshot.frames import stack_names
    from torch_tb_profiler.analysis.snapshot.history import device_history, position_of
    from torch_tb_profiler.analysis.snapshot.summary import memory_snapshot
    from torch_tb_profiler.cli.work.memory_text import SnapshotFacts

    history, names = device_history(model, _chosen_device(model, arguments.device)), stack_names(model)
    rows, more = None, None
    if other is not None:
        own = history, names, position_of(history, arguments.at or "peak")
        more = other.ask(lambda theirs: _against(theirs, own, arguments))
    elif arguments.at is not None:
        since = None if arguments.since is None else position_of(history, arguments.since)
        rows = alive_rows(history, names, position_of(history, arguments.at), arguments.by, since)
    is_compared, number = arguments.since is not None, history.device.number
    return SnapshotFacts(memory_snapshot(model), number, rows, more, is_compared, troubles(model))


def _side_by_side(workspace: LocalWorkspace, files: Sequence[TraceFile], as_json: bool) -> str:
    """Return ranks or moments, the one furthest from the median first."""
    from torch_tb_profiler.analysis.question import Refused
    from torch_tb_profiler.analysis.snapshot.ranks import rank_rows, snapshot_figures
    from torch_tb_profiler.cli.work.memory_text import ranks_as_json, ranks_as_text
    from torch_tb_profiler.workspace import Unavailable
    from torch_tb_profiler.workspace.local_workspace import LocalTrace

    read, figures = [], []
    for file in files:
        try:
            figures.append(LocalTrace(workspace, file).ask(snapshot_figures))
        except (Unavailable, Refused) as error:
            tell(f"{file.worker} (span {file.span}) was left out: {error}")
            continue
        read.append(file)
    rows = rank_rows(figures)
    return (ranks_as_json if as_json else ranks_as_text)(rows, [read[place] for place in rows.place.tolist()])


def _other(arguments: argparse.Namespace) -> TraceFile:
    """Return the first snapshot of the path that is compared with."""
    from torch_tb_profiler.cli.work.traces import chosen_run, chosen_traces, listed_traces

    files = chosen_traces(chosen_run(arguments.against, None), [], None)
    snapshots = [file for file in files if file.kind == "snapshot"]
    if not snapshots:
        raise UserError(f"{arguments.against} contains no memory snapshot, only {listed_traces(files)}")
    return snapshots[0]


def _against(theirs: Model, side: Side, arguments: argparse.Namespace) -> AgainstRows:
    from torch_tb_profiler.analysis.snapshot.alive import against
    from torch_tb_profiler.analysis.snapshot.frames import stack_names
    from torch_tb_profiler.analysis.snapshot.history import device_history, position_of

    history = device_history(theirs, _chosen_device(theirs, arguments.device))
    wanted = arguments.since or arguments.at or "peak"
    return against((history, stack_names(theirs), position_of(history, wanted)), side, arguments.by)


def _chosen_device(model: Model, named: int | None) -> int | None:
    """Return the named device, else that of the failed allocation in question; None for the first."""
    from torch_tb_profiler.analysis.snapshot.summary import memory_snapshot

    ooms = memory_snapshot(model).ooms
    return ooms[-1].device if named is None and ooms else named


def _of_text(file: str) -> str:
    from torch_tb_profiler.analysis.memory.failures import failure_of_text

    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text("utf-8", "replace")
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error}") from None
    found = failure_of_text(text)
    if found is None:
        raise UserError("this is not the text of an OutOfMemoryError: it does not say how much was requested")
    return safe(found.text)


def _timeline(path: Path) -> MemoryTimeline | None:
    """Read what export_memory_timeline wrote; None for other files."""
    from torch_tb_profiler.discovery.content import picture
    from torch_tb_profiler.snapshot.memory_timeline import MemoryTimelineError, read_memory_timeline
    from torch_tb_profiler.trace import Limits
    from torch_tb_profiler.workspace.listing.sniff import examine_stream

    if not path.name.lower().endswith(_TIMELINE_ENDINGS) or not path.is_file():
        return None
    with path.open("rb") as stream:
        reason = examine_stream(stream).reason
        if reason == picture():
            raise UserError(f"{path} {reason}")
        if reason is None or reason.kind != "numbers":
            return None
        stream.seek(0)
        try:
            return read_memory_timeline(stream, Limits())
        except MemoryTimelineError as error:
            raise UserError(f"{path} {error}") from None


def _of_traces(workspace: LocalWorkspace, files: Sequence[TraceFile], path: str) -> str:
    """Failed allocations that traces recorded."""
    from torch_tb_profiler.analysis.memory.failures import failures
    from torch_tb_profiler.analysis.question import Refused
    from torch_tb_profiler.cli.work.traces import listed_traces
    from torch_tb_profiler.workspace import Unavailable
    from torch_tb_profiler.workspace.local_workspace import LocalTrace

    lines = []
    for file in files:
        try:
            found = LocalTrace(workspace, file).ask(failures)
        except (Unavailable, Refused):  # no trace that could tell of a failed allocation
            continue
        lines += [f"{file.worker}: {each.text}" for each in found]
    if not lines:
        raise UserError(f"{path} contains no memory snapshot and no failed allocation, only {listed_traces(files)}")
    return "\n".join(map(safe, lines))
