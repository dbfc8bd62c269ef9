"""Time per module: its forward, and the backward that autograd ran for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count, InlineTable, TraceMeta
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.health.rules import no_modules
from torch_tb_profiler.analysis.question import Question, Subject
from torch_tb_profiler.analysis.result import Result, column, fact
from torch_tb_profiler.analysis.shared.operator_times import TimedProgram, lightning_program, module_sources, nn_program
from torch_tb_profiler.arrays.forest import Forest, paths, preorder
from torch_tb_profiler.arrays.grouping import descending, group, least_at, sums_at
from torch_tb_profiler.arrays.lookup import places_of
from torch_tb_profiler.arrays.nesting import nearest, nest
from torch_tb_profiler.arrays.types import Float64, Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.call_tree import NestedRanges
from torch_tb_profiler.model.modules import hook_name, lightning_hooks, module_name, nn_modules
from torch_tb_profiler.model.program_tree import NodeKind, Source


class ModuleTable(Result, group="modules"):
    """The hierarchy of modules: one entry per path of names (and ids) from an outermost module; all its calls together.

    In preorder, siblings in the order of their first calls. `parent` is an entry's `id`, -1 at the top.
    """

    name: tuple[str, ...] = column("Module", "Name of the module: its class and a number, or its path in Lightning.")
    calls: Int64 = column("Calls", "How often its forward was called from there.")
    operators: Int64 = column("Operators", "Operators that it called itself, not nested modules.")
    device_self_ns: Int64 = column("Device self", "Device total − Σ device total of the modules nested in it.")
    device_total_ns: Int64 = column(
        "Device total", "Σ durations of the kernels, copies and fills launched during its forward."
    )
    host_self_ns: Int64 = column(
        "Host self",
        "Host total − Σ of the operators and modules directly inside − Σ of its own calls of the device's API: its "
        "Python.",
    )
    host_total_ns: Int64 = column("Host total", "Σ durations of its forward on the host.")
    backward_device_ns: Int64 = column(
        "Backward device", "Σ durations of the kernels, copies and fills launched by these autograd nodes."
    )
    backward_host_ns: Int64 = column(
        "Backward host",
        "Σ durations on the host of the autograd nodes whose forward ran in it or in a module nested in it, with the "
        "accumulation of gradients that follows each.",
    )
    id: Int64 = column(
        "Id", "Number of the entry; entries are in the order of their first calls.", unit=None, hidden=True
    )
    parent: Int64 = column(
        "Parent", "Id of the module that calls it; -1 at the top.", unit=None, missing_below_zero=True, hidden=True
    )
    module_id: Int64 = column(
        "Module id",
        "Which of the modules of that name it is, as recorded; -1 if it was not recorded.",
        unit=None,
        missing_below_zero=True,
        hidden=True,
    )
    mean_host_ns: Float64 = column("Host per call", "(Host total + backward host) ÷ calls.", hidden=True)
    mean_device_ns: Float64 = column("Device per call", "(Device total + backward device) ÷ calls.", hidden=True)

    source: Source = fact("who named the modules")

    @classmethod
    def empty(cls, source: Source) -> ModuleTable:
        """Return the table of a trace without modules of the source."""
        columns: dict[str, Any] = dict.fromkeys(cls.declared, np.empty(0, np.int64))
        real = np.empty(0, np.float64)
        return cls(**columns | {"source": source, "name": (), "mean_host_ns": real, "mean_device_ns": real})


#: those that say nothing where no device was recorded
DEVICE_COLUMNS = tuple(key for key in ModuleTable.columns if "device" in key)


class HookTable(Result, group="hooks"):
    """Lightning's hooks by name, by total time, descending. Times in ns on the host."""

    name: tuple[str, ...] = column("Hook", "Name of the hook that Lightning called.")
    calls: Int64 = column("Calls", "How often.")
    host_total_ns: Int64 = column("Total", "Σ durations on the host.")
    host_self_ns: Int64 = column("Self", "Total − Σ of the hooks called directly inside it.")
    max_ns: Int64 = column("Max", "Longest call.")
    min_ns: Int64 = column("Min", "Shortest call.")


def modules(model: Model, source: Source) -> ModuleTable:
    """Return the modules of a source; without any the table is empty."""
    if source not in module_sources(model):
        return ModuleTable.empty(source)  # the program tree, which takes most of the time, would show none
    return _nn(model) if source == "nn" else _lightning(model)


@cached
def _nn(model: Model) -> ModuleTable:
    timed = nn_program(model)
    frames = nn_modules(model)
    id_of_row = np.full(len(model.trace.events), -1, np.int64)
    id_of_row[frames.row] = frames.module_id
    calls = _Calls.of(timed)
    path, parent = paths(calls.outer, [timed.tree.name[calls.node], id_of_row[timed.tree.row[calls.node]]])
    return _table("nn", model, timed, calls, path, parent, id_of_row)


@cached
def _lightning(model: Model) -> ModuleTable:
    timed = lightning_program(model)
    calls = _Calls.of(timed)
    path, parent = _paths_by_name(model, timed, calls)
    return _table("lightning", model, timed, calls, path, parent, np.zeros(len(model.trace.events), np.int64))


class _Calls(msgspec.Struct, frozen=True):
    """Module calls, in preorder. node: in the program tree; outer: the call around it, an index here, -1."""

    node: Int64
    outer: Int32

    @classmethod
    def of(cls, timed: TimedProgram) -> _Calls:
        tree = timed.tree
        is_module = tree.kind == NodeKind.MODULE
        node = np.flatnonzero(is_module)
        place = np.append(np.cumsum(is_module) - 1, -1).astype(np.int32)
        outer = nearest(tree.parent, is_module, tree.parent[node])
        return cls(node, np.where(outer >= 0, place[outer], -1).astype(np.int32))


def _paths_by_name(model: Model, timed: TimedProgram, calls: _Calls) -> tuple[Int64, Int32]:
    """Derive paths from names: `net.encoder.0` is below the longest of `net.encoder` and `net` that was called."""
    names = [module_name(model.trace.strings[code]) for code in timed.tree.name[calls.node].tolist()]
    number: dict[str, int] = {}
    path = np.array([number.setdefault(name, len(number)) for name in names], np.int64)
    parent = np.full(len(number), -1, np.int32)
    for name, i in number.items():
        prefix = name.rpartition(".")[0]
        while prefix and prefix not in number:
            prefix = prefix.rpartition(".")[0]
        parent[i] = number.get(prefix, -1)
    return path, parent


def _table(
    source: Source, model: Model, timed: TimedProgram, calls: _Calls, path: Int64, parent: Int32, id_of_row: Int64
) -> ModuleTable:
    tree = timed.tree
    paths, nodes = len(parent), len(tree)
    first = least_at(path, np.arange(len(path)), paths)
    order = preorder(parent, np.argsort(first, kind="stable"))
    place = places_of(order, paths + 1)
    of_path = place[path]

    inside = np.flatnonzero(tree.parent >= 0)
    operators = sums_at(tree.parent[inside], timed.is_operator[inside], nodes)
    # what nested modules launched is theirs
    nested = np.flatnonzero(calls.outer >= 0)
    device_self = timed.device_total[calls.node] - sums_at(
        calls.outer[nested], timed.device_total[calls.node[nested]], len(calls.node)
    )
    is_backward = tree.kind == NodeKind.BACKWARD
    backward = np.flatnonzero(is_backward)
    own_backward = inside[is_backward[tree.parent[inside]] & ~is_backward[inside]]
    backward_host = np.zeros(nodes, np.int64)
    backward_device = np.zeros(nodes, np.int64)
    backward_host[tree.module[backward]] = sums_at(tree.parent[own_backward], tree.duration[own_backward], nodes)[
        backward
    ]
    backward_device[tree.module[backward]] = sums_at(
        tree.parent[own_backward], timed.device_total[own_backward], nodes
    )[backward]

    above = place[parent[order]]
    below = Forest(above.astype(np.int32))

    def per_path(values: Int64) -> Int64:
        return sums_at(of_path, values, paths)

    count = per_path(np.ones(len(path), np.int64))
    host, device = per_path(tree.duration[calls.node]), per_path(timed.device_total[calls.node])
    passed_host = below.below(per_path(backward_host[calls.node]))
    passed_device = below.below(per_path(backward_device[calls.node]))

    lead = calls.node[first[order]]
    return ModuleTable(
        source=source,
        id=np.arange(paths),
        parent=above,
        name=tuple(module_name(model.trace.strings[code]) for code in tree.name[lead].tolist()),
        module_id=id_of_row[tree.row[lead]],
        calls=count,
        operators=per_path(operators[calls.node]),
        host_total_ns=host,
        host_self_ns=per_path(timed.host_self[calls.node]),
        device_total_ns=device,
        device_self_ns=per_path(device_self),
        backward_host_ns=passed_host,
        backward_device_ns=passed_device,
        mean_host_ns=(host + passed_host) / count,
        mean_device_ns=(device + passed_device) / count,
    )


@cached
def hook_calls(model: Model) -> NestedRanges:
    """Return Lightning's hooks as they called each other."""
    events = model.trace.events
    rows = lightning_hooks(model)
    nesting = nest(events.track[rows], events.start[rows], events.end[rows], np.zeros(len(rows), np.int32))
    return NestedRanges.of(model.trace, rows[nesting.order], nesting)


def hooks(model: Model) -> HookTable:
    """Return Lightning's hooks by name."""
    calls, trace = hook_calls(model), model.trace
    total = np.maximum(trace.events.duration[calls.row], 0)
    inside = np.flatnonzero(calls.parent >= 0)
    own = total - sums_at(calls.parent[inside], (calls.end - calls.start)[inside], len(total))
    groups = group([calls.name])
    by_name = groups.sum(total)
    order = descending(by_name, lambda at: trace.strings[int(calls.name[groups.first[at]])])
    return HookTable(
        name=tuple(hook_name(trace.strings[code]) for code in calls.name[groups.first[order]].tolist()),
        calls=groups.count()[order],
        host_total_ns=by_name[order],
        host_self_ns=groups.sum(own)[order],
        max_ns=groups.max(total)[order],
        min_ns=groups.min(total)[order],
    )


class OfSource(msgspec.Struct, frozen=True):
    """Whose modules."""

    source: Annotated[Source | None, Meta(description="Who named the modules; without it the first.")] = None


class ModulesMeta(TraceMeta, frozen=True, kw_only=True):
    """Beside modules.

    source   who named them
    sources  who named modules or hooks in this trace
    total    how many modules there are
    """

    source: Source
    sources: Sequence[Source]
    total: Count


class ModulesAnswer(InlineTable, frozen=True, kw_only=True):
    """Modules as a tree in a table: `parent` is an `id`, -1 at the top.

    meta   which trace, and where the names come from
    hooks  Lightning's hooks by name; null if none were recorded
    """

    meta: ModulesMeta
    hooks: InlineTable | None


def _modules(subject: Subject, params: OfSource) -> ModulesAnswer:
    model = subject.model
    sources = module_sources(model)
    shown = params.source or (sources[0] if sources else "nn")
    found, called = modules(model, shown), hooks(model)
    notes = [] if len(found) else [no_modules()]
    table = found.as_columns(without=() if model.has_device_work else DEVICE_COLUMNS, nulls=False)
    return ModulesAnswer(
        meta=ModulesMeta(**subject.about("modules", *notes), source=shown, sources=sources, total=len(found)),
        columns=table.columns,
        rows=table.rows,
        hooks=called.as_columns() if len(called) else None,
    )


MODULES = Question(
    name="modules",
    summary="Modules as a tree in a table",
    compute=_modules,
    # they need another tree, and nothing of what is computed for the questions about calls
    bundle="modules",
    precompute=(OfSource("nn"), OfSource("lightning"), OfSource()),
    report=({"source": "nn"}, {"source": "lightning"}),
)
