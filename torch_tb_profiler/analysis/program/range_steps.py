"""The ranges that a program names, by name and step: what is compared over ranks."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.program.ranges import named_calls, sums_of_known
from torch_tb_profiler.arrays.grouping import Groups, group, sums_at
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.steps import PROFILER_STEP
from torch_tb_profiler.trace import Category


class RangesByStep(msgspec.Struct, frozen=True):
    """One row per name and step in which it was called, parallel but for `names` and `left`.

    name     place in `names`
    step     in which the calls begin
    calls    all of them
    host     ns: Σ durations of the calls that are in no other of the same name
    device   ns: Σ durations of what these launched; -1 where that is not known
    exposed  ns: of these, as `RangeTable` has it; -1 likewise
    names    the longest on the host first
    left     how many names were left out
    """

    name: Int64
    step: Int64
    calls: Int64
    host: Int64
    device: Int64
    exposed: Int64
    names: tuple[str, ...]
    left: int


_NONE = np.empty(0, np.int64)


def ranges_by_step(model: Model, most: int) -> RangesByStep:
    """Of the `most` names that take longest on the host. Marks of steps are no ranges here."""
    tree, strings, steps = model.in_steps.tree, model.trace.strings, model.steps
    codes = tree.name[tree.category == Category.USER_ANNOTATION]
    of_steps = strings.where(PROFILER_STEP.fullmatch, codes)
    if of_steps[codes].all():
        return RangesByStep(_NONE, _NONE, _NONE, _NONE, _NONE, _NONE, (), 0)
    found = named_calls(model)
    ranges = ~of_steps[tree.name[found.node]]
    step = np.searchsorted(steps.host_start, tree.start[found.node], side="right") - 1
    kept = np.flatnonzero(ranges & (step >= 0))
    top = _outermost(found.outer, found.template)[kept]
    template, duration = found.template[kept], found.duration[kept]
    total = sums_at(template[top], duration[top], len(found.names))
    called = np.bincount(template, minlength=len(found.names)) > 0
    known = np.flatnonzero(called)
    chosen = known[np.lexsort((known, -total[known]))][:most]
    place = np.full(len(found.names), -1, np.int64)
    place[chosen] = np.arange(len(chosen))
    inside = place[template] >= 0
    kept, top = kept[inside], top[inside]
    name = place[template[inside]]
    rows = group([name, step[kept]])

    def sums(values: Int64) -> Int64:
        return sums_of_known(Groups(rows.of[top], rows.first), values[kept[top]])

    return RangesByStep(
        name=name[rows.first],
        step=step[kept[rows.first]],
        calls=rows.count(),
        host=sums(found.duration),
        device=sums(found.device),
        exposed=sums(found.exposed),
        names=tuple(found.names[at] for at in chosen.tolist()),
        left=len(known) - len(chosen),
    )


def _outermost(outer: Int32, template: Int64) -> Bool:
    """Shape (ranges,): those that no range of the same name is around."""
    found = np.ones(len(outer), np.bool_)
    around = outer.astype(np.int64)
    open_ = np.flatnonzero(around >= 0)
    while len(open_):
        same = template[around[open_]] == template[open_]
        found[open_[same]] = False
        open_ = open_[~same]
        around[open_] = outer[around[open_]]
        open_ = open_[around[open_] >= 0]
    return found
