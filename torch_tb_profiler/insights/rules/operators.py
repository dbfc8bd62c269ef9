"""What operators compute: in double precision, and on the CPU of programs that use no device."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from torch_tb_profiler.analysis.replay.changes import Change, scale, targets
from torch_tb_profiler.analysis.shared.kernel_use import is_compute
from torch_tb_profiler.analysis.shared.operator_times import operator_times
from torch_tb_profiler.analysis.shared.peaks import peaks_of
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int32
from torch_tb_profiler.insights.facts import HOST, MACHINE, STEPS, Facts
from torch_tb_profiler.insights.places import class_of
from torch_tb_profiler.insights.rule import NO_ROWS, Found, evidence, link, rule
from torch_tb_profiler.insights.shared.matmuls import SHORTEST_NS
from torch_tb_profiler.insights.shared.patterns import shapes
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.event_names import NN_MODULE
from torch_tb_profiler.trace.schema import OperatorRanges

#: names of 64-bit kernels: those of libraries, and templates whose first type is double. A double among the later
#: parameters is a number, such as the learning rate of a fused optimizer
_KERNELS = lazy_pattern(
    r"dgemm|d884|f64|\bCijk_\w{1,60}_DB_|<(?:-?\d+(?:ul)?, |int, |true, |false, )*double\b|lambda\(double\b"
)
#: a tensor with fewer elements holds a setting, such as a learning rate
_FEWEST_ELEMENTS = 256
#: most operators, and most modules, that a finding names
_NAMED = 3


@rule("R71", STEPS, MACHINE)
def double_precision(facts: Facts) -> Iterator[Found]:
    """Operators compute in 64 bits, which few programs need."""
    model, tree = facts.model, facts.model.tree
    wide = _in_double(facts)
    least = facts.limit("double_precision", "least_share")
    if model.has_device_work:
        rows = model.device_work.row[is_compute(model)]
        named = facts.trace.strings.where(_KERNELS.search, facts.trace.events.name[rows])
        is_wide = named[facts.trace.events.name[rows]]
        if len(tree):
            is_wide |= nearest(tree.parent, wide, model.device_links.operator_node[is_compute(model)]) >= 0
        rows = facts.longest_first(facts.in_steps(rows[is_wide]))
        times = _times_as_fast(facts)
        duration = facts.duration(rows)
        target = np.minimum(np.maximum(duration / times, SHORTEST_NS), duration)
        changes: tuple[Change, ...] = (targets(rows.tolist(), np.ceil(target).astype(np.int64).tolist()),)
    else:
        above = nearest(tree.parent, wide, tree.parent) if len(tree) else np.empty(0, np.int32)
        rows = facts.longest_first(facts.in_steps(tree.row[wide & (above < 0)]))
        times = facts.limit("double_precision", "least_times")
        changes = (scale("operator", 1 / times, rows=rows.tolist()),)
    share = facts.share(int(facts.duration(rows).sum()))
    if not len(rows) or share < least:
        return
    yield Found(
        values={"share": min(share, 1.0), "times": times, "device": model.has_device_work},
        rows=rows,
        changes=changes,
        confidence="medium",
        evidence=(
            evidence(
                "double_precision",
                int(facts.duration(rows).sum()) / facts.steps,
                "ns",
                "kernels" if model.has_device_work else "operators",
            ),
        ),
        links=(link("default_dtype"),),
    )


def _in_double(facts: Facts) -> Bool:
    """Mark operators with a 64-bit tensor among their inputs, shape (call tree,)."""
    tree, strings = facts.model.tree, facts.trace.strings
    operators: OperatorRanges = facts.trace.operators
    kinds, dims = (
        take_known(column, tree.operator, missing=0) for column in (operators.input_type, operators.input_dims)
    )
    named = strings.where(lambda types: "double" in types, kinds)[kinds] if len(tree) else np.zeros(0, np.bool_)
    chosen = np.flatnonzero(named & tree.is_operator)
    pairs = group([kinds[chosen].astype(np.int64), dims[chosen].astype(np.int64)])
    first = chosen[pairs.first]
    texts = (strings.texts(codes) for codes in (kinds[first], dims[first]))
    wide = [_is_wide(*each) for each in zip(*texts, strict=True)]
    found = np.zeros(len(tree), np.bool_)
    found[chosen] = np.array(wide, np.bool_)[pairs.inverse]
    return found


def _is_wide(types: str, dims: str) -> bool:
    """Tell whether a large tensor has 64-bit elements; Python numbers always have 64 bits, and do not count.

    >>> _is_wide('["float", "double"]', "[[1024, 1024], []]")
    False
    """
    kinds = [kind.strip(' "') for kind in types.strip("[]").split(",")]
    return any(
        kind == "double" and prod(shape) >= _FEWEST_ELEMENTS for kind, shape in zip(kinds, shapes(dims), strict=False)
    )


def _times_as_fast(facts: Facts) -> float:
    """Return the speedup of devices when they multiply in 32 bits."""
    least = facts.limit("double_precision", "least_times")
    known = [peaks_of(facts.trace.header.device(int(device))) for device in distinct(facts.model.device_work.device)]
    rates = [each.flops["fp32"] / each.flops["fp64"] for each in known if each and {"fp32", "fp64"} <= set(each.flops)]
    return max(least, min(rates, default=least))


@rule("R73", STEPS, HOST, MACHINE, general=True)
def top_operators(facts: Facts) -> Iterator[Found]:
    """Find what a program on the CPU spends its time in, by operator and module."""
    if facts.model.has_device_work:
        return
    times, tree = operator_times(facts.model), facts.model.tree
    inside = np.flatnonzero((times.host_self > 0) & (facts.step_of(tree.row[times.node]) >= 0))
    if not len(inside):
        return
    node, own = times.node[inside], times.host_self[inside]
    share = facts.share(int(own.sum()))
    groups = group([tree.name[node]])
    total = groups.sum(own)
    top = [at for at in descending(total).tolist()[:_NAMED] if facts.share(int(total[at])) >= 0.01]
    if share < facts.limit("top_operators", "least_share") or not top:
        return
    names = {str(facts.trace.strings[int(tree.name[node[groups.first[at]]])]): int(total[at]) for at in top}
    rows = facts.longest_first(tree.row[node[groups.inverse == top[0]]])
    yield Found(
        values={
            "share": min(share, 1.0),
            "operators": _listed(facts, names),
            "modules": _listed(facts, _modules(facts, tree.row[node], own)),
        },
        rows=rows,
        place_rows=NO_ROWS,
        evidence=tuple(
            evidence("self_time_of", spent / facts.steps, "ns", "operators", f"op:{name}")
            for name, spent in names.items()
        ),
        links=(link("tuning_guide"),),
    )


def _modules(facts: Facts, rows: Int32, own: np.typing.NDArray[np.int64]) -> dict[str, int]:
    """Return the classes of the innermost modules that have most of the time of some operators."""
    structure, strings, events = facts.model.structure, facts.trace.strings, facts.trace.events
    frames = structure.frames
    if not len(frames):
        return {}
    is_module = strings.where(lambda name: name.startswith(NN_MODULE), frames.name)[frames.name]
    place = structure.frame_nesting.innermost(events.track[rows], events.start[rows])
    frame = nearest(frames.parent, is_module, place)
    found: dict[str, int] = {}
    groups = group([take_known(frames.name, frame[frame >= 0])])
    total = groups.sum(own[frame >= 0])
    for at in range(len(groups)):
        name = class_of(str(strings[int(frames.name[frame[frame >= 0][groups.first[at]]])]))
        found[name] = found.get(name, 0) + int(total[at])
    best = sorted(found.items(), key=lambda one: -one[1])[:_NAMED]
    return {name: ns for name, ns in best if facts.share(ns) >= 0.01}


def _listed(facts: Facts, spent: dict[str, int]) -> str:
    return ", ".join(f"`{name}` {100 * facts.share(ns):.0f} %" for name, ns in spent.items())
