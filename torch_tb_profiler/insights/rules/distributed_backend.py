"""DistributedDataParallel on GPUs without NCCL."""

from __future__ import annotations

import math
from collections.abc import Sequence

from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import HOST, PROPERTIES
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule, has_host_range
from torch_tb_profiler.model import Model

#: what NCCL runs on
LOWEST_CAPABILITY = 3.5


def _find(facts: Facts) -> Sequence[Found]:
    model = facts.model
    if not has_host_range(model, "DistributedDataParallel.forward"):
        return ()
    backends = _backends(model)
    capable = [d for d in model.trace.header.devices if _capability(d) >= LOWEST_CAPABILITY]
    if not capable or "nccl" in backends:
        return ()
    used = ", ".join(sorted(backends)) or "another library"
    return (
        Found(
            title="NCCL is not used",
            detail=f"DistributedDataParallel communicates through {used}; between these GPUs NCCL is the fastest.",
            advice='Choose it when the process group is made: `init_process_group(backend="nccl")`.',
            values={"backends": ", ".join(sorted(backends))},
            severity="medium",
            evidence=(Evidence("nccl_gpus", "GPUs that could use NCCL", len(capable), "count", "overview"),),
            links=(
                Link(
                    "which_backend",
                    "Which backend to use",
                    "https://docs.pytorch.org/docs/stable/distributed.html#which-backend-to-use",
                ),
            ),
        ),
    )


def _backends(model: Model) -> set[str]:
    """Libraries named by ranges (`nccl:all_reduce`) and by communication kernels."""
    events, strings = model.trace.events, model.trace.strings
    named = {strings[code].partition(":")[0] for code in set(events.name[model.communication_rows].tolist())}
    kernels = events.name[model.device_work.row[model.device_links.is_communication]]
    if any("nccl" in strings[code].lower() for code in set(kernels.tolist())):
        named.add("nccl")
    if model.trace.header.distributed.get("backend") == "nccl":
        named.add("nccl")
    return named


def _capability(device: dict[str, object]) -> float:
    try:
        return float(f"{device.get('computeMajor')}.{device.get('computeMinor')}")
    except ValueError:
        return math.nan


RULE = Rule("distributed_backend", "R50", (HOST, PROPERTIES), _find)
