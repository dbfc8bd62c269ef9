"""Every stack that ran in a trace, with the device work launched from it; its threads, and the stacks of operators."""

from __future__ import annotations

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.shared.backward_links import selected_links
from torch_tb_profiler.analysis.shared.device_roles import Role, device_roles
from torch_tb_profiler.analysis.shared.owners import NOT_RECORDED
from torch_tb_profiler.analysis.stacks.entries import NEVER_SEEN, EntryColumns, EntryRole, Labels, StackEntries, merged
from torch_tb_profiler.arrays.distinct import distinct, distinct_places
from torch_tb_profiler.arrays.nesting import by_depth, nearest
from torch_tb_profiler.arrays.types import Bool, Int32, Int64, Ints, UInt8
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.call_tree import idle_threads
from torch_tb_profiler.model.communication import is_host_communication
from torch_tb_profiler.model.event_names import NN_MODULE, SOURCE_FRAME
from torch_tb_profiler.model.stack_contexts import StackContexts, stack_contexts
from torch_tb_profiler.model.steps import PROFILER_STEP
from torch_tb_profiler.trace import StringTable

#: steps are one entry
ANY_STEP = "ProfilerStep#…"

#: of bound methods; another object is no other stack
_ADDRESS = lazy_pattern(r" at 0x[0-9a-fA-F]+")


#: between an operator and what its backward ran
BACKWARD = "backward"

_ROLES: dict[Role, EntryRole] = {
    Role.COMPUTE: "compute",
    Role.COMMUNICATION: "communication",
    Role.COPY: "copy",
}


def all_stacks(model: Model, with_forward: bool = False, thread: int = -1) -> StackEntries:
    """Return every stack that ran, with the device work that was launched from it at its end, merged.

    with_forward   autograd nodes stand below the operator that they are the backward of, in an entry `backward`
    thread         the only one, an index into `Trace.tracks`; -1 for all
    """
    return _all_stacks(model, (with_forward, thread))


@cached
def contexts(model: Model) -> StackContexts:
    """Return every stack that ran, and which API calls it made."""
    return stack_contexts(model)


@cached
def _all_stacks(model: Model, which: tuple[bool, int]) -> StackEntries:
    with_forward, thread = which
    trace, labels, calls = model.trace, Labels(), model.tree
    strings = trace.strings
    ranges = contexts(model)
    label_of = np.concatenate([_call_labels(model, labels), _frame_labels(model, labels)])
    start_of = np.concatenate([calls.start, model.frames.start])
    ran = EntryColumns(
        ranges.parent,
        label_of[ranges.innermost],
        (np.arange(len(ranges.parent)) < ranges.ranges).astype(np.int64),
        start_of[ranges.innermost],
        ranges.self_ns,
        np.zeros(len(ranges.parent), np.int64),
    )
    if thread >= 0:
        ran = _only(ran, tracks_of(model)[ranges.innermost] == thread)
    recorded = not len(model.frames) and bool((trace.operators.call_stack > 0).any())
    if recorded:
        ran = _with_recorded_stacks(model, labels, ran)

    if with_forward:
        ran = _with_forward(model, labels, ran)

    rows = model.device_work.row[model.is_work]
    launch = model.device_links.launch[model.is_work]
    role = device_roles(model)[model.is_work]
    if thread >= 0:
        here = (launch >= 0) & (trace.events.track[model.launches.row[launch]] == thread)
        rows, launch, role = rows[here], launch[here], role[here]
    duration = np.maximum(trace.events.duration[rows], 0)
    known = launch >= 0
    above, api = np.full((2, len(rows)), -1, np.int64)
    above[known] = ranges.of_launch[launch[known]]
    api[known] = trace.events.name[model.launches.row[launch[known]]]
    lost = above < 0
    outside, place = distinct_places(api[lost])
    above[lost] = len(ran.parent) + place
    launchers = [labels.number(f"({strings[a]})" if a >= 0 else NOT_RECORDED, "other") for a in outside.tolist()]
    around = EntryColumns.of(np.full(len(outside), -1), np.array(launchers, np.int64))
    names = labels.of_codes(strings, trace.events.name[rows], lambda name: labels.number(name, "device"))
    _add_roles(labels, names, role)
    work = replace(
        EntryColumns.of(above, names),
        calls=np.ones(len(rows), np.int64),
        first=trace.events.start[rows],
        self_device=duration,
    )
    return merged(
        EntryColumns.joined(ran, around, work), labels, int(duration[lost].sum()), recorded or len(model.frames) > 0
    )


def _add_roles(labels: Labels, work: Int64, role: UInt8) -> None:
    """Add roles. `work`, `role`: of device work, its label and its `Role`. What communicates once is communication."""
    for each in (Role.COPY, Role.COMPUTE, Role.COMMUNICATION):
        for label in distinct(work[role == each]).tolist():
            labels.roles[label] = _ROLES[each]
    for label, (name, kind) in enumerate(zip(labels.names, labels.kinds, strict=True)):
        if kind in ("operator", "annotation") and is_host_communication(name):
            labels.roles[label] = "communication"


def tracks_of(model: Model) -> Int64:
    """Return the thread of each range, an index into `Trace.tracks`, shape (call tree + frames,)."""
    return np.concatenate([model.tree.track, model.frames.track]).astype(np.int64)


def _only(ran: EntryColumns, here: Bool) -> EntryColumns:
    """Remove what ran elsewhere; the entries stay, because parents are numbered by place."""
    return replace(
        ran,
        calls=np.where(here, ran.calls, 0),
        first=np.where(here, ran.first, NEVER_SEEN),
        self_host=np.where(here, ran.self_host, 0),
    )


def _with_forward(model: Model, labels: Labels, ran: EntryColumns) -> EntryColumns:
    """Move what autograd nodes ran, with all its time, below their forward.

    The context of a node of the call tree keeps its number.
    """
    node, forward = selected_links(model)
    heads, head = distinct_places(forward)
    parent = ran.parent.copy()
    parent[node] = len(parent) + head
    label = np.full(len(heads), labels.number(BACKWARD, "other"), np.int64)
    return EntryColumns.joined(replace(ran, parent=parent), EntryColumns.of(heads, label))


def _call_labels(model: Model, labels: Labels) -> Int64:
    tree, strings = model.tree, model.trace.strings
    is_operator = tree.is_operator
    found = np.empty(len(tree), np.int64)
    found[is_operator] = labels.of_codes(strings, tree.name[is_operator], lambda name: labels.number(name, "operator"))
    found[~is_operator] = labels.of_codes(
        strings,
        tree.name[~is_operator],
        lambda name: labels.number(ANY_STEP if PROFILER_STEP.fullmatch(name) else name, "annotation"),
    )
    return found


def _frame_labels(model: Model, labels: Labels) -> Int64:
    def number(name: str) -> int:
        name = _ADDRESS.sub("", name)
        if name.startswith(NN_MODULE):
            return labels.number(name.removeprefix(NN_MODULE), "module")
        return labels.number(name, "frame" if SOURCE_FRAME.match(name) else "builtin")

    return labels.of_codes(model.trace.strings, model.frames.name, number)


def _with_recorded_stacks(model: Model, labels: Labels, ran: EntryColumns) -> EntryColumns:
    """Put the frames of `Call stack` around operators; torch wrote them there before it recorded frames.

    What an operator around has in its stack, too, is there already. The stack of an annotation is that of its
    __enter__, so what it encloses says better where it is.
    """
    tree, strings = model.tree, model.trace.strings
    own = np.where(tree.is_operator, model.trace.operators.call_stack[tree.operator], 0)
    known = nearest(tree.parent, own > 0, tree.parent)
    around = np.where(known >= 0, own[known], 0) if len(tree) else own
    having = np.flatnonzero((own > 0) & (own != around))
    # one chain of frames for all that are called by the same and differ by the same frames
    pairs, pair = distinct_places(own[having].astype(np.int64) * len(strings) + around[having])
    chains = [
        [labels.number(frame, "frame") for frame in _further(strings[key // len(strings)], strings[key % len(strings)])]
        for key in pairs.tolist()
    ]
    above = ran.parent[having]
    heads, head = distinct_places((above + 1) * len(pairs) + pair)
    lengths = np.array([len(chain) for chain in chains], np.int64)
    chain_of = heads % len(pairs) if len(pairs) else heads
    size = lengths[chain_of]
    end = np.cumsum(size)
    parent = len(ran.parent) + np.arange(int(size.sum())) - 1
    filled = size > 0
    parent[(end - size)[filled]] = (heads // max(len(pairs), 1) - 1)[filled]
    texts = [chains[chain] for chain in chain_of.tolist()]
    label = np.array([number for chain in texts for number in chain], np.int64)
    last = np.where(filled, len(ran.parent) + end - 1, heads // max(len(pairs), 1) - 1)
    parents = ran.parent.copy()
    parents[having] = last[head]
    return EntryColumns.joined(replace(ran, parent=parents), EntryColumns.of(parent, label))


def _further(stack: str, around: str) -> list[str]:
    """Return the frames of a stack that the one around does not have, outermost first."""
    frames, outer = stack.split(";")[::-1], around.split(";")[::-1] if around else []
    return frames[len(outer) :] if frames[: len(outer)] == outer else frames


class StackThreads(msgspec.Struct, frozen=True):
    """Threads with stacks, by their place in `Trace.tracks`. All of shape (threads,), times in ns.

    host_ns    in which any frame, operator or annotation ran
    device_ns  of the device work that was launched there
    idle       operators, annotations and calls took hardly any time, beside those of the busiest thread
    """

    track: Int64
    host_ns: Int64
    device_ns: Int64
    idle: Bool


@cached
def stack_threads(model: Model) -> StackThreads:
    found, size = contexts(model), len(model.trace.tracks)
    track, events = tracks_of(model), model.trace.events
    host = _sums(track[found.innermost], found.self_ns, size)
    launch = model.device_links.launch[model.is_work]
    duration = np.maximum(events.duration[model.device_work.row[model.is_work]], 0)
    launched = launch >= 0
    device = _sums(events.track[model.launches.row[launch[launched]]], duration[launched], size)
    tree = model.tree
    outermost = tree.parent < 0
    called = _sums(tree.track[outermost], (tree.end - tree.start)[outermost], size)
    loose = model.launch_links.node < 0
    rows = model.launches.row[loose]
    called += _sums(events.track[rows], np.maximum(events.duration[rows], 0), size)
    there = np.flatnonzero(host + device)
    idle = idle_threads(called, int(np.argmax(called))) if called.any() else np.zeros(size, np.bool_)
    return StackThreads(there, host[there], device[there], idle[there])


def _sums(track: Ints, values: Int64, size: int) -> Int64:
    return np.bincount(track, values, size).astype(np.int64)


class OperatorStacks(msgspec.Struct, frozen=True):
    """Distinct call stacks; number 0 is the empty one, "unknown". A stack stands behind the one it was called from.

    parent    shape (stacks,): the stack without its innermost frame, -1 when `frame` is a whole recorded stack
    frame     shape (stacks,): string code of the innermost frame
    """

    parent: Int32
    frame: Int32

    def texts(self, strings: StringTable, numbers: Int32) -> list[str]:
        """Return each of the stacks as frames joined by a line break, innermost first."""
        known: dict[int, str] = {0: ""}
        return [self._text(strings, number, known) for number in numbers.tolist()]

    def _text(self, strings: StringTable, stack: int, known: dict[int, str]) -> str:
        found = known.get(stack)
        if found is not None:
            return found
        frames: list[str] = []
        at = stack
        while at > 0:
            frames.append(strings[int(self.frame[at])])
            at = int(self.parent[at])
        text = "\n".join(frames) if self.parent[stack] >= 0 else "\n".join(frames[0].split(";"))
        known[stack] = text
        return text

    def only(self, numbers: Int32) -> tuple[OperatorStacks, Int32]:
        """Keep some stacks and those they were called from. Returns them and the new numbers."""
        wanted = np.zeros(len(self.parent), np.bool_)
        wanted[0] = True
        todo = distinct(numbers)
        while len(todo):
            wanted[todo] = True
            above = self.parent[todo]
            todo = distinct(above[(above > 0) & ~wanted[above]])
        renumbered = np.cumsum(wanted, dtype=np.int32) - 1
        parent = self.parent[wanted]
        return OperatorStacks(np.where(parent > 0, renumbered[parent], parent), self.frame[wanted]), renumbered[numbers]


class CallStacks(msgspec.Struct, frozen=True):
    """of_node: shape (call tree,), the number of the stack around each node."""

    of_node: Int32
    stacks: OperatorStacks


@cached
def call_stacks(model: Model) -> CallStacks:
    """Return the stack of every node: `Call stack` of its operator when the trace has any, else the enclosing frames.

    torch writes `Call stack` only when asked to be verbose since 2.0; the Python functions recorded on the same
    thread enclose the operator in time and say the same.
    """
    recorded = model.trace.operators.call_stack
    return _recorded(model, recorded) if (recorded > 0).any() else _enclosing(model)


def _recorded(model: Model, recorded: Int32) -> CallStacks:
    codes = recorded[model.tree.operator]
    different, of_node = distinct_places(np.concatenate([np.zeros(1, codes.dtype), codes]))
    parent = np.full(len(different), -1, np.int32)
    return CallStacks(of_node[1:].astype(np.int32), OperatorStacks(parent, different.astype(np.int32)))


def _enclosing(model: Model) -> CallStacks:
    """Build stacks level by level from the top: a stack is the stack of the caller and the name of the frame."""
    frames, strings = model.frames, model.trace.strings
    is_source = strings.where(SOURCE_FRAME.match, frames.name)[frames.name]
    of_frame = np.zeros(len(frames) + 1, np.int32)  # the last entry is for "no frame"
    parents, names = [np.full(1, -1, np.int32)], [np.zeros(1, np.int32)]
    stacks = 1
    for at_depth in by_depth(frames.depth):
        of_frame[at_depth] = of_frame[frames.parent[at_depth]]
        level = at_depth[is_source[at_depth]]
        pairs = of_frame[level].astype(np.int64) * len(strings) + frames.name[level]
        different, inverse = distinct_places(pairs)
        of_frame[level] = stacks + inverse
        parents.append((different // len(strings)).astype(np.int32))
        names.append((different % len(strings)).astype(np.int32))
        stacks += len(different)
    return CallStacks(of_frame[model.tree.frame], OperatorStacks(np.concatenate(parents), np.concatenate(names)))
