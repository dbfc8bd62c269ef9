"""Compiled kernels that move their data far more slowly than the memory of the device could."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.flops.generated import tensor_bytes
from torch_tb_profiler.analysis.replay.changes import targets
from torch_tb_profiler.analysis.shared.count_text import by_count, counted
from torch_tb_profiler.analysis.shared.kernel_use import durations, is_compute
from torch_tb_profiler.analysis.shared.peaks import peaks_of
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.arrays.types import Float64, Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import DEVICE, PROPERTIES, SHAPES, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.late_pattern import late_pattern

_ID = "slow_compiled"
#: kernels that Inductor makes of operators with one number for each element, and of reductions
_COMPILED = late_pattern(r"triton_(?:poi|red|per)_")
#: what reads here and there, or draws random numbers, does not come near to the bandwidth
_NOT_BY_BANDWIDTH = late_pattern(
    r"index|gather|scatter|embedding|upsample|grid_sampler|pool|rand|dropout|bernoulli|sort"
)


def _find(facts: Facts) -> Sequence[Found]:
    place, least = _least_ns(facts)
    if not len(place) or not facts.total_ns:
        return ()
    model = facts.model
    rows, duration = model.device_work.row[place], durations(model)[place]
    slow = (least < facts.limit(_ID, "most_of_bandwidth") * duration) & (duration >= facts.limit(_ID, "least_ns"))
    rows, duration, least = rows[slow], duration[slow], least[slow]
    spent = int(duration.sum())
    if not spent or facts.share(spent) < facts.limit(_ID, "least_share"):
        return ()
    target = np.ceil(np.minimum(least / facts.limit(_ID, "efficiency"), duration)).astype(np.int64)
    names = facts.trace.events.name[rows]
    groups = group([names])
    total = groups.sum(duration)
    best = int(descending(total)[0])
    name = str(facts.trace.strings[int(names[groups.first[best]])])
    reached = float(least.sum()) / spent
    return (
        Found(
            title="Compiled kernels read and write slowly",
            detail=(
                f"{counted(len(groups), 'compiled kernel')} {by_count(len(groups), 'takes', 'take')} "
                f"{100 * facts.share(spent):.1f} % of the average step; tensors are moved at "
                f"{100 * reached:.0f} % of the bandwidth of the memory; {name} takes most."
            ),
            advice=(
                'Try `torch.compile(model, mode="max-autotune-no-cudagraphs")`, which measures several ways to run '
                "each kernel. If that does not help, check whether it reads a transposed tensor: then "
                "`.contiguous()` before the graph helps."
            ),
            values={
                "count": len(groups),
                "share": facts.share(spent),
                "reached": reached,
                "name": name,
            },
            rows=facts.longest_first(rows),
            changes=(targets(rows.tolist(), target.tolist()),),
            confidence="low",
            evidence=(
                Evidence("compiled_bandwidth", "Share of the peak bandwidth", reached, "fraction", "kernels"),
                Evidence("compiled_time", "Time of these kernels, per step", spent / facts.steps, "ns", "kernels"),
            ),
            links=(
                Link(
                    "compile_modes",
                    "Modes of torch.compile",
                    "https://docs.pytorch.org/docs/stable/generated/torch.compile.html",
                ),
            ),
        ),
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
    found = least[groups.of] if len(groups) else np.empty(0)
    known = ~np.isnan(found)
    return place[known], found[known]


def _is_bound_by_bandwidth(name: str) -> bool:
    return _COMPILED.match(name) is not None and _NOT_BY_BANDWIDTH.search(name) is None


RULE = Rule(_ID, "R36", (STEPS, DEVICE, PROPERTIES, SHAPES), _find)
