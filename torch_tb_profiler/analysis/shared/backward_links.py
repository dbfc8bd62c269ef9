"""Backward belongs to its forward: which operator an autograd node is the backward of, by their sequence number.

A number is read when an operator begins and taken by the operator that makes the node: callers share it, and the one
that began last made the node. Numbers are counted per thread; `Fwd thread id` is torch's own number of a thread.
"""

from __future__ import annotations

from typing import Literal, get_args

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.arrays.distinct import distinct, distinct_counts, distinct_places
from torch_tb_profiler.arrays.grouping import first_at, sums_at
from torch_tb_profiler.arrays.lookup import LaneIndex, take_known
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int8, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.program_tree import ACCUMULATE, EVALUATE

#: fewer operators than these may be like others by chance
LEAST = 5


#: an operator of the backward pass as torch named it before 1.11
_OLD_NODE = lazy_pattern(r"\w*Backward\d*$|torch::autograd::AccumulateGrad$")


@cached
def autograd_nodes(model: Model) -> Bool:
    """Return shape (call tree of the whole trace,): whether a node of it is a node of the autograd engine.

    Before torch 1.11 their ranges had no name of their own: there it is the operator itself that tells.
    """
    tree, strings = model.structure.tree, model.trace.strings
    if not len(tree):
        return np.zeros(0, np.bool_)
    found: Bool = tree.is_operator & strings.where(lambda name: name.startswith(EVALUATE), tree.name)[tree.name]
    if found.any():
        return found
    by_name = strings.where(_OLD_NODE.fullmatch, tree.name)[tree.name]
    by_thread = take_known(model.trace.operators.forward_thread, tree.operator) > 0
    return tree.is_operator & (by_name | by_thread)


@cached
def evaluates(model: Model) -> Bool:
    """Return shape (call tree,): the calls of the autograd engine that the backward pass is made of."""
    tree = model.tree
    named = model.trace.strings.where(lambda name: name.startswith(EVALUATE), tree.name)
    found: Bool = tree.is_operator & named[tree.name] if len(tree) else np.zeros(0, np.bool_)
    return found


@cached(for_good=True)
def recomputed(model: Model) -> Int64:
    """Find the outermost operators that run again, as positions in the call tree.

    Operators of the backward pass have no number of the autograd engine, but those that recompute what was not
    kept. They count when they follow one another as they do somewhere in the forward pass, the last ones left out:
    recomputation stops where all that is needed is there. Of a gradient of gradients they do not.
    """
    tree = model.tree
    number = take_known(model.trace.operators.sequence, tree.operator)
    names = model.trace.strings.where(lambda name: name.startswith("aten::"), tree.name)
    numbered = (number >= 0) & tree.is_operator & names[tree.name] if len(tree) else np.zeros(0, np.bool_)
    if not numbered.any():
        return np.empty(0, np.int64)
    each = np.flatnonzero(numbered)
    evaluated = nearest(tree.parent, evaluates(model), each)
    inner, owner = each[evaluated >= 0], evaluated[evaluated >= 0]
    if not len(inner):
        return inner
    # operators inside others count for the comparison, too: `linear` holds `t` and `addmm`
    place = distinct_places(tree.name[each])[1]
    forward, letters = _as_text(place[evaluated < 0]), _as_text(place[evaluated >= 0])
    outermost = nearest(tree.parent, numbered, tree.parent[inner]) < 0
    known: dict[str, bool] = {}
    found = np.zeros(len(inner), np.bool_)
    for begin, after in _runs(owner):
        text = letters[begin:after]
        if text not in known:
            known[text] = after - begin >= LEAST and text[: max(LEAST, len(text) - 2)] in forward
        found[begin:after] = known[text]
    return inner[found & outermost]


def _as_text(numbers: Int64) -> str:
    """Encode small numbers as letters, so that runs of them can be searched as text is."""
    return (0xE000 + numbers).astype("<u4").tobytes().decode("utf-32-le")


def _runs(values: np.ndarray[tuple[int], np.dtype[np.int32]]) -> list[tuple[int, int]]:
    """Return where each run of equal values begins and ends."""
    edges = np.flatnonzero(np.diff(values)) + 1
    return list(zip([0, *edges.tolist()], [*edges.tolist(), len(values)], strict=True))


#: linked; else why not: a TorchScript graph, whose operators have no numbers; no number was recorded; the forward is
#: not in the trace
Link = Literal["linked", "script", "no_number", "no_forward"]
LINKS: tuple[Link, ...] = get_args(Link)
_LINKED, _SCRIPT, _NO_NUMBER, _NO_FORWARD = range(4)


class BackwardLinks(msgspec.Struct, frozen=True):
    """Autograd nodes of the whole trace; parallel, positions in the call tree.

    node      the node
    forward   the operator that it is the backward of, -1
    link      place in `LINKS`
    """

    node: Int64
    forward: Int64
    link: Int8


@cached(for_good=True)
def backward_links(model: Model) -> BackwardLinks:
    """Link nodes with their forward. Nodes inside others are nodes of their own; AccumulateGrad goes with the node
    before it.
    """
    whole = model.whole
    tree, operators = whole.tree, model.trace.operators
    node = np.flatnonzero(autograd_nodes(whole))
    number, thread = _numbers(whole, node)
    sequence = take_known(operators.sequence, tree.operator)
    first = tree.is_operator & (sequence >= 0) & (take_known(operators.forward_thread, tree.operator) <= 0)
    makers = np.flatnonzero(first)
    track = _tracks(whole, node, number, thread, makers)
    forward = _last_started(whole, makers, sequence[makers], track, number, tree.start[node])
    forward = _with_arrows(whole, node, number, forward)
    forward = _with_accumulation(whole, node, forward)
    script = model.trace.strings.where(lambda name: "DifferentiableGraphBackward" in name, tree.name[node])
    link = np.where(number < 0, _NO_NUMBER, _NO_FORWARD)
    link[script[tree.name[node]]] = _SCRIPT
    link[forward >= 0] = _LINKED
    return BackwardLinks(node, forward, link.astype(np.int8))


class BackwardTimes(msgspec.Struct, frozen=True):
    """Time of outermost autograd nodes of the steps that are chosen, by place in `LINKS`; ns.

    host    Σ durations
    device  Σ durations of device work launched in them
    """

    host: Int64
    device: Int64


@cached
def backward_times(model: Model) -> BackwardTimes:
    inside, links = model.in_steps, backward_links(model.whole)
    tree = inside.tree
    of_row = np.full(len(model.trace.events), -1, np.int64)
    of_row[model.whole.tree.row[links.node]] = links.link
    link = of_row[tree.row]
    is_node = link >= 0
    outer = np.flatnonzero(is_node & (nearest(tree.parent, is_node, tree.parent) < 0))
    work = np.flatnonzero(inside.is_work & (inside.device_links.node >= 0))
    around = nearest(tree.parent, is_node, inside.device_links.node[work]) if len(tree) else work
    duration = np.maximum(model.trace.events.duration[inside.device_work.row[work]], 0)
    known = around >= 0
    return BackwardTimes(
        sums_at(link[outer], (tree.end - tree.start)[outer], len(LINKS)),
        sums_at(link[around[known]], duration[known], len(LINKS)),
    )


def selected_links(model: Model) -> tuple[Int64, Int64]:
    """Return linked nodes and their forward, as positions in `Model.tree`; pairs where both are selected."""
    links = backward_links(model.whole)
    rows = model.whole.tree.row
    place = np.full(len(model.trace.events), -1, np.int64)
    place[model.tree.row] = np.arange(len(model.tree))
    linked = links.forward >= 0
    node, forward = place[rows[links.node[linked]]], place[rows[links.forward[linked]]]
    both = (node >= 0) & (forward >= 0)
    return node[both], forward[both]


def _numbers(model: Model, node: Int64) -> tuple[Int64, Int64]:
    """Return sequence number and torch's number of the forward thread: of the node, else of its child of the same
    operator.

    A node with a hook has none of its own.
    """
    tree, operators, strings = model.tree, model.trace.operators, model.trace.strings
    number = take_known(operators.sequence, tree.operator[node]).astype(np.int64)
    thread = take_known(operators.forward_thread, tree.operator[node]).astype(np.int64)
    without = np.zeros(len(tree), np.bool_)
    without[node[number < 0]] = True
    child = np.flatnonzero((tree.parent >= 0) & np.append(without, False)[tree.parent])
    child = child[take_known(operators.sequence, tree.operator[child]) >= 0]
    names = zip(strings.texts(tree.name[child]), strings.texts(tree.name[tree.parent[child]]), strict=True)
    child = child[np.array([outer == EVALUATE + inner for inner, outer in names], np.bool_)] if len(child) else child
    of_parent = first_at(tree.parent[child], child, len(tree))[node]
    there = of_parent >= 0
    number[there] = operators.sequence[tree.operator[of_parent[there]]]
    thread[there] = operators.forward_thread[tree.operator[of_parent[there]]]
    return number, thread


def _tracks(model: Model, node: Int64, number: Int64, thread: Int64, makers: Int64) -> Int64:
    """Find the track of the forward thread of each node, -1: by arrows, else where most of its numbers are found."""
    tree, operators = model.tree, model.trace.operators
    pairs = model.forward_backward
    own = np.full(len(tree) + 1, -1, np.int64)
    own[node] = thread
    arrowed = own[nearest(tree.parent, autograd_nodes(model), pairs.backward)]
    track_of = dict(_most_common(arrowed, tree.track[pairs.forward].astype(np.int64)))
    # each track that has the number of a node has a vote for the thread of the node
    tracks = distinct(tree.track[makers])
    sequence = operators.sequence[tree.operator[makers]]
    votes = [
        (np.full(int(has.sum()), track), thread[has])
        for track in tracks.tolist()
        for has in [np.isin(number, sequence[tree.track[makers] == track])]
    ]
    if votes:
        voted, threads = (np.concatenate(side) for side in zip(*votes, strict=True))
        for each, track in _most_common(threads, voted):
            track_of.setdefault(each, track)
    different, place = distinct_places(thread)
    of_thread = np.array([track_of.get(each, -1) for each in different.tolist()], np.int64)
    return of_thread[place] if len(thread) else thread


def _most_common(key: Int64, value: Int64) -> list[tuple[int, int]]:
    """Return the most common value of each key; negative values do not count."""
    known = key >= 0
    keys, key_place = distinct_places(key[known])
    values, value_place = distinct_places(value[known])
    pairs, count = distinct_counts(key_place * len(values) + value_place)
    best: dict[int, tuple[int, int]] = {}
    sides = keys[pairs // max(len(values), 1)].tolist(), values[pairs % max(len(values), 1)].tolist()
    for each, candidate, many in zip(*sides, count.tolist(), strict=True):
        if many > best.get(each, (0, 0))[0]:
            best[each] = (many, candidate)
    return [(each, candidate) for each, (_, candidate) in best.items()]


def _last_started(model: Model, makers: Int64, sequence: Int64, track: Int64, number: Int64, start: Int64) -> Int64:
    """Find the operator of each thread and number that began last before a time, -1."""
    tree = model.tree
    if not len(makers) or not len(number):
        return np.full(len(number), -1, np.int64)
    # numbers of files may be any: only which are equal counts
    different, rank = distinct_places(np.concatenate([sequence, number]))
    lane = tree.track[makers].astype(np.int64) * len(different) + rank[: len(makers)]
    wanted = np.where((track >= 0) & (number >= 0), track * len(different) + rank[len(makers) :], -1)
    _, place = distinct_places(np.concatenate([lane, wanted]))
    moments = LaneIndex(place[: len(makers)], tree.start[makers])
    found = moments.last(place[len(makers) :], start - 1)
    return np.where(wanted >= 0, np.append(makers, -1)[found], -1)


def _with_arrows(model: Model, node: Int64, number: Int64, forward: Int64) -> Int64:
    """Link nodes without a number by the profiler's arrows."""
    tree, pairs = model.tree, model.forward_backward
    of_node = np.full(len(tree) + 1, -1, np.int64)
    at = nearest(tree.parent, autograd_nodes(model), pairs.backward)
    of_node[at] = pairs.forward
    return np.where((number < 0) & (forward < 0), of_node[node], forward)


def _with_accumulation(model: Model, node: Int64, forward: Int64) -> Int64:
    """Link AccumulateGrad, which has no forward, as the node before it on its thread, below the same parent."""
    tree, strings = model.tree, model.trace.strings
    codes = [strings.code(ACCUMULATE), strings.code("torch::autograd::AccumulateGrad")]
    accumulates = np.isin(tree.name[node], [code for code in codes if code >= 0]) & (forward < 0)
    order = np.lexsort((tree.start[node], tree.parent[node], tree.track[node]))
    place = np.arange(len(order))
    leads = np.where(accumulates[order], -1, place)
    before = np.maximum.accumulate(leads) if len(leads) else leads
    leader = np.where(before >= 0, order[before], -1)
    mine = order
    beside = (leader >= 0) & (tree.parent[node[leader]] == tree.parent[node[mine]])
    beside &= tree.track[node[leader]] == tree.track[node[mine]]
    found = forward.copy()
    follows = accumulates[mine] & beside
    found[mine[follows]] = forward[leader[follows]]
    return found
