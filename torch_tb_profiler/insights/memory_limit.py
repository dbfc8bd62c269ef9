"""Device memory is nearly full."""

from __future__ import annotations

from torch_tb_profiler.analysis.memory.records import CPU
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.insights.rule import Evidence, Finding, Link, Rule
from torch_tb_profiler.model import Model

#: peak of allocated memory ÷ memory of the device, as in the old plugin
THRESHOLD = 0.9


def _apply(model: Model) -> Finding | None:
    memory = model.memory
    on_device = (memory.device_type != CPU) & (memory.device >= 0) & (memory.total_allocated >= 0)
    for device in distinct(memory.device[on_device]).tolist():
        peak = int(memory.total_allocated[on_device & (memory.device == device)].max())
        capacity = (model.trace.header.device(device) or {}).get("totalGlobalMem")
        if isinstance(capacity, int) and capacity > 0 and peak > THRESHOLD * capacity:
            return _finding(device, peak, capacity)
    return None


def _finding(device: int, peak: int, capacity: int) -> Finding:
    share = peak / capacity
    return Finding(
        id="memory_limit",
        severity="medium",
        title="Device memory is nearly full",
        detail=(
            f"At its peak the program held {100 * share:.1f} % of the {capacity / 2**30:.1f} GB of GPU {device}. For "
            "room for a larger model or batch, recompute activations (gradient checkpointing) or use automatic mixed "
            "precision."
        ),
        values={"share": share, "capacity_bytes": capacity, "gpu": device},
        saving_ns=None,
        evidence=(
            Evidence(
                "peak_allocated", f"Peak of allocated memory on GPU {device}", peak, "bytes", "memory", gpu=device
            ),
            Evidence("gpu_memory", f"Memory of GPU {device}", capacity, "bytes", "memory", gpu=device),
        ),
        links=(
            Link("checkpointing", "Checkpointing", "https://pytorch.org/docs/stable/checkpoint.html"),
            Link("mixed_precision", "Automatic mixed precision", "https://pytorch.org/docs/stable/amp.html"),
        ),
    )


RULE = Rule("memory_limit", "profile_memory=True and deviceProperties", _apply)
