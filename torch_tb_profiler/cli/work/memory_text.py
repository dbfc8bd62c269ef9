"""Memory snapshots as text for people, and as the JSON of `torch-tb-profiler memory`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import plain
from torch_tb_profiler.analysis.snapshot.alive import AgainstRows, AliveRows
from torch_tb_profiler.analysis.snapshot.ranks import RankRows
from torch_tb_profiler.analysis.snapshot.summary import MemorySnapshot, SnapshotDevice
from torch_tb_profiler.arrays.types import dumps_indented
from torch_tb_profiler.cli.messages import safe
from torch_tb_profiler.discovery import TraceFile
from torch_tb_profiler.snapshot.memory_timeline import CATEGORIES, MemoryTimeline
from torch_tb_profiler.trace import Note
from torch_tb_profiler.words.formats import size
from torch_tb_profiler.words.sentences import memory_text

_MOST_ROWS = 20


class SnapshotFacts(msgspec.Struct, frozen=True):
    """The answer about a snapshot: rows of what is in use, or how that differs from another snapshot.

    device: number of the device that was chosen
    """

    snapshot: MemorySnapshot
    device: int
    rows: AliveRows | None
    more: AgainstRows | None
    is_compared: bool
    notes: Sequence[Note]


def ranks_as_json(rows: RankRows, files: Sequence[TraceFile]) -> str:
    """Return some snapshots beside each other, as JSON."""
    keys = ("peak_requested", "difference", "peak_reserved", "requested", "ooms", "line", "line_bytes")
    names = [{"worker": file.worker, "span": file.span} for file in files]
    return dumps_indented({"snapshots": [name | row for name, row in zip(names, _listed(rows, keys), strict=True)]})


def ranks_as_text(rows: RankRows, files: Sequence[TraceFile]) -> str:
    """Return a line for each of them."""
    lines = []
    for at, file in enumerate(files):
        differs = int(rows.difference[at])
        peak, reserved = int(rows.peak_requested[at]), int(rows.peak_reserved[at])
        known = f"at most {size(peak)} requested" if peak >= 0 else f"{size(int(rows.requested[at]))} in use at the end"
        line = f"{file.worker} (span {file.span}): {known}"
        line += f" ({signed(differs)} to the median)" if differs else " (the median)"
        line += f", {size(reserved)} reserved" if reserved >= 0 else ", peak unknown"
        line += ", out of memory" if rows.ooms[at] else ""
        line += f"; {signed(int(rows.line_bytes[at]))} at {rows.line[at]}" if rows.line[at] else ""
        lines.append(line)
    return "\n".join(map(safe, lines))


def timeline_text(found: MemoryTimeline) -> str:
    """Return what was in use at most, by category."""
    at = found.bytes[found.peak]
    after = (int(found.time_ns[found.peak]) - int(found.time_ns[0])) / 1e6
    lines = [f"At most {size(int(at.sum()))} was in use, {after:.3f} ms after the first record:"]
    largest = [place for place in np.argsort(-at, kind="stable").tolist() if at[place]]
    lines += [f"  {size(int(at[place])):>12}  {CATEGORIES[place]}" for place in largest]
    return "\n".join(map(safe, lines))


def as_json(whole: SnapshotFacts) -> dict[str, Any]:
    """Return the numbers of the chosen device, and of every device."""
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


def _device(counts: MemorySnapshot, device: SnapshotDevice) -> dict[str, Any]:
    """`oom` is the last failed allocation of the device."""
    oom = next((failure for failure in reversed(counts.ooms) if failure.device == device.device), None)
    keys = ("requested", "free", "pieces", "largest", "reason", "holders")
    return {
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
        "oom": None if oom is None else {key: getattr(oom, key) for key in keys},
        "inferred_oom": device.inferred_oom,
        "leak_per_step": device.growth.per_step,
        "findings": [failure for failure in counts.findings if failure.device == device.device],
    }


def _listed(rows: AliveRows | AgainstRows | RankRows, keys: Sequence[str]) -> list[dict[str, Any]]:
    values = rows.as_grid().values
    columns = [plain(values[key]) for key in keys]
    return [dict(zip(keys, row, strict=True)) for row in zip(*columns, strict=True)]


def as_text(whole: SnapshotFacts) -> str:
    """Return the same as text."""
    facts, rows, more = whole.snapshot, whole.rows, whole.more
    lines = [facts.text]
    for device in facts.devices:
        lines += ["", f"GPU{device.device}: {device.text}"]
        lines += [f"  {memory_text('inferred_oom', device.inferred_oom)}"] if device.inferred_oom else []
        lines += [
            f"  {size(pool.reserved)} reserved, {size(pool.free)} free: {pool.pool} pool, stream {pool.stream}, "
            f"{'small' if pool.is_small else 'large'} blocks"
            for pool in device.pools
        ]
    lines += [f"  {memory_text('oom', oom)}" for oom in facts.ooms[:-1]]
    lines += ["", *(memory_text(finding.id, finding) for finding in facts.findings)] if facts.findings else []
    if facts.contradictions:
        lines.append(f"{facts.contradictions} contradictions in the file")
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
    """List bytes, number of allocations and names; of differences only those that there are."""
    shown = [row for row in rows if row[0] or not is_difference]
    text = signed if is_difference else size
    lines = [f"  {text(bytes_):>12}  {blocks:>6} × {name}" for bytes_, blocks, name in shown[:_MOST_ROWS]]
    rest = len(shown) - len(lines)
    return [*lines, *([f"  … and {rest} more"] if rest else [])]


def signed(bytes_: int) -> str:
    """`+3 MiB`"""
    return f"{'−' if bytes_ < 0 else '+'}{size(abs(bytes_))}"
