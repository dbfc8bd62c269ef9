"""One trace of a comparison: the nodes of its program that are compared, and what they took."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.kernels import KernelSums
from torch_tb_profiler.analysis.shared.operator_times import TimedProgram, full_program, nn_program
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.program_tree import NodeKind
from torch_tb_profiler.trace import Category

Detail = Literal["parts", "all"]


#: kinds with a role, which are paired first
PARTS = frozenset({NodeKind.STEP, NodeKind.DATALOADER, NodeKind.OPTIMIZER, NodeKind.MODULE, NodeKind.BACKWARD})


class EntryTimes(msgspec.Struct, frozen=True):
    """Sums over the nodes of one side, ns. `total_ns`: of each node its device time, on the host its duration."""

    duration_ns: int
    device_ns: int
    total_ns: int


class OperatorTotals(msgspec.Struct, frozen=True):
    """Operators by name, in the order in which they first returned; parallel, times in ns."""

    name: tuple[str, ...]
    calls: Int64
    host_total_ns: Int64
    device_total_ns: Int64
    host_self_ns: Int64
    device_self_ns: Int64


#: its columns but the name
SUMS = OperatorTotals.__struct_fields__[1:]


@dataclass(frozen=True)
class EntrySide:
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
    def times(self) -> EntryTimes:
        timed = self.program.timed
        if len(self.nodes) == 1:  # as most; numpy takes longer for one value than for a thousand
            at = int(self.nodes[0])
            one, on_device = int(timed.tree.duration[at]), int(timed.device_total[at])
            return EntryTimes(one, on_device, on_device if on_device > 0 else one)
        device, duration = timed.device_total[self.nodes], timed.tree.duration[self.nodes]
        return EntryTimes(int(duration.sum()), int(device.sum()), int(np.where(device > 0, device, duration).sum()))

    def operators(self) -> OperatorTotals:
        """Sum the operators among the nodes and everything below them."""
        return self.program.operators(*below(self.program.timed, self.nodes))

    def kernels(self) -> KernelSums:
        """Sum the kernels that they launched."""
        timed = self.program.timed
        inside = np.zeros(len(timed.tree) + 1, np.bool_)
        inside[below(timed, self.nodes)[0]] = True
        return self.program.kernels(np.flatnonzero(inside[timed.work_node]))


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
        """Return what all steps do, one after the other; without steps everything in the main thread."""
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

    def operators(self, nodes: Int64, times: Int64) -> OperatorTotals:
        """Sum operators among nodes, each counted as often as `times` says."""
        timed = self.timed
        chosen, weight = nodes[timed.is_operator[nodes]], times[timed.is_operator[nodes]]
        groups = group([timed.tree.name[chosen]], self.returned[chosen])
        columns = (timed.tree.duration, timed.device_total, timed.host_self, timed.device_self)
        return OperatorTotals(
            tuple(timed.strings.texts(timed.tree.name[chosen[groups.first]])),
            groups.sum(weight),
            *(groups.sum(column[chosen] * weight) for column in columns),
        )

    def kernels(self, work: Int64) -> KernelSums:
        """Sum kernels by name."""
        model = self.model
        rows = model.device_work.row[work[model.device_category[work] == Category.KERNEL]]
        name = model.trace.events.name[rows]
        groups = group([name])
        return KernelSums(
            name=tuple(model.trace.strings.texts(name[groups.first])),
            calls=groups.count(),
            total_ns=groups.sum(np.maximum(model.trace.events.duration[rows], 0)),
        )

    def everything(self) -> tuple[OperatorTotals, KernelSums]:
        """Sum all operators and kernels of the trace, wherever launched, except work launched before the recording."""
        recorded = ~self.model.launched_before
        every = np.arange(len(self.timed.tree))
        return self.operators(every, np.ones_like(every)), self.kernels(np.flatnonzero(recorded))


def below(timed: TimedProgram, nodes: Int64) -> tuple[Int64, Int64]:
    """Return the nodes and all nodes below them, ascending, and how many of the given nodes each lies in."""
    if not len(nodes):
        return nodes, nodes
    after = timed.forest.after[nodes]
    low, size = int(nodes.min()), int(after.max()) - int(nodes.min())
    changes = np.bincount(nodes - low, minlength=size + 1) - np.bincount(after - low, minlength=size + 1)
    times = np.cumsum(changes[:-1])
    found = np.flatnonzero(times)
    return low + found, times[found]


class WholeTimes(msgspec.Struct, frozen=True):
    """A trace as a sum, ns: `whole` is Σ of `parts`, `before` and `rest`, field by field and exactly.

    whole    the steps (without any the main thread) on the host, all work on devices
    parts    Σ of the parts that the comparison begins with
    before   work launched before the recording, which is of no step and of no part
    rest     what is in none of these. On devices what was launched elsewhere: outside the steps, by other threads.
             On the host the time of the steps between their parts; negative when parts ran at the same time on several
             threads
    """

    whole: EntryTimes
    parts: EntryTimes
    before: EntryTimes
    rest: EntryTimes


def whole_times(beginning: EntrySide) -> WholeTimes:
    """Split the time of the whole trace. beginning: see `Comparison.beginning`."""
    program = beginning.program
    tree, model = program.timed.tree, program.model
    steps = program.steps
    ran = np.maximum(model.trace.events.duration[model.device_work.row], 0)
    host = int(tree.duration[steps if len(steps) else program.start()].sum())
    device = int(ran[model.is_work].sum())
    parts = beginning.times
    earlier = int(ran[model.launched_before].sum())
    before = EntryTimes(0, earlier, earlier)
    rest_host, rest_device = host - parts.duration_ns, device - parts.device_ns - earlier
    rest = EntryTimes(rest_host, rest_device, rest_device if rest_device > 0 else max(rest_host, 0))
    return WholeTimes(EntryTimes(host, device, parts.total_ns + earlier + rest.total_ns), parts, before, rest)
