"""Every stack that ran in a trace, with the device work that was launched from it."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.shared.backward_links import selected_links
from torch_tb_profiler.analysis.shared.device_roles import Role, device_roles
from torch_tb_profiler.analysis.shared.owners import NOT_RECORDED
from torch_tb_profiler.analysis.stacks.entries import NEVER_SEEN, EntryColumns, EntryRole, Labels, StackEntries, merged
from torch_tb_profiler.arrays.distinct import distinct, distinct_places
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int64, UInt8
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.communication_names import is_host_communication
from torch_tb_profiler.model.event_names import NN_MODULE, SOURCE_FRAME
from torch_tb_profiler.model.stack_contexts import StackContexts, stack_contexts
from torch_tb_profiler.model.steps import PROFILER_STEP

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
    """Every stack that ran, with the device work that was launched from it at its end, merged.

    with_forward   autograd nodes stand below the operator that they are the backward of, in an entry `backward`
    thread         the only one, an index into `Trace.tracks`; -1 for all
    """
    return _all_stacks(model, (with_forward, thread))


@cached
def contexts(model: Model) -> StackContexts:
    """Every stack that ran, and which API calls it made."""
    return stack_contexts(model)


@cached
def _all_stacks(model: Model, which: tuple[bool, int]) -> StackEntries:
    with_forward, thread = which
    trace, labels, calls = model.trace, Labels(), model.tree
    strings = trace.strings
    found = contexts(model)
    label_of = np.concatenate([_call_labels(model, labels), _frame_labels(model, labels)])
    start_of = np.concatenate([calls.start, model.frames.start])
    ran = EntryColumns(
        found.parent,
        label_of[found.innermost],
        (np.arange(len(found.parent)) < found.ranges).astype(np.int64),
        start_of[found.innermost],
        found.self_ns,
        np.zeros(len(found.parent), np.int64),
    )
    if thread >= 0:
        ran = _only(ran, tracks_of(model)[found.innermost] == thread)
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
    above[known] = found.of_launch[launch[known]]
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
    """`work`, `role`: of device work, its label and its `Role`. What communicates once is communication."""
    for each in (Role.COPY, Role.COMPUTE, Role.COMMUNICATION):
        for label in distinct(work[role == each]).tolist():
            labels.roles[label] = _ROLES[each]
    for label, (name, kind) in enumerate(zip(labels.names, labels.kinds, strict=True)):
        if kind in ("operator", "annotation") and is_host_communication(name):
            labels.roles[label] = "communication"


def tracks_of(model: Model) -> Int64:
    """Shape (call tree + frames,): the thread of each range, an index into `Trace.tracks`."""
    return np.concatenate([model.tree.track, model.frames.track]).astype(np.int64)


def _only(ran: EntryColumns, here: Bool) -> EntryColumns:
    """Without what ran elsewhere; the entries stay, because parents are numbered by place."""
    return replace(
        ran,
        calls=np.where(here, ran.calls, 0),
        first=np.where(here, ran.first, NEVER_SEEN),
        self_host=np.where(here, ran.self_host, 0),
    )


def _with_forward(model: Model, labels: Labels, ran: EntryColumns) -> EntryColumns:
    """What autograd nodes ran moves with all its time; the context of a node of the call tree has its number."""
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
    """The frames of a stack that the one around does not have, outermost first."""
    frames, outer = stack.split(";")[::-1], around.split(";")[::-1] if around else []
    return frames[len(outer) :] if frames[: len(outer)] == outer else frames
