"""Devices that idle most of the time."""

from __future__ import annotations

from torch_tb_profiler.analysis.utilization import device_use
from torch_tb_profiler.insights.rule import Evidence, Finding, Rule
from torch_tb_profiler.model import Model

#: as in the old plugin
THRESHOLD = 0.5


def _apply(model: Model) -> Finding | None:
    idle = {d.id: d.utilization for d in device_use(model) if d.utilization is not None and d.utilization < THRESHOLD}
    if not idle:
        return None
    names = ["GPU " + str(number) for number in idle]
    listed = " and ".join(names) if len(names) < 3 else ", ".join(names[:-1]) + " and " + names[-1]
    return Finding(
        id="gpu_utilization",
        severity="medium",
        title="Low GPU utilization",
        detail=(
            f"{listed} {'is' if len(names) == 1 else 'are'} busy less than half of the time. If memory allows, a "
            "larger batch gives each kernel more to do; it also changes how training converges. The largest other "
            "part of the step shows what the GPU waits for."
        ),
        values={"gpus": ", ".join(str(number) for number in idle)},
        saving_ns=None,
        evidence=tuple(
            Evidence("gpu_utilization", f"Utilization of GPU {d}", share, "fraction", "overview", gpu=d)
            for d, share in idle.items()
        ),
    )


RULE = Rule("gpu_utilization", "kernels with a device number, and steps", _apply)
