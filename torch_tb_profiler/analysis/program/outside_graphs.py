"""What devices run beside the graphs that they replay: what fell out of them."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.program.replayed import replayed_rows
from torch_tb_profiler.analysis.result import Result, column
from torch_tb_profiler.arrays.grouping import Groups, descending, group
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.kernel_names.short import short_name


class OutsideGraphs(Result, group="outside_graphs"):
    """Device work that no graph replayed, by name, by time, descending."""

    owner: tuple[str | None, ...] = column("Belongs to", "Operator that launched most of it; empty if unknown.")
    calls: Int64 = column("Calls", "How often it ran in the steps outside replays.")
    total_ns: Int64 = column("Total", "Σ durations of these.")
    replayed: Int64 = column("In replays", "How often work of the same name ran in replays.")
    name: tuple[str, ...] = column("Work", "Name of the kernel, copy or fill.")
    short_name: tuple[str, ...] = column(
        "Short name", "The name without parameters and most template arguments, as in the GPU Kernel view."
    )
    row: Int64 = column("First run", "Event of the first of these.", unit=None, hidden=True)


@cached
def outside_graphs(model: Model) -> OutsideGraphs:
    """Of the steps that are chosen; nothing where nothing is replayed in them."""
    inside, events = model.in_steps, model.trace.events
    in_replay = replayed_rows(model)
    rows = inside.device_work.row
    work = np.flatnonzero(inside.is_work & ~in_replay[rows]) if in_replay.any() else np.empty(0, np.int64)
    row = rows[work]
    groups = group([events.name[row].astype(np.int64)])
    total = groups.sum(np.maximum(events.duration[row], 0))
    order = descending(total)
    again = np.bincount(events.name[in_replay], minlength=len(model.trace.strings))
    place = np.full(len(events), -1, np.int64)
    place[model.trace.device_work.row] = np.arange(len(model.trace.device_work))
    owner = model.structure.owners.row[place[row]]
    usual = _longest(groups, np.where(owner >= 0, events.name[owner], -1), np.maximum(events.duration[row], 0))
    first = row[groups.first[order]]
    names = model.trace.strings.texts(events.name[first])
    return OutsideGraphs(
        name=tuple(names),
        short_name=tuple(map(short_name, names)),
        owner=tuple(model.trace.strings[code] if code >= 0 else None for code in usual[order].tolist()),
        calls=groups.count()[order],
        total_ns=total[order],
        replayed=again[events.name[first]].astype(np.int64),
        row=first.astype(np.int64),
    )


def _longest(groups: Groups, value: Int64, weight: Int64) -> Int64:
    """The value of each group with the largest sum of weights."""
    pairs = group([groups.of, value.astype(np.int64)])
    order = descending(pairs.sum(weight))
    of, least = groups.of[pairs.first[order]], np.full(len(groups), len(order), np.int64)
    np.minimum.at(least, of, np.arange(len(order)))
    found: Int64 = value[pairs.first[order]][least].astype(np.int64)
    return found
