"""Which operators, kernels, Python functions and modules the critical path runs through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Count, Ns
from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.graph import Graph
from torch_tb_profiler.analysis.replay.host_time import Label
from torch_tb_profiler.analysis.replay.path import slack_of_rows
from torch_tb_profiler.analysis.replay.recorded_path import PathSlices, recorded_slices
from torch_tb_profiler.analysis.result import column
from torch_tb_profiler.arrays.distinct import distinct, isin
from torch_tb_profiler.arrays.grouping import each_value, group, sums_at
from torch_tb_profiler.arrays.intervals import Coverage, union
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.call_tree import CallTree, FrameTree
from torch_tb_profiler.model.event_names import NN_MODULE, is_own_code
from torch_tb_profiler.model.kernel_names.short import short_name
from torch_tb_profiler.trace import Category

OnPathKind = Literal["operator", "annotation", "kernel", "copy", "communication", "function", "module"]
_ON_DEVICES = frozenset({"kernel", "copy", "communication"})


class OnPath(msgspec.Struct, frozen=True):
    """What the path spends on an operator, a kernel, a function or a module, in all steps together.

    name        name of the operator, kernel, function or module
    short_name  for a kernel, copy or communication, its short name; otherwise the name
    what        operator, annotation, kernel, copy, communication, function or module
    total_ns    time on the path: on the host and on devices
    host_ns     its own host time on the path, without what it calls
    device_ns   device work on the path that belongs to it
    calls       how many of its calls, or pieces of device work, are on the path
    all_calls   how many calls, or pieces of device work, there are in the steps
    slack_ns    how much later a piece of work could run, or how much longer the host could take for a call, without
                delaying the end of any step; median over all of them; empty if unknown
    """

    name: Annotated[str, column("Name")]
    short_name: str
    what: Annotated[OnPathKind, column("Kind")]
    total_ns: Annotated[Ns, column("On the path")]
    host_ns: Annotated[Ns, column("Host")]
    device_ns: Annotated[Ns, column("Device")]
    calls: Annotated[Count, column("Calls on the path")]
    all_calls: Annotated[Count, column("Calls")]
    slack_ns: Annotated[Ns | None, column("Slack")]


class NamesOnPath(msgspec.Struct, frozen=True):
    """The names on the path, each list by time on the path, the longest first."""

    operators: tuple[OnPath, ...]
    kernels: tuple[OnPath, ...]
    functions: tuple[OnPath, ...]
    modules: tuple[OnPath, ...]


def names_on_path(model: Model, steps: Sequence[int]) -> NamesOnPath:
    """List what the path of some steps, by index, runs through. `model`: of the whole trace."""
    graph = graph_of(model)
    if not len(steps):
        return NamesOnPath((), (), (), ())
    pieces = recorded_slices(model)
    chosen = isin(pieces.step, np.array(steps, np.int64))
    host = _HostTime.of(pieces, chosen)
    ran = np.flatnonzero(chosen & (pieces.item >= 0))
    item, device_ns = pieces.item[ran], (pieces.end - pieces.start)[ran]
    slack = slack_of_rows(model)
    window = int(graph.steps.host_start[min(steps)]), int(graph.steps.host_end[max(steps)])
    device = _Device(item, device_ns, model, graph)
    functions, modules = _frames(model, host, device, slack, window)
    return NamesOnPath(
        operators=_operators(model, host, device, slack, window),
        kernels=_kernels(device, slack, steps),
        functions=functions,
        modules=modules,
    )


class _HostTime(msgspec.Struct, frozen=True):
    """How much of an interval of a thread is on the path."""

    of_track: dict[int, Coverage]

    @classmethod
    def of(cls, pieces: PathSlices, chosen: Bool) -> _HostTime:
        worked = np.flatnonzero(chosen & (pieces.part < Label.UNEXPLAINED))
        track = pieces.track[worked]
        found = {}
        for on, at in each_value(track):
            mine = worked[at]
            found[on] = Coverage(union(pieces.start[mine], pieces.end[mine]))
        return cls(found)

    def inside(self, tree: CallTree | FrameTree) -> Int64:
        """Return shape (nodes,), ns: time on the path inside each node, without its children."""
        total = np.zeros(len(tree), np.int64)
        for on, mine in each_value(tree.track):
            if coverage := self.of_track.get(on):
                total[mine] = coverage.between(tree.start[mine], tree.end[mine])
        inner = np.flatnonzero(tree.parent >= 0)
        found: Int64 = total - sums_at(tree.parent[inner], total[inner], len(tree))
        return found


class _Device(msgspec.Struct, frozen=True):
    """Work items on the path, with their time."""

    item: Int64
    ns: Int64
    model: Model
    graph: Graph

    def owner_rows(self) -> Int64:
        """Return the event that each belongs to: an operator, an annotation or a frame; -1 for none."""
        work = self.graph.items.work[self.item]
        found: Int64 = take_known(self.model.structure.owners.row, work).astype(np.int64)
        return found

    def frames(self) -> Int64:
        """Return the position in the frame tree of the innermost frame around the launch of each, -1 for none."""
        call = self.graph.items.call[self.item]
        found = np.full(len(call), -1, np.int64)
        known = np.flatnonzero(call >= 0)
        calls = self.graph.calls
        track = calls.lane[call[known]].astype(np.int32)
        if len(self.model.structure.frames):
            found[known] = self.model.structure.frame_nesting.innermost(track, calls.start[call[known]])
        return found


def _operators(
    model: Model, host: _HostTime, device: _Device, slack: Int64, window: tuple[int, int]
) -> tuple[OnPath, ...]:
    """List operators and annotations, but not the marks of steps."""
    trace, tree = model.trace, model.structure.tree
    if not len(tree):
        return ()
    ns = host.inside(tree)
    marks = [code for label in graph_of(model).steps.labels if (code := trace.strings.code(label)) >= 0]
    mine = np.flatnonzero(~isin(tree.name, marks))
    mine = mine[(tree.start[mine] >= window[0]) & (tree.start[mine] < window[1])]
    owner = device.owner_rows()
    of_tree = np.full(len(trace.events), -1, np.int64)
    of_tree[tree.row[mine]] = np.arange(len(mine))
    at = take_known(of_tree, owner)
    of_device = sums_at(at[at >= 0], device.ns[at >= 0], len(mine))
    kinds: dict[bool, OnPathKind] = {True: "operator", False: "annotation"}
    found: list[OnPath] = []
    for is_operator, kind in kinds.items():
        some = np.flatnonzero(tree.is_operator[mine] == is_operator)
        spare = slack[tree.row[mine[some]]]
        found += _by_name(model, kind, tree.name[mine[some]], ns[mine[some]], of_device[some], spare)
    return _longest(found)


def _frames(
    model: Model, host: _HostTime, device: _Device, slack: Int64, window: tuple[int, int]
) -> tuple[tuple[OnPath, ...], tuple[OnPath, ...]]:
    """List Python functions (of the user's own code where there is any around) and modules."""
    strings, tree = model.trace.strings, model.structure.frames
    if not len(tree):
        return (), ()
    ns, launched = host.inside(tree), device.frames()
    of_device = sums_at(launched[launched >= 0], device.ns[launched >= 0], len(tree))
    everything = np.arange(len(tree), dtype=np.int64)
    own = nearest(tree.parent, strings.where(is_own_code, tree.name)[tree.name], everything)
    is_module = strings.where(lambda name: name.startswith(NN_MODULE), tree.name)[tree.name]
    of_function = np.where(own >= 0, own, np.where(is_module, -1, everything))
    of_module = nearest(tree.parent, is_module, everything)
    by_kind = []
    kinds: tuple[tuple[OnPathKind, Int64], ...] = (("function", of_function), ("module", of_module.astype(np.int64)))
    for kind, holder in kinds:
        known = np.flatnonzero(holder >= 0)
        held = sums_at(holder[known], ns[known], len(tree))
        held_device = sums_at(holder[known], of_device[known], len(tree))
        mine = distinct(holder[known])
        mine = mine[(tree.end[mine] > window[0]) & (tree.start[mine] < window[1])]
        spare = slack[tree.row[mine]]
        by_kind.append(_longest(_by_name(model, kind, tree.name[mine], held[mine], held_device[mine], spare)))
    return by_kind[0], by_kind[1]


def _kernels(device: _Device, slack: Int64, steps: Sequence[int]) -> tuple[OnPath, ...]:
    model, graph = device.model, device.graph
    items, events = graph.items, model.trace.events
    if not len(items):
        return ()
    on_path = sums_at(device.item, device.ns, len(items))
    mine = np.flatnonzero(isin(graph.item_step, np.array(steps)) | (on_path > 0))
    category = events.category[items.row[mine]]
    is_copy = (category == Category.MEMCPY) | (category == Category.MEMSET)
    kinds: tuple[tuple[OnPathKind, Bool], ...] = (
        ("communication", items.is_communication[mine]),
        ("copy", is_copy & ~items.is_communication[mine]),
        ("kernel", ~is_copy & ~items.is_communication[mine]),
    )
    found: list[OnPath] = []
    for kind, chosen in kinds:
        some = mine[chosen]
        nothing = np.zeros(len(some), np.int64)
        found += _by_name(model, kind, events.name[items.row[some]], nothing, on_path[some], slack[items.row[some]])
    return _longest(found)


def _by_name(model: Model, what: OnPathKind, name: Int32, host: Int64, device: Int64, slack: Int64) -> list[OnPath]:
    """Make a row for each name that is on the path."""
    if not len(name):
        return []
    groups = group([name])
    host_ns, device_ns = groups.sum(host), groups.sum(device)
    on_path, calls = groups.sum((host + device > 0).astype(np.int64)), groups.count()
    order = np.lexsort((slack, groups.inverse))
    begins = np.searchsorted(groups.inverse[order], np.arange(len(groups) + 1))
    rows = []
    for number in np.flatnonzero(on_path > 0).tolist():
        known = slack[order[begins[number] : begins[number + 1]]]
        known = known[known >= 0]
        text = model.trace.strings[int(name[groups.first[number]])]
        rows.append(
            OnPath(
                name=text,
                short_name=short_name(text) if what in _ON_DEVICES else text,
                what=what,
                total_ns=int(host_ns[number] + device_ns[number]),
                host_ns=int(host_ns[number]),
                device_ns=int(device_ns[number]),
                calls=int(on_path[number]),
                all_calls=int(calls[number]),
                slack_ns=int(median(known)) if len(known) else None,
            )
        )
    return rows


def _longest(found: list[OnPath]) -> tuple[OnPath, ...]:
    return tuple(sorted(found, key=lambda each: (-each.total_ns, each.name)))
