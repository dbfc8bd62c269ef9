"""Starts and durations of events as integer nanoseconds; durations that the file gives wrongly are mended.

Missing ones are counted. A stream runs one piece of work after the other, but profilers have written durations of
seconds for kernels of microseconds beneath which hundreds of successors ran: such a duration is cut at the start of the
next work of the stream. Events written as two (`ph` `B` and `E`) become one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.types import Bool, Int64, UInt8
from torch_tb_profiler.trace.column_buffers import integers, pack_floats, unpack_floats
from torch_tb_profiler.trace.events import Event
from torch_tb_profiler.trace.notes import Note, note
from torch_tb_profiler.trace.schema import DEVICE_WORK, Category, DeviceWork, EventPhase, Events

#: ns; starts are below, on either side of the epoch, and durations are shorter: so sums of a start and a duration, and
#: differences of starts, fit 64 bits, and the page, which has doubles, knows a duration to the nanosecond
_LATEST, _EARLIEST, _LONGEST = 2**62, -(2**61), 2**53


class EventTimes:
    """Gathers the times of events.

    origin_us: the whole microsecond that starts are relative to, that of the first event with a time; None before it
    first_ns: the earliest start that is shown, relative to that; None while there is none
    """

    def __init__(self) -> None:
        self.origin_us: int | None = None
        self.first_ns: int | None = None
        self._starts: list[bytes] = []
        self._exact_starts: list[tuple[Int64, Bool]] = []
        self._durations: list[bytes] = []
        self._without_start = self._without_duration = self._negative = 0

    def add(self, events: Sequence[Event]) -> None:
        starts: list[Any] = [e.ts for e in events]
        if isinstance(starts[0], msgspec.Raw):
            self._exact_starts.append(exact_ns(starts))
        else:
            self._starts.append(pack_floats(starts))
        self._durations.append(pack_floats([e.dur for e in events]))

    def packed(self) -> list[bytes]:
        """Return all that was added since the last call, for `put`."""
        exact = self._exact_starts
        parts = (
            [*self._starts],
            [ns.tobytes() for ns, _ in exact],
            [no.tobytes() for _, no in exact],
            [*self._durations],
        )
        for pieces in (self._starts, exact, self._durations):
            pieces.clear()
        return [b"".join(pieces) for pieces in parts]

    def put(self, packed: Sequence[bytes]) -> None:
        """Add what another had packed."""
        starts, exact, missing, durations = packed
        if exact:
            self._exact_starts.append((np.frombuffer(exact, np.int64), np.frombuffer(missing, np.bool_)))
        else:
            self._starts.append(starts)
        self._durations.append(durations)

    def take(self, phase: UInt8, category: UInt8) -> tuple[Int64, Int64]:
        """Return starts (ns from `origin_us`) and durations (ns) of all that was added since the last call.

        A start that is missing, or further from the epoch than any clock, is 0; a duration that is missing, negative or
        longer than a hundred days is 0; the duration of events that are not COMPLETE is -1.
        """
        start, missing = self._take_starts(phase != EventPhase.METADATA)
        us = unpack_floats(self._durations)
        self._durations.clear()
        known = np.abs(us) < _LONGEST / 1000
        duration = integers(np.where(known, us, np.nan) * 1000.0)
        complete = phase == EventPhase.COMPLETE
        self._without_start += int(np.count_nonzero(missing & complete))
        self._without_duration += int(np.count_nonzero(complete & ~known))
        self._negative += int(np.count_nonzero(complete & known & (us < 0)))
        duration[complete & (duration < 0)] = 0
        duration[~complete] = -1
        shown = complete | (phase == EventPhase.BEGIN) | np.isin(category, (Category.MEMORY, Category.OUT_OF_MEMORY))
        if shown.any():
            first = int(start[shown].min())
            self.first_ns = first if self.first_ns is None else min(first, self.first_ns)
        return start, duration

    def _take_starts(self, timed: Bool) -> tuple[Int64, Bool]:
        """Return ns from the whole microsecond of the first `timed` event, and which are missing (they are 0)."""
        if self._exact_starts:
            ns = np.concatenate([ns for ns, _ in self._exact_starts])
            missing = np.concatenate([missing for _, missing in self._exact_starts])
            self._exact_starts.clear()
            known = np.flatnonzero(timed & ~missing)
            if self.origin_us is None and len(known):
                self.origin_us = int(ns[known[0]]) // 1000
            return np.where(missing, 0, ns - (self.origin_us or 0) * 1000), missing
        us = unpack_floats(self._starts)
        self._starts.clear()
        # comparing with NaN is false
        missing = ~((us > _EARLIEST / 1000) & (us < _LATEST / 1000))
        us = np.where(missing, 0.0, us)
        known = np.flatnonzero(timed & ~missing)
        if self.origin_us is None and len(known):
            self.origin_us = math.floor(us[known[0]])
        # the whole microseconds apart, so that it does not matter how far the origin is
        whole = np.floor(us)
        start = (whole.astype(np.int64) - (self.origin_us or 0)) * 1000 + integers((us - whole) * 1000.0)
        return np.where(missing, 0, start), missing

    def notes(self) -> Iterator[Note]:
        """Return notes on what was missing or impossible in the times of all events so far."""
        touches = ("overview", "operators", "kernels")
        if self._without_start:
            yield note("missing_time", "error", self._without_start, touches)
        if self._without_duration:
            yield note("missing_duration", "warning", self._without_duration, touches)
        if self._negative:
            yield note("negative_duration", "warning", self._negative, touches)


def exact_ns(texts: Sequence[msgspec.Raw]) -> tuple[Int64, Bool]:
    """Nanoseconds of decimal numbers of microseconds, from their text, and which are no such number (they are 0)."""
    joined = b"\n".join(texts) + b"\n"
    found = _equally_long_ns(np.frombuffer(joined, np.uint8), len(texts))
    if found is not None:
        return found, np.zeros(len(texts), dtype=np.bool_)
    # one by one: what stands there may be a list over several lines
    each = [_exact_ns(bytes(text)) for text in texts]
    return np.array([ns or 0 for ns in each], dtype=np.int64), np.array([ns is None for ns in each], dtype=np.bool_)


def _equally_long_ns(codes: npt.NDArray[np.uint8], count: int) -> Int64 | None:
    """Return the same for texts of the same length with three decimals, each followed by a newline; else None."""
    width, rest = divmod(len(codes), count)
    whole = width - 5  # digits before the point
    if rest or not 0 < whole <= 15:
        return None
    table = codes.reshape(count, width)
    digits = np.delete(table, (whole, width - 1), axis=1) - np.uint8(ord("0"))
    if (digits > 9).any() or (table[:, whole] != ord(".")).any() or (table[:, -1] != ord("\n")).any():
        return None
    return digits @ 10 ** np.arange(whole + 2, -1, -1, dtype=np.int64)


def _exact_ns(text: bytes) -> int | None:
    text = text.strip().strip(b'"')
    try:
        if b"e" in text.lower():
            ns = round(float(text) * 1000)
        else:
            whole, _, fraction = text.partition(b".")
            sign = -1 if whole.startswith(b"-") else 1
            ns = int(whole) * 1000 + sign * int(fraction[:3].ljust(3, b"0"))
    except (ValueError, OverflowError):
        return None
    return ns if _EARLIEST < ns < _LATEST else None


class Pairs(msgspec.Struct, frozen=True):
    """Rows of begins and of their ends, parallel, in the order of the ends; what is left of either.

    begin, end   shape (pairs,)
    unended      shape (n,): begins without an end
    unbegun      shape (m,): ends without a begin
    """

    begin: Int64
    end: Int64
    unended: Int64
    unbegun: Int64


def pairs_of(events: Events) -> Pairs:
    """Match each end with the innermost event of its track that has begun and has its name; one without a name with the
    innermost. In files that are not in order times decide, and at equal times the order in the file.
    """
    rows = np.flatnonzero((events.phase == EventPhase.BEGIN) | (events.phase == EventPhase.END))
    if not len(rows):
        none = np.empty(0, np.int64)
        return Pairs(none, none, none, none)
    rows = rows[np.lexsort((events.start[rows], events.track[rows]))]
    begun: list[tuple[int, int]] = []
    begins, ends, unended, unbegun = [], [], [], []
    current_track = -1
    columns = (rows, events.track[rows], events.phase[rows] == EventPhase.BEGIN, events.name[rows])
    for row, track, is_begin, name in zip(*(column.tolist() for column in columns), strict=True):
        if track != current_track:
            unended += [number for number, _ in begun]
            begun, current_track = [], track
        if is_begin:
            begun.append((row, name))
            continue
        opened = len(begun) - 1
        while name and opened >= 0 and begun[opened][1] != name:
            opened -= 1
        if opened < 0:
            unbegun.append(row)
            continue
        begins.append(begun[opened][0])
        ends.append(row)
        unended += [number for number, _ in begun[opened + 1 :]]
        del begun[opened:]
    unended += [number for number, _ in begun]
    begin, end, left, alone = (np.array(number, np.int64) for number in (begins, ends, unended, unbegun))
    return Pairs(begin, end, left, alone)


def as_complete(recorded: Events, pairs: Pairs) -> Events:
    """Return the same with begins as complete events; those that do not end last 0, as others without a duration."""

    def read(name: str) -> Any:
        column = getattr(recorded, name)
        if name not in ("phase", "duration") or not (len(pairs.begin) or len(pairs.unended)):
            return column
        column = column.copy()
        if name == "phase":
            column[pairs.begin] = column[pairs.unended] = EventPhase.COMPLETE
        else:
            column[pairs.begin] = recorded.start[pairs.end] - recorded.start[pairs.begin]
            column[pairs.unended] = 0
        return column

    return Events.of_fields_read_by(frozenset(Events.declared), read)


#: successors of one stream that cannot all have begun before a piece of work ended
FEWEST = 10
#: times the span of all starts in the trace, and ns at least: of a duration that is impossible with any successor
LONGER, LONG_NS = 10, 1_000_000_000
#: an overlap up to this is rounding, ns: some files give whole microseconds
ROUNDING_NS = 1000
#: a stream with a larger share of work that overlaps its successor runs work side by side: streams of several
#: processes under one number, or kernels that begin before the one before them is done
MOST_OVERLAPPING = 0.05


class Overruns(msgspec.Struct, frozen=True):
    """Work with an impossible duration. Parallel, shape (n,), by row.

    row         of the event
    recorded    duration in the file, ns
    duration    until the next work of the stream began, ns
    successors  how much work of the stream began before the recorded end
    """

    row: Int64
    recorded: Int64
    duration: Int64
    successors: Int64

    def __len__(self) -> int:
        return len(self.row)


def overruns(events: Events, work: DeviceWork) -> Overruns:
    """Find work that for most of its duration overlaps its successors, and either overlaps at least `FEWEST` of them or
    lasts `LONG_NS` and `LONGER` times as long as it takes from the first start in the trace to the last.

    Kernels of one launch, which replays a graph, may run side by side on one stream.
    events   with the durations of the file
    """
    place = np.flatnonzero(one_of(events.category[work.row], DEVICE_WORK) & (work.stream >= 0))
    if len(place) < 2:
        return _no_overruns()
    row = work.row[place]
    streams = group([events.track[row], work.device[place], work.stream[place]])
    order = np.lexsort((events.start[row], streams.inverse))
    row, place, stream = row[order].astype(np.int64), place[order], streams.inverse[order]
    start = events.start[row]
    length = np.maximum(events.duration[row], 0)
    again = np.append(stream[1:] == stream[:-1], False)
    over = np.append(start[:-1] + length[:-1] - start[1:], 0)
    launched = work.correlation[place]
    other = np.append((launched[1:] != launched[:-1]) | (launched[:-1] <= 0), False)
    overlapping = np.flatnonzero(again & other & (over > ROUNDING_NS))
    if not len(overlapping):
        return _no_overruns()
    many = np.bincount(stream)
    often = np.bincount(stream[overlapping], minlength=len(many)) > np.maximum(MOST_OVERLAPPING * many, 1)
    first = np.cumsum(many) - many
    complete = np.flatnonzero(events.phase == EventPhase.COMPLETE)
    extent = int(events.start[complete].max() - events.start[complete].min())
    cut: list[tuple[int, int]] = []
    for index in overlapping[~often[stream[overlapping]]].tolist():
        last = int(first[stream[index]] + many[stream[index]])
        behind = int(np.searchsorted(start[index + 1 : last], start[index] + length[index], side="left"))
        is_far = 2 * over[index] > length[index] and (behind >= FEWEST or length[index] > max(LONGER * extent, LONG_NS))
        if is_far and not _replayed(launched[index], launched[index + 1 : index + 1 + behind]):
            cut.append((index, behind))
    if not cut:
        return _no_overruns()
    index, behind = np.array(sorted(cut, key=lambda each: row[each[0]]), np.int64).T
    return Overruns(row[index], length[index], start[index + 1] - start[index], behind)


def _replayed(launch: int, successors: Int64) -> bool:
    """Return whether some of the successors were started by the same launch."""
    same: Bool = successors == launch
    return launch > 0 and bool(same.any())


def _no_overruns() -> Overruns:
    nothing = np.empty(0, np.int64)
    return Overruns(nothing, nothing, nothing, nothing)
