"""The allocator reserves more memory though much of what it has is free: it is in pieces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.memory.curve import MemoryCurve, memory_curves
from torch_tb_profiler.analysis.memory.records import CPU, memory_records
from torch_tb_profiler.arrays.types import Int32
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import MEMORY
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule

#: requests up to this many bytes are served from segments of 2 MiB (`kSmallSize` of the allocator)
SMALL = 1 << 20


def _find(facts: Facts) -> Sequence[Found]:
    curves = memory_curves(facts.model).curves
    found = [_of_device(facts, curve) for curve in curves if curve.device.type != CPU and len(curve) > 1]
    return tuple(each for each in found if each is not None)


def _of_device(facts: Facts, curve: MemoryCurve) -> Found | None:
    """A request that fits into what is free, and yet needs more memory, met memory in pieces."""
    grown = np.diff(curve.reserved)
    free = curve.reserved[:-1] - curve.allocated[:-1]
    least = facts.limit("fragmentation", "least_share") * curve.reserved[:-1]
    large = facts.limit("fragmentation", "least_bytes")
    # small requests have segments of their own
    asked = memory_records(facts.model).bytes[curve.position[1:]] > SMALL
    at = np.flatnonzero(asked & (grown > 0) & (free >= least) & (free >= large) & (free >= 2 * grown)) + 1
    if not len(at):
        return None
    held = curve.device_bytes
    reserved = int(curve.reserved.max())
    if held is not None and reserved < facts.limit("fragmentation", "least_reserved") * held:
        return None  # there is enough
    at = at[np.argsort(-free[at - 1], kind="stable")]
    worst = int(at[0])
    unused, total = int(free[worst - 1]), int(curve.reserved[worst - 1])
    entry = memory_records(facts.model).entry[curve.position[at]]
    rows: Int32 = facts.model.memory.row[entry]
    number = curve.device.number
    return Found(
        title="Device memory is fragmented",
        detail=(
            f"{len(at)} times the allocator reserved more memory of {curve.device.name} though up to "
            f"{unused / 2**30:.2f} GiB, {100 * unused / total:.0f} % of what it had reserved, were free, in pieces too "
            "small."
        ),
        advice=(
            "Set `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` before the program starts. Where sizes change from "
            "batch to batch, pad them to a few sizes."
        ),
        values={
            "times": len(at),
            "device": curve.device.name,
            "unused_bytes": unused,
            "share": unused / total,
        },
        rows=rows,
        severity="medium" if held is not None and reserved > 0.8 * held else "low",
        confidence="medium",  # what another stream holds is free to that one alone
        evidence=(
            Evidence(
                "unused_reserved", "Reserved, but free, when more was reserved", unused, "bytes", "memory", gpu=number
            ),
            Evidence("most_reserved", "Most memory reserved", reserved, "bytes", "memory", gpu=number),
        ),
        links=(
            Link(
                "expandable_segments",
                "Settings of the allocator",
                "https://docs.pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf",
            ),
        ),
    )


RULE = Rule("fragmentation", "R41", (MEMORY,), _find)
