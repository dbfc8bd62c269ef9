"""The program tree with its times, in the three forms that questions need."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.shared.operator_times import operator_times
from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.forest import Forest
from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.program_tree import LinkedProgramTree, NodeKind, ProgramTree, program_tree
from torch_tb_profiler.spill import spilled
from torch_tb_profiler.trace import StringTable

#: wrappers that are written as operators and are none
_NOT_OPERATORS = ("DataParallel.forward", "DistributedDataParallel.forward")


_BACKWARD = int(NodeKind.BACKWARD)


class TimedProgram(msgspec.Struct, frozen=True):
    """The tree and, per node, its times in ns; `host_total` is `tree.duration`.

    Those of operators are those of `OperatorTimes`, which look through the modules inside an operator. Of other nodes:

    host_self      duration − Σ nodes directly inside − Σ own calls of the device's API
    device_self    Σ durations of the work that it launched itself, with no operator around the launch
    device_total   Σ durations of the work that it and everything below it launched

    work_node      shape (device work,): the innermost node around the launch, -1 for work without
    is_operator    counts as an operator: not a step, annotation, module or wrapper
    main           the thread that runs the loop, an index into Trace.tracks; -1 without nodes
    """

    tree: ProgramTree
    forest: Forest
    strings: StringTable
    host_self: Int64
    device_self: Int64
    device_total: Int64
    work_node: Int32
    is_operator: Bool
    main: int

    def name(self, node: int) -> str:
        text = str(self.strings[int(self.tree.name[node])])
        return text + ".backward" if self.tree.kind[node] == _BACKWARD else text

    def names(self, nodes: Int64) -> list[str]:
        """`name` of many."""
        of = zip(self.strings.texts(self.tree.name[nodes]), self.tree.kind[nodes].tolist(), strict=True)
        return [text + ".backward" if kind == _BACKWARD else text for text, kind in of]


@cached
def nn_program(model: Model) -> TimedProgram:
    """With calls of nn.Module, as the old plugin chose its nodes."""
    return _timed(model, program_tree(model, "nn"))


@cached
def lightning_program(model: Model) -> TimedProgram:
    """With Lightning's modules instead."""
    return _timed(model, program_tree(model, "lightning"))


@cached
def full_program(model: Model) -> TimedProgram:
    """With calls of nn.Module, all annotations, and backward threads inside the steps."""
    return _timed(model, program_tree(model, "nn", full=True))


def _timed(model: Model, found: LinkedProgramTree) -> TimedProgram:
    found = spilled(found)
    tree, trace = found.tree, model.trace
    nodes = len(tree)
    forest = spilled(Forest(tree.parent))
    times = operator_times(model)
    # annotations are labels on part of the time of what they are in, so self times look through them
    opaque = ~one_of(tree.kind, (NodeKind.LABEL, NodeKind.COMMUNICATION))
    itself = np.arange(nodes)
    owner = np.append(nearest(tree.parent, opaque, itself), -1).astype(np.intp)
    owner[:-1] = np.where(owner[:-1] < 0, itself, owner[:-1])
    owner = spilled(owner)
    # what runs in another thread takes no time of its parent
    inside = np.flatnonzero(opaque & (tree.parent >= 0) & (tree.track == tree.track.take(tree.parent)))
    length = (tree.end - tree.start)[inside]
    host_self = tree.duration - sums_at(owner[tree.parent[inside]], length, nodes)
    del itself, opaque, inside, length
    calling = np.flatnonzero(found.launch_node >= 0)
    host_self -= sums_at(owner[found.launch_node[calling]], model.launch_links.duration[calling], nodes)
    timed = np.flatnonzero(tree.kind == NodeKind.OPERATOR)
    call_of_row = np.empty(len(trace.events), np.intp)
    call_of_row[model.tree.row[times.node]] = np.arange(len(times))
    call = spilled(call_of_row[tree.row[timed]])
    del call_of_row
    host_self[timed] = times.host_self[call]
    host_self = spilled(host_self)

    work_node = np.append(found.launch_node, np.int32(-1))[model.device_links.launch]
    owned = np.flatnonzero((work_node >= 0) & model.is_work)
    work_ns = np.maximum(trace.events.duration[model.device_work.row[owned]], 0)
    device_total = forest.below(sums_at(work_node[owned], work_ns, nodes))
    device_total[timed] = times.device_total[call]
    alone = model.device_links.operator_node[owned] < 0
    device_self = sums_at(owner[work_node[owned[alone]]], work_ns[alone], nodes)
    device_self[timed] = times.device_self[call]
    wrapper = trace.strings.where(_NOT_OPERATORS.__contains__, tree.name)
    return TimedProgram(
        tree=tree,
        forest=forest,
        strings=trace.strings,
        host_self=host_self,
        device_self=device_self,
        device_total=device_total,
        work_node=work_node,
        is_operator=(tree.kind == NodeKind.OPERATOR) & ~wrapper[tree.name],
        main=found.main,
    )
