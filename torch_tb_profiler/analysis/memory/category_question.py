"""The question what memory is for."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from torch_tb_profiler.analysis.answer import Answer, Bytes, Count, Ns, TraceMeta, plain
from torch_tb_profiler.analysis.memory.categories import CATEGORIES, MemoryCategories, MemoryCategory, memory_categories
from torch_tb_profiler.analysis.question import NoParameters, Question, Subject

#: stretches of time of an answer
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


def _of_device(subject: Subject, found: MemoryCategories) -> DeviceCategories:
    times, sums = found.over_time(subject.model, MOST_TIMES)
    there = (found.at_peak != 0) | (sums != 0).any(axis=0)
    return DeviceCategories(
        device=found.curve.device.name,
        phases=found.phases,
        peak=found.curve.peak.allocated,
        time_ns=plain(times),
        categories=[
            CategoryOfMemory(
                category=name,
                at_peak=int(found.at_peak[i]),
                blocks=int(found.blocks[i]),
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
