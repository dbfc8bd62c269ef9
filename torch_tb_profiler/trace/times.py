"""Starts and durations of events: microseconds in the file → integer nanoseconds; what is missing is counted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.types import Bool, Int64, UInt8
from torch_tb_profiler.trace.column_buffers import integers, pack_floats, unpack_floats
from torch_tb_profiler.trace.events import Event
from torch_tb_profiler.trace.notes import Note, note
from torch_tb_profiler.trace.schema import Category, EventPhase

#: ns; starts are below, on either side of the epoch, and durations are shorter: so sums of a start and a duration, and
#: differences of starts, fit 64 bits, and the page, which has doubles, knows a duration to the nanosecond
_LATEST, _EARLIEST, _LONGEST = 2**62, -(2**61), 2**53


class EventTimes:
    """Gathers the times of events.

    origin_us: the whole microsecond that starts are relative to, that of the first event with a time; None before it
    first_ns: the earliest start of what is shown, relative to that; None while there is nothing
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
        """All that was added since, for `put`."""
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
        longer than a hundred days is 0; the duration of what is not COMPLETE is -1.
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
        """ns from the whole microsecond of the first event that is `timed`, and which are missing (they are 0)."""
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
