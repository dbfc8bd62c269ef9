"""What devices run beside the graphs that they replay: what fell out of them."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.program.replayed import replayed_rows
from torch_tb_profiler.analysis.remember import remembered
from torch_tb_profiler.analysis.tabular import Tabular
from torch_tb_profiler.arrays.grouping import Groups, descending, group
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.kernel_names.short import short_name


class OutsideGraphs(Tabular, frozen=True):
    """Device work that no graph replayed, by name, by time, descending. Keys, units: `columns.OUTSIDE_GRAPHS`."""

    name: tuple[str, ...]
    short_name: tuple[str, ...]
    owner: tuple[str | None, ...]
    calls: Int64
    total_ns: Int64
    replayed: Int64
    row: Int64

    def __len__(self) -> int:
        return len(self.name)


@remembered
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
