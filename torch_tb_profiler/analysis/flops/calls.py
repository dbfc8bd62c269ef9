"""Calls that own device work, and what each of them computes and moves.

A device activity (kernel, copy or fill) belongs to the operator around its launch, or to the nearest outer operator
whose arguments determine its work. FLOP are counted once: a call counts if it owns an activity, and if no inner call
with activities has FLOP. On the host, where nothing ran on a device, an activity is the self time of an operator.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.flops.bandwidth import OF_PARTS
from torch_tb_profiler.analysis.flops.derived import derived, repeats
from torch_tb_profiler.analysis.flops.elementwise import LISTS
from torch_tb_profiler.analysis.flops.generated import with_recorded
from torch_tb_profiler.analysis.flops.operators import reader, work_of
from torch_tb_profiler.analysis.flops.work import OperatorWork, UnknownReason, unknown_work
from torch_tb_profiler.analysis.shared.device_roles import Role, device_roles
from torch_tb_profiler.analysis.shared.kernel_use import durations
from torch_tb_profiler.analysis.shared.operator_times import operator_times
from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.grouping import first_at, group, sums_at
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import nearest, on_paths
from torch_tb_profiler.arrays.types import Bool, Float64, Int8, Int32, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.kernel_names.families import family_of
from torch_tb_profiler.model.kernel_names.family import KernelKind
from torch_tb_profiler.model.owners import MissingOwner, OwnerKind
from torch_tb_profiler.model.owners.owners import COMPILED_CODE

UNKNOWNS = tuple(UnknownReason)
#: kinds of kernels that multiply matrices, or may; all others do not
_MAY_MULTIPLY = frozenset(
    {
        *(
            KernelKind.GEMM,
            KernelKind.CONV,
            KernelKind.ATTENTION,
            KernelKind.GEMV,
            KernelKind.LINEAR_ATTENTION,
            KernelKind.LINEAR_ALGEBRA,
        ),
        *(KernelKind.COMPUTE, KernelKind.COMMUNICATION),
    }
)
#: kernels of convolutions that multiply no matrices: transforms to and from other domains, sums of partial results
_NO_PRODUCT = lazy_pattern(
    r"\bfft[12]d_[rc]2[rc]|reduce_wgrad|winograd_nonfused::|(?i:winograd)\w{0,64}?(?:Transform|Tiles)"
)
_GRAPH_LAUNCH = lazy_pattern(r"\w*GraphLaunch")


class Activities(msgspec.Struct, frozen=True):
    """Compute kernels, copies and fills; without device work the own time of operators. Parallel, shape (n,).

    place      position in `Model.device_work`; on the host in `OperatorTimes`
    row        the event
    duration   ns
    node       the operator around it, a position in `Model.tree`; -1 for none
    replay     of work that replays a graph: the launch, an index into `Model.launches`; -1 for all other
    call       index into `CountedCalls`, -1 for none
    no_flops   by its name it multiplies no matrices
    recorded   bytes that the trace says were copied or filled, -1
    why        why its FLOP or bytes are unknown, index into UNKNOWNS; -1 where both are known
    """

    place: Int64
    row: Int32
    duration: Int64
    node: Int64
    replay: Int64
    call: Int64
    no_flops: Bool
    recorded: Int64
    why: Int8

    def __len__(self) -> int:
        return len(self.row)


class CountedCalls(msgspec.Struct, frozen=True):
    """Calls that own activities. Parallel, shape (calls,), but for `works`.

    node       position in `Model.tree`
    row        the event of the operator
    first      its first activity, an index into `Activities`
    name       string code
    duration   Σ of its activities, ns; of copies whose bytes are recorded none
    work       index into `works`
    works      the different ones
    """

    node: Int64
    row: Int32
    first: Int64
    name: Int32
    duration: Int64
    work: Int64
    works: tuple[OperatorWork, ...]

    def __len__(self) -> int:
        return len(self.node)

    def numbers(self, name: str) -> Float64:
        """Return FLOP or bytes of each call, shape (calls,); NaN if unknown. name: an attribute of `OperatorWork`."""
        values = [getattr(work, name) for work in self.works]
        return np.array([np.nan if value is None else float(value) for value in values] or [np.nan])[self.work]

    def limits(self, name: str) -> Float64:
        """Return a bound of FLOP, shape (calls,); NaN if they are exact or unknown. name: a field of `FlopBounds`."""
        values = [np.nan if work.limits is None else float(getattr(work.limits, name)) for work in self.works]
        return np.array(values or [np.nan])[self.work]

    def total(self, name: str, chosen: Bool | None = None) -> int:
        """Return Σ of what is known, exact."""
        counts = np.bincount(self.work if chosen is None else self.work[chosen], minlength=len(self.works))
        values = (getattr(work, name) for work in self.works)
        return sum(int(count) * (value or 0) for count, value in zip(counts, values, strict=False))


class WorkCounts(msgspec.Struct, frozen=True):
    """Activities and the calls that own them. on_host: nothing ran on a device."""

    activities: Activities
    calls: CountedCalls
    on_host: bool


@cached
def work_counts(model: Model) -> WorkCounts:
    """Count what the selected events compute and move."""
    on_host = not model.has_device_work
    unowned = _on_host(model) if on_host else _on_devices(model)
    nodes, works, of_node = _works(model, unowned)
    known = np.zeros(len(model.tree), np.bool_)
    has_work = np.array([work.flops is not None or work.bytes is not None for work in works] or [False], np.bool_)
    known[nodes[has_work[of_node]]] = True
    owner = _nearest(model, known, unowned.node)
    owned = np.flatnonzero(owner >= 0)
    groups = group([owner[owned], unowned.replay[owned]])
    first = owned[groups.first]
    node = owner[first]
    call = np.full(len(owner), -1, np.int64)
    call[owned] = groups.inverse
    place = np.full(len(model.tree), -1, np.int32)
    place[nodes] = of_node
    work, works = _counted_once(model, node, place[node].astype(np.int64), works)
    own = unowned.recorded < 0
    calls = CountedCalls(
        node=node,
        row=model.tree.row[node],
        first=first,
        name=model.tree.name[node],
        duration=sums_at(call[(call >= 0) & own], unowned.duration[(call >= 0) & own], len(node)),
        work=work,
        works=works,
    )
    activities = replace(unowned, call=call)
    tried = np.full(len(call), -1, np.int64)
    left = np.flatnonzero(call < 0)
    tried[left] = take_known(place, _nearest(model, place >= 0, unowned.node[left]))
    return WorkCounts(replace(activities, why=_why(model, activities, calls, tried)), calls, on_host)


def _nearest(model: Model, wanted: Bool, node: Int64) -> Int64:
    if not len(model.tree):
        return np.full(len(node), -1, np.int64)
    return nearest(model.tree.parent, wanted, node).astype(np.int64)


def _on_devices(model: Model) -> Activities:
    roles = device_roles(model)
    place = np.flatnonzero(one_of(roles, (Role.COMPUTE, Role.COPY)) & (durations(model) > 0))
    work, events, strings = model.device_work, model.trace.events, model.trace.strings
    row = work.row[place]
    node = model.device_links.operator_node[place].astype(np.int64)
    replay = np.full(len(place), -1, np.int64)
    captured = model.owners.evidence[place] != take_known(model.launches.row, model.device_links.launch[place])
    replayed = np.flatnonzero(one_of(model.owners.how[place], (OwnerKind.GRAPH_NODE, OwnerKind.ANNOTATED)) & captured)
    if len(replayed):
        of_row = np.full(len(events), -1, np.int64)
        of_row[model.tree.row] = np.arange(len(model.tree))
        node[replayed] = of_row[model.owners.row[place[replayed]]]
        replay[replayed] = model.device_links.launch[place[replayed]]
    node = np.where(node >= 0, node, -1)
    is_copy = roles[place] == Role.COPY
    none = strings.where(_multiplies_nothing, events.name[row])[events.name[row]] if len(place) else is_copy
    return Activities(
        place=place,
        row=row,
        duration=durations(model)[place],
        node=_operator(model, node),
        replay=replay,
        call=np.full(len(place), -1, np.int64),
        no_flops=none | is_copy,
        recorded=np.where(is_copy, work.bytes[place], -1),
        why=np.full(len(place), -1, np.int8),
    )


def _operator(model: Model, node: Int64) -> Int64:
    return _nearest(model, model.tree.is_operator, node)


def _multiplies_nothing(kernel: str) -> bool:
    family = family_of(kernel)
    return family is not None and (family.kind not in _MAY_MULTIPLY or _NO_PRODUCT.search(kernel) is not None)


def _on_host(model: Model) -> Activities:
    times = operator_times(model)
    place = np.flatnonzero(times.host_self > 0)
    node = times.node[place]
    return Activities(
        place=place,
        row=model.tree.row[node],
        duration=times.host_self[place],
        node=node,
        replay=np.full(len(place), -1, np.int64),
        call=np.full(len(place), -1, np.int64),
        no_flops=np.zeros(len(place), np.bool_),
        recorded=np.full(len(place), -1, np.int64),
        why=np.full(len(place), -1, np.int8),
    )


def _works(model: Model, activities: Activities) -> tuple[Int64, tuple[OperatorWork, ...], Int64]:
    """Return the operators of known work around activities: positions in the tree, works, and the index of each."""
    tree, strings, operators = model.tree, model.trace.strings, model.trace.operators
    nodes = np.flatnonzero(on_paths(tree.parent, activities.node))
    if len(nodes):
        nodes = nodes[tree.operator[nodes] >= 0]
        has_reader = strings.where(reader, tree.name[nodes])[tree.name[nodes]]
        recorded = (operators.kernel_flop[tree.operator[nodes]] > 0) | (
            operators.kernel_num_gb[tree.operator[nodes]] > 0
        )
        nodes = nodes[has_reader | recorded]
    if not len(nodes):
        return nodes, (), nodes
    operator = tree.operator[nodes]
    needs_kernel = strings.where(lambda name: name in LISTS or name in OF_PARTS, tree.name[nodes])[tree.name[nodes]]
    keys = (
        tree.name[nodes],
        operators.input_dims[operator],
        operators.input_type[operator],
        operators.concrete_inputs[operator],
        operators.input_strides[operator],
        _first_kernels(model, activities, nodes, needs_kernel),
        operators.kernel_flop[operator],
        operators.kernel_num_gb[operator],
    )
    groups = group(keys)
    works = []
    for first in groups.first.tolist():
        *given, flops, gigabytes = (str(strings[int(key[first])]) for key in keys)
        works.append(with_recorded(work_of(*given), given[2], flops, gigabytes))
    of_node = groups.inverse.copy()
    unclear = np.flatnonzero(np.array([work.why is not None for work in works])[groups.inverse] | repeats(model, nodes))
    if len(unclear):
        here = nodes[unclear].tolist()
        known = dict(zip(here, map(works.__getitem__, groups.inverse[unclear].tolist()), strict=True))
        place = dict(zip(here, unclear.tolist(), strict=True))
        numbers: dict[OperatorWork, int] = {}
        for node, work in derived(model, nodes[unclear], known).items():
            if work not in numbers:
                numbers[work] = len(works)
                works.append(work)
            of_node[place[node]] = numbers[work]
    return nodes, tuple(works), of_node


def _first_kernels(model: Model, activities: Activities, nodes: Int64, wanted: Bool) -> Int32:
    """Return the string code of the first device activity that each wanted node launched, 0 for none, shape (nodes,).

    nodes    shape (nodes,): positions in `Model.tree`
    wanted   shape (nodes,): which of them to look up
    """
    place = np.full(len(model.tree) + 1, -1, np.int32)
    if model.has_device_work:
        place[nodes[wanted]] = np.flatnonzero(wanted)
    of = place[activities.node]
    own = np.flatnonzero(of >= 0)
    return first_at(of[own], model.trace.events.name[activities.row[own]], len(nodes), missing=0)


def _counted_once(
    model: Model, node: Int64, work: Int64, works: Sequence[OperatorWork]
) -> tuple[Int64, tuple[OperatorWork, ...]]:
    """Give no work to calls around others whose FLOP are counted."""
    flops = np.array([bool(each.flops) or each.limits is not None for each in works] or [False])[work]
    if not len(node):
        return work, tuple(works)
    inside = on_paths(model.tree.parent, model.tree.parent[node[flops]])[node]
    nothing = len(works)
    return np.where(flops & inside, nothing, work), (*works, unknown_work(UnknownReason.NO_MODEL, 0))


def _why(model: Model, activities: Activities, calls: CountedCalls, tried: Int64) -> Int8:
    """Return why the work of activities is unknown: index into UNKNOWNS, -1 where it is known.

    tried   for activities without a call: the work of the nearest outer operator with a known name, index into
            `calls.works`; -1 if there is none
    """
    reasons = np.array([_code(work.why) for work in calls.works] or [-1], np.int8)
    why = np.full(len(activities), -1, np.int8)
    owned = np.flatnonzero(activities.call >= 0)
    why[owned] = reasons[calls.work[activities.call[owned]]]
    left = np.flatnonzero(activities.call < 0)
    why[left] = take_known(reasons, tried[left])
    left = left[why[left] < 0]
    if len(left):
        why[left] = _why_unowned(model, activities, left)
    why[activities.recorded >= 0] = -1
    return why


def _code(why: UnknownReason | None) -> int:
    return -1 if why is None else UNKNOWNS.index(why)


def _why_unowned(model: Model, activities: Activities, left: Int64) -> Int8:
    """Return why activities without an operator of known work are unknown, as indices into UNKNOWNS."""
    events, node = model.trace.events, activities.node[left]
    name = take_known(model.tree.name, node)
    if model.has_device_work:
        place = activities.place[left]
        launch = take_known(events.name[model.launches.row], model.device_links.launch[place])
        how, reason = model.owners.how[place], model.owners.reason[place]
    else:
        launch, how, reason = np.full(len(left), -1), np.zeros(len(left), np.uint8), np.zeros(len(left), np.uint8)
    groups = group([name + 1, launch + 1, how, reason])
    text = model.trace.strings.__getitem__
    has_shapes = bool(model.trace.operators.input_dims.any())
    found = []
    for first in groups.first.tolist():
        if name[first] >= 0:
            why = _inside(text(int(name[first])), has_shapes)
        else:
            call = text(int(launch[first])) if launch[first] >= 0 else ""
            why = _outside(int(how[first]), int(reason[first]), call)
        found.append(UNKNOWNS.index(why))
    return np.array(found, np.int8)[groups.inverse]


def _inside(operator: str, has_shapes: bool) -> UnknownReason:
    if COMPILED_CODE.match(operator):
        return UnknownReason.COMPILED_REGION
    if operator.startswith("triton_"):
        return UnknownReason.GENERATED
    return UnknownReason.NO_MODEL if has_shapes else UnknownReason.SHAPES_OFF


def _outside(how: int, reason: int, call: str) -> UnknownReason:
    """Return why work that no operator launched is unknown."""
    if how == OwnerKind.INFERRED or reason in (MissingOwner.BEFORE_RECORDING, MissingOwner.LAUNCH_LOST):
        return UnknownReason.BEFORE_RECORDING
    if _GRAPH_LAUNCH.match(call):
        return UnknownReason.GRAPH_REPLAY
    return UnknownReason.COMPILED_REGION if how == OwnerKind.COMPILED else UnknownReason.NO_OPERATOR
