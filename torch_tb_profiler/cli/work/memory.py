"""What `torch-tb-profiler memory` does."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.memory.failures import failure_of_text, failures, said_of_failure
from torch_tb_profiler.analysis.question import Refused
from torch_tb_profiler.analysis.shared.byte_text import size
from torch_tb_profiler.analysis.snapshot.alive import AliveRows, alive_rows
from torch_tb_profiler.analysis.snapshot.frames import stack_names
from torch_tb_profiler.analysis.snapshot.moments import device_history, position_of
from torch_tb_profiler.analysis.snapshot.sentences import answer, said_of_device, said_of_finding, said_of_oom
from torch_tb_profiler.analysis.snapshot.summary import MemorySnapshot, memory_snapshot
from torch_tb_profiler.cli.chosen import chosen_run, chosen_traces, listed_traces
from torch_tb_profiler.cli.errors import UserError
from torch_tb_profiler.cli.saying import safe, tell
from torch_tb_profiler.discovery import TraceFile
from torch_tb_profiler.discovery.content import NUMBERS
from torch_tb_profiler.model import Model
from torch_tb_profiler.snapshot.memory_timeline import (
    CATEGORIES,
    MemoryTimeline,
    MemoryTimelineError,
    read_memory_timeline,
)
from torch_tb_profiler.snapshot.state import is_snapshot
from torch_tb_profiler.trace import Limits
from torch_tb_profiler.workspace import Unavailable, logs
from torch_tb_profiler.workspace.heads import examine_stream
from torch_tb_profiler.workspace.local_workspace import LocalTrace, LocalWorkspace

_MOST_ROWS = 20


def run(arguments: argparse.Namespace) -> None:
    logs.configure()
    if arguments.error is not None:
        print(_of_text(arguments.error))
        return
    if arguments.path is None:
        raise UserError("a PATH, or --error, is needed")
    if (timeline := _timeline(Path(arguments.path))) is not None:
        print(_of_timeline(timeline))
        return
    run = chosen_run(arguments.path, arguments.run)
    files = chosen_traces(run, [arguments.worker] if arguments.worker is not None else [], arguments.span)
    snapshots = [file for file in files if file.kind == "snapshot"]
    if not snapshots:
        print(_of_traces(LocalWorkspace(arguments.cache_dir), files, arguments.path))
        return
    if len(snapshots) > 1:
        told = f"the first of {len(snapshots)} snapshots; --worker and --span choose others"
        tell(f"{told}: {listed_traces(snapshots)}")
    trace = LocalTrace(LocalWorkspace(arguments.cache_dir), snapshots[0])

    def ask(model: Model) -> tuple[MemorySnapshot, AliveRows | None]:
        if not is_snapshot(model.trace):
            raise UserError(f"{arguments.path} is no memory snapshot")
        history = device_history(model, arguments.device)
        rows = None
        if arguments.at is not None:
            position = position_of(history, arguments.at)
            rows = alive_rows(history, stack_names(model), position, "line")
        return memory_snapshot(model), rows

    try:
        found, rows = trace.ask(ask)
    except (Unavailable, Refused) as error:
        raise UserError(str(error)) from None
    if arguments.json:
        print(msgspec.json.format(msgspec.json.encode(as_json(found, rows, arguments.device))).decode())
    else:
        print(_as_text(found, rows))


def _of_text(file: str) -> str:
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text("utf-8", "replace")
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error}") from None
    found = failure_of_text(text)
    if found is None:
        raise UserError("this is no text of an OutOfMemoryError: it does not say how much was asked for")
    return safe(said_of_failure(found))


def _timeline(path: Path) -> MemoryTimeline | None:
    """What export_memory_timeline wrote; None of everything else."""
    if not path.name.endswith((".json", ".json.gz")) or not path.is_file():
        return None
    with path.open("rb") as stream:
        if examine_stream(stream).reason != NUMBERS:
            return None
        stream.seek(0)
        try:
            return read_memory_timeline(stream, Limits())
        except MemoryTimelineError as error:
            raise UserError(f"{path} {error}") from None


def _of_timeline(found: MemoryTimeline) -> str:
    at = found.bytes[found.peak]
    after = (int(found.time_ns[found.peak]) - int(found.time_ns[0])) / 1e6
    lines = [f"At most {size(int(at.sum()))} were in use, {after:.3f} ms after the first record:"]
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
        lines += [f"{file.worker}: {said_of_failure(each)}" for each in found]
    if not lines:
        raise UserError(f"{path} holds no memory snapshot and no failed allocation, only {listed_traces(files)}")
    return "\n".join(map(safe, lines))


def as_json(found: MemorySnapshot, rows: AliveRows | None, number: int | None = None) -> dict[str, Any]:
    """The numbers of one device; `oom` is its last failed allocation."""
    device = next(each for each in found.devices if number in (None, each.device))
    oom = next((each for each in reversed(found.ooms) if each.device == device.device), None)
    answered: dict[str, Any] = {
        "answer": answer(found),
        "device": device.device,
        "peak_requested": device.peak_requested,
        "peak_allocated": device.peak_allocated,
        "allocated_exact": device.allocated_exact,
        "start_requested": device.start_requested,
        "reserved": device.reserved,
        "allocated": device.allocated,
        "requested": device.requested,
        "largest_free": device.largest_free,
        "segments": device.segments,
        "blocks": device.blocks,
        "entries": device.entries,
        "contradictions": found.contradictions,
        "cut_off": found.cut_off,
        "oom": None
        if oom is None
        else {
            "requested": oom.requested,
            "free": oom.free,
            "pieces": oom.pieces,
            "largest": oom.largest,
            "reason": oom.reason,
            "holders": oom.holders,
        },
        "leak_per_step": device.growth.per_step,
        "findings": [each for each in found.findings if each.device == device.device],
    }
    if rows is not None:
        columns = ("line", "blocks", "bytes", "block_bytes")
        answered["alive"] = [
            dict(zip(columns, row, strict=True))
            for row in zip(rows.line, rows.blocks.tolist(), rows.bytes.tolist(), rows.block_bytes.tolist(), strict=True)
        ]
    return answered


def _as_text(found: MemorySnapshot, rows: AliveRows | None) -> str:
    lines = [answer(found)]
    for device in found.devices:
        lines += ["", f"GPU{device.device}: {said_of_device(device)}"]
        lines += [
            f"  {size(pool.reserved)} reserved, {size(pool.free)} free: {pool.pool} pool, stream {pool.stream}, "
            f"{'small' if pool.is_small else 'large'} blocks"
            for pool in device.pools
        ]
    lines += [f"  {said_of_oom(oom)}" for oom in found.ooms[:-1]]
    lines += ["", *map(said_of_finding, found.findings)] if found.findings else []
    if found.contradictions:
        lines.append(f"{found.contradictions} contradictions in the file")
    if rows is not None:
        lines += ["", "In use:"]
        lines += [
            f"  {size(bytes_):>12}  {blocks:>6} × {line}"
            for bytes_, blocks, line in list(zip(rows.bytes.tolist(), rows.blocks.tolist(), rows.line, strict=True))[
                :_MOST_ROWS
            ]
        ]
    return "\n".join(map(safe, lines))
