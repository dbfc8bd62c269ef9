"""The stages of a pipeline: microbatches, and waiting for the stages beside."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.shared.device_roles import device_spans
from torch_tb_profiler.analysis.shared.kernel_use import is_compute
from torch_tb_profiler.arrays.distinct import distinct, distinct_counts
from torch_tb_profiler.arrays.intervals import Coverage, subtraction, total, union, union_of
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.communication_names import KINDS, POINT_TO_POINT
from torch_tb_profiler.ranks.run.groups import described_role

#: what the schedules of torch.distributed.pipelining write around the forward pass of a microbatch on a stage
_FORWARD = lazy_pattern(r"(?:Forward |PP:(?P<stage>\d{1,9})F)(?P<microbatch>\d{1,9})")


class Stage(msgspec.Struct, frozen=True):
    """One rank of a pipeline.

    stages        how many ranks the pipeline has
    microbatches  in a step; 0 where the trace does not name them
    item          pieces of work that send to and receive from other stages in the steps, in the graph of the replay
    bare_ns       parallel to `item`: their time in which nothing is computed
    wait_ns       the same of all of them, each moment once
    """

    stages: int
    microbatches: int
    item: Int64
    bare_ns: Int64
    wait_ns: int


def stage_of(model: Model) -> Stage | None:
    """None if the trace does not show a pipeline."""
    microbatches = _microbatches(model)
    communications, steps = model.communications, model.steps
    kinds = [number for number, kind in enumerate(KINDS) if kind in POINT_TO_POINT]
    sends = np.isin(communications.operations.kind, kinds) & communications.operations.on_device
    if not microbatches:
        # others send to one another, too: a ring of attention, an exchange of experts
        described = [number for number, of in enumerate(communications.groups) if described_role(of) == "pp"]
        sends &= np.isin(communications.operations.group, described)
    if not sends.any():
        return None
    stages = max(communications.groups[number].size for number in set(communications.operations.group[sends].tolist()))
    starts = communications.ranges.start[sends[communications.ranges.operation]]
    items = graph_of(model).items
    known = items.is_communication & np.isin(items.start, starts)
    item = np.flatnonzero(known & (steps.on_device(items.start) >= 0))
    if stages < 2 or not len(item):
        return None
    computing = union_of(device_spans(model, is_compute(model)))
    start, end = items.start[item], items.start[item] + items.duration[item]
    bare = end - start - Coverage(computing).between(start, end)
    return Stage(stages, microbatches, item, bare, total(subtraction(union(start, end), computing)))


def _microbatches(model: Model) -> int:
    """How many a step has: the median of the steps; 0 where the trace does not name them."""
    tree, strings, steps = model.structure.tree, model.trace.strings, model.steps
    named = strings.where(lambda name: _FORWARD.fullmatch(name) is not None, tree.name)[tree.name]
    at = steps.on_host(tree.start[named])
    found = [_FORWARD.fullmatch(str(strings[code])) for code in tree.name[named].tolist()]
    number = np.array([int(each["microbatch"]) for each in found if each is not None], np.int64)
    inside = at >= 0
    if not inside.any():
        return 0
    size = int(number.max()) + 1
    pairs = distinct(at[inside] * size + number[inside])
    return int(median(distinct_counts(pairs // size)[1]))
