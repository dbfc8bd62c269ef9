"""Events that recur in a program, with their places in its code; loops over the elements of a tensor."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import isin
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.ranges import running_sums
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.places import places_of
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category

#: a place that the program reaches in this many steps, or with kernels in between, is in a loop
BURSTS = 3
#: findings of one rule that name a place each
MOST_PLACES = 3
#: of the weight of a rule, from which on a place has a finding of its own
OWN_SHARE = 0.2


def recurring(facts: Facts, rows: Int32, place: Int64 | None = None, least: int | None = None) -> Bool:
    """Mark events of the steps at places that the program reaches again and again.

    rows    shape (n,): calls, or device work
    place   shape (n,): a number for each, the same for those of one place; by operator, line and annotation without it
    least   in how many steps, of several; without it as below
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
        when, least = facts.step_of(rows), least or (2 if n < 5 else BURSTS)
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


SELECT = "aten::select"
#: so many elements that are taken in one round are looked for: `a[i] * b[i] + c[i]` takes three
LARGEST_PERIOD = 4


class Loops(msgspec.Struct, frozen=True):
    """Loops; parallel, shape (loops,).

    first, last   positions in the call tree: the first and the last `aten::select`
    rounds        how often the same operators ran
    track         index into Trace.tracks
    start, end    ns: from the first selection to the end of what follows the last one
    operators     how many operators the program calls in one round
    is_sure       the index that is selected is recorded, and differs from round to round
    """

    first: Int64
    last: Int64
    rounds: Int64
    track: Int64
    start: Int64
    end: Int64
    operators: Int64
    is_sure: Bool

    def __len__(self) -> int:
        return len(self.first)


def no_loops() -> Loops:
    """None at all."""
    nothing = np.empty(0, np.int64)
    return Loops(*(nothing,) * 7, np.empty(0, np.bool_))


def tensor_loops(model: Model, fewest: int, largest: int) -> Loops:
    """Loops with so many rounds or more, outside of operators: what the program itself wrote.

    fewest    rounds
    largest   operators in a round: the layers of a model repeat, too, and each may select something

    A round is what is called from one selection to the next, or to the second, third or fourth: the same operators as
    in the round before, of tensors of the same shape where that is recorded. Where the index is recorded, it is another
    one in each round.
    """
    tree, operators = model.structure.tree, model.trace.operators
    code = model.trace.strings.code(SELECT)
    if code < 0 or np.count_nonzero(tree.name == code) < fewest:
        return no_loops()
    top = np.flatnonzero(tree.is_operator & ~np.append(tree.is_operator, False)[tree.parent])
    parent = tree.parent[top].astype(np.int64)
    around = np.where(parent >= 0, parent, -1 - tree.track[top].astype(np.int64))
    does = (tree.name[top] == code) | ~_does_nothing(model, top)
    top, around = top[does], around[does]
    order = top[stable_order(around)]  # siblings after one another, by start
    around = around[stable_order(around)]
    selections = np.flatnonzero(tree.name[order] == code)
    # what lies between two selections, as a sum of a random number for each name, and how many they are
    random = np.random.default_rng(0).integers(1, 2**62, int(tree.name.max()) + 1)
    before = running_sums(random[tree.name[order]])
    shape = take_known(operators.input_dims, tree.operator[order[selections]], missing=0)
    mixed = before[selections[1:]] - before[selections[:-1]] + shape[:-1].astype(np.int64) * 1_000_003
    mixed = mixed * 31 + np.diff(selections)
    index = take_known(operators.concrete_inputs, tree.operator[order[selections]], missing=0)
    together = around[selections[1:]] == around[selections[:-1]]
    loops: list[tuple[int, int, int, int]] = []
    taken = np.zeros(len(selections), np.bool_)
    for period in range(1, LARGEST_PERIOD + 1):
        same = (mixed[period:] == mixed[:-period]) & together[period:] & together[:-period]
        # of `x[i, 0]` only one of the two selections has another index in the next round
        moves = running_sums((index[period:-1] != index[: -period - 1]) | (index[period:-1] == 0))
        last_of_round = np.minimum(np.arange(len(same)) + period, len(same))
        same &= moves[last_of_round] > moves[: len(same)]
        edges = np.flatnonzero(np.diff(np.concatenate(([0], same.view(np.int8), [0]))))
        for begin, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            rounds = (stop - begin + period) // period
            after = begin + rounds * period  # the selection that ends the last round
            size = int(selections[begin + period] - selections[begin])
            if rounds >= fewest and size <= largest and not taken[begin:after].any():
                taken[begin:after] = True
                loops.append((begin, after, rounds, size))
    if not loops:
        return no_loops()
    begin, after, rounds, size = np.array(loops, np.int64).T
    first, last = order[selections[begin]], order[selections[after]]
    track, is_sure = tree.track[first].astype(np.int64), index[begin] > 0
    return Loops(first, last, rounds, track, tree.start[first], tree.start[last], size, is_sure)


def _does_nothing(model: Model, nodes: Int64) -> Bool:
    """Of some operators whether they hold no other one, and start no work where that is recorded: they are no part of
    a round, and may be missing in some.
    """
    tree = model.structure.tree
    if not model.has_device_work:
        return np.zeros(len(nodes), np.bool_)
    busy = np.zeros(len(tree) + 1, np.bool_)  # the last is for "none"
    busy[tree.parent[tree.is_operator]] = True
    busy[model.structure.device_links.operator_node] = True
    nothing: Bool = ~busy[nodes]
    return nothing
