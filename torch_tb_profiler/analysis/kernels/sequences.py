"""Which kernels one call of an operator launches, in order, and how soon."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from torch_tb_profiler.analysis.result import Result, column
from torch_tb_profiler.arrays.distinct import begins_run
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Float64, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category


class KernelSequences(Result):
    """One row per operator and sequence of kernels, by calls, descending."""

    operator: tuple[str, ...] = column("Operator", "The innermost operator around the launches.")
    kernels: tuple[tuple[str, ...], ...] = column("Kernels", "Names of the kernels in the order of their launches.")
    calls: Int64 = column("Calls", "Calls of the operator that launched exactly these.")
    device_ns: Int64 = column("Device", "Σ durations of the kernels.")
    launch_delay_ns: Float64 = column("Launch delay", "Mean of start of the first launch − start of the operator.")
    queue_delay_ns: Float64 = column("Queue delay", "Mean of start of the first kernel − start of its launch.")

    def to_columns(self) -> dict[str, object]:
        return {**super().to_columns(), "kernels": [list(names) for names in self.kernels]}


def kernel_sequences(model: Model, among: Callable[[str], object] | None = None) -> KernelSequences:
    """Sequences by operator: each kernel belongs to the innermost operator around its launch, on the same thread.

    among    look only at operators with such names: a kernel belongs to the innermost of these
    """
    tree, trace, events = model.tree, model.trace, model.trace.events
    links = model.device_links
    known = (links.operator_node >= 0) & (links.launch >= 0)
    kernel = np.flatnonzero((model.device_category == Category.KERNEL) & known)
    node = links.operator_node[kernel]
    if among is not None:
        named = trace.strings.where(among, tree.name)
        node = nearest(tree.parent, tree.is_operator & named[tree.name], node)
        kernel, node = kernel[node >= 0], node[node >= 0]
    launch = events.start[model.launches.row[links.launch[kernel]]]
    begin = events.start[model.device_work.row[kernel]]
    order = np.lexsort((begin, launch, node))
    kernel, node, launch, begin = kernel[order], node[order], launch[order], begin[order]
    row = model.device_work.row[kernel]
    name = events.name[row].astype(np.int32)
    heads = np.flatnonzero(begins_run(node))
    ends = np.append(heads, len(node))[1:]
    numbers: dict[bytes, int] = {}
    sequence = np.array(
        [
            numbers.setdefault(name[a:b].tobytes(), len(numbers))
            for a, b in zip(heads.tolist(), ends.tolist(), strict=True)
        ],
        np.int64,
    )
    groups = group([tree.name[node[heads]], sequence])
    time = np.add.reduceat(np.maximum(events.duration[row], 0), heads) if len(heads) else np.empty(0, np.int64)
    count, device = groups.count(), groups.sum(time)
    launch_delay = groups.sum(launch[heads] - tree.start[node[heads]]) / count
    queue_delay = groups.sum(begin[heads] - launch[heads]) / count
    order = np.lexsort((-device, -count))
    texts = [tuple(trace.strings[c] for c in np.frombuffer(codes, np.int32).tolist()) for codes in numbers]
    lead = groups.first[order]
    return KernelSequences(
        operator=tuple(trace.strings[c] for c in tree.name[node[heads]][lead].tolist()),
        kernels=tuple(texts[s] for s in sequence[lead].tolist()),
        calls=count[order],
        device_ns=device[order],
        launch_delay_ns=launch_delay[order],
        queue_delay_ns=queue_delay[order],
    )
