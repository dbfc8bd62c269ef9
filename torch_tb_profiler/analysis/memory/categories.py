"""What memory is for, by the part of the step in which it is allocated and released.

The trace holds no tensors, so parameters and inputs are indistinguishable: the names belong to this rule, not to
`torch.profiler._memory_profiler`. Gradients, optimizer state and activations saved for backward mean the same in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Literal, get_args

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Answer, Bytes, Count, Ns, TraceMeta, plain
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.memory.blocks import MemoryBlocks, memory_blocks
from torch_tb_profiler.analysis.memory.records import MemoryCurve, memory_curves, memory_records
from torch_tb_profiler.analysis.question import NoParameters, Question, Subject
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model

MemoryCategory = Literal[
    "gradient",
    "optimizer_state",
    "saved_for_backward",
    "kept_from_forward",
    "forward_temporary",
    "backward_temporary",
    "optimizer_temporary",
    "in_use",
    "before_recording",
]
"""In the order in which they are stacked. `in_use`: where a trace has neither backward nor optimizer."""

CATEGORIES: tuple[MemoryCategory, ...] = get_args(MemoryCategory)


class StepPart(IntEnum):
    """The part of a step in which a record lies; NONE for a release that was not recorded.

    Coarser than the phases of `analysis.program`, and of certain marks alone: a category is never inferred.
    """

    NONE = 0
    FORWARD = 1
    BACKWARD = 2
    STEP = 3


_BACKWARD = lazy_pattern(r"autograd::engine::evaluate_function")
_STEP = lazy_pattern(r"Optimizer\.(?:step|zero_grad)#")

_KEPT: dict[StepPart, MemoryCategory] = {
    StepPart.FORWARD: "kept_from_forward",
    StepPart.BACKWARD: "gradient",
    StepPart.STEP: "optimizer_state",
}
_TEMPORARY: dict[StepPart, MemoryCategory] = {
    StepPart.FORWARD: "forward_temporary",
    StepPart.BACKWARD: "backward_temporary",
    StepPart.STEP: "optimizer_temporary",
}


class MemoryCategories(msgspec.Struct, frozen=True):
    """The memory of one device by category. Bytes are those of blocks, as the allocator counts them.

    curve     of the device
    category  of each block of `memory_blocks` index into `CATEGORIES`; shape (blocks,)
    at_peak   bytes of each category at the peak: they add up to what is allocated then
    blocks    how many blocks that is; unknown for memory from before the recording
    phases    whether the trace tells parts of a step apart; else all is `in_use`
    """

    curve: MemoryCurve
    category: Int64
    at_peak: Int64
    blocks: Int64
    phases: bool

    def over_time(self, model: Model, most: int) -> tuple[Int64, Int64]:
        """Return at most `most` times in ns, and the bytes of each category then: shape (times, categories).

        An interval stands for the record at which most was in use in it.
        """
        curve, blocks = self.curve, memory_blocks(model)
        edges = np.linspace(curve.time_ns[0], curve.time_ns[-1] + 1, most + 1)
        piece = np.clip(np.searchsorted(edges, curve.time_ns, "right") - 1, 0, most - 1)
        order = np.lexsort((-curve.allocated, piece))
        first = np.ones(len(order), np.bool_)
        first[1:] = piece[order][1:] != piece[order][:-1]
        place = np.sort(order[first])
        positions = curve.position[place]
        mine = np.flatnonzero((blocks.device == self._device(model)) & (blocks.allocation >= 0))
        begin = np.searchsorted(positions, blocks.allocation[mine], "left")
        end = np.searchsorted(positions, blocks.gone[mine], "left")
        change = np.zeros((len(place) + 1, len(CATEGORIES)), np.int64)
        np.add.at(change, (begin, self.category[mine]), blocks.bytes[mine])
        np.add.at(change, (end, self.category[mine]), -blocks.bytes[mine])
        sums = np.cumsum(change, axis=0)[:-1]
        sums[:, CATEGORIES.index("before_recording")] = curve.allocated[place] - sums.sum(axis=1)
        return curve.time_ns[place], sums

    def alive(self, model: Model) -> Int64:
        """Return the blocks of `memory_blocks` in use at the peak whose allocation was recorded."""
        return _alive(memory_blocks(model), self._device(model), self.curve)

    def _device(self, model: Model) -> int:
        found = memory_records(model).device_index(self.curve.device.name)
        assert found is not None
        return found


@cached
def memory_phases(model: Model) -> Int64:
    """Return the phase of each record of `memory_records`; shape (records,)."""
    records, trace, tree = memory_records(model), model.trace, model.tree
    names = trace.strings
    row = model.memory.row[records.entry]
    node = model.innermost_node(trace.events.track[row], records.time)
    phases = np.full(len(records), StepPart.FORWARD, np.int64)
    if not len(tree):
        return phases
    backward = names.where(_BACKWARD.match, tree.name)[tree.name]
    step = names.where(_STEP.match, tree.name)[tree.name]
    marked = nearest(tree.parent, backward | step, node)
    inside = np.flatnonzero(marked >= 0)
    phases[inside] = np.where(backward[marked[inside]], StepPart.BACKWARD, StepPart.STEP)
    return phases


def _alive(blocks: MemoryBlocks, device: int, curve: MemoryCurve) -> Int64:
    last = curve.peak.position
    born = (blocks.allocation >= 0) & (blocks.allocation <= last)
    return np.flatnonzero((blocks.device == device) & born & (blocks.gone > last))


@cached
def memory_categories(model: Model) -> tuple[MemoryCategories, ...]:
    """Return the categories of each device with totals."""
    records, blocks, phases = memory_records(model), memory_blocks(model), memory_phases(model)
    has_phases = bool((phases != StepPart.FORWARD).any())
    born = take_known(phases, blocks.allocation, int(StepPart.NONE))
    ended = take_known(phases, blocks.release, int(StepPart.NONE))
    category = np.full(len(blocks), CATEGORIES.index("in_use"), np.int64)
    if has_phases:
        for phase, kept in _KEPT.items():
            category[born == phase] = CATEGORIES.index(kept)
            category[(born == phase) & (ended == phase)] = CATEGORIES.index(_TEMPORARY[phase])
        saved = (born == StepPart.FORWARD) & (ended == StepPart.BACKWARD)
        category[saved] = CATEGORIES.index("saved_for_backward")
    category[blocks.allocation < 0] = CATEGORIES.index("before_recording")
    categories = []
    for curve in memory_curves(model).curves:
        device = records.device_index(curve.device.name)
        assert device is not None
        alive = _alive(blocks, device, curve)
        at_peak = np.bincount(category[alive], blocks.bytes[alive], len(CATEGORIES)).astype(np.int64)
        count = np.bincount(category[alive], minlength=len(CATEGORIES)).astype(np.int64)
        at_peak[CATEGORIES.index("before_recording")] = curve.peak.allocated - int(at_peak.sum())
        categories.append(MemoryCategories(curve, category, at_peak, count, has_phases))
    return tuple(categories)


#: intervals of an answer
MOST_TIMES = 120


class CategoryOfMemory(msgspec.Struct, frozen=True, kw_only=True):
    """The memory of one category.

    category  what it is for
    at_peak   bytes at the peak of the device
    blocks    how many blocks that is; unknown for memory from before the recording
    bytes     bytes at each time
    """

    category: MemoryCategory
    at_peak: Bytes
    blocks: Count
    bytes: Sequence[Bytes]


class DeviceCategories(msgspec.Struct, frozen=True, kw_only=True):
    """The memory of one device by what it is for; categories without any are left out.

    device      name of the device
    phases      whether the trace distinguishes forward, backward and optimizer
    peak        most in use: Σ categories at the peak
    time_ns     since the start of the trace
    categories  in stacking order; at each time they add up to the memory in use
    """

    device: str
    phases: bool
    peak: Bytes
    time_ns: Sequence[Ns]
    categories: Sequence[CategoryOfMemory]


class MemoryCategoriesAnswer(Answer, frozen=True, kw_only=True):
    """What memory is for, by the part of the step in which it is allocated and released.

    meta     which trace
    devices  accelerators, then the CPU
    """

    meta: TraceMeta
    devices: Sequence[DeviceCategories]


def _categories(subject: Subject, _: NoParameters) -> MemoryCategoriesAnswer:
    found = memory_categories(subject.model)
    devices = [_of_device(subject, each) for each in found]
    return MemoryCategoriesAnswer(meta=TraceMeta(**subject.about("memory")), devices=devices)


def _of_device(subject: Subject, categories: MemoryCategories) -> DeviceCategories:
    times, sums = categories.over_time(subject.model, MOST_TIMES)
    there = (categories.at_peak != 0) | (sums != 0).any(axis=0)
    return DeviceCategories(
        device=categories.curve.device.name,
        phases=categories.phases,
        peak=categories.curve.peak.allocated,
        time_ns=plain(times),
        categories=[
            CategoryOfMemory(
                category=name,
                at_peak=int(categories.at_peak[i]),
                blocks=int(categories.blocks[i]),
                bytes=plain(sums[:, i]),
            )
            for i, name in enumerate(CATEGORIES)
            if there[i]
        ],
    )


MEMORY_CATEGORIES = Question(
    name="memory/categories",
    summary="What memory is for",
    tag="memory",
    compute=_categories,
    of_steps=False,
    bundle="memory",
    precompute=(NoParameters(),),
    report=({},),
)
