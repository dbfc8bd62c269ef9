"""Counters of a trace: step curves over time, their bins, and those recorded in the file (events of phase C)."""

from __future__ import annotations

from functools import cached_property
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import distinct_places
from torch_tb_profiler.arrays.intervals import StepFunction
from torch_tb_profiler.arrays.types import Float64, Int64
from torch_tb_profiler.timeline.schema import CounterBins, MemoryPoints
from torch_tb_profiler.trace import Trace

CounterKind = Literal[
    "busy",
    "computing",
    "sm_efficiency",
    "kernels_running",
    "queue_length",
    "memcpy_bandwidth",
    "exposed_communication",
    "memory_allocated",
    "memory_reserved",
    "recorded",
]

CounterUnit = Literal["fraction", "bytes", "count", "bytes/s", "number"]

#: name and unit
COUNTER_KINDS: dict[CounterKind, tuple[str, CounterUnit]] = {
    "busy": ("Device busy", "fraction"),
    "computing": ("Computing", "fraction"),
    "sm_efficiency": ("Est. SM efficiency", "fraction"),
    "kernels_running": ("Kernels running", "count"),
    "queue_length": ("Launched, not begun", "count"),
    "memcpy_bandwidth": ("Copy bandwidth", "bytes/s"),
    "exposed_communication": ("Exposed communication", "fraction"),
    "memory_allocated": ("Memory allocated", "bytes"),
    "memory_reserved": ("Memory reserved", "bytes"),
    "recorded": ("Counter of the file", "number"),
}


class Counter(msgspec.Struct, frozen=True):
    """One counter.

    device  whose it is; of a counter of the file its place as text
    place   the number of a GPU, of memory the index into the list of its devices, of a counter of the file its place
            among these
    """

    kind: CounterKind
    device: str
    place: int

    @property
    def id(self) -> str:
        return f"{self.kind}:{self.device}"


class TimelineCounters(msgspec.Struct, frozen=True, dict=True):
    """All counters of a trace.

    bins    of all of `listed`, one after the other, each over the whole trace
    level   of which these bins are
    memory  exact
    """

    listed: tuple[Counter, ...] = ()
    level: int = 1
    bins: CounterBins = msgspec.field(default_factory=CounterBins.empty)
    memory: MemoryPoints = msgspec.field(default_factory=MemoryPoints.empty)

    @cached_property
    def places(self) -> dict[Counter, int]:
        """Index into `listed`."""
        return {counter: place for place, counter in enumerate(self.listed)}


class StepCurve(NamedTuple):
    """`value` holds from `time` (ascending, the first at or before what is asked) to the next one, without end."""

    time: Int64
    value: Float64


def curve_of(profile: StepFunction, start: int) -> StepCurve:
    """Return a profile, which is zero where it has no segment, from `start` on."""
    # where one segment ends and the next begins at once, the second of two equal times counts
    time = np.stack([profile.start, profile.end], axis=1).ravel()
    value = np.stack([profile.value, np.zeros(len(profile.value))], axis=1).ravel()
    before = min(start, *profile.start[:1].tolist()) if len(time) else start
    return _last_of_equals(np.concatenate([[before], time]).astype(np.int64), np.concatenate([[0.0], value]), start)


def latest(time: Int64, value: Float64, start: int) -> StepCurve:
    """Of several values at one time the last one; all before `start` hold at `start` at the latest."""
    order = np.argsort(time, kind="stable")
    return _last_of_equals(time[order], value[order], start)


def _last_of_equals(time: Int64, value: Float64, start: int) -> StepCurve:
    time = np.maximum(time, start)
    kept = np.append(time[1:] != time[:-1], True) if len(time) else np.empty(0, np.bool_)
    return StepCurve(time[kept], value[kept])


def bins_of(steps: StepCurve, edges: Int64) -> CounterBins:
    """Return the bins between ascending edges (the first not before the first step); NaN for those without length."""
    low, high, last, mean = (np.full(len(edges) - 1, np.nan) for _ in range(4))
    there = np.flatnonzero(edges[1:] > edges[:-1])
    if len(there):
        begin, end = edges[there], edges[there + 1]
        first = np.searchsorted(steps.time, begin, "right") - 1
        after = np.searchsorted(steps.time, end, "left")
        value = np.append(steps.value, 0.0)
        runs = np.stack([first, after], axis=1).ravel()
        low[there] = np.minimum.reduceat(value, runs)[::2]
        high[there] = np.maximum.reduceat(value, runs)[::2]
        last[there] = steps.value[after - 1]
        mean[there] = (_curve_integral(steps, end) - _curve_integral(steps, begin)) / (end - begin)
        # what rounding took away
        mean[there] = np.clip(mean[there], low[there], high[there])
    return CounterBins(low, high, last, mean)


def _curve_integral(steps: StepCurve, time: Int64) -> Float64:
    """Of value × ns from the first step to each time."""
    whole = np.concatenate([[0.0], np.cumsum(steps.value[:-1] * np.diff(steps.time))])
    at = np.searchsorted(steps.time, time, "right") - 1
    integral: Float64 = whole[at] + steps.value[at] * (time - steps.time[at])
    return integral


def coarser(bins: CounterBins, lengths: Int64, factor: int) -> CounterBins:
    """`factor` bins in one. lengths: ns of each bin that lie in the trace; a bin that is NaN counts for nothing."""
    weights = np.where(np.isnan(bins.low), 0, lengths).reshape(-1, factor).astype(np.float64)
    whole = weights.sum(axis=1)

    def rows(values: Float64, missing: float) -> Float64:
        return np.where(np.isnan(values), missing, values).reshape(-1, factor)

    there = whole > 0
    newest = factor - 1 - np.argmax(weights[:, ::-1] > 0, axis=1)
    found = (
        rows(bins.low, np.inf).min(axis=1),
        rows(bins.high, -np.inf).max(axis=1),
        rows(bins.last, 0.0)[np.arange(len(whole)), newest],
        (rows(bins.mean, 0.0) * weights).sum(axis=1) / np.maximum(whole, 1.0),
    )
    return CounterBins(*(np.where(there, values, np.nan) for values in found))


#: counters that are drawn; of more those with most values
MOST_RECORDED = 100


class RecordedCounter(msgspec.Struct, frozen=True):
    """One series of the counter events of one name and process.

    name   of the events, and of the series where they have several
    time   ns, ascending
    value  parallel to time; each holds until the next one
    """

    name: str
    time: Int64
    value: Float64


def recorded_counters(trace: Trace) -> tuple[RecordedCounter, ...]:
    """Return the recorded counters, in the order of their first values in the file."""
    table, events = trace.counter_values, trace.events
    if not len(table):
        return ()
    pids = [str(track.pid) for track in trace.tracks]
    number_of_pid = {pid: number for number, pid in enumerate(dict.fromkeys(pids))}
    process = np.array([number_of_pid[pid] for pid in pids], np.int64)[events.track[table.row]]
    name, series = events.name[table.row].astype(np.int64), table.series.astype(np.int64)
    strings = len(trace.strings)
    keys, place = distinct_places((process * strings + name) * strings + series)
    first = np.full(len(keys), len(table))
    np.minimum.at(first, place, np.arange(len(table)))
    most = np.argsort(-np.bincount(place, minlength=len(keys)), kind="stable")[:MOST_RECORDED]
    lines = distinct_places(process[first] * strings + name[first])[1]
    siblings = np.bincount(lines)[lines]
    several = len(np.flatnonzero(np.bincount(process[first]))) > 1
    counters = []
    for number in most[np.argsort(first[most], kind="stable")].tolist():
        chosen = np.flatnonzero(place == number)
        row = table.row[chosen]
        order = np.argsort(events.start[row], kind="stable")
        at = int(first[number])
        title = trace.strings[name[at]]
        if siblings[number] > 1:
            title = f"{title}: {trace.strings[series[at]]}"
        if several:
            # torch's exporter in Python names the process of a device's counters `GPU 0 Counters`
            title = f"{title} ({pids[events.track[table.row[at]]].removesuffix(' Counters')})"
        counters.append(RecordedCounter(title, events.start[row][order], table.value[chosen][order]))
    return tuple(counters)
