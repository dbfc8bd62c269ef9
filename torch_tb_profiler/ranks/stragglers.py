"""What a rank spends more than the others do, taken away."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.effects import ChangeEffect, HostEffect, WorkEffect
from torch_tb_profiler.analysis.replay.graph import Graph
from torch_tb_profiler.analysis.replay.host_time import HostSegments, Label
from torch_tb_profiler.analysis.replay.launched_work import WorkKind
from torch_tb_profiler.arrays.grouping import group, sums_at
from torch_tb_profiler.arrays.types import Float64, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.trace import Trace

#: of the mean step: what a rank spends more than the median is told apart from chance
LEAST_SHARE = 0.01
#: beside the labels of host time
KERNELS = len(Label)
#: numbers that tell one range from the next of its kind: `ProfilerStep#3`
_COUNTED = lazy_pattern(r"#\d+")


class Spent(msgspec.Struct, frozen=True):
    """What the steps of a rank are spent on: kinds are labels, or kernels, with the name of the innermost event.

    pieces, of_piece   host time in the steps, and the kind of each piece
    row                shape (pieces,): the innermost event, -1 for none
    item, of_item      compute kernels of the steps, and the kind of each
    kinds              (label, name); the label `KERNELS` is that of kernels
    ns                 shape (kinds,): in an average step
    """

    pieces: HostSegments
    of_piece: Int64
    row: Int64
    item: Int64
    of_item: Int64
    kinds: list[tuple[int, str]]
    ns: Float64
    step_ns: float


def without_straggler(ranks: Sequence[tuple[Trace, Graph]]) -> list[ChangeEffect]:
    """`without_excess` of ranks."""
    return without_excess([spent_of(trace, graph) for trace, graph in ranks])


def without_excess(spent: Sequence[Spent]) -> list[ChangeEffect]:
    """For each rank what makes it as fast as the median; of an even number the lower of the middle two.

    First what it does of one name, where that is clearly more than what the median rank does of it: that names what is
    slow. Then all of a label, or all kernels, where the rank is slower throughout. Host time of collectives is left
    out: a part of it is waiting.
    """
    if not spent:
        return []
    kinds = sorted({kind for each in spent for kind in each.kinds})
    place = {kind: at for at, kind in enumerate(kinds)}
    ns = np.zeros((len(spent), len(kinds)))
    for rank, each in enumerate(spent):
        ns[rank, [place[kind] for kind in each.kinds]] = each.ns
    least = LEAST_SHARE * max(float(np.mean([each.step_ns for each in spent])), 1.0)
    by_name = _factors(ns, least)
    label = np.array([kind[0] for kind in kinds], np.int64)
    left = np.zeros((len(spent), KERNELS + 1))
    for number in range(KERNELS + 1):
        left[:, number] = (ns * by_name)[:, label == number].sum(axis=1)
    factors = by_name * _factors(left, least)[:, label]
    found = []
    for each, mine in zip(spent, factors, strict=True):
        of_kind = mine[[place[kind] for kind in each.kinds]]
        on_host, on_item = of_kind[each.of_piece], of_kind[each.of_item]
        work = tuple(WorkEffect(each.item[on_item == f], float(f)) for f in np.unique(on_item[on_item < 1]))
        slow = on_host < 1
        found.append(ChangeEffect(host=(HostEffect(each.pieces.take(slow), on_host[slow]),), work=work))
    return found


def _factors(ns: Float64, least: float) -> Float64:
    """Shape (ranks, kinds): median rank ÷ rank, where the rank has clearly more; else 1."""
    middle = np.sort(ns, axis=0)[(len(ns) - 1) // 2]
    found: Float64 = np.where(ns - middle > least, middle / np.maximum(ns, 1e-9), 1.0)
    return found


def spent_of(trace: Trace, graph: Graph) -> Spent:
    """What the steps of a rank are spent on. Host time of collectives is left out: a part of it is waiting."""
    host, items, steps = graph.host, graph.items, len(graph.steps)
    until = int(graph.steps.end[-1]) if steps else 0
    counts = graph.lane_counts[graph.host_segments.edge] & (graph.host_segments.end <= until)
    pieces = graph.host_segments.take(counts & (graph.host_segments.label != Label.COLLECTIVE))
    node = host.node[host.place(pieces.lane.astype(np.int64), pieces.start)]
    names = trace.events.name
    of_event = np.append(names[host.row], -1)[node].astype(np.int64)
    kernels = (items.kind == WorkKind.KERNEL) & ~items.is_communication & (items.start >= graph.work_since)
    item = np.flatnonzero(kernels & (items.start < until))
    label = np.concatenate((pieces.label.astype(np.int64), np.full(len(item), KERNELS)))
    code = np.concatenate((of_event, names[items.row[item]].astype(np.int64)))
    length = np.concatenate((pieces.end - pieces.start, items.duration[item]))
    groups = group([label, code])
    keys = zip(label[groups.first].tolist(), code[groups.first].tolist(), strict=True)
    texts = [(at, _COUNTED.sub("#", trace.strings[c]) if c >= 0 else "") for at, c in keys]
    kinds = sorted(set(texts))
    number = {kind: at for at, kind in enumerate(kinds)}
    of = np.array([number[text] for text in texts], np.int64)[groups.of]
    step_ns = float(graph.steps.end[-1] - graph.steps.start[0]) / steps if steps else 0.0
    ns = sums_at(of, length, len(kinds)) / max(steps, 1)
    row = np.append(host.row.astype(np.int64), -1)[node]
    return Spent(pieces, of[: len(pieces)], row, item, of[len(pieces) :], kinds, ns, step_ns)
