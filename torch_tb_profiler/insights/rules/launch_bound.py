"""The device idles between short kernels, because each of them has to be launched."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import graphed
from torch_tb_profiler.analysis.replay.inputs import Work
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import CALLS, DEVICE, STEPS
from torch_tb_profiler.insights.rule import NO_ROWS, Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.device_words import platform
from torch_tb_profiler.insights.shared.launch_bound import is_launch_bound, launching


def _find(facts: Facts) -> Sequence[Found]:
    found = launching(facts.model)
    if found is None or not is_launch_bound(facts):
        return ()
    items = facts.graph.items
    kernels = facts.in_steps(items.row[(items.kind == Work.KERNEL) & (items.call >= 0) & ~items.is_communication])
    # the kernels that took least: they show it most
    shortest = kernels[np.argsort(facts.trace.events.duration[kernels], kind="stable")]
    where = platform(facts.model)
    how = "training" if facts.is_training else "inference"
    if where not in ("cuda", "rocm"):  # others have no graphs, or their own
        how = "npu" if where == "npu" else "compile"
    return (
        Found(
            title="The device waits for launches of short kernels",
            detail=(
                f"{found.launches:.0f} launches a step start kernels that take {found.kernel_ns / 1000:.1f} µs on "
                f"average: the device is busy {100 * found.busy:.0f} % of the time, and {100 * found.of_steps:.0f} "
                "% of it waits for the next launch."
            ),
            advice=_ADVICE[how],
            values={
                "launches": found.launches,
                "kernel_us": found.kernel_ns / 1000,
                "busy": found.busy,
                "waiting": found.of_steps,
                "how": how,
            },
            rows=shortest,
            place_rows=NO_ROWS,  # it is everywhere
            changes=(graphed(),),
            confidence="medium",
            evidence=(
                Evidence("device_busy", "Device busy", found.busy, "fraction", "overview"),
                Evidence(
                    "waiting_for_launches", "Short gaps that launching makes", found.of_steps, "fraction", "overview"
                ),
                Evidence("mean_kernel", "Mean duration of compute kernels", found.kernel_ns, "ns", "kernels"),
                Evidence("launches_per_step", "Launches per step", found.launches, "count", "kernels"),
            ),
            links=(
                Link(
                    "cuda_graphs",
                    "CUDA graphs",
                    "https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs",
                ),
            ),
        ),
    )


_ADVICE = {
    "training": (
        'Launch many kernels at once: `model = torch.compile(model, mode="reduce-overhead")` replays them as CUDA '
        "graphs, `fused=True` makes one kernel of the optimizer. A larger batch gives each kernel more to do."
    ),
    "inference": (
        'Launch many kernels at once: `model = torch.compile(model, mode="reduce-overhead")`, or capture the '
        "forward pass for each batch size with `torch.cuda.graph(graph)` and call `graph.replay()`. Serving more "
        "requests in one batch gives each kernel more to do."
    ),
    "compile": (
        "Launch fewer and longer kernels: `model = torch.compile(model)` makes one of many, and `fused=True` one of "
        "the optimizer. A larger batch gives each kernel more to do."
    ),
    "npu": (
        "Let the model run as a graph: `torch.compile(model, backend=torchair.get_npu_backend())`. A larger batch "
        "gives each kernel more to do."
    ),
}

RULE = Rule(
    "launch_bound",
    "R13",
    (STEPS, DEVICE, CALLS),
    _find,
    replaces=("device_idle", "host_dispatch"),
    symptom=True,
    replay=True,
)
