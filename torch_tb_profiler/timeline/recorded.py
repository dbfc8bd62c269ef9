"""Counters recorded in the file: its events of phase C."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import distinct_places
from torch_tb_profiler.arrays.types import Float64, Int64
from torch_tb_profiler.trace import Trace

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
    """The recorded counters, in the order of their first values in the file."""
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
    found = []
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
        found.append(RecordedCounter(title, events.start[row][order], table.value[chosen][order]))
    return tuple(found)
