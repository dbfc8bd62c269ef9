"""Compiled code: regions and what is around them, compilations and breaks."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Count, Ns, Row
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.program.kinds import CODE, Phase
from torch_tb_profiler.analysis.program.marks import marks
from torch_tb_profiler.analysis.result import Result, column
from torch_tb_profiler.analysis.shared.compiled import BODY, REGION, compiled
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.grouping import descending, group, sums_at
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model

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
    of_node[node] = groups.of
    length = tree.end - tree.start
    nested = nearest(tree.parent, region, tree.parent[node]) >= 0

    def within(chosen: Bool) -> Int64:
        """Σ durations of outermost chosen nodes by the region right around them."""
        at = np.flatnonzero(chosen & (nearest(tree.parent, chosen, tree.parent) < 0))
        around = of_node[nearest(tree.parent, region, tree.parent[at])]
        return sums_at(around[around >= 0], length[at][around >= 0], count)

    # operators that are in no graph, and hold none: outermost ones right below the region
    plain = tree.is_operator & ~region & ~overhead & ~body
    outer = nearest(tree.parent, region | body | plain, tree.parent)
    compiling = nearest(tree.parent, named_nodes(inside, COMPILING.search), np.arange(len(tree))) >= 0
    is_eager = plain & ~compiling & np.append(region, False)[outer]
    holding = nearest(tree.parent, is_eager, tree.parent[np.flatnonzero(body)])
    is_eager[holding[holding >= 0]] = False
    at = np.flatnonzero(is_eager)
    eager = sums_at(of_node[outer[at]], length[at], count)
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
    found = compiled(inside)
    length = tree.end - tree.start
    _, around, duration = work_in(inside, compiled_nodes(inside))
    lookups = np.flatnonzero(named_nodes(inside, _LOOKUP.__eq__))
    attempts = [
        int(said["number"])
        for name in model.trace.strings.texts(tree.name[named_nodes(inside, _RESTART.match)])
        if (said := _RESTART.match(name)) is not None
    ]
    nesting, phase = marks(model.whole).nesting, marks(model.whole).phase
    compiling = intervals.union(nesting.start[phase == CODE[Phase.COMPILE]], nesting.end[phase == CODE[Phase.COMPILE]])
    steps = model.steps
    if len(steps):
        compiling = intervals.intersection(compiling, intervals.union(steps.host_start, steps.host_end))
    made = compilations(model)
    again = [each for each in made.again if each is not None]
    return RegionTotals(
        calls=int(regions(model).outer_calls.sum()),
        outer_ns=int(length[found.regions].sum()),
        lookup_ns=int(length[lookups].sum()),
        lookup_row=int(tree.row[lookups[np.argmax(length[lookups])]]) if len(lookups) else None,
        compile_ns=intervals.total(compiling),
        compilations=len(made),
        again=sum(again) if len(again) == len(made) else None,
        inside_device_ns=int(duration[around >= 0].sum()),
        outside_device_ns=int(duration[around < 0].sum()),
        breaks=len(found.nested),
        lines=found.resumed,
        restarts=sum(number > 0 for number in attempts),
    )


@cached
def compilations(model: Model) -> CompilationTable:
    """Those that begin in the steps that are chosen; the frame and its code where torch wrote them beside it."""
    inside = model.in_steps
    tree, strings = inside.tree, model.trace.strings
    compiling = named_nodes(inside, _COMPILATION.match)
    node = np.flatnonzero(compiling & (nearest(tree.parent, compiling, tree.parent) < 0))
    said = np.flatnonzero(named_nodes(inside, _COMPILE_ID.match))
    said = said[np.argsort(tree.start[said], kind="stable")]
    ids: list[str | None] = []
    for each in node.tolist():
        mine = said[
            (tree.track[said] == tree.track[each])
            & (tree.start[said] >= tree.start[each])
            & (tree.start[said] <= tree.end[each])
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
        again=tuple(None if each is None else each.rpartition("/")[2] != "0" for each in ids),
        row=tree.row[node].astype(np.int64),
    )


def compiled_nodes(model: Model) -> Bool:
    """Shape (call tree,): calls of compiled code: regions, bodies of graphs, compiled passes that are in no region."""
    return named_nodes(model, lambda name: name.startswith((REGION, BODY)) or _PASS.match(name) is not None)


def work_in(inside: Model, region: Bool) -> tuple[Int64, Int64, Int64]:
    """All device work: where it is, the chosen node around its launch (-1: none), its duration."""
    work = np.flatnonzero(inside.is_work)
    node = inside.device_links.node[work]
    around = nearest(inside.tree.parent, region, node).astype(np.int64) if len(inside.tree) else node.astype(np.int64)
    return work, around, np.maximum(inside.trace.events.duration[inside.device_work.row[work]], 0)


def named_nodes(model: Model, wanted: object) -> Bool:
    """Shape (call tree,): those of a name that is wanted."""
    tree = model.tree
    if not len(tree):
        return np.zeros(0, np.bool_)
    found: Bool = model.trace.strings.where(wanted, tree.name)[tree.name]  # type: ignore[arg-type]
    return found
