"""An unpickled snapshot → its tables: segments, blocks, annotations; and notes on contradictions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from torch_tb_profiler.snapshot.records import Columns, is_integer, is_time, pool_of, readable
from torch_tb_profiler.snapshot.schema import (
    NO_TIME,
    Annotations,
    BlockState,
    Contexts,
    Records,
    SnapshotBlocks,
    SnapshotSegments,
)
from torch_tb_profiler.snapshot.unpickle_stream import UnpickledSnapshot, concatenated
from torch_tb_profiler.trace import Header, Note, Trace, note
from torch_tb_profiler.trace.schema import TraceTable
from torch_tb_profiler.trace.store import TableWriter, TraceInfo

#: the key of the header with the data about a snapshot as a whole
KEY = "memory_snapshot"

#: names of blocks that were released while another stream used them: in files, and in torch's documentation
_STATES = {
    "active_allocated": BlockState.ACTIVE,
    "active_pending_free": BlockState.PENDING_FREE,
    "active_awaiting_free": BlockState.PENDING_FREE,
    "inactive": BlockState.INACTIVE,
}
_NS = 1000


def is_snapshot(trace: Trace) -> bool:
    """Return whether a trace that was read is a memory snapshot."""
    return KEY in trace.header.raw


def write(snapshot: UnpickledSnapshot, writer: TableWriter, file_bytes: int) -> TraceInfo:
    """Write the tables of a snapshot; return the data beside them."""
    notes: list[Note] = []
    segments, blocks = _segments(snapshot, notes)
    records, devices = _records(snapshot)
    annotations = _annotations(snapshot)
    starts = [times[times != NO_TIME] for times in (records["time"], annotations["start"], annotations["end"])]
    origin = min((int(times.min()) for times in starts if len(times)), default=0)
    for columns, keys in ((records, ("time",)), (annotations, ("start", "end"))):
        for key in keys:
            known = columns[key] != NO_TIME
            columns[key] = np.where(known, (np.where(known, columns[key], origin) - origin) * _NS, NO_TIME)
    tables: Sequence[tuple[type[TraceTable], Columns]] = (
        (Records, records),
        (Contexts, snapshot.columns.contexts()),
        (SnapshotSegments, segments),
        (SnapshotBlocks, blocks),
        (Annotations, annotations),
        *snapshot.stacks.tables().items(),
    )
    for kind, columns in tables:
        if len(next(iter(columns.values()))):
            writer.add(kind, columns)
    if snapshot.cut_off is not None:
        notes.append(_cut_off(snapshot))
    if snapshot.columns.dropped:
        notes.append(note("snapshot_dropped", "error", snapshot.columns.dropped, ("snapshot",)))
    for name, count in snapshot.columns.unknown.most_common(10):
        text = f"{count} records say {name!r}, which no known version of PyTorch writes; they are counted and not used."
        notes.append(Note(f"snapshot_action_{name}", "info", text, count, ("snapshot",), values={"action": name}))
    header = Header({KEY: _about(snapshot, devices)})
    return TraceInfo(header, snapshot.strings.texts, (), origin * _NS, 0, notes, file_bytes)


def _cut_off(snapshot: UnpickledSnapshot) -> Note:
    records = sum(len(piece["action"]) for _, pieces in snapshot.records for piece in pieces)
    return note(
        "truncated",
        "error",
        touches=("snapshot",),
        values={"why": str(snapshot.cut_off), "events": records, "snapshot": True},
    )


def _about(snapshot: UnpickledSnapshot, devices: int) -> dict[str, Any]:
    """Return the data about a snapshot as a whole."""
    root = snapshot.root
    settings = root.get("allocator_settings")
    host = _dicts(root.get("host_segments"))
    overflowed = root.get("trace_alloc_overflowed")
    most = root.get("trace_alloc_max_entries")
    if isinstance(settings, dict):
        overflowed = settings.get("trace_alloc_overflowed", overflowed)
        most = settings.get("trace_alloc_max_entries", most)
    return {
        "devices": devices,
        "cut_off": snapshot.cut_off is not None,
        "settings": _plain(settings) if isinstance(settings, dict) else {},
        "overflowed": _flags(overflowed),
        "max_entries": most if is_integer(most) else None,
        "host_segments": len(host),
        "host_bytes": _sum_of("size", host),
        "host_allocated": _sum_of("allocated", host),
    }


def _sum_of(key: str, segments: list[dict[str, Any]]) -> int:
    """Sum, limited to 63 bits."""
    total: int = sum(each[key] for each in segments if is_integer(each.get(key)))
    return max(-(2**63) + 1, min(total, 2**63 - 1))


def _flags(value: Any) -> bool | None:
    """Return whether any device's ring was full."""
    if isinstance(value, list | tuple):
        return any(each is True for each in value)
    return value if isinstance(value, bool) else None


def _plain(settings: dict[Any, Any]) -> dict[str, Any]:
    """Keep texts, numbers, bools, and small dicts of them."""
    found: dict[str, Any] = {}
    for key, value in list(settings.items())[:200]:
        if isinstance(value, dict):
            items = list(value.items())[:100]
            table = {readable(str(k)): _simple(v) for k, v in items if isinstance(v, str | bool) or is_integer(v)}
            found[readable(str(key))] = table
        elif isinstance(value, str | bool | float) or is_integer(value):
            found[readable(str(key))] = _simple(value)
    return found


def _simple(value: str | float) -> str | float:
    return readable(value) if isinstance(value, str) else value


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list | tuple) else []


def _others(value: Any) -> int:
    """Count the items of a list that are not dicts."""
    return len(value) - len(_dicts(value)) if isinstance(value, list | tuple) else 0


def _number(value: Any, missing: int = 0) -> int:
    return value if is_integer(value) else missing


def _records(snapshot: UnpickledSnapshot) -> tuple[Columns, int]:
    """Concatenate the records of all devices. Returns them and the number of devices."""
    pieces, next_device = [], 0
    for place, of_list in snapshot.records:
        device = place if place >= 0 else next_device
        next_device = max(next_device, device) + 1
        columns = concatenated(of_list)
        columns["device"] = np.full(len(columns["action"]), device, np.int32)
        pieces.append(columns)
    traces = snapshot.root.get("device_traces") or ()
    if not pieces:
        empty = {name: np.empty(0, c.dtype) for c in Records.schema() for name in (c.name,)}
        return empty, len(traces)
    return concatenated(pieces), max(len(traces), next_device)


def _segments(snapshot: UnpickledSnapshot, notes: list[Note]) -> tuple[Columns, Columns]:
    """Return segments by device and address, with their blocks; contradictions are counted."""
    wrong: Counter[str] = Counter()
    rows = []
    listed = snapshot.root.get("segments")
    wrong["segments"] += _others(listed)
    for segment in _dicts(listed):
        if not (is_integer(segment.get("address")) and is_integer(segment.get("total_size"))):
            wrong["segments"] += segment.get("address", 0) is not None  # _memory_viz writes segments without address
            continue
        rows.append(segment)
    rows.sort(key=lambda segment: (_number(segment.get("device")), segment["address"]))
    blocks: list[tuple[int, int, int, int, int]] = []
    stacks: list[object] = []
    for number, segment in enumerate(rows):
        expected = segment["address"]
        wrong["blocks"] += _others(segment.get("blocks"))
        for block in _dicts(segment.get("blocks")):
            size = _number(block.get("size"), -1)
            if size < 0:
                wrong["blocks"] += 1
                continue
            address = _number(block.get("address"), expected)
            wrong["adjacent"] += address != expected
            state = _STATES.get(str(block.get("state")))
            wrong["states"] += state is None
            requested, frames = block.get("requested_size"), block.get("frames")
            history = _dicts(block.get("history"))
            if history:  # before 2.1, newest first
                requested = history[0].get("real_size", requested)
                frames = history[0].get("frames")
            stacks.append(frames)
            blocks.append((number, address, size, _number(requested, -1), state or BlockState.INACTIVE))
            expected = address + size
        wrong["sizes"] += expected != segment["address"] + segment["total_size"]
    kinds = ("segments", "blocks", "adjacent", "states", "sizes")
    notes += [
        note(f"snapshot_{kind}", "warning", wrong[kind], ("snapshot",), values={"contradicts": True})
        for kind in kinds
        if wrong[kind]
    ]
    return _segment_columns(rows, snapshot), _block_columns(blocks, snapshot.stacks.numbers(stacks))


def _segment_columns(rows: Sequence[dict[str, Any]], snapshot: UnpickledSnapshot) -> Columns:
    def numbers(key: str, missing: int = 0) -> Any:
        return np.array([_number(segment.get(key), missing) for segment in rows], np.int64)

    pools = [pool_of(segment.get("segment_pool_id")) for segment in rows]
    return {
        "device": numbers("device"),
        "address": numbers("address"),
        "bytes": numbers("total_size"),
        "allocated": numbers("allocated_size"),
        "active": numbers("active_size"),
        "stream": numbers("stream"),
        "is_small": np.array([segment.get("segment_type") == "small" for segment in rows], np.uint8),
        "is_expandable": np.array([segment.get("is_expandable") is True for segment in rows], np.uint8),
        "pool_a": np.array([max(a, 0) for a, _ in pools], np.int64),
        "pool_b": np.array([max(b, 0) for _, b in pools], np.int64),
        "stack": np.array(snapshot.stacks.numbers([segment.get("frames") for segment in rows]), np.int32),
    }


def _block_columns(blocks: Sequence[tuple[int, ...]], stacks: Sequence[int]) -> Columns:
    table = np.array(blocks, np.int64).reshape(-1, 5)
    names = ("segment", "address", "bytes", "requested", "state")
    columns: Columns = {name: table[:, place] for place, name in enumerate(names)}
    return columns | {"stack": np.array(stacks, np.int32)}


def _annotations(snapshot: UnpickledSnapshot) -> Columns:
    """Match starts and ends of ranges by name, the innermost first; the file does not name threads."""
    open_: dict[str, list[int]] = {}
    ranges: list[list[Any]] = []
    for each in _dicts(snapshot.root.get("external_annotations")):
        name, time = each.get("name"), each.get("time_us")
        if not isinstance(name, str):
            continue
        when = time if is_time(time) else NO_TIME
        if each.get("stage") == "START":
            open_.setdefault(name, []).append(len(ranges))
            ranges.append([snapshot.strings.code(name), when, NO_TIME])
        elif each.get("stage") == "END" and open_.get(name):
            ranges[open_[name].pop()][2] = when
        else:  # it began before the recording
            ranges.append([snapshot.strings.code(name), NO_TIME, when])
    ranges.sort(key=_first_time)
    return _range_columns(ranges)


def _first_time(row: Sequence[int]) -> int:
    return row[1] if row[1] != NO_TIME else row[2]


def _range_columns(ranges: Iterable[Sequence[int]]) -> Columns:
    table = np.array(list(ranges), np.int64).reshape(-1, 3)
    return {"name": table[:, 0], "start": table[:, 1], "end": table[:, 2]}
