"""Compiled code: regions, compilations and graph breaks, generated kernels, and the eager remainder."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Count, Ns, Row
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.program.kinds import CODE, ProgramPhase
from torch_tb_profiler.analysis.program.marks import marks
from torch_tb_profiler.analysis.result import Result, column
from torch_tb_profiler.analysis.shared.backward_links import evaluates
from torch_tb_profiler.analysis.shared.compiled import BODY, REGION, compiled
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.grouping import descending, group, sums_at
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category

_OVERHEAD = lazy_pattern(r"Pregraph bytecode$|AOTDispatcher Runtime Wrapper Prologue$")
_LOOKUP = "TorchDynamo Cache Lookup"
#: the compilation of one code of one frame: `…compile_id=2/1`
_COMPILE_ID = lazy_pattern(r"entire_frame_compile_data: .*compile_id=(?P<id>!?[0-9/]+)")
_COMPILATION = lazy_pattern(r"_compile(?:\.compile_inner)? \(dynamo_timed\)$|entire_frame_compile\b")
#: in a region, but no operators of the program
COMPILING = lazy_pattern(r"\(dynamo_timed\)$|entire_frame_compile|^dynamo$|^TorchDynamo Cache Lookup$")
#: the passes of a training graph: the backward one is in no region
_PASS = lazy_pattern(r"CompiledFunction(?:Backward)?[0-9]*$")
_RESTART = lazy_pattern(r"compile_attempt_(?P<number>[0-9]{1,6})")


class RegionTable(Result, group="regions"):
    """One row per compiled code, by host time, descending. Times in ns, of the steps that are chosen."""

    id: tuple[str, ...] = column("Code", "Frame / code: a code above 0 is the frame compiled again.")
    calls: Int64 = column("Calls", "Calls of the compiled code.")
    outer_calls: Int64 = column("Outermost", "Those that are in no other compiled code.")
    host_ns: Int64 = column("Host", "Σ durations of the calls, with compiled code inside them.")
    overhead_ns: Int64 = column(
        "Around graphs", "In the bytecode and the wrapper before the graph.", missing_below_zero=True
    )
    body_ns: Int64 = column("Graph", "In the bodies of its graphs.", missing_below_zero=True)
    eager_ns: Int64 = column(
        "Eager inside", "In operators that are in the region and in no graph.", missing_below_zero=True
    )
    device_ns: Int64 = column("Device", "Σ durations of device work launched in it, not deeper.")
    row: Int64 = column("First call", "Event of its first call.", unit=None, hidden=True)


class CompilationTable(Result, group="compilations"):
    """One row per compilation, in the order of time."""

    id: tuple[str | None, ...] = column("Code", "Frame / code that is compiled; empty if torch does not record it.")
    start_ns: Int64 = column("Begins", "Since the start of the trace.")
    duration_ns: Int64 = column("Duration", "On the host.")
    again: tuple[bool | None, ...] = column("Again", "Whether the frame had been compiled before, for other inputs.")
    row: Int64 = column("Event", "Number of its event in the file.", unit=None, hidden=True)


class RegionTotals(msgspec.Struct, frozen=True, kw_only=True):
    """Over all compiled regions of the steps that are chosen. Device times are Σ of durations.

    calls              how many calls of outermost regions
    outer_ns           host time of these, including what is inside them
    lookup_ns          checking guards before regions
    lookup_row         the longest of these checks (number of an event in its file); null without any
    compile_ns         compiling
    compilations       how many, frame by frame
    again              how many of these compile a frame again; null if a trace does not name them
    inside_device_ns   device work that was launched in compiled code: regions, and backward passes of their graphs
    outside_device_ns  the eager remainder: device work launched elsewhere
    breaks             how often a call of compiled code goes on in other compiled code: each is a graph break
    lines              `function:line` at which it goes on; only with Python frames
    restarts           how often tracing started again, as it does at a break
    """

    calls: Count
    outer_ns: Ns
    lookup_ns: Ns
    lookup_row: Row | None
    compile_ns: Ns
    compilations: Count
    again: Count | None
    inside_device_ns: Ns
    outside_device_ns: Ns
    breaks: Count
    lines: Sequence[str]
    restarts: Count


@cached
def regions(model: Model) -> RegionTable:
    inside = model.in_steps
    tree, strings = inside.tree, model.trace.strings
    region = named_nodes(inside, lambda name: name.startswith(REGION))
    body = named_nodes(inside, lambda name: name.startswith(BODY))
    overhead = named_nodes(inside, _OVERHEAD.match)
    node = np.flatnonzero(region)
    groups = group([tree.name[node].astype(np.int64)])
    count = len(groups)
    of_node = np.full(len(tree) + 1, -1, np.int64)
    of_node[node] = groups.inverse
    length = tree.end - tree.start
    nested = nearest(tree.parent, region, tree.parent[node]) >= 0

    def within(chosen: Bool) -> Int64:
        """Return Σ durations of outermost chosen nodes by the region right around them."""
        row = np.flatnonzero(chosen & (nearest(tree.parent, chosen, tree.parent) < 0))
        around = of_node[nearest(tree.parent, region, tree.parent[row])]
        return sums_at(around[around >= 0], length[row][around >= 0], count)

    # operators that are in no graph, and hold none: outermost ones right below the region
    plain = tree.is_operator & ~region & ~overhead & ~body
    outer = nearest(tree.parent, region | body | plain, tree.parent)
    compiling = nearest(tree.parent, named_nodes(inside, COMPILING.search), np.arange(len(tree))) >= 0
    is_eager = plain & ~compiling & np.append(region, False)[outer]
    holding = nearest(tree.parent, is_eager, tree.parent[np.flatnonzero(body)])
    is_eager[holding[holding >= 0]] = False
    row = np.flatnonzero(is_eager)
    eager = sums_at(of_node[outer[row]], length[row], count)
    _, around_work, duration = work_in(inside, region)
    own = of_node[around_work]
    order = descending(groups.sum(length[node]))
    texts = strings.texts(tree.name[node[groups.first]])
    # torch of 2022 to 2024 wrote regions without what is in them
    has_body, has_overhead, unknown = bool(body.any()), bool(overhead.any()), np.full(count, -1)
    return RegionTable(
        id=tuple(texts[each].removeprefix(REGION).lstrip(": ") or "?" for each in order.tolist()),
        calls=groups.count()[order],
        outer_calls=groups.sum(~nested)[order],
        host_ns=groups.sum(length[node])[order],
        overhead_ns=within(overhead)[order] if has_overhead else unknown,
        body_ns=within(body)[order] if has_body else unknown,
        eager_ns=eager[order] if has_body else unknown,
        device_ns=sums_at(own[own >= 0], duration[own >= 0], count)[order],
        row=tree.row[node[groups.first]].astype(np.int64)[order],
    )


@cached
def region_totals(model: Model) -> RegionTotals:
    inside = model.in_steps
    tree = inside.tree
    code = compiled(inside)
    length = tree.end - tree.start
    _, around, duration = work_in(inside, compiled_nodes(inside))
    lookups = np.flatnonzero(named_nodes(inside, _LOOKUP.__eq__))
    attempts = [
        int(said["number"])
        for name in model.trace.strings.texts(tree.name[named_nodes(inside, _RESTART.match)])
        if (said := _RESTART.match(name)) is not None
    ]
    nesting, phase = marks(model.whole).nesting, marks(model.whole).phase
    compiling = intervals.union(
        nesting.start[phase == CODE[ProgramPhase.COMPILE]], nesting.end[phase == CODE[ProgramPhase.COMPILE]]
    )
    steps = model.steps
    if len(steps):
        compiling = intervals.intersection(compiling, intervals.union(steps.host_start, steps.host_end))
    made = compilations(model)
    again = [each for each in made.again if each is not None]
    return RegionTotals(
        calls=int(regions(model).outer_calls.sum()),
        outer_ns=int(length[code.regions].sum()),
        lookup_ns=int(length[lookups].sum()),
        lookup_row=int(tree.row[lookups[np.argmax(length[lookups])]]) if len(lookups) else None,
        compile_ns=intervals.total(compiling),
        compilations=len(made),
        again=sum(again) if len(again) == len(made) else None,
        inside_device_ns=int(duration[around >= 0].sum()),
        outside_device_ns=int(duration[around < 0].sum()),
        breaks=len(code.nested),
        lines=code.resumed,
        restarts=sum(number > 0 for number in attempts),
    )


@cached
def compilations(model: Model) -> CompilationTable:
    """Return compilations that begin in the chosen steps; the frame and its code where torch wrote them beside it."""
    inside = model.in_steps
    tree, strings = inside.tree, model.trace.strings
    compiling = named_nodes(inside, _COMPILATION.match)
    node = np.flatnonzero(compiling & (nearest(tree.parent, compiling, tree.parent) < 0))
    compile_ids = np.flatnonzero(named_nodes(inside, _COMPILE_ID.match))
    compile_ids = compile_ids[np.argsort(tree.start[compile_ids], kind="stable")]
    ids: list[str | None] = []
    for node_id in node.tolist():
        mine = compile_ids[
            (tree.track[compile_ids] == tree.track[node_id])
            & (tree.start[compile_ids] >= tree.start[node_id])
            & (tree.start[compile_ids] <= tree.end[node_id])
        ]
        found = [_COMPILE_ID.match(strings[int(tree.name[at])]) for at in mine.tolist()]
        ids.append(next((text["id"] for text in found if text is not None), None))
    order = np.argsort(tree.start[node], kind="stable")
    node = node[order]
    ids = [ids[at] for at in order.tolist()]
    return CompilationTable(
        id=tuple(ids),
        start_ns=tree.start[node],
        duration_ns=(tree.end - tree.start)[node],
        again=tuple(None if id_ is None else id_.rpartition("/")[2] != "0" for id_ in ids),
        row=tree.row[node].astype(np.int64),
    )


def compiled_nodes(model: Model) -> Bool:
    """Return which calls are compiled: regions, bodies of graphs, passes in no region; shape (call tree,)."""
    return named_nodes(model, lambda name: name.startswith((REGION, BODY)) or _PASS.match(name) is not None)


def work_in(inside: Model, region: Bool) -> tuple[Int64, Int64, Int64]:
    """Return all device work: where it is, the chosen node around its launch (-1: none), its duration."""
    work = np.flatnonzero(inside.is_work)
    node = inside.device_links.node[work]
    around = nearest(inside.tree.parent, region, node).astype(np.int64) if len(inside.tree) else node.astype(np.int64)
    return work, around, np.maximum(inside.trace.events.duration[inside.device_work.row[work]], 0)


def named_nodes(model: Model, wanted: Callable[[str], object]) -> Bool:
    """Return which calls have a wanted name, shape (call tree,)."""
    tree = model.tree
    if not len(tree):
        return np.zeros(0, np.bool_)
    found: Bool = model.trace.strings.where(wanted, tree.name)[tree.name]
    return found


class EagerOperators(Result, group="eager"):
    """One row per name of an operator outside compiled code, by time on devices, else on the host, descending.

    The last row may be work that no operator launched.
    """

    name: tuple[str | None, ...] = column("Operator", "Outermost operator; empty for work that no operator launched.")
    calls: Int64 = column("Calls", "Calls outside compiled code in the steps.", missing_below_zero=True)
    host_ns: Int64 = column("Host", "Σ durations of these.", missing_below_zero=True)
    device_ns: Int64 = column("Device", "Σ durations of device work launched in them.")
    row: Int64 = column(
        "Longest call", "Event of the longest of these on the host.", unit=None, missing_below_zero=True, hidden=True
    )


@cached
def eager_operators(model: Model) -> EagerOperators:
    """Return the eager operators of the chosen steps, if compiled code runs. Device time adds up to the remainder."""
    inside = model.in_steps
    tree = inside.tree
    compiled = compiled_nodes(inside)
    if not compiled.any():
        none = np.empty(0, np.int64)
        return EagerOperators((), none, none, none, none)
    outer = _outermost(inside, compiled)
    node = np.flatnonzero(outer)
    groups = group([tree.name[node].astype(np.int64)])
    of_node = np.full(len(tree) + 1, len(groups), np.int64)
    of_node[node] = groups.inverse
    work, around, duration = work_in(inside, compiled)
    eager = around < 0
    launched = nearest(tree.parent, outer, inside.device_links.node[work[eager]])
    device = sums_at(of_node[launched], duration[eager], len(groups) + 1)
    length = tree.end[node] - tree.start[node]
    host = groups.sum(length)
    order = descending(device[:-1] if device[:-1].any() else host)
    longest = np.lexsort((tree.start[node], -length, groups.inverse))
    first = node[longest[np.searchsorted(groups.inverse[longest], np.arange(len(groups)))]]
    names: list[str | None] = list(inside.trace.strings.texts(tree.name[node[groups.first[order]]]))
    rest = device[-1:] if device[-1] else device[:0]
    unknown = np.full(len(rest), -1)
    return EagerOperators(
        name=(*names, *[None] * len(rest)),
        calls=np.append(groups.count()[order], unknown),
        host_ns=np.append(host[order], unknown),
        device_ns=np.append(device[:-1][order], rest),
        row=np.append(tree.row[first[order]].astype(np.int64), unknown),
    )


def _outermost(inside: Model, compiled: Bool) -> Bool:
    """Return outermost operators that neither are compiled code, nor lie in it, hold any, or compile.

    Calls of the autograd engine are skipped: the operators of the backward pass inside them are returned.
    """
    tree = inside.tree
    holding = np.zeros(len(tree), np.bool_)
    at = distinct(tree.parent[np.flatnonzero(compiled)])
    while len(at := at[at >= 0]):
        holding[at] = True
        at = distinct(tree.parent[at])
        at = at[~np.append(holding, True)[at]]
    excluded = compiled | named_nodes(inside, COMPILING.search)
    eager = tree.is_operator & ~evaluates(inside) & ~holding
    eager &= nearest(tree.parent, excluded, np.arange(len(tree))) < 0
    found: Bool = eager & (nearest(tree.parent, eager, tree.parent) < 0)
    return found


_GENERATED = lazy_pattern(
    r"(?:graph_[0-9]+_)?(?P<backend>triton|cpp)_(?:(?P<kind>poi|red|per|tem|for)_)?fused_(?P<operators>\w*?)_?(?P<number>[0-9]+)$"
)
_KINDS = {
    "poi": "pointwise",
    "red": "reduction",
    "per": "persistent reduction",
    "tem": "template",
    "for": "foreach",
}


class GeneratedKernels(Result, group="generated"):
    """One row per kernel that a compiler generated, by time, descending."""

    name: tuple[str, ...] = column("Kernel", "Name of the kernel.")
    backend: tuple[str, ...] = column("Language", "triton or cpp.")
    kind: tuple[str | None, ...] = column("Kind", "Kind of Triton kernel; empty if the name does not show it.")
    operators: tuple[str, ...] = column("Fused operators", "The operators in its name, joined by _.")
    calls: Int64 = column("Calls", "How often it ran in the steps.")
    total_ns: Int64 = column("Total", "Σ durations.")
    config: tuple[str | None, ...] = column("Configuration", "Blocks, warps and stages of a Triton kernel.")
    file: tuple[str | None, ...] = column("File", "File that Inductor wrote, if it was recorded.")
    row: Int64 = column("First call", "Event of its first run.", unit=None, hidden=True)


@cached
def generated_kernels(model: Model) -> GeneratedKernels:
    """Return kernels of Inductor: on devices, and C++ ones where they are recorded on the host."""
    inside = model.in_steps
    events, strings = model.trace.events, model.trace.strings
    operators = inside.rows_of(Category.OPERATOR)
    kernels = inside.device_work.row[inside.device_category == Category.KERNEL]
    rows = np.concatenate([kernels, operators])
    parsed = {
        code: match
        for code in distinct(events.name[rows]).tolist()
        if (match := _GENERATED.match(strings[code])) is not None
    }
    # a Triton kernel has an operator of its name on the host, which is its launch
    on_host = np.concatenate([np.zeros(len(kernels), np.bool_), np.ones(len(operators), np.bool_)])
    triton = np.array([code for code, match in parsed.items() if match["backend"] == "triton"], np.int64)
    chosen = np.isin(events.name[rows], list(parsed)) & ~(on_host & np.isin(events.name[rows], triton))
    rows = rows[chosen]
    groups = group([events.name[rows].astype(np.int64)])
    total = groups.sum(np.maximum(events.duration[rows], 0))
    order = descending(total, lambda at: strings[int(events.name[rows[groups.first[at]]])])
    first = rows[groups.first[order]]
    configs, files = _recorded_configs(model, triton)
    matches = [parsed[int(code)] for code in events.name[first]]
    return GeneratedKernels(
        name=tuple(strings.texts(events.name[first])),
        backend=tuple(match["backend"] for match in matches),
        kind=tuple(_KINDS.get(match["kind"] or "") for match in matches),
        operators=tuple(match["operators"] for match in matches),
        calls=groups.count()[order],
        total_ns=total[order],
        config=tuple(configs.get(int(code)) for code in events.name[first]),
        file=tuple(files.get(int(code)) for code in events.name[first]),
        row=first.astype(np.int64),
    )


def _recorded_configs(model: Model, names: Int64) -> tuple[dict[int, str], dict[int, str]]:
    """Return, by the code of a name, all configurations that its operators tell, and the first file."""
    operators, strings = model.trace.operators, model.trace.strings
    at = np.flatnonzero(np.isin(model.trace.events.name[operators.row], names))
    texts: dict[int, list[str]] = {}
    files: dict[int, str] = {}
    columns = (operators.kernel_kwargs, operators.num_warps, operators.num_stages, operators.kernel_file)
    keys = [model.trace.events.name[operators.row[at]], *(column[at] for column in columns)]
    for name, blocks, warps, stages, file in np.stack(keys, axis=1)[group(keys).first].tolist() if len(at) else ():
        parts = [
            *([strings[blocks].replace(",", " ")] if strings[blocks] else []),
            *([f"num_warps={warps}"] if warps >= 0 else []),
            *([f"num_stages={stages}"] if stages >= 0 else []),
        ]
        text = " ".join(parts)
        if text and text not in texts.setdefault(name, []):
            texts[name].append(text)
        if strings[file]:
            files.setdefault(name, strings[file])
    return {name: "; ".join(every) for name, every in texts.items() if every}, files
