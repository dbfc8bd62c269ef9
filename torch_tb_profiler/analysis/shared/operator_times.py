"""Self and total times of operators, defined once, here; and the program tree with its times."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.forest import Forest
from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.lookup import places_of
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.modules import lightning_modules, nn_modules
from torch_tb_profiler.model.program_tree import LinkedProgramTree, NodeKind, ProgramTree, Source, program_tree
from torch_tb_profiler.spill import spilled
from torch_tb_profiler.trace.store import StringTable


@cached
def call_forest(model: Model) -> Forest:
    """Return sums over the call tree."""
    return Forest(model.tree.parent)


class OperatorTimes(msgspec.Struct, frozen=True):
    """One entry per call of an operator (`Model.call_heads`), by its place in the call tree; times in ns.

    node           position in the call tree
    of_node        shape (call tree + 1,): which call a node is part of, -1 for annotations; the last entry, -1, is for
                   "no node"
    host_total     duration as recorded
    host_self      host_total − Σ operators directly inside, as far as they lie inside − Σ own calls of the device's
                   API
    api_self       Σ own calls of the device's API, each within the operator
    device_self    Σ durations of the work whose launch has this operator as its innermost one
    device_total   device_self of it and of all operators below it

    What is inside an operator and is none (an annotation, a call of nn.Module, other Python) is part of it.
    """

    node: Int64
    of_node: Int64
    host_total: Int64
    host_self: Int64
    api_self: Int64
    device_total: Int64
    device_self: Int64

    def __len__(self) -> int:
        return len(self.node)


class OperatorNodes(msgspec.Struct, frozen=True):
    """Where the calls of operators are in the call tree.

    node, of_node   as in `OperatorTimes`
    """

    node: Int64
    of_node: Int64


@cached
def operator_nodes(model: Model) -> OperatorNodes:
    """Return one entry per call of an operator, for callers that need no times."""
    tree, head = model.tree, model.call_heads
    nodes = len(tree)
    kept = np.flatnonzero(tree.is_operator & (head[:-1] == np.arange(nodes)))
    return OperatorNodes(kept, places_of(kept, nodes + 1)[head])


@cached
def operator_times(model: Model) -> OperatorTimes:
    """Return self and total times of every call of an operator, exact."""
    tree, durations = model.tree, model.trace.events.duration
    nodes, head = len(tree), model.call_heads
    calls = operator_nodes(model)
    kept = calls.node
    caller = nearest(tree.parent, tree.is_operator, tree.parent[kept])
    called = np.flatnonzero(caller >= 0)
    below = kept[called]
    inside = sums_at(head[caller[called]], (tree.end - tree.start)[below], nodes)[kept]
    calling = np.flatnonzero(model.launch_links.operator_node >= 0)
    api_self = sums_at(head[model.launch_links.operator_node[calling]], model.launch_links.duration[calling], nodes)
    api_self = api_self[kept]
    host_total = np.maximum(durations[tree.row[kept]], 0)
    host_total, host_self, api_self = spilled((host_total, host_total - inside - api_self, api_self))
    del caller, called, below, inside, calling

    owned = np.flatnonzero(model.is_work & (model.device_links.operator_node >= 0))
    work_ns = np.maximum(durations[model.device_work.row[owned]], 0)
    device_self = sums_at(head[model.device_links.operator_node[owned]], work_ns, nodes)
    return OperatorTimes(
        node=kept,
        of_node=calls.of_node,
        host_total=host_total,
        host_self=host_self,
        api_self=api_self,
        device_total=call_forest(model).below(device_self)[kept],
        device_self=device_self[kept],
    )


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
        """Return `name` of many."""
        of = zip(self.strings.texts(self.tree.name[nodes]), self.tree.kind[nodes].tolist(), strict=True)
        return [text + ".backward" if kind == _BACKWARD else text for text, kind in of]


@cached
def nn_program(model: Model) -> TimedProgram:
    """Build it with calls of nn.Module, as the old plugin chose its nodes."""
    return _timed(model, program_tree(model, "nn"))


@cached
def lightning_program(model: Model) -> TimedProgram:
    """Build it with Lightning's modules instead."""
    return _timed(model, program_tree(model, "lightning"))


@cached
def full_program(model: Model) -> TimedProgram:
    """Build it with calls of nn.Module, all annotations, and backward threads inside the steps."""
    return _timed(model, program_tree(model, "nn", full=True))


def _timed(model: Model, linked: LinkedProgramTree) -> TimedProgram:
    linked = spilled(linked)
    tree, trace = linked.tree, model.trace
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
    calling = np.flatnonzero(linked.launch_node >= 0)
    host_self -= sums_at(owner[linked.launch_node[calling]], model.launch_links.duration[calling], nodes)
    timed = np.flatnonzero(tree.kind == NodeKind.OPERATOR)
    call_of_row = np.empty(len(trace.events), np.intp)
    call_of_row[model.tree.row[times.node]] = np.arange(len(times))
    call = spilled(call_of_row[tree.row[timed]])
    del call_of_row
    host_self[timed] = times.host_self[call]
    host_self = spilled(host_self)

    work_node = np.append(linked.launch_node, np.int32(-1))[model.device_links.launch]
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
        main=linked.main,
    )


def step_of_times(model: Model, time: Int64) -> Int64:
    """Return the step of moments on the host, for what `model.in_steps` selects: what follows a mark belongs to it."""
    return _clipped(model, np.searchsorted(model.steps.host_start, time, side="right"))


def steps_of_work(model: Model) -> tuple[Int64, Int64]:
    """Return kernels, copies and fills of the steps: positions in `model.in_steps.device_work`, and the step of each.

    A piece belongs to the step in which it was launched, one without a launch in the trace to that in which it begins.
    """
    inside, events = model.in_steps, model.trace.events
    work = np.flatnonzero(inside.is_work)
    launch = inside.device_links.launch_row[work]
    called = events.start[launch]
    begins = np.searchsorted(model.steps.start, events.start[inside.device_work.row[work]], side="right")
    return work, np.where(launch >= 0, step_of_times(model, called), _clipped(model, begins))


def _clipped(model: Model, after: Int64) -> Int64:
    return np.clip(after - 1, 0, max(len(model.steps) - 1, 0)).astype(np.int64)


@cached(for_good=True)
def module_sources(model: Model) -> tuple[Source, ...]:
    """List who named modules or hooks in this trace; Lightning first, because its names are paths."""
    found: list[Source] = []
    if len(lightning_modules(model)):
        found.append("lightning")
    if len(nn_modules(model).row):
        found.append("nn")
    return tuple(found)
