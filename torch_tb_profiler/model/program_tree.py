"""The program as its author wrote it: steps, modules, data loading, optimizer, operators, and the backward of modules.

`CallTree` nests the recorded ranges. This tree is built on the same ranges, for reading and comparing: calls of
nn.Module are nodes, operators that are one call (`Model.call_heads`) are one node, and the backward operators of a
module are children of a BACKWARD node.
"""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar, Literal

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import distinct, isin, one_of
from torch_tb_profiler.arrays.forest import preorder
from torch_tb_profiler.arrays.grouping import first_at, greatest_at
from torch_tb_profiler.arrays.nesting import depths, last_started, nearest, nest, outermost_first, to_root
from torch_tb_profiler.arrays.types import Bool, Int8, Int32, Int64, UInt8
from torch_tb_profiler.model.call_tree import ROUNDING_NS, NestedRanges
from torch_tb_profiler.model.model import Model
from torch_tb_profiler.model.modules import lightning_modules, nn_modules
from torch_tb_profiler.model.steps import PROFILER_STEP, StepChoice
from torch_tb_profiler.spill import spilled
from torch_tb_profiler.trace import Category, Trace
from torch_tb_profiler.trace.schema import column

Source = Literal["nn", "lightning"]

#: outermost range of one autograd node in the backward pass
EVALUATE = "autograd::engine::evaluate_function: "
ACCUMULATE = EVALUATE + "torch::autograd::AccumulateGrad"


class NodeKind(IntEnum):
    """What a node is. Of two ranges that begin and end together the lower number is outside."""

    STEP = 0
    LABEL = 1  # another annotation
    DATALOADER = 2
    OPTIMIZER = 3
    COMMUNICATION = 4
    MODULE = 5
    OPERATOR = 6
    BACKWARD = 7  # of one module call: made here, it has no event


class ProgramTree(NestedRanges):
    """One node per range.

    `lane` is the thread a node is shown in: backward nodes are shown in the main thread, wherever they ran.
    A BACKWARD node has no event, so its row is -1. It lasts from the earliest of its operators to the latest; its track
    is that of the first, and its name that of the module.
    """

    table_name: ClassVar[str] = "program_tree"
    kind: UInt8 = column("NodeKind", "category and name")
    duration: Int64 = column("ns", "events.duration; of BACKWARD end - start")
    lane: Int32 = column("index into Trace.tracks", "see above")
    module: Int32 = column("position of a MODULE, -1", "of BACKWARD: the call it is the backward of")


class LinkedProgramTree(msgspec.Struct, frozen=True):
    """The tree, which node made each call of a device's API (-1: none), and the thread that runs the loop (-1)."""

    tree: ProgramTree
    launch_node: Int32
    main: int


def program_tree(model: Model, source: Source = "nn", full: bool = False) -> LinkedProgramTree:
    """Build the tree with the modules of a source.

    Without `full`, nodes are those of the old plugin: no plain annotations, and the main thread is unchanged. With
    `full`, annotations are nodes, and operators of backward threads are children of the step in which they ran.
    """
    # in stages, so that the memory of one is free when the next begins
    draft, main, of_row, launch_node = spilled(_drafted(model, source, full))
    pairs = model.forward_backward
    forward, backward = (of_row[model.tree.row[side]] for side in (pairs.forward, pairs.backward))
    del of_row
    draft = spilled(_with_backward(draft, main, forward, backward, full))
    return draft.in_order(launch_node, main)


def _drafted(model: Model, source: Source, full: bool) -> tuple[_Draft, int, Int32, Int32]:
    """Build the tree without BACKWARD nodes, its main thread, and the node of each event and of each call (or -1)."""
    trace = model.trace
    kind = _kinds(model, source, full)
    rows = np.flatnonzero(kind >= 0)
    events = trace.events
    nesting = spilled(
        nest(events.track[rows], events.start[rows], events.end[rows], kind[rows].astype(np.int32), ROUNDING_NS)
    )
    row = rows[nesting.order]
    kinds, name = kind[row], events.name[row]
    gone = _part_of_a_call(model)[row]
    if not full:
        children = np.bincount(nesting.parent[nesting.parent >= 0], minlength=len(row))
        gone |= (kinds == NodeKind.LABEL) & (children == 0)
    head = nearest(nesting.parent, ~gone, np.arange(len(row))).astype(np.intp)
    place = np.append(np.cumsum(~gone) - 1, -1).astype(np.int32)
    kept = np.flatnonzero(~gone)
    above = nesting.parent[kept].astype(np.intp)
    draft = _Draft(
        trace=trace,
        row=row[kept].astype(np.int32),
        kind=kinds[kept],
        parent=place[np.where(above >= 0, head[above], -1)],
        start=nesting.start[kept],
        end=nesting.end[kept],
        track=nesting.lane[kept],
        name=name[kept],
    )
    of_row = np.full(len(events), -1, np.int32)
    of_row[row] = place[head]
    called = model.launches.row
    inner = nesting.innermost(events.track[called], events.start[called])
    launch_node = place[np.where(inner >= 0, head[inner], -1)] if len(row) else inner
    return draft, draft.main_track(), of_row, launch_node


def _kinds(model: Model, source: Source, full: bool) -> Int8:
    """Return the node kind of each event, shape (events,); -1 for events without a node."""
    trace = model.trace
    events = trace.events
    kind = np.full(len(events), -1, np.int8)
    annotation = model.rows_of(Category.USER_ANNOTATION)
    names = events.name[annotation]

    def annotations(named: Bool) -> Int32:
        return annotation[named[events.name[annotation]]]

    if full:
        kind[annotations(~trace.strings.where(lambda text: text.startswith("[pl][module]"), names))] = NodeKind.LABEL
    kind[model.rows_of(Category.OPERATOR)] = NodeKind.OPERATOR
    collective = model.communication_rows
    kind[collective[events.category[collective] == Category.USER_ANNOTATION]] = NodeKind.COMMUNICATION
    # zero_grad is a node if it calls operators; otherwise nothing happens in it
    kind[model.optimizer_rows] = NodeKind.LABEL
    kind[annotations(trace.strings.where(lambda text: text.startswith("Optimizer.step"), names))] = NodeKind.OPTIMIZER
    kind[model.dataloader_rows] = NodeKind.DATALOADER
    marks = annotations(trace.strings.where(PROFILER_STEP.fullmatch, names))
    if full and (model.step_choice != StepChoice() or not len(marks)):
        marks = _marks_of_steps(model, annotation)
    kind[marks] = NodeKind.STEP
    kind[nn_modules(model).row if source == "nn" else lightning_modules(model)] = NodeKind.MODULE
    return kind


def _marks_of_steps(model: Model, annotation: Int32) -> Int32:
    """Mark the annotations that are the steps of the model."""
    events, steps = model.trace.events, model.steps
    if not len(steps) or not steps.labels:
        return annotation[:0]
    at = np.minimum(np.searchsorted(steps.host_start, events.start[annotation]), len(steps) - 1)
    same = (steps.host_start[at] == events.start[annotation]) & (steps.host_end[at] == events.end[annotation])
    named = model.trace.strings.where(set(steps.labels).__contains__, events.name[annotation])
    found: Int32 = annotation[same & named[events.name[annotation]]]
    return found


def _part_of_a_call(model: Model) -> Bool:
    """Mark operators that are the same call as their parent, shape (events,)."""
    found = np.zeros(len(model.trace.events), np.bool_)
    heads = model.call_heads[:-1]
    found[model.tree.row[heads != np.arange(len(heads))]] = True
    return found


class _Draft(msgspec.Struct, frozen=True):
    """Nodes before they have their final places: BACKWARD nodes stand last, parents anywhere."""

    trace: Trace
    row: Int32
    kind: Int8
    parent: Int32
    start: Int64
    end: Int64
    track: Int32
    name: Int32
    lane: Int32 | None = None
    module: Int32 | None = None

    def is_evaluate(self) -> Bool:
        """Mark autograd nodes of the backward pass that are not inside another operator."""
        named = self.trace.strings.where(lambda text: text.startswith(EVALUATE), self.name)
        chosen = np.flatnonzero((self.kind == NodeKind.OPERATOR) & named.take(self.name))
        parent = self.parent[chosen]
        found = np.zeros(len(self.row), np.bool_)
        found[chosen] = (parent < 0) | one_of(self.kind[parent], (NodeKind.STEP, NodeKind.LABEL))
        return found

    def main_track(self) -> int:
        """Return the thread with most steps, else the busiest one; backward and communication threads come last."""
        if not len(self.row):
            return -1
        tracks = int(self.track.max()) + 1
        steps = np.bincount(self.track[self.kind == NodeKind.STEP], minlength=tracks)
        if steps.any():
            return int(np.argmax(steps))
        top = (self.parent < 0) & (self.kind != NodeKind.COMMUNICATION)
        busy = np.bincount(self.track[top], (self.end - self.start)[top], tracks)
        forward = busy.copy()
        forward[self.track[top & self.is_evaluate()]] = 0
        present = np.bincount(self.track, minlength=tracks)
        return int(np.argmax(next((found for found in (forward, busy) if found.any()), present)))

    def in_order(self, launch_node: Int32, main: int) -> LinkedProgramTree:
        assert self.lane is not None
        assert self.module is not None
        nodes = len(self.row)
        turns = outermost_first(self.lane, self.start, self.end, np.zeros(nodes, np.int32))
        turns, depth = spilled((turns, depths(self.parent)))
        order = spilled(preorder(self.parent, turns))
        place = np.full(nodes + 1, -1, np.int32)
        place[order] = np.arange(nodes, dtype=np.int32)
        row, parent = self.row[order], place.take(self.parent[order])
        length = (self.end - self.start)[order]
        tree = ProgramTree(
            row=row,
            kind=self.kind[order].astype(np.uint8),
            parent=parent,
            depth=depth[order],
            start=self.start[order],
            end=self.end[order],
            duration=np.where(row >= 0, np.maximum(self.trace.events.duration.take(row), 0), length),
            track=self.track[order],
            lane=self.lane[order],
            name=self.name[order],
            module=place.take(self.module[order]),
        )
        return LinkedProgramTree(tree, place[launch_node], main)


def _with_backward(draft: _Draft, main: int, forward: Int32, backward: Int32, full: bool) -> _Draft:
    """Add a BACKWARD node to module calls, and move their autograd nodes under it.

    Autograd nodes without a module stay in place; with `full`, backward threads are moved into the steps.
    """
    nodes = len(draft.row)
    parent, lane = draft.parent.copy(), draft.track.copy()
    is_root = draft.is_evaluate()
    owner = _owners(draft, is_root, forward, backward)
    moved = np.flatnonzero(owner >= 0)
    is_module = draft.kind == NodeKind.MODULE
    calls = np.flatnonzero(is_module)
    outer = np.full(nodes, -1, np.int32)
    outer[calls] = nearest(draft.parent, is_module, draft.parent[calls])

    having = np.zeros(nodes, np.bool_)
    level = distinct(owner[moved])
    while len(level):
        having[level] = True
        level = distinct(outer[level][outer[level] >= 0])
        level = level[~having[level]]
    modules = np.flatnonzero(having)
    made = np.full(nodes + 1, -1, np.int32)
    made[modules] = nodes + np.arange(len(modules), dtype=np.int32)
    above = made[outer[modules]]

    # the module calls of each moved autograd node: its own call, and the outer ones
    at, roots = made[owner[moved]], moved
    pairs: list[tuple[Int32, Int64]] = []
    while len(roots):
        pairs.append((at - nodes, roots))
        on = above[at - nodes] >= 0
        at, roots = above[at - nodes][on], roots[on]
    call, root = (np.concatenate(side) for side in zip(*pairs, strict=True)) if pairs else (at, roots)
    in_time = np.lexsort((root, draft.start[root]))
    first = first_at(call[in_time], root[in_time], len(modules))
    start, end = draft.start[first], greatest_at(call, draft.end[root], len(modules))

    top = above < 0
    above[top] = _step_of(draft, main, first[top])
    track = draft.track[first]
    parent[moved] = made[owner[moved]]
    if full:
        threads = distinct(draft.track[np.flatnonzero(is_root & (draft.parent < 0))])
        loose = np.flatnonzero(isin(draft.track, threads[threads != main]) & (parent < 0))
        parent[loose] = _step_of(draft, main, loose)
    all_parents = np.concatenate([parent, above])
    all_lanes = np.concatenate([lane, np.where(main >= 0, main, track).astype(np.int32)])
    return _Draft(
        trace=draft.trace,
        row=np.concatenate([draft.row, np.full(len(modules), -1, np.int32)]),
        kind=np.concatenate([draft.kind, np.full(len(modules), NodeKind.BACKWARD, np.int8)]),
        parent=all_parents,
        start=np.concatenate([draft.start, start]),
        end=np.concatenate([draft.end, end]),
        track=np.concatenate([draft.track, track]),
        name=np.concatenate([draft.name, draft.name[modules]]),
        lane=all_lanes[to_root(np.where(all_parents >= 0, all_parents, np.arange(len(all_parents))))],
        module=np.concatenate([np.full(nodes, -1, np.int32), modules.astype(np.int32)]),
    )


def _owners(draft: _Draft, is_root: Bool, forward: Int32, backward: Int32) -> Int32:
    """Return the module call whose backward an autograd node is, shape (nodes,); -1 for none.

    Gradients are accumulated right after the node that made them, so AccumulateGrad belongs to the preceding node.
    """
    nodes = len(draft.row)
    module = nearest(draft.parent, draft.kind == NodeKind.MODULE, forward)
    root = nearest(draft.parent, is_root, backward)
    # an operator that ran inside a backward node is recomputation, not its forward
    fits = np.flatnonzero((module >= 0) & (root >= 0) & (draft.start[forward] < draft.start[root]))
    # a backward node of several forward operators belongs to the module of the earliest
    fits = fits[np.lexsort((forward[fits], draft.start[forward[fits]]))]
    owner = first_at(root[fits], module[fits], nodes + 1)

    roots = np.flatnonzero(is_root)
    roots = roots[np.lexsort((draft.start[roots], draft.parent[roots], draft.track[roots]))]
    accumulates = draft.name[roots] == draft.trace.strings.code(ACCUMULATE)
    place = np.arange(len(roots))
    before = np.maximum.accumulate(np.where(accumulates, -1, place)) if len(roots) else place
    leader = np.where(before >= 0, roots[before], -1)
    beside = (draft.parent[leader] == draft.parent[roots]) & (draft.track[leader] == draft.track[roots])
    follows = accumulates & (leader >= 0) & beside & (owner[roots] < 0)
    owner[roots[follows]] = owner[leader[follows]]
    return owner[:-1]


def _step_of(draft: _Draft, main: int, nodes: Int64 | Int32) -> Int32:
    """Return the parents of nodes on the main thread: their own parent if it is there, else the running step."""
    steps = np.flatnonzero((draft.kind == NodeKind.STEP) & (draft.track == main))
    steps = steps[np.argsort(draft.start[steps], kind="stable")]
    lanes = draft.track[steps]
    asked = np.full(len(nodes), main, np.int32)
    found = last_started(lanes, draft.start[steps], asked, draft.start[nodes])
    running = np.append(steps, -1).astype(np.int32)[found]
    inside = (running >= 0) & (draft.start[nodes] < draft.end[running])
    here: Int32 = np.where(draft.track[nodes] == main, draft.parent[nodes], np.where(inside, running, -1))
    return here.astype(np.int32)
