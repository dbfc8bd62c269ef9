"""Events that recur in a program, and the places in its code that they come from."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.arrays.distinct import isin
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.places import places_of
from torch_tb_profiler.trace import Category

#: a place that the program reaches in this many steps, or with kernels in between, is in a loop
BURSTS = 3
#: findings of one rule that name a place each
MOST_PLACES = 3
#: of the weight of a rule, from which on a place has a finding of its own
OWN_SHARE = 0.2


def recurring(facts: Facts, rows: Int32, place: Int64 | None = None) -> Bool:
    """Mark events of the steps at places that the program reaches again and again.

    rows    shape (n,): calls, or device work
    place   shape (n,): a number for each, the same for those of one place; by operator, line and annotation without it
    In two steps, of five and more in three: steps that were found by what repeats may be parts of the program's own.
    In a single marked step all. Without any step known, at three moments between which kernels run: the weights that a
    model begins with are copied once, with no kernel in between.
    """
    if not len(rows):
        return np.empty(0, np.bool_)
    model, n = facts.model, facts.steps
    if n == 1 and is_loop_known(facts):
        return np.ones(len(rows), np.bool_)
    place = places_in_code(facts, rows) if place is None else place
    if n > 1:
        when, least = facts.step_of(rows), 2 if n < 5 else BURSTS
    else:
        kernels = np.sort(facts.trace.events.start[model.rows_of(Category.KERNEL)])
        when, least = np.searchsorted(kernels, facts.trace.events.start[rows]), BURSTS
    pairs = group([place, when])
    times = np.bincount(place[pairs.first], minlength=int(place.max()) + 1)
    found: Bool = (times >= least)[place]
    return found


def is_loop_known(facts: Facts) -> bool:
    """Tell whether steps were found, so that what recurs is of the loop of the program."""
    return facts.model.steps.rule != "whole_trace"


def places_in_code(facts: Facts, rows: Int32) -> Int64:
    """Shape (n,): a number for each event, the same for those of one operator, line and annotation."""
    found = places_of(facts.model, rows)
    columns = (found.operator, found.frame, found.annotation)
    return group([column - int(column.min(initial=0)) for column in columns]).inverse.astype(np.int64)


def by_place(facts: Facts, rows: Int32, weight: Int64) -> list[Int64]:
    """Positions of some events, in a list for each of the heaviest places; what is left is the last list.

    rows     shape (n,): host events or device work
    weight   shape (n,), not negative
    """
    if not len(rows):
        return []
    place = places_in_code(facts, rows)
    total = np.bincount(place, weight)
    order = np.argsort(-total, kind="stable")[:MOST_PLACES]
    own = [int(each) for each in order.tolist() if total[each] > 0 and total[each] >= OWN_SHARE * total.sum()]
    found = [np.flatnonzero(place == each) for each in own]
    rest = np.flatnonzero(~isin(place, own))
    return [*found, rest] if len(rest) else found
