"""The call tree of every host thread: operators and annotations nested by time, and the Python frames beside them.

Two trees, because they cross: `record_function` begins inside one Python call (its `__enter__`) and ends inside
another. Among themselves operators and annotations nest, and so do frames.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.nesting import Nesting, nearest, nest, to_root
from torch_tb_profiler.arrays.types import Bool, Int32, Int64, UInt8
from torch_tb_profiler.trace import Category, EventPhase, Note, Trace, note
from torch_tb_profiler.trace.schema import TraceTable, column

#: starts and durations are rounded apart, so a range may seem to begin this long before the one before it has ended, ns
ROUNDING_NS = 1

Tree = TypeVar("Tree", bound="NestedRanges")

RANGES = (Category.USER_ANNOTATION, Category.OPERATOR)


class NestedRanges(TraceTable):
    """Ranges that are nested by time, in preorder: by thread, by start, the enclosing one first.

    Positions are indexes into these columns. A parent stands before its children, so a roll-up goes from the last
    node to the first. A range that outlives the one it started in ends with it here.
    """

    row: Int32 = column("row", "the event")
    parent: Int32 = column("position, -1 at the top of a thread", "nesting")
    depth: Int32 = column("number of enclosing nodes", "nesting")
    start: Int64 = column("ns", "events.start")
    end: Int64 = column("ns, not after the parent's", "events.end")
    track: Int32 = column("index into Trace.tracks", "events.track")
    name: Int32 = column("string", "events.name")

    @classmethod
    def of(cls: type[Tree], trace: Trace, row: Int32, nesting: Nesting, **columns: Any) -> Tree:
        """row: in preorder; columns: those of the subclass."""
        return cls(
            row=row,
            parent=nesting.parent,
            depth=nesting.depth,
            start=nesting.start,
            end=nesting.end,
            track=nesting.lane,
            name=trace.events.name[row],
            **columns,
        )


class CallTree(NestedRanges):
    """One node per operator and annotation. Totals of operators use the duration that was recorded."""

    table_name: ClassVar[str] = "call_tree"
    category: UInt8 = column("OPERATOR or USER_ANNOTATION", "events.category")
    operator: Int32 = column("index into Trace.operators", "operators.row")
    frame: Int32 = column("position in the frame tree, -1", "innermost Python frame around the start")

    @property
    def is_operator(self) -> Bool:
        is_operator: Bool = self.category == Category.OPERATOR
        return is_operator


class FrameTree(NestedRanges):
    """One node per Python frame. Names are `file(line): function` or `nn.Module: Name_k`."""

    table_name: ClassVar[str] = "frame_tree"


def nest_category(trace: Trace, categories: tuple[Category, ...]) -> tuple[Int32, Nesting]:
    """Nest all events of some categories, thread by thread; the rows in preorder, and the nesting."""
    events = trace.events
    # of two ranges that begin and end together, the category named first is outside
    ranks = np.zeros(len(Category), dtype=np.int32)
    ranks[list(categories)] = np.arange(len(categories))
    rows = np.flatnonzero(one_of(events.category, categories))
    ranks_of = ranks[events.category[rows]]
    nesting = nest(events.track[rows], events.start[rows], events.end[rows], ranks_of, ROUNDING_NS)
    return rows[nesting.order].astype(np.int32), nesting


def frame_tree(trace: Trace) -> tuple[FrameTree, Nesting]:
    row, nesting = nest_category(trace, (Category.PYTHON_FUNCTION,))
    return FrameTree.of(trace, row, nesting), nesting


def call_tree(trace: Trace, frames: Nesting) -> tuple[CallTree, Nesting]:
    row, nesting = nest_category(trace, RANGES)
    operator_of_row = np.full(len(trace.events), -1, dtype=np.int32)
    operator_of_row[trace.operators.row] = np.arange(len(trace.operators), dtype=np.int32)
    tree = CallTree.of(
        trace,
        row,
        nesting,
        category=trace.events.category[row],
        operator=operator_of_row[row],
        frame=frames.innermost(nesting.lane, nesting.start),
    )
    return tree, nesting


def call_heads(tree: CallTree) -> Int64:
    """Return the outermost node of the same call for each node; the last entry is for "no node": -1.

    Returns shape (nodes + 1,).

    An operator whose only callee has the same name is one call with it.
    """
    is_operator = tree.is_operator
    children = np.bincount(tree.parent[tree.parent >= 0], minlength=len(tree))
    inner = np.flatnonzero(is_operator & (tree.parent >= 0))
    parent = tree.parent[inner].astype(np.intp)
    merged = is_operator[parent] & (tree.name[inner] == tree.name[parent]) & (children[parent] == 1)
    head = np.append(np.arange(len(tree)), -1)
    head[inner[merged]] = parent[merged]
    return to_root(head)


def clamping_note(clamped: int) -> list[Note]:
    """Note that ranges were cut. clamped: how many."""
    return [note("clamped_ranges", "info", clamped, ("operators",))] if clamped else []


class ForwardBackward(msgspec.Struct, frozen=True):
    """Parallel positions in the call tree: the forward operator and the outermost operator of its backward."""

    forward: Int32
    backward: Int32


def forward_backward(trace: Trace, tree: CallTree, nesting: Nesting) -> ForwardBackward:
    """Pair the ends of each arrow (same id) with the operators they touch; half arrows are left out."""
    events, flows = trace.events, trace.flows
    arrows = events.category[flows.row] == Category.FLOW_FORWARD_BACKWARD
    begins = arrows & (events.phase[flows.row] == EventPhase.FLOW_START)
    ends = arrows & (events.phase[flows.row] == EventPhase.FLOW_END)
    _, at_begin, at_end = np.intersect1d(flows.id[begins], flows.id[ends], return_indices=True)
    forward_row = flows.row[begins][at_begin]
    backward_row = flows.row[ends][at_end]

    def operator_at(rows: Int32) -> Int32:
        inner = nesting.innermost(events.track[rows], events.start[rows])
        return nearest(tree.parent, tree.is_operator, inner)

    forward, backward = operator_at(forward_row), operator_at(backward_row)
    whole = (forward >= 0) & (backward >= 0)
    return ForwardBackward(forward[whole], backward[whole])


#: of the time in which the main thread runs operators, annotations and calls: threads with less of it are idle
_IDLE_SHARE = 0.01


def idle_threads(called_ns: Int64, main: int) -> Bool:
    """Shape (threads,).

    called_ns  in which each runs operators, annotations and calls
    main       the place of the main thread there
    """
    found: Bool = called_ns < _IDLE_SHARE * called_ns[main]
    return found
