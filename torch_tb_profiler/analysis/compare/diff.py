"""Two traces side by side: which parts of the programs belong together, and what each took.

The trees of both programs are aligned level by level. Parts with a role (steps, data loading, modules and their
backward, optimizer) are paired in order; what stands between two pairs is compared as one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.compare.alignment import align
from torch_tb_profiler.analysis.kernels import KernelSums
from torch_tb_profiler.analysis.shared.program_times import TimedProgram, full_program, nn_program
from torch_tb_profiler.analysis.tabular import Tabular
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.program_tree import NodeKind
from torch_tb_profiler.trace import Category

Detail = Literal["parts", "all"]

ROOT = "0"

#: kinds with a role, which are paired first
PARTS = frozenset({NodeKind.STEP, NodeKind.DATALOADER, NodeKind.OPTIMIZER, NodeKind.MODULE, NodeKind.BACKWARD})
_ANNOTATIONS = frozenset({NodeKind.LABEL})
_ALL = frozenset(NodeKind)
#: of these a run has one at a time, so that another name (another loader, another optimizer) is still the same part
_ROLES = frozenset({NodeKind.STEP, NodeKind.DATALOADER, NodeKind.OPTIMIZER})
_KINDS = {int(kind): kind for kind in NodeKind}
_NUMBER = lazy_pattern(r"_\d+(?=\.backward$|$)")


class Times(msgspec.Struct, frozen=True):
    """Sums over the nodes of one side, ns. `total_ns`: of each node its device time, on the host its duration."""

    duration_ns: int
    device_ns: int
    total_ns: int


class OperatorSums(msgspec.Struct, frozen=True):
    """Operators by name, in the order in which they first returned; parallel, times in ns."""

    name: tuple[str, ...]
    calls: Int64
    host_total_ns: Int64
    device_total_ns: Int64
    host_self_ns: Int64
    device_self_ns: Int64


#: its columns but the name
SUMS = OperatorSums.__struct_fields__[1:]


@dataclass(frozen=True)
class Side:
    """Nodes of one program that are one entry of the comparison; none when only the other side has it."""

    program: Program = field(repr=False)
    nodes: Int64

    @property
    def kind(self) -> NodeKind | None:
        """None unless it is a single node."""
        return NodeKind(int(self.program.timed.tree.kind[self.nodes[0]])) if len(self.nodes) == 1 else None

    @property
    def name(self) -> str | None:
        """None unless it is a single node."""
        return self.program.timed.name(int(self.nodes[0])) if len(self.nodes) == 1 else None

    @property
    def times(self) -> Times:
        timed = self.program.timed
        if len(self.nodes) == 1:  # as most; numpy takes longer for one value than for a thousand
            at = int(self.nodes[0])
            one, on_device = int(timed.tree.duration[at]), int(timed.device_total[at])
            return Times(one, on_device, on_device if on_device > 0 else one)
        device, duration = timed.device_total[self.nodes], timed.tree.duration[self.nodes]
        return Times(int(duration.sum()), int(device.sum()), int(np.where(device > 0, device, duration).sum()))

    def operators(self) -> OperatorSums:
        """The operators among the nodes and everything below them."""
        return self.program.operators(*below(self.program.timed, self.nodes))

    def kernels(self) -> KernelSums:
        """The kernels that they launched."""
        timed = self.program.timed
        inside = np.zeros(len(timed.tree) + 1, np.bool_)
        inside[below(timed, self.nodes)[0]] = True
        return self.program.kernels(np.flatnonzero(inside[timed.work_node]))


class Node(msgspec.Struct, frozen=True):
    """An entry of the comparison."""

    path: str
    left: Side
    right: Side


class Program:
    """One trace, as the comparison uses it."""

    def __init__(self, model: Model, detail: Detail) -> None:
        self.model = model
        self.timed = nn_program(model) if detail == "parts" else full_program(model)
        #: how many nodes return before each: those that began before it and are not around it, and those below it
        self.returned: Int64 = self.timed.forest.after - 1 - self.timed.tree.depth

    @property
    def steps(self) -> Int64:
        """The steps of the main thread."""
        tree = self.timed.tree
        return np.flatnonzero((tree.kind == NodeKind.STEP) & (tree.lane == self.timed.main))

    def start(self) -> Int64:
        """What all steps do, one after the other; without steps everything in the main thread."""
        tree, steps = self.timed.tree, self.steps
        if len(steps):
            return np.array([child for step in steps.tolist() for child in self.children(step)], np.int64)
        return np.flatnonzero((tree.parent < 0) & (tree.lane == self.timed.main))

    def children(self, node: int) -> Iterator[int]:
        after = self.timed.forest.after
        child, end = node + 1, int(after[node])
        while child < end:
            yield child
            child = int(after[child])

    def operators(self, nodes: Int64, times: Int64) -> OperatorSums:
        """Of different nodes, each counted so many times."""
        timed = self.timed
        chosen, weight = nodes[timed.is_operator[nodes]], times[timed.is_operator[nodes]]
        groups = group([timed.tree.name[chosen]], self.returned[chosen])
        columns = (timed.tree.duration, timed.device_total, timed.host_self, timed.device_self)
        return OperatorSums(
            tuple(timed.strings.texts(timed.tree.name[chosen[groups.first]])),
            groups.sum(weight),
            *(groups.sum(column[chosen] * weight) for column in columns),
        )

    def kernels(self, work: Int64) -> KernelSums:
        model = self.model
        rows = model.device_work.row[work[model.device_category[work] == Category.KERNEL]]
        name = model.trace.events.name[rows]
        groups = group([name])
        return KernelSums(
            name=tuple(model.trace.strings.texts(name[groups.first])),
            calls=groups.count(),
            total_ns=groups.sum(np.maximum(model.trace.events.duration[rows], 0)),
        )

    def everything(self) -> tuple[OperatorSums, KernelSums]:
        """All operators and kernels of the trace, wherever launched, but not work launched before the recording."""
        recorded = ~self.model.launched_before
        every = np.arange(len(self.timed.tree))
        return self.operators(every, np.ones_like(every)), self.kernels(np.flatnonzero(recorded))


def turns_of(path: str) -> list[int] | None:
    """Which child is taken from the root on; None of what is no path."""
    root, *turns = path.split("-")
    if root != ROOT or not all(turn.isascii() and turn.isdigit() and len(turn) < 10 for turn in turns):
        return None
    return [int(turn) for turn in turns]


class Comparison:
    """Two programs aligned; nodes are made when asked for.

    detail   parts: the main thread as the old plugin saw it, down to the innermost parts with a role.
             all: also annotations, operators where there are no parts, and the backward threads; parts that differ
             only in their number, and loaders and optimizers of another kind, are the same part.
    """

    def __init__(self, left: Model, right: Model, detail: Detail) -> None:
        self.left, self.right = Program(left, detail), Program(right, detail)
        self._detail = detail

    def root(self) -> Node:
        return Node(ROOT, Side(self.left, self.left.start()), Side(self.right, self.right.start()))

    def beginning(self) -> tuple[Side, Side]:
        """What the parts of everything are made of, as one entry; where there are none, everything."""
        left, right = self._inside(self.root()) or (self.left.start(), self.right.start())
        return Side(self.left, left), Side(self.right, right)

    def at(self, path: str) -> Node | None:
        """The node of a path: `0` is the root, `0-2` its third child."""
        trail = self.trail(path)
        return trail[-1] if trail else None

    def trail(self, path: str) -> list[Node]:
        """The nodes from the root to that of a path; empty if there is none."""
        turns = turns_of(path)
        if turns is None:
            return []
        found = [self.root()]
        for turn in turns:
            children = self.children(found[-1])
            if turn >= len(children):
                return []
            found.append(children[turn])
        return found

    def children(self, node: Node) -> list[Node]:
        """What the two sides of a node consist of, aligned; empty if nothing in them belongs together."""
        inside = self._inside(node)
        if inside is None:
            return []
        left, right = inside
        pairs = self.pairs(left, right)
        if not pairs:
            return []
        cuts: list[tuple[Int64, Int64]] = []
        i = j = 0
        for paired_left, paired_right in [*pairs, (len(left), len(right))]:
            cuts.append((left[i:paired_left], right[j:paired_right]))
            cuts.append((left[paired_left : paired_left + 1], right[paired_right : paired_right + 1]))
            i, j = paired_left + 1, paired_right + 1
        kept = [(a, b) for a, b in cuts if len(a) or len(b)]
        return [Node(f"{node.path}-{k}", Side(self.left, a), Side(self.right, b)) for k, (a, b) in enumerate(kept)]

    def has_children(self, node: Node) -> bool:
        """Whether there are any; without aligning them, which would cost more than the level that asks."""
        inside = self._inside(node)
        if inside is None or not len(inside[0]) or not len(inside[1]):
            return False
        wanted = PARTS if self._detail == "parts" else _ALL
        mine, theirs = (
            {loose if self._detail == "all" else key for _, key, loose in _keys(program.timed, nodes, wanted)}
            for program, nodes in zip((self.left, self.right), inside, strict=True)
        )
        return not mine.isdisjoint(theirs)

    def _inside(self, node: Node) -> tuple[Int64, Int64] | None:
        """What the two sides consist of: a single node of its children, several of themselves."""
        left, right = node.left.nodes, node.right.nodes
        if len(left) == 1 and len(right) == 1:
            left = np.fromiter(self.left.children(int(left[0])), np.int64)
            right = np.fromiter(self.right.children(int(right[0])), np.int64)
        elif not (len(left) > 1 and len(right) > 1):
            return None
        return left, right

    def pairs(self, left: Int64, right: Int64) -> list[tuple[int, int]]:
        """Which of two sequences of nodes belong together, by their places in these.

        What has most to say comes first: parts with a role, else annotations, else every node.
        """
        for wanted in (PARTS,) if self._detail == "parts" else (PARTS, _ANNOTATIONS, _ALL):
            pairs = self._pairs_of(left, right, wanted)
            if pairs:
                return pairs
        return []

    def _pairs_of(self, left: Int64, right: Int64, wanted: frozenset[NodeKind]) -> list[tuple[int, int]]:
        """By name; with all detail also by role between those pairs, so that a renamed part is not lost."""
        mine, theirs = _keys(self.left.timed, left, wanted), _keys(self.right.timed, right, wanted)
        exact = align([key for _, key, _ in mine], [key for _, key, _ in theirs])
        found: list[tuple[int, int]] = []
        i = j = 0
        for a, b in [*exact, (len(mine), len(theirs))]:
            loose = (
                []
                if self._detail == "parts" or i == a or j == b
                else align([key for _, _, key in mine[i:a]], [key for _, _, key in theirs[j:b]])
            )
            found += [(mine[i + x][0], theirs[j + y][0]) for x, y in loose]
            if a < len(mine):
                found.append((mine[a][0], theirs[b][0]))
            i, j = a + 1, b + 1
        return found


def _keys(
    timed: TimedProgram, nodes: Int64, wanted: frozenset[NodeKind]
) -> list[tuple[int, tuple[NodeKind, str], tuple[NodeKind, str]]]:
    """Place, key and loose key of the nodes that can be paired."""
    found = []
    for place, (name, number) in enumerate(zip(timed.names(nodes), timed.tree.kind[nodes].tolist(), strict=True)):
        kind = _KINDS[number]
        if kind in wanted:
            found.append((place, (kind, name), (kind, "" if kind in _ROLES else _without_number(name))))
    return found


@lru_cache(maxsize=4096)
def _without_number(name: str) -> str:
    return _NUMBER.sub("", name)


def below(timed: TimedProgram, nodes: Int64) -> tuple[Int64, Int64]:
    """The nodes and all nodes below them, ascending, and in how many of those given each lies."""
    if not len(nodes):
        return nodes, nodes
    after = timed.forest.after[nodes]
    low, size = int(nodes.min()), int(after.max()) - int(nodes.min())
    changes = np.bincount(nodes - low, minlength=size + 1) - np.bincount(after - low, minlength=size + 1)
    times = np.cumsum(changes[:-1])
    found = np.flatnonzero(times)
    return low + found, times[found]


# tables -----------------------------------------------------------------------------------------------------


class Delta(Tabular, msgspec.Struct, frozen=True):
    """A table of both sides by name: of each column its left and right values; by the largest change, descending.

    A name that a side does not have counts 0 there.
    """

    name: tuple[str, ...]
    left: dict[str, Int64]
    right: dict[str, Int64]

    def __len__(self) -> int:
        return len(self.name)

    def to_columns(self) -> dict[str, Any]:
        """Of each column the left and the right values side by side."""
        found: dict[str, Any] = {"name": self.name}
        for column in self.left:
            found[f"{column}_left"], found[f"{column}_right"] = self.left[column], self.right[column]
        return found


def delta(left: Any, right: Any, by: tuple[str, ...]) -> Delta:
    """Join two tables of sums; `by` names the columns whose change decides the order, the first that changed counts."""
    names = list(dict.fromkeys([*left.name, *right.name]))
    columns = [c for c in left.__struct_fields__ if c != "name"]
    sides = [_spread(table, names, columns) for table in (left, right)]
    changes = [np.abs(sides[1][c] - sides[0][c]) for c in by]
    changed = next((c for c in changes if c.any()), None)
    if changed is None:
        changed = sides[0][by[0]] if sides[0][by[0]].any() else sides[0][by[-1]]
    order = np.argsort(-changed, kind="stable")
    return Delta(
        tuple(names[i] for i in order.tolist()),
        {c: sides[0][c][order] for c in columns},
        {c: sides[1][c][order] for c in columns},
    )


def _spread(table: Any, names: list[str], columns: list[str]) -> dict[str, Int64]:
    place = {name: i for i, name in enumerate(names)}
    at = np.array([place[name] for name in table.name], np.int64)
    found = {}
    for column in columns:
        values = np.zeros(len(names), np.int64)
        values[at] = getattr(table, column)
        found[column] = values
    return found
