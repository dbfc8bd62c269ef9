"""One device over its whole recording: usage curves, annotations, and the moments that requests name."""

from __future__ import annotations

import heapq
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Bytes, Ns
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.question import NotFound, Question, Refused
from torch_tb_profiler.analysis.snapshot.blocks import BlockBytes, block_bytes
from torch_tb_profiler.analysis.snapshot.lifetimes import DeviceSnapshot, Lifetimes, about, device_snapshots, lifetimes
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.snapshot.schema import NO_TIME, Action, Annotations
from torch_tb_profiler.snapshot.state import is_snapshot
from torch_tb_profiler.words.sentences import because


class AnnotationSpans(msgspec.Struct, frozen=True):
    """The innermost open annotation over time: parallel, by time.

    since  ns since the start of the recording
    code   in `names`, -1 for none
    """

    since: Int64
    code: Int64
    names: tuple[str, ...]

    def at(self, time: Int64) -> Int64:
        """Return the codes at some times."""
        place = np.searchsorted(self.since, time, "right") - 1
        return np.where(place >= 0, self.code[np.maximum(place, 0)], -1) if len(self.since) else np.full(len(time), -1)


@cached
def annotation_spans(model: Model) -> AnnotationSpans:
    """Return the annotations of all threads of the process together: the file does not name their threads.

    An annotation still open at the dump lasts until then; one without a beginning is ignored.
    """
    table = model.trace.table(Annotations)
    texts = model.trace.strings.texts(table.name)
    codes = {text: code for code, text in enumerate(dict.fromkeys(texts))}
    never = np.iinfo(np.int64).max
    open_: list[tuple[int, int]] = []  # negative place in `begins`, end
    begins = [row for row in np.argsort(table.start, kind="stable").tolist() if table.start[row] != NO_TIME]
    starts, ends = table.start.tolist(), np.where(table.end == NO_TIME, never, table.end).tolist()
    since: list[int] = []
    code: list[int] = []

    def now(time: int) -> None:
        while open_ and open_[0][1] <= time:
            heapq.heappop(open_)
        current = codes[texts[begins[-open_[0][0]]]] if open_ else -1
        if since and since[-1] == time:
            code[-1] = current
        else:
            since.append(time)
            code.append(current)

    times = sorted({*(starts[row] for row in begins), *(ends[row] for row in begins)} - {never})
    place = 0
    for time in times:
        while place < len(begins) and starts[begins[place]] <= time:
            heapq.heappush(open_, (-place, ends[begins[place]]))
            place += 1
        now(time)
    return AnnotationSpans(np.array(since, np.int64), np.array(code, np.int64), tuple(codes))


_TAKEN = (Action.SEGMENT_ALLOC, Action.SEGMENT_MAP)
_GIVEN = (Action.SEGMENT_FREE, Action.SEGMENT_UNMAP)


class Curves(msgspec.Struct, frozen=True):
    """Bytes of one device, shape (records + 1,): the first before the first record, then after each of them.

    requested        what was asked for and is not released
    allocated        blocks of it
    active           and blocks whose release is pending
    reserved         segments
    allocated_exact  whether allocated and active are exact everywhere, or the least that they can be
    known_start      whether the state before the first record is known: not of a file that is cut off
    """

    requested: Int64
    allocated: Int64
    active: Int64
    reserved: Int64
    allocated_exact: bool
    known_start: bool

    def peak(self, curve: Int64) -> int:
        """Return the record that first reaches the maximum; -1 when nothing exceeds the start."""
        return int(np.argmax(curve)) - 1


class History(msgspec.Struct, frozen=True):
    """One device, and all that is computed once for it."""

    device: DeviceSnapshot
    lifetimes: Lifetimes
    blocks: BlockBytes
    curves: Curves
    contradictions: dict[str, int]
    annotations: AnnotationSpans

    @property
    def last(self) -> int:
        """The position of the last record."""
        return len(self.device.records) - 1


@cached
def histories(model: Model) -> tuple[History, ...]:
    """Return the history of each device of `device_snapshots`."""
    per_device = zip(device_snapshots(model), lifetimes(model), strict=True)
    return tuple(history(device, of_device, annotation_spans(model)) for device, of_device in per_device)


def history(device: DeviceSnapshot, of_device: Lifetimes, annotations: AnnotationSpans) -> History:
    blocks = block_bytes(device, of_device)
    count = len(device.records)
    requested = _sum(count, of_device, of_device.released, of_device.requested)
    allocated = _sum(count, of_device, of_device.released, blocks.bytes)
    active = _sum(count, of_device, of_device.gone, blocks.bytes)
    change = np.where(device.is_action(*_TAKEN), device.records.bytes, 0)
    change -= np.where(device.is_action(*_GIVEN), device.records.bytes, 0)
    end = int(device.segments.bytes.sum())
    start = 0 if device.cut_off else end - int(change.sum())
    reserved = start + np.concatenate([[0], np.cumsum(change)]).astype(np.int64)
    contradictions = dict(of_device.contradictions)
    has_segments = device.is_action(*_TAKEN, *_GIVEN).any()
    if has_segments and not device.cut_off and int(reserved.min()) < 0:
        contradictions["reserved_below_zero"] = 1
    return History(
        device,
        of_device,
        blocks,
        Curves(requested, allocated, active, reserved, blocks.exact, not device.cut_off),
        contradictions,
        annotations,
    )


def _sum(count: int, found: Lifetimes, end: Int64, bytes_: Int64) -> Int64:
    """Return the bytes that are alive before the first record, and after each record."""
    change = np.zeros(count + 2, np.int64)
    there = end != found.born  # what was released before the recording never counts
    np.add.at(change, found.born[there] + 1, bytes_[there])
    np.add.at(change, np.minimum(end[there], count) + 1, -bytes_[there])
    return np.cumsum(change)[: count + 1]


MomentKind = Literal["start", "peak", "reserved_peak", "snapshot", "oom", "end", "record"]
"""What was asked for; `record`: the number of a record."""

#: most earlier dumps, and most failed allocations, that are offered
MOST_OF_A_KIND = 50


class Moment(msgspec.Struct, frozen=True):
    """A moment worth looking at.

    kind       what it is
    position   number of the last record that counts; -1 before the first
    time_ns    of that record since the start of the recording; None if none was recorded
    requested  in use after it
    reserved   segments after it
    """

    kind: MomentKind
    position: int
    time_ns: Ns | None
    requested: Bytes
    reserved: Bytes


def moments(history: History) -> tuple[Moment, ...]:
    """Return the start, both peaks, earlier dumps, failed allocations and the end, in this order."""
    curves, records = history.curves, history.device
    named: list[tuple[MomentKind, int]] = [
        ("start", -1),
        ("peak", curves.peak(curves.requested)),
        ("reserved_peak", curves.peak(curves.reserved)),
    ]
    for kind, action in (("snapshot", Action.SNAPSHOT), ("oom", Action.OOM)):
        places = np.flatnonzero(records.is_action(action))[:MOST_OF_A_KIND].tolist()
        named += [("oom" if kind == "oom" else "snapshot", place) for place in places]
    named.append(("end", history.last))
    return tuple(moment(history, kind, position) for kind, position in named)


def moment(history: History, kind: MomentKind, position: int) -> Moment:
    curves = history.curves
    return Moment(
        kind,
        position,
        time_at(history, position),
        int(curves.requested[position + 1]),
        int(curves.reserved[position + 1]),
    )


def time_at(history: History, position: int) -> int | None:
    """Return ns since the start of the recording; before the first record the time of the first."""
    time = history.device.records.time
    if not len(time):
        return None
    found = int(time[max(position, 0)])
    return None if found == NO_TIME else found


def device_history(model: Model, device: int | None) -> History:
    """Return the history of a device by its number, by default the first. Raises NotFound."""
    found = histories(model)
    for each in found:
        if device in (None, each.device.number):
            return each
    if not is_snapshot(model.trace):
        raise NotFound(because("no_snapshot"))
    if not found:
        raise NotFound(because("empty_cut_off" if about(model).get("cut_off") else "empty_snapshot"))
    raise NotFound(because("no_memory_of", {"device": str(device), "snapshot": True}))


def position_of(history: History, at: str) -> int:
    """Return the record that a request names. Raises Refused."""
    return moment_of(history, at).position


def moment_of(history: History, at: str) -> Moment:
    """Return the moment that a request names; the kind of a record number is `record`. Raises Refused."""
    if (found := find_moment(history, at)) is not None:
        return found
    known = "start, peak, reserved_peak, end, oom, snapshot, or the number of a record"
    raise Refused(f"there is no moment {at[:40]!r} here; there are {known}")


def find_moment(history: History, at: str) -> Moment | None:
    """Return what `moment_of` returns; None if there is none."""
    text = at.strip().lower()
    if text.lstrip("-").isdigit() and len(text) < 19:
        return moment(history, "record", min(max(int(text), -1), history.last))
    return next((each for each in moments(history) if each.kind == text), None)


_At = Annotated[
    str,
    Meta(
        description="After which record: start, peak, reserved_peak, oom, snapshot, end, or its number.", max_length=40
    ),
]


_Device = Annotated[int | None, Meta(description="Number of a device; without it that with most records.")]


class OfDevice(msgspec.Struct, frozen=True):
    """A device of the snapshot."""

    device: _Device = None


class AtMoment(msgspec.Struct, frozen=True):
    """A device and a moment."""

    device: _Device = None
    at: _At = "peak"


TAG = "memory snapshots"


def snapshot_question(**declared: Any) -> Question:
    """Return a question about a snapshot, which has no steps to choose."""
    return Question(tag=TAG, about="snapshot", of_steps=False, **declared)
