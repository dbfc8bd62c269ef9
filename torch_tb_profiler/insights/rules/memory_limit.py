"""Device memory is nearly full."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.memory.records import CPU
from torch_tb_profiler.arrays.grouping import each_value
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import MEMORY, PROPERTIES
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule


def _find(facts: Facts) -> Sequence[Found]:
    model = facts.model
    memory = model.memory
    on_device = (memory.device_type != CPU) & (memory.device >= 0) & (memory.total_allocated >= 0)
    found = []
    known = np.flatnonzero(on_device)
    for device, of_device in each_value(memory.device[known]):
        here = known[of_device]
        at = int(here[np.argmax(memory.total_allocated[here])])
        peak = int(memory.total_allocated[at])
        capacity = (model.trace.header.device(device) or {}).get("totalGlobalMem")
        if not isinstance(capacity, int) or capacity <= 0:
            continue
        above = peak - int(facts.limit("memory_limit", "peak_share") * capacity)
        if above > 0:
            found.append(_of_device(device, peak, capacity, above, memory.row[at : at + 1]))
    return found


def _of_device(
    device: int, peak: int, capacity: int, above: int, rows: np.ndarray[tuple[int], np.dtype[np.int32]]
) -> Found:
    """above: bytes to be saved until it is not nearly full any more."""
    share = peak / capacity
    return Found(
        title="Device memory is nearly full",
        detail=f"At its peak the program held {100 * share:.1f} % of the {capacity / 2**30:.1f} GiB of GPU {device}.",
        advice=(
            "Recompute activations in place of keeping them, with `torch.utils.checkpoint.checkpoint(block, x, "
            'use_reentrant=False)`, or halve them with `torch.autocast("cuda", dtype=torch.bfloat16)`.'
        ),
        values={"share": share, "capacity_bytes": capacity, "gpu": device},
        severity="medium",
        rows=rows,
        evidence=(
            Evidence(
                "peak_allocated", f"Peak of allocated memory on GPU {device}", peak, "bytes", "memory", gpu=device
            ),
            Evidence("gpu_memory", f"Memory of GPU {device}", capacity, "bytes", "memory", gpu=device),
            Evidence("memory_to_save", f"To be saved on GPU {device}", above, "bytes", "memory", gpu=device),
        ),
        links=(Link("checkpointing", "Checkpointing", "https://docs.pytorch.org/docs/stable/checkpoint.html"),),
    )


RULE = Rule("memory_limit", "R38", (MEMORY, PROPERTIES), _find)
