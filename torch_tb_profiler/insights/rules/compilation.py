"""Compiled code: graph breaks, compilations while steps run, and compiled kernels that are slow."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from torch_tb_profiler.analysis.flops.generated import tensor_bytes
from torch_tb_profiler.analysis.replay.changes import ScaleHost, free, targets
from torch_tb_profiler.analysis.shared.compiled import BODY, compiled
from torch_tb_profiler.analysis.shared.kernel_use import durations, is_compute
from torch_tb_profiler.analysis.shared.peaks import peaks_of
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Float64, Int64
from torch_tb_profiler.insights.facts import DEVICE, HOST, PROPERTIES, SHAPES, STEPS, Facts
from torch_tb_profiler.insights.rule import Found, evidence, link, rule
from torch_tb_profiler.lazy_pattern import lazy_pattern


@rule("R35", STEPS, HOST)
def graph_breaks(facts: Facts) -> Iterator[Found]:
    """Compiled code that is left and entered again in the middle."""
    tree, breaks = facts.model.tree, compiled(facts.model)
    nested = breaks.nested[facts.step_of(tree.row[breaks.nested]) >= 0]
    if not len(nested):
        return
    is_outer = np.zeros(len(tree), np.bool_)
    is_outer[breaks.regions] = True
    outer = distinct(nearest(tree.parent, is_outer, nested)).astype(np.int64)
    between = _outside_of_graphs(facts, outer[outer >= 0])
    spent = sum(end - start for _, start, end in between)
    share = facts.share(spent)
    if share < facts.limit("graph_breaks", "least_share"):
        return
    yield Found(
        values={
            "breaks": len(nested),
            "steps": facts.steps,
            "share": share,
            "lines": ", ".join(breaks.resumed[:3]),
        },
        rows=facts.longest_first(tree.row[nested]),
        changes=(ScaleHost(0.0, intervals=tuple(between)),),
        evidence=(
            evidence("graph_breaks", len(nested) / facts.steps, "count", "trace"),
            evidence("outside_graphs_ns", spent / facts.steps, "ns", "trace"),
        ),
        confidence="medium",
        links=(link("graph_breaks"),),
    )


def _outside_of_graphs(facts: Facts, regions: Int64) -> list[tuple[int, int, int]]:
    """(track, start, end) of what lies in some regions, and neither in a graph of them nor in a compilation."""
    tree = facts.model.tree
    body = facts.trace.strings.where(lambda name: name.startswith(BODY), tree.name)[tree.name]
    body[compiled(facts.model).compilations] = True
    is_region = np.zeros(len(tree), np.bool_)
    is_region[regions] = True
    inner = np.flatnonzero(body & (nearest(tree.parent, body, tree.parent) < 0))
    owner = nearest(tree.parent, is_region, inner).astype(np.int64)
    inner, owner = inner[owner >= 0], owner[owner >= 0]
    # what lies between begins with the region or with the end of a body, and ends with the next body or the region
    of = np.concatenate([regions, owner])
    begin = np.concatenate([tree.start[regions], tree.end[inner]])
    end = np.concatenate([tree.end[regions], tree.start[inner]])
    begin, end = begin[np.lexsort((begin, of))], end[np.lexsort((end, of))]
    track = tree.track[np.sort(of)]
    kept = end > begin
    return list(zip(track[kept].tolist(), begin[kept].tolist(), end[kept].tolist(), strict=True))


@rule("R35", STEPS, HOST)
def recompiles(facts: Facts) -> Iterator[Found]:
    """Code that is compiled while steps run."""
    found = compiled(facts.model)
    all_rows = facts.model.tree.row[found.compilations]
    step = facts.step_of(all_rows)
    is_again = np.isin(all_rows, facts.model.tree.row[found.again])
    # what it is called for first: the others are compiled once in any program
    repeated, once = (facts.longest_first(all_rows[(step >= 0) & which]) for which in (is_again, ~is_again))
    rows = np.concatenate([repeated, once])
    spent = int(facts.duration(rows).sum())
    share = facts.share(spent)
    if not len(rows) or share < facts.limit("recompiles", "least_share"):
        return
    again = len(repeated)
    yield Found(
        values={
            "compilations": len(rows),
            "steps": len(distinct(step[step >= 0])),
            "of": facts.steps,
            "share": share,
            "again": again,
            "again_ns": int(facts.duration(repeated).sum()) / facts.steps,
            "once": len(once),
        },
        rows=rows,
        place_rows=repeated if again else None,
        changes=(free(rows=rows.tolist()),),
        once=not again,
        evidence=(
            evidence("compilations", len(rows), "count", "trace"),
            evidence("compile_ns", spent / facts.steps, "ns", "trace"),
        ),
        links=(link("recompilation"),),
    )


_SLOW = "slow_compiled"
#: kernels that Inductor makes of operators with one number for each element, and of reductions
_COMPILED = lazy_pattern(r"triton_(?:poi|red|per)_")
#: what reads here and there, or draws random numbers, does not come near to the bandwidth
_NOT_BY_BANDWIDTH = lazy_pattern(
    r"index|gather|scatter|embedding|upsample|grid_sampler|pool|rand|dropout|bernoulli|sort"
)


@rule("R36", STEPS, DEVICE, PROPERTIES, SHAPES)
def slow_compiled(facts: Facts) -> Iterator[Found]:
    """Compiled kernels that move their data far more slowly than the memory of the device could."""
    place, least = _least_ns(facts)
    if not len(place) or not facts.total_ns:
        return
    model = facts.model
    rows, duration = model.device_work.row[place], durations(model)[place]
    slow = (least < facts.limit(_SLOW, "most_of_bandwidth") * duration) & (duration >= facts.limit(_SLOW, "least_ns"))
    rows, duration, least = rows[slow], duration[slow], least[slow]
    spent = int(duration.sum())
    if not spent or facts.share(spent) < facts.limit(_SLOW, "least_share"):
        return
    target = np.ceil(np.minimum(least / facts.limit(_SLOW, "efficiency"), duration)).astype(np.int64)
    names = facts.trace.events.name[rows]
    groups = group([names])
    slowest = int(descending(groups.sum(duration))[0])
    reached = float(least.sum()) / spent
    yield Found(
        values={
            "count": len(groups),
            "share": facts.share(spent),
            "reached": reached,
            "name": str(facts.trace.strings[int(names[groups.first[slowest]])]),
        },
        rows=facts.longest_first(rows),
        changes=(targets(rows.tolist(), target.tolist()),),
        confidence="low",
        evidence=(
            evidence("compiled_bandwidth", reached, "fraction", "kernels"),
            evidence("compiled_time", spent / facts.steps, "ns", "kernels"),
        ),
        links=(link("compile_modes"),),
    )


def _least_ns(facts: Facts) -> tuple[Int64, Float64]:
    """Compiled kernels of the steps whose tensors are known: their places, and how long moving these takes at least.

    The profiler writes the arguments of a compiled kernel into an operator of the same name around its launch.
    """
    model, tree = facts.model, facts.model.tree
    trace, strings = facts.trace, facts.trace.strings
    place = np.flatnonzero(is_compute(model))
    name = trace.events.name[model.device_work.row[place]]
    place = place[strings.where(_is_bound_by_bandwidth, name)[name]] if len(place) else place
    place = place[facts.step_of(model.device_work.row[place]) >= 0]
    node = model.device_links.operator_node[place]
    if not len(tree) or not len(place):
        return place[:0], np.empty(0)
    same = (node >= 0) & (tree.name[node] == trace.events.name[model.device_work.row[place]])
    same &= tree.operator[node] >= 0
    place, node = place[same], node[same]
    operators, operator = trace.operators, tree.operator[node]
    device = model.device_work.device[place]
    peaks = {each: peaks_of(trace.header.device(each)) for each in distinct(device).tolist()}
    keys = (device, operators.input_dims[operator], operators.input_type[operator], operators.input_strides[operator])
    groups = group(keys)
    least = np.full(len(groups), np.nan)
    for at, first in enumerate(groups.first.tolist()):
        of = peaks[int(device[first])]
        size = tensor_bytes(*(str(strings[int(key[first])]) for key in keys[1:]))
        if of is not None and size is not None:
            least[at] = 1e9 * size / of.bandwidth
    found = least[groups.inverse] if len(groups) else np.empty(0)
    known = ~np.isnan(found)
    return place[known], found[known]


def _is_bound_by_bandwidth(name: str) -> bool:
    return _COMPILED.match(name) is not None and _NOT_BY_BANDWIDTH.search(name) is None
