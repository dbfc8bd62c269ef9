"""Tell whether the device idles between short kernels because of their launches."""

from __future__ import annotations

import msgspec

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.program.graphs import capture_spans
from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.launched_work import WorkKind
from torch_tb_profiler.analysis.waterfall import waterfall
from torch_tb_profiler.analysis.waterfall.waterfall import unknown_time
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.model import Model


class Launching(msgspec.Struct, frozen=True):
    """How the devices of the steps are kept busy.

    score        share of the idle time in short gaps that launching makes, 0…1 (docs/waterfall.md); None without any
    of_steps     the same as a share of the steps
    busy         share of the steps in which a device was busy, 0…1
    kernel_ns    mean duration of compute kernels, ns
    launches     calls that start work, per step
    """

    score: float | None
    of_steps: float
    busy: float
    kernel_ns: float
    launches: float


@cached
def launching(model: Model) -> Launching | None:
    """None without steps, or without kernels that were launched in them."""
    steps = model.steps
    parts = waterfall(model)
    total = int(parts.step_ns.sum()) * len(parts.devices)
    if parts.basis != "devices" or not total:
        return None
    items = graph_of(model).items
    inside = (items.call >= 0) & (steps.on_device(items.start) >= 0)
    kernels = inside & (items.kind == WorkKind.KERNEL) & ~items.is_communication
    if not kernels.any():
        return None
    idle = int(parts.of("idle").sum())
    score = parts.launch_bound_score
    return Launching(
        score=score,
        of_steps=(score or 0.0) * idle / total,
        busy=1 - idle / total,
        kernel_ns=float(items.duration[kernels].mean()),
        launches=len(distinct(items.call[inside])) / len(steps),
    )


def is_launch_bound(facts: Facts) -> bool:
    """Tell whether launches are what the device waits for: most of its idle time lies in short gaps between short
    kernels.

    Where it waits longer for each launch, or does more at each, the host is slow at something else.
    """
    found = launching(facts.model)
    return (
        found is not None
        and found.score is not None
        and found.score >= facts.limit("launch_bound", "least_score")
        and found.of_steps >= facts.limit("launch_bound", "least_share")
        and found.busy <= facts.limit("launch_bound", "most_busy")
        and found.kernel_ns <= facts.limit("launch_bound", "short_kernel_ns")
        and found.launches >= facts.limit("launch_bound", "fewest_launches")
    )


def unknown_idle(facts: Facts) -> float:
    """Share of the steps in which the devices idle and the trace does not show why, 0…1; mean over the devices."""
    return unknown_time(facts.model) if len(waterfall(facts.model).devices) else 0.0


def captured(facts: Facts) -> float:
    """Return the share of the time of the steps in which a thread captures a stream, 0…1."""
    steps = facts.model.steps
    return facts.share(int(capture_spans(facts.model).during(steps.start, steps.end).sum()))


#: idle time that a launch as one graph leaves as it is: what is loaded, allocated, waited for or unknown
_NOT_LAUNCHING = ("idle.slow_launch", "idle.allocator", "idle.input", "idle.sync", "idle.host.api", "idle.unknown")


def launching_idle(facts: Facts) -> float:
    """Return the share of the steps that devices idle because of launches, and what comes between them, 0…1."""
    found = waterfall(facts.model)
    total = int(found.step_ns.sum()) * len(found.devices)
    kept = sum(int(found.of(cause).sum()) for cause in _NOT_LAUNCHING)
    return (int(found.of("idle").sum()) - kept) / total if total else 0.0


def most_idle(facts: Facts) -> float:
    """Share of the steps in which the device that idles most does, 0…1; 1 without devices. What the profiler's own work
    takes of it is left out, and what has no cause in the trace: no remedy is known to save that.
    """
    found = waterfall(facts.model)
    total = int(found.step_ns.sum())
    idle = found.of("idle") - found.of("idle.profiler") - found.of("idle.unknown")
    return max((int(ns.sum()) / total for ns in idle), default=1.0) if total and found.devices else 1.0
