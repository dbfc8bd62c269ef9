"""What `torch-tb-profiler memory` does."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import plain
from torch_tb_profiler.analysis.health import troubles
from torch_tb_profiler.analysis.memory.failures import failure_of_text, failures
from torch_tb_profiler.analysis.question import Refused
from torch_tb_profiler.analysis.snapshot.against import AgainstRows, Side, against
from torch_tb_profiler.analysis.snapshot.alive import AliveRows, alive_rows
from torch_tb_profiler.analysis.snapshot.frames import stack_names
from torch_tb_profiler.analysis.snapshot.moments import device_history, position_of
from torch_tb_profiler.analysis.snapshot.ranks import RankRows, rank_rows, snapshot_figures
from torch_tb_profiler.analysis.snapshot.summary import MemorySnapshot, SnapshotDevice, memory_snapshot
from torch_tb_profiler.cli.chosen import chosen_run, chosen_traces, listed_traces
from torch_tb_profiler.cli.errors import UserError
from torch_tb_profiler.cli.saying import safe, tell
from torch_tb_profiler.discovery import TraceFile
from torch_tb_profiler.discovery.content import picture
from torch_tb_profiler.model import Model
from torch_tb_profiler.snapshot.memory_timeline import (
    CATEGORIES,
    MemoryTimeline,
    MemoryTimelineError,
    read_memory_timeline,
)
from torch_tb_profiler.trace import Limits, Note
from torch_tb_profiler.words.memory import memory_text
from torch_tb_profiler.words.numbers import size
from torch_tb_profiler.workspace import Unavailable, logs
from torch_tb_profiler.workspace.heads import examine_stream
from torch_tb_profiler.workspace.local_workspace import LocalTrace, LocalWorkspace

_MOST_ROWS = 20
#: of what export_memory_timeline may have written
_TIMELINE_ENDINGS = (".json", ".json.gz", ".json.zst", ".html", ".htm")


def run(arguments: argparse.Namespace) -> None:
    logs.configure()
    if arguments.error is not None:
        print(_of_text(arguments.error))
        return
    if arguments.path is None:
        raise UserError("a PATH, or --error, is needed")
    if arguments.since is not None and arguments.at is None and arguments.against is None:
        raise UserError("--since needs --at, the moment to compare with")
    if (timeline := _timeline(Path(arguments.path))) is not None:
        print(_of_timeline(timeline))
        return
    files = _files(arguments)
    workspace = LocalWorkspace(arguments.cache_dir, is_alone=True)
    snapshots = [file for file in files if file.kind == "snapshot"]
    if not snapshots:
        print(_of_traces(workspace, files, arguments.path))
        return
    if len(snapshots) > 1 and arguments.ranks:
        print(_side_by_side(workspace, snapshots, arguments.json))
        return
    if len(snapshots) > 1:
        told = f"using the first of {len(snapshots)} snapshots; --worker and --span choose others, --ranks shows all"
        tell(f"{told}: {listed_traces(snapshots)}")
    other = None if arguments.against is None else LocalTrace(workspace, _other(arguments))

    def ask(model: Model) -> _Found:
        moment = arguments.at
        device = _chosen_device(model, arguments.device)
        history, names = device_history(model, device), stack_names(model)
        rows, more = None, None
        if other is not None:
            own = history, names, position_of(history, moment or "peak")
            more = other.ask(lambda theirs: _against(theirs, own, arguments))
        elif moment is not None:
            since = None if arguments.since is None else position_of(history, arguments.since)
            rows = alive_rows(history, names, position_of(history, moment), arguments.by, since)
        number = history.device.number
        return _Found(memory_snapshot(model), number, rows, more, arguments.since is not None, troubles(model))

    try:
        found = LocalTrace(workspace, snapshots[0]).ask(ask)
    except (Unavailable, Refused) as error:
        raise UserError(str(error)) from None
    for note in found.notes:
        if note.severity != "info":
            tell(f"{note.severity}: {note.text}")
    if arguments.json:
        print(msgspec.json.format(msgspec.json.encode(as_json(found))).decode())
    else:
        print(_as_text(found))


def _side_by_side(workspace: LocalWorkspace, files: Sequence[TraceFile], as_json: bool) -> str:
    """Ranks or moments, what is furthest from the median first."""
    read, figures = [], []
    for file in files:
        try:
            figures.append(LocalTrace(workspace, file).ask(snapshot_figures))
        except (Unavailable, Refused) as error:
            tell(f"{file.worker} (span {file.span}) was left out: {error}")
            continue
        read.append(file)
    rows = rank_rows(figures)
    chosen = [read[place] for place in rows.place.tolist()]
    if as_json:
        keys = ("peak_requested", "difference", "peak_reserved", "requested", "ooms", "line", "line_bytes")
        names = [{"worker": file.worker, "span": file.span} for file in chosen]
        found = [name | row for name, row in zip(names, _listed(rows, keys), strict=True)]
        return msgspec.json.format(msgspec.json.encode({"snapshots": found})).decode()
    lines = []
    for at, file in enumerate(chosen):
        differs = int(rows.difference[at])
        peak, reserved = int(rows.peak_requested[at]), int(rows.peak_reserved[at])
        known = f"at most {size(peak)} requested" if peak >= 0 else f"{size(int(rows.requested[at]))} in use at the end"
        line = f"{file.worker} (span {file.span}): {known}"
        line += f" ({signed(differs)} to the median)" if differs else " (the median)"
        line += f", {size(reserved)} reserved" if reserved >= 0 else ", peak not known"
        line += ", out of memory" if rows.ooms[at] else ""
        line += f"; {signed(int(rows.line_bytes[at]))} at {rows.line[at]}" if rows.line[at] else ""
        lines.append(line)
    return "\n".join(map(safe, lines))


class _Found(msgspec.Struct, frozen=True):
    """What was asked of a snapshot: rows of what is in use, or more of what than in another snapshot.

    device: number of the device that was chosen
    """

    snapshot: MemorySnapshot
    device: int
    rows: AliveRows | None
    more: AgainstRows | None
    is_compared: bool
    notes: Sequence[Note]


def _files(arguments: argparse.Namespace) -> list[TraceFile]:
    run = chosen_run(arguments.path, arguments.run)
    return chosen_traces(run, [arguments.worker] if arguments.worker is not None else [], arguments.span)


def _other(arguments: argparse.Namespace) -> TraceFile:
    """The first snapshot of the path that is compared with."""
    files = chosen_traces(chosen_run(arguments.against, None), [], None)
    snapshots = [file for file in files if file.kind == "snapshot"]
    if not snapshots:
        raise UserError(f"{arguments.against} contains no memory snapshot, only {listed_traces(files)}")
    return snapshots[0]


def _against(theirs: Model, own: Side, arguments: argparse.Namespace) -> AgainstRows:
    history = device_history(theirs, _chosen_device(theirs, arguments.device))
    wanted = arguments.since or arguments.at or "peak"
    return against((history, stack_names(theirs), position_of(history, wanted)), own, arguments.by)


def _chosen_device(model: Model, named: int | None) -> int | None:
    """The device that is named, else that of the failed allocation that the answer is about; None for the first."""
    ooms = memory_snapshot(model).ooms
    return ooms[-1].device if named is None and ooms else named


def _of_text(file: str) -> str:
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text("utf-8", "replace")
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error}") from None
    found = failure_of_text(text)
    if found is None:
        raise UserError("this is not the text of an OutOfMemoryError: it does not say how much was requested")
    return safe(found.text)


def _timeline(path: Path) -> MemoryTimeline | None:
    """What export_memory_timeline wrote; None of everything else."""
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


def _of_timeline(found: MemoryTimeline) -> str:
    at = found.bytes[found.peak]
    after = (int(found.time_ns[found.peak]) - int(found.time_ns[0])) / 1e6
    lines = [f"At most {size(int(at.sum()))} was in use, {after:.3f} ms after the first record:"]
    largest = [place for place in np.argsort(-at, kind="stable").tolist() if at[place]]
    lines += [f"  {size(int(at[place])):>12}  {CATEGORIES[place]}" for place in largest]
    return "\n".join(map(safe, lines))


def _of_traces(workspace: LocalWorkspace, files: Sequence[TraceFile], path: str) -> str:
    """Failed allocations that traces recorded."""
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


def as_json(whole: _Found) -> dict[str, Any]:
    """The numbers of the chosen device, and of every device."""
    found, rows, more = whole.snapshot, whole.rows, whole.more
    devices = [_device(found, each) for each in found.devices]
    answered: dict[str, Any] = {
        "answer": found.text,
        **next(each for each in devices if each["device"] == whole.device),
        "contradictions": found.contradictions,
        "cut_off": found.cut_off,
        "devices": devices,
    }
    if rows is not None:
        group = ("group",) if any(rows.group) else ()
        compared = ("difference",) if whole.is_compared else ()
        answered["alive"] = _listed(rows, (*group, "line", "blocks", "bytes", "block_bytes", *compared))
    if more is not None:
        answered["against"] = _listed(more, ("name", "blocks_before", "blocks", "bytes_before", "bytes", "difference"))
    return answered


def _device(found: MemorySnapshot, of: SnapshotDevice) -> dict[str, Any]:
    """`oom` is the last failed allocation of the device."""
    oom = next((each for each in reversed(found.ooms) if each.device == of.device), None)
    keys = ("requested", "free", "pieces", "largest", "reason", "holders")
    return {
        "device": of.device,
        "peak_requested": of.peak_requested,
        "peak_allocated": of.peak_allocated,
        "allocated_exact": of.allocated_exact,
        "start_requested": of.start_requested,
        "reserved": of.reserved,
        "allocated": of.allocated,
        "requested": of.requested,
        "largest_free": of.largest_free,
        "segments": of.segments,
        "blocks": of.blocks,
        "entries": of.entries,
        "oom": None if oom is None else {key: getattr(oom, key) for key in keys},
        "inferred_oom": of.inferred_oom,
        "leak_per_step": of.growth.per_step,
        "findings": [each for each in found.findings if each.device == of.device],
    }


def _listed(rows: AliveRows | AgainstRows | RankRows, keys: Sequence[str]) -> list[dict[str, Any]]:
    values = rows.as_grid().values
    columns = [plain(values[key]) for key in keys]
    return [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]


def _as_text(whole: _Found) -> str:
    found, rows, more = whole.snapshot, whole.rows, whole.more
    lines = [found.text]
    for device in found.devices:
        lines += ["", f"GPU{device.device}: {device.text}"]
        lines += [f"  {memory_text('inferred_oom', device.inferred_oom)}"] if device.inferred_oom else []
        lines += [
            f"  {size(pool.reserved)} reserved, {size(pool.free)} free: {pool.pool} pool, stream {pool.stream}, "
            f"{'small' if pool.is_small else 'large'} blocks"
            for pool in device.pools
        ]
    lines += [f"  {memory_text('oom', oom)}" for oom in found.ooms[:-1]]
    lines += ["", *(memory_text(finding.id, finding) for finding in found.findings)] if found.findings else []
    if found.contradictions:
        lines.append(f"{found.contradictions} contradictions in the file")
    if rows is not None:
        names = rows.group if any(rows.group) else rows.line
        shown = rows.difference if whole.is_compared else rows.bytes
        lines += ["", "More in use:" if whole.is_compared else "In use:"]
        lines += _rows(zip(shown.tolist(), rows.blocks.tolist(), names, strict=True), whole.is_compared)
    if more is not None:
        count = (more.blocks - more.blocks_before).tolist()
        lines += ["", f"More in use than in the other snapshot ({signed(int(more.difference.sum()))} together):"]
        lines += _rows(zip(more.difference.tolist(), count, more.name, strict=True), True)
    return "\n".join(map(safe, lines))


def _rows(rows: Iterable[tuple[int, int, str]], is_difference: bool) -> list[str]:
    """Bytes, how many allocations, what; of differences only those that there are."""
    shown = [row for row in rows if row[0] or not is_difference]
    text = signed if is_difference else size
    lines = [f"  {text(bytes_):>12}  {blocks:>6} × {name}" for bytes_, blocks, name in shown[:_MOST_ROWS]]
    rest = len(shown) - len(lines)
    return [*lines, *([f"  … and {rest} more"] if rest else [])]


def signed(bytes_: int) -> str:
    """`+3 MiB`"""
    return f"{'−' if bytes_ < 0 else '+'}{size(abs(bytes_))}"
