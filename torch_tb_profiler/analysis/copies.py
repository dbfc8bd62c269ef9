"""Copies and fills by kind: how many bytes, how long, how fast."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.result import Result, column
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.distinct import distinct, one_of
from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.arrays.types import Float64, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category

#: `Memcpy HtoD (Pageable -> Device)`: the kind, and what kind of memory it is between
_KIND = lazy_pattern(r"(?:Memcpy|Copy) ?\w+|Memset")


class Copies(Result):
    """One row per device and kind, by active time, descending; parallel columns."""

    device: Int64 = column("Device", "Number of the device.", unit=None)
    kind: tuple[str, ...] = column("Kind", "Kind and direction of the copies.")
    calls: Int64 = column("Calls", "How many copies or fills.")
    bytes: Int64 = column("Bytes", "Σ bytes of those that say how many.")
    total_ns: Int64 = column("Total", "Σ durations.")
    active_ns: Int64 = column("Active", "Time with at least one running.")
    bandwidth: Float64 = column("Bandwidth", "Bytes ÷ durations of those that say how many.", unit="bytes_per_second")
    max_bandwidth: Float64 = column(
        "Max bandwidth",
        "The largest sum of the bandwidths of copies that ran at the same time.",
        unit="bytes_per_second",
    )
    pageable: Int64 = column("Pageable", "How many copied from or to memory that is not pinned.")


class CopyKinds(msgspec.Struct, frozen=True):
    """index: into Model.device_work, every copy and fill. kind: its place in `names`."""

    index: Int64
    kind: Int64
    names: tuple[str, ...]


def copy_kinds(model: Model) -> CopyKinds:
    """Classify every copy and fill."""
    index = np.flatnonzero(one_of(model.device_category, (Category.MEMCPY, Category.MEMSET)))
    code = model.trace.events.name[model.device_work.row[index]]
    kind_of: dict[int, str] = {}
    for c in distinct(code).tolist():
        text = model.trace.strings[c]
        match = _KIND.match(text)
        kind_of[c] = match[0] if match else text
    names = tuple(sorted(set(kind_of.values())))
    place = {name: i for i, name in enumerate(names)}
    kind = np.array([place[kind_of[c]] for c in code.tolist()], np.int64)
    return CopyKinds(index, kind, names)


def bandwidth(model: Model, index: Int64) -> intervals.StepFunction:
    """Return bytes per ns (= GB/s) over time of some device work, summed over what runs at the same time.

    Each piece counts with its mean: bytes ÷ duration. Those without bytes or duration are left out.
    """
    work, events = model.device_work, model.trace.events
    row, size = work.row[index], work.bytes[index]
    duration = events.duration[row]
    usable = (size > 0) & (duration > 0)
    row = row[usable]
    return intervals.step_function(events.start[row], events.end[row], size[usable] / duration[usable])


def copies(model: Model) -> Copies:
    """Sum all copies and fills, by device and kind."""
    work, events = model.device_work, model.trace.events
    kinds = copy_kinds(model)
    index = kinds.index
    row, size = work.row[index], work.bytes[index]
    duration = np.maximum(events.duration[row], 0)
    groups = group([work.device[index], kinds.kind])
    members = [np.flatnonzero(groups.inverse == g) for g in range(len(groups))]
    active = np.array([intervals.total(intervals.union(events.start[row[m]], events.end[row[m]])) for m in members])
    most = np.array([bandwidth(model, index[m]).value.max(initial=0.0) for m in members])
    known = size >= 0
    moved, taken = groups.sum(np.where(known, size, 0)), groups.sum(np.where(known, duration, 0))
    is_pageable = model.trace.strings.where(lambda text: "Pageable" in text, events.name[row])
    active = active.astype(np.int64)
    order = descending(
        active,
        lambda at: (int(work.device[index][groups.first[at]]), kinds.names[int(kinds.kind[groups.first[at]])]),
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(taken > 0, moved / taken, np.nan)
    return Copies(
        device=work.device[index][groups.first][order].astype(np.int64),
        kind=tuple(kinds.names[k] for k in kinds.kind[groups.first][order].tolist()),
        calls=groups.count()[order],
        bytes=moved[order],
        total_ns=groups.sum(duration)[order],
        active_ns=active[order],
        bandwidth=mean[order],
        max_bandwidth=np.where(most > 0, most, np.nan)[order],
        pageable=groups.sum(is_pageable[events.name[row]])[order],
    )
