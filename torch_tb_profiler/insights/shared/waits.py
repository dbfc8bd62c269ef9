"""Calls that wait for the device: how long, for what, and what the program asked for when it waited.

Also the checks of anomaly detection, which wait: autograd looks for a NaN in the gradients of each node.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.graph import Edge, Graph
from torch_tb_profiler.analysis.replay.launched_work import WorkKind
from torch_tb_profiler.arrays.distinct import distinct, distinct_first, isin
from torch_tb_profiler.arrays.grouping import each_value
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.ranges import running_sums
from torch_tb_profiler.arrays.types import Bool, Int8, Int32, Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.rule import Evidence, evidence
from torch_tb_profiler.insights.shared.recurring import by_place, recurring
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.event_names import SYNCHRONIZE, WHOLE_DEVICE

#: operators whose result has a size that only the device knows
DYNAMIC = frozenset(
    f"aten::{name}"
    for name in (
        "nonzero",
        "masked_select",
        "unique_dim",
        "unique_consecutive",
        "_unique",
        "_unique2",
        "repeat_interleave",
        "bincount",
    )
)
#: operators that call one of these, and are what the program wrote
AROUND_DYNAMIC = frozenset(
    f"aten::{name}"
    for name in ("index", "index_put_", "_index_put_impl_", "where", "argwhere", "nonzero_numpy", "masked_scatter")
)
CONDITIONS = frozenset(f"aten::{name}" for name in ("is_nonzero", "equal", "allclose"))
VALUES = frozenset(("aten::_local_scalar_dense", "aten::item"))


class WaitedFor(IntEnum):
    """What the program asked for."""

    DYNAMIC = 0  # a result whose size only the device knows
    CONDITION = 1  # whether a tensor is true, or two are equal
    VALUE = 2  # the value of a tensor as a number
    COPY_BACK = 3  # a tensor on the host
    COPY_TO = 4  # a tensor on the device, from memory that is not known to be pageable
    PAGEABLE = 5  # the same, from pageable memory
    OPERATOR = 6  # an operator that waits for another reason
    DEVICE = 7  # that the device is done, outside of operators
    STREAM = 8  # that a stream or an event is done, outside of operators


class Waits(msgspec.Struct, frozen=True):
    """Calls that wait for the device, or for their own copy, whether or not they had to. Parallel, shape (n,), by row.

    row        the call
    waited_ns  how long it waited
    asked      a WaitedFor
    operator   string: what the program called; the outermost operator that makes the wait; -1 outside of operators
    place      what makes the calls: the innermost operator, as its row; outside of operators the call itself. One such
               operator often makes two calls, a copy and a wait for it
    """

    row: Int32
    waited_ns: Int64
    asked: Int8
    operator: Int64
    place: Int32

    def __len__(self) -> int:
        return len(self.row)

    @property
    def times(self) -> int:
        """How often the program waited: calls of one operator are one wait."""
        return len(distinct(self.place))

    @property
    def longest(self) -> Int32:
        """Return one call for each wait, which took most of it; the longest waits first."""
        order = np.argsort(-self.waited_ns, kind="stable")
        _, first = distinct_first(self.place[order])
        found: Int32 = self.row[order[np.sort(first)]]
        return found

    def take(self, chosen: Bool | Int64) -> Waits:
        """Select some of them."""
        return Waits(**{name: getattr(self, name)[chosen] for name in self.__struct_fields__})


@cached
def waits(model: Model) -> Waits:
    """All of the trace. A driver's call inside a runtime's is part of it."""
    graph = graph_of(model)
    calls, items, trace = graph.calls, graph.items, model.trace
    links = model.structure.launch_links
    is_sync = trace.strings.where(SYNCHRONIZE.search, calls.name)[calls.name] & (calls.release < 0)
    copied = np.full(len(calls), -1, np.int64)
    blocking = graph.item[graph.edge == Edge.BLOCKING_COPY]
    copied[items.call[blocking]] = blocking
    inside = (links.duration == 0) & (calls.end > calls.start)
    call = np.flatnonzero((is_sync | (copied >= 0)) & ~inside)
    node = links.operator_node[call].astype(np.int64)
    asked, operator = _asked(model, graph, call, node, copied[call])
    return Waits(
        row=calls.row[call],
        waited_ns=_waited(graph, call),
        asked=asked,
        operator=operator,
        place=np.where(node >= 0, take_known(model.structure.tree.row, node), calls.row[call]).astype(np.int32),
    )


def _waited(graph: Graph, call: Int64) -> Int64:
    """Return how long calls waited, ns: their overlap with the waits of their threads."""
    lane, start, end = graph.calls.lane[call], graph.calls.start[call], graph.calls.end[call]
    known = graph.waits
    length = running_sums(known.end - known.start)
    waited = np.zeros(len(call), np.int64)
    for on, mine in each_value(lane):
        low, high = np.searchsorted(known.lane, [on, on + 1]).tolist()
        if low == high:
            continue

        def until(time: Int64, low: int = low, high: int = high) -> Int64:
            after = low + np.searchsorted(known.start[low:high], time, side="left")
            last = np.maximum(after - 1, low)
            over = np.where(after > low, np.maximum(known.end[last] - time, 0), 0)
            total: Int64 = length[after] - length[low] - over
            return total

        waited[mine] = until(end[mine]) - until(start[mine])
    return waited


def _asked(model: Model, graph: Graph, call: Int64, node: Int64, copied: Int64) -> tuple[Int8, Int64]:
    """Shape (calls,) each: the WaitedFor, and the name of the operator that the program called."""
    trace, tree = model.trace, model.structure.tree
    strings, items = trace.strings, graph.items
    name = graph.calls.name[call]
    of_device = strings.where(WHOLE_DEVICE.search, name)[name]
    kinds = np.where(of_device, WaitedFor.DEVICE, WaitedFor.STREAM).astype(np.int8)
    kinds[node >= 0] = WaitedFor.OPERATOR
    copies = np.flatnonzero((items.kind == WorkKind.COPY) & (items.call >= 0))
    text = trace.events.name[items.row[copies]]
    around = model.structure.launch_links.operator_node[items.call[copies]]
    for kind, wanted in (
        (WaitedFor.COPY_TO, _is_to),
        (WaitedFor.PAGEABLE, _is_pageable_to),
        (WaitedFor.COPY_BACK, _is_back),
    ):
        chosen = strings.where(wanted, text)[text]
        # the copy itself, or what waits for it in the same operator
        mine = isin(copied, copies[chosen]) | ((node >= 0) & isin(node, around[chosen]))
        kinds[mine] = kind
    if not len(tree):
        return kinds, np.full(len(call), -1, np.int64)
    top = node.copy()
    for kind, inner, outer in (
        (WaitedFor.VALUE, VALUES, VALUES),
        (WaitedFor.CONDITION, CONDITIONS, CONDITIONS),
        (WaitedFor.DYNAMIC, DYNAMIC, DYNAMIC | AROUND_DYNAMIC),
    ):
        found = _outermost(model, node, inner, outer)
        kinds[found >= 0] = kind
        top = np.where(found >= 0, found, top)
    return kinds, take_known(tree.name, top).astype(np.int64)


def _outermost(model: Model, node: Int64, inner: frozenset[str], outer: frozenset[str]) -> Int64:
    """Return the outermost operator named in `outer` around some nodes that have one of `inner` around them; -1 for
    none.
    """
    tree, strings = model.structure.tree, model.trace.strings
    is_inner, is_outer = (
        strings.where(names.__contains__, tree.name)[tree.name] & tree.is_operator for names in (inner, outer)
    )
    found = nearest(tree.parent, is_inner, node).astype(np.int64)
    above = np.flatnonzero(found >= 0)
    while len(above):
        parent = tree.parent[found[above]].astype(np.int64)
        higher = np.where(parent >= 0, nearest(tree.parent, is_outer, parent), -1)
        more = higher >= 0
        found[above[more]] = higher[more]
        above = above[more]
    return found


def _is_back(name: str) -> bool:
    return "DtoH" in name or "DeviceToHost" in name


def _is_to(name: str) -> bool:
    return "HtoD" in name or "HostToDevice" in name


def _is_pageable_to(name: str) -> bool:
    return _is_to(name) and "Pageable" in name


def recurring_waits(facts: Facts, found: Waits) -> Waits:
    """Return the waits that begin in a step, at places that the program reaches again and again."""
    found = found.take(facts.step_of(found.row) >= 0)
    return found.take(recurring(facts, found.row))


def by_line(facts: Facts, found: Waits, least_share: float) -> Sequence[Waits]:
    """Recurring waits of one operator and line together, what is left of small ones last; with the longest wait first.

    least_share   of the steps, below which they are left out
    """
    found = recurring_waits(facts, found)
    lines = [found.take(at) for at in by_place(facts, found.row, found.waited_ns)]
    return [
        line.take(np.argsort(-line.waited_ns, kind="stable"))
        for line in lines
        if facts.share(int(line.waited_ns.sum())) >= least_share
    ]


def wait_evidence(facts: Facts, found: Waits, call: str) -> tuple[Evidence, ...]:
    """How long and how often calls of a group wait in a step."""
    waited = int(found.waited_ns.sum())
    return (
        evidence("waiting_per_step", waited / facts.steps, "ns", "trace", call),
        evidence("waits_per_step", found.times / facts.steps, "count", "trace", call),
        evidence("longest_wait", int(found.waited_ns.max()), "ns", "trace", call),
    )


NODE = "autograd::engine::evaluate_function: "
#: a gradient is tested, and the answer is read
_TEST = "aten::isnan"
_READ = frozenset(("aten::_is_any_true", "aten::any", "aten::item"))


class Checks(msgspec.Struct, frozen=True):
    """Checks for NaN, positions in the call tree.

    node      shape (checks,): the operators that check
    checked   shape (nodes,): the backward nodes with a check
    nodes     shape (nodes,): the backward nodes that have gradients to check
    """

    node: Int64
    checked: Int64
    nodes: Int64

    @property
    def share(self) -> float:
        """Share of the backward nodes that are checked, 0…1."""
        return len(self.checked) / len(self.nodes) if len(self.nodes) else 0.0


@cached(for_good=True)
def anomaly_checks(model: Model) -> Checks:
    """All of the trace, also where few nodes have one: then it is the program's own test."""
    tree, strings = model.structure.tree, model.trace.strings
    nothing = np.empty(0, np.int64)
    if not len(tree):
        return Checks(nothing, nothing, nothing)
    is_node = strings.where(lambda name: name.startswith(NODE), tree.name)[tree.name]
    parent = tree.parent.astype(np.int64)
    # those that accumulate have no gradient as their result: what tests there is a hook of the program
    gives = is_node & ~strings.where(lambda name: "AccumulateGrad" in name, tree.name)[tree.name]
    test = np.flatnonzero((tree.name == strings.code(_TEST)) & np.append(gives, False)[parent])
    checked = distinct(parent[test])
    has_test = np.zeros(len(tree) + 1, np.bool_)
    has_test[checked] = True
    read = np.flatnonzero(strings.where(_READ.__contains__, tree.name)[tree.name] & has_test[parent])
    return Checks(np.sort(np.concatenate((test, read))), checked, np.flatnonzero(gives))


def in_checks(model: Model, rows: Int32) -> Bool:
    """Shape (n,): which calls are made by such a check."""
    node = anomaly_checks(model).node
    if not len(node):
        return np.zeros(len(rows), np.bool_)
    events = model.trace.events
    place = model.structure.nesting.innermost(events.track[rows], events.start[rows])
    found: Bool = below(model, node, place) >= 0
    return found


def below(model: Model, nodes: Int64, place: Int32) -> Int32:
    """Shape (n,): of some places in the call tree the nearest of some nodes around each, or itself; -1 for none."""
    tree = model.structure.tree
    wanted = np.zeros(len(tree), np.bool_)
    wanted[nodes] = True
    return nearest(tree.parent, wanted, place)
