"""Devices that idle most of the time."""

from __future__ import annotations

from torch_tb_profiler.analysis.device_use import device_use
from torch_tb_profiler.insights.rule import Evidence, Finding, Rule
from torch_tb_profiler.model import Model

#: as in the old plugin
THRESHOLD = 0.5


def _apply(model: Model) -> Finding | None:
    idle = {
        use.id: (use.busy, use.computing)
        for use in device_use(model)
        if use.busy is not None and use.computing is not None and use.busy < THRESHOLD
    }
    if not idle:
        return None
    names = ["GPU " + str(number) for number in idle]
    listed = " and ".join(names) if len(names) < 3 else ", ".join(names[:-1]) + " and " + names[-1]
    return Finding(
        id="device_idle",
        severity="medium",
        title="Devices idle more than half of the time",
        detail=(
            f"{listed} {'is' if len(names) == 1 else 'are'} busy less than half of the time. If memory allows, a "
            "larger batch gives each kernel more to do; it also changes how training converges. The largest other "
            "part of the step shows what the GPU waits for."
        ),
        values={"gpus": ", ".join(str(number) for number in idle)},
        saving_ns=None,
        evidence=tuple(
            evidence
            for number, (busy, computing) in idle.items()
            for evidence in (
                Evidence("busy", f"Device busy, GPU {number}", busy, "fraction", "overview", gpu=number),
                Evidence("computing", f"Computing, GPU {number}", computing, "fraction", "overview", gpu=number),
            )
        ),
    )


RULE = Rule("device_idle", "kernels with a device number, and steps", _apply)
