"""Memory of the device is got from the driver, and given back, in every step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import free, without
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import CALLS, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.allocations import (
    Allocations,
    allocations_of,
    freeing_waits,
    in_steady_state,
)
from torch_tb_profiler.insights.shared.wording import how_many, ms

_ADVICE = {
    "off": "The caching allocator is switched off: unset `PYTORCH_NO_CUDA_MEMORY_CACHING` (on ROCm also "
    "`PYTORCH_NO_HIP_MEMORY_CACHING`), which is meant for debugging only.",
    "emptied": "Remove `torch.cuda.empty_cache()` from the loop: it releases memory that the next step requests again.",
    "full": "Memory is nearly full, or sizes change from step to step, so that cached blocks are freed to make room: "
    "try `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`, then a smaller batch or checkpointing.",
    "retried": "Set `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` before the program starts, so that free memory "
    "is not fragmented. If that does not help, memory is nearly full: a smaller batch or checkpointing.",
}
_WHY = {
    "off": "the driver allocates the memory of nearly every tensor",
    "emptied": "cached memory is released between operators",
    "full": "cached memory does not fit the requests",
    "retried": "the cache had no room for a request, and was released to the driver first",
}
_RETRIED = "The allocator runs out of memory and frees its cache"


def _find(facts: Facts) -> Sequence[Found]:
    found = allocations_of(facts).of_device()
    off, steady = _is_off(facts, found), in_steady_state(facts, found)
    # a program that warms up only gets memory: what is given back to make room is told from the second step on
    retried = found.retries & (facts.step_of(found.row) > 0)
    if not off and not steady and not retried.any():
        return ()
    waits = facts.in_steps(freeing_waits(facts.model))
    rows = facts.longest_first(found.row)
    n, took = facts.steps, float(facts.duration(rows).sum() + facts.duration(waits).sum())
    least = facts.limit("allocator_churn", "least_ns") * (n if off or steady else 1)
    if took < least or facts.share(took) < facts.limit("allocator_churn", "least_share"):
        return ()
    why = "off" if off else "emptied" if _is_emptied(found) else "full" if steady else "retried"
    given = int(np.count_nonzero(found.releases))
    slowest = _heaviest(facts, found)
    return (
        Found(
            title="Device memory is allocated again in every step" if why != "retried" else _RETRIED,
            detail=(
                f"{how_many(len(rows), n, 'call')} allocate or free memory of the device and take "
                f"{ms(took / n)} of {ms(facts.step_ns)}{', with waiting for the device' if len(waits) else ''}, most "
                f"of it {slowest}: {_WHY[why]}."
            ),
            advice=_ADVICE[why],
            values={
                "calls": len(rows),
                "steps": n,
                "ns": took / n,
                "step_ns": facts.step_ns,
                "call": slowest,
                "waits": len(waits),
                "why": why,
            },
            rows=rows,
            changes=(free(rows=found.row), *([without("sync", rows=waits)] if len(waits) else [])),
            evidence=(
                Evidence("allocator_per_step", "These calls, average per step", took / n, "ns", "trace"),
                Evidence("allocations", "Allocations, average per step", (len(rows) - given) / n, "count", "trace"),
                Evidence("releases", "Releases, average per step", given / n, "count", "trace"),
            ),
            links=(
                Link(
                    "memory_management",
                    "CUDA memory management",
                    "https://docs.pytorch.org/docs/stable/notes/cuda.html#memory-management",
                ),
            ),
            confidence="high" if why == "off" else "medium",
        ),
    )


def _is_off(facts: Facts, found: Allocations) -> bool:
    """Whether operators that once asked the driver do so nearly each time, and nearly all of it is given back.

    With a cache an operator asks at first, and little is ever given back.
    """
    asks = found.take(~found.releases)
    if len(asks) < facts.limit("allocator_churn", "fewest_when_off") or np.count_nonzero(found.releases) < facts.limit(
        "allocator_churn", "least_released"
    ) * len(asks):
        return False
    # to the end of the recording
    start = facts.trace.events.start[asks.row]
    steps = facts.model.steps
    middle = (int(steps.host_start[0]) + int(steps.host_end[-1])) // 2
    if np.count_nonzero(start >= middle) < facts.limit("allocator_churn", "least_late") * len(asks):
        return False
    return found.asking_share >= facts.limit("allocator_churn", "least_asking")


def _is_emptied(found: Allocations) -> bool:
    """Whether most is given back outside of operators: those that find no room free inside of themselves."""
    outside = found.releases & (found.operator < 0)
    return 2 * int(np.count_nonzero(outside)) > int(np.count_nonzero(found.releases))


def _heaviest(facts: Facts, found: Allocations) -> str:
    names = facts.trace.events.name[found.row]
    return str(facts.trace.strings[int(np.bincount(names, facts.duration(found.row)).argmax())])


RULE = Rule("allocator_churn", "R40", (STEPS, CALLS), _find)
