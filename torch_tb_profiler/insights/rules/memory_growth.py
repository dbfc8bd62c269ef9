"""Memory that grows from step to step, as of a leak."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.memory.curve import MemoryCurve, memory_curves
from torch_tb_profiler.analysis.memory.records import memory_records
from torch_tb_profiler.arrays.types import Int32
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import MEMORY, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.wording import mebibytes


def _find(facts: Facts) -> Sequence[Found]:
    if not facts.is_training:
        return ()  # inference may fill its cache
    found = [_of_device(facts, curve) for curve in memory_curves(facts.model).curves]
    return tuple(each for each in found if each is not None)


def _of_device(facts: Facts, curve: MemoryCurve) -> Found | None:
    """The first step is left out: optimizers and caches are filled then."""
    if facts.steps < facts.limit("memory_growth", "least_steps"):
        return None
    steps = facts.model.steps
    held = np.array([curve.last_at(int(end)).allocated for end in steps.host_end.tolist()], np.int64)
    grown = np.diff(held)
    mean = int(grown.mean())
    least = max(facts.limit("memory_growth", "least_share") * int(held[0]), facts.limit("memory_growth", "least_bytes"))
    # every step, and by about the same
    if int(grown.min()) < least or int(grown.max()) > 2 * int(grown.min()):
        return None
    rows = _never_released(facts, curve)
    if not len(rows):
        return None
    number = curve.device.number if curve.device.number >= 0 else None
    return Found(
        title="Memory grows from step to step",
        detail=(
            f"At the end of each step {mebibytes(mean)} more of {curve.device.name} are in use than at the end of "
            f"the step before, {mebibytes(held[0], 4)} after the first and {mebibytes(held[-1], 4)} after the last "
            f"of {facts.steps}."
        ),
        advice=(
            "Keep numbers, not tensors with their graph: `losses.append(loss.detach())`, or `total += loss.item()` "
            "every few steps. The instances are allocations that were not released."
        ),
        values={
            "mean_bytes": mean,
            "device": curve.device.name,
            "first_bytes": int(held[0]),
            "last_bytes": int(held[-1]),
            "steps": facts.steps,
        },
        rows=rows,
        severity="medium",
        confidence="medium",
        evidence=(
            Evidence("growth", "More in use, per step", mean, "bytes", "memory", gpu=number),
            Evidence(
                "in_use_at_end", "In use at the end of the last step", int(held[-1]), "bytes", "memory", gpu=number
            ),
        ),
        links=(
            Link(
                "memory_faq",
                "My model reports out of memory",
                "https://docs.pytorch.org/docs/stable/notes/faq.html#my-model-reports-cuda-runtime-error-2-out-of-memory",
            ),
        ),
    )


def _never_released(facts: Facts, curve: MemoryCurve) -> Int32:
    """Allocations of all steps but the last that were not released, the largest first."""
    records, steps = memory_records(facts.model), facts.model.steps
    device = records.device_index(curve.device.name)
    kept = np.flatnonzero(
        (records.device == (-1 if device is None else device))
        & records.is_allocation
        & (records.mate < 0)
        & (records.time >= steps.host_start[0])
        & (records.time < steps.host_since[-1])
    )
    kept = kept[np.argsort(-records.bytes[kept], kind="stable")]
    found: Int32 = facts.model.memory.row[records.entry[kept]]
    return found


RULE = Rule("memory_growth", "R42", (STEPS, MEMORY), _find)
