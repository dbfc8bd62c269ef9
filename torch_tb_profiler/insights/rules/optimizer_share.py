"""The optimizer takes a large part of the step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import kernels, scale
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Int32
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import HOST, MACHINE, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Rule
from torch_tb_profiler.insights.rules.unfused_optimizer import LINK
from torch_tb_profiler.insights.shared.optimizers import optimizer_steps


def _find(facts: Facts) -> Sequence[Found]:
    steps = optimizer_steps(facts.model)
    rows = facts.longest_first(facts.in_steps(steps.rows))
    work = facts.in_steps(steps.kernel)
    on_device = facts.model.has_device_work
    host_ns, device_ns = int(facts.duration(rows).sum()), int(facts.duration(work).sum())
    if not len(rows) or _usual_share(facts, rows, work) < facts.limit("optimizer_share", "least_share"):
        return ()
    fused = "" if steps.fused else "Pass `fused=True` to the optimizer, if it supports that. "
    evidence = [
        Evidence("optimizer_host_ns", "Optimizer on the host, per step", host_ns / facts.steps, "ns", "operators")
    ]
    if on_device:
        evidence.append(
            Evidence("optimizer_ns", "Kernels of the optimizer, per step", device_ns / facts.steps, "ns", "kernels")
        )
    return (
        Found(
            title="The optimizer takes a large part of the step",
            detail=(
                f"`Optimizer.step` takes {host_ns / facts.steps / 1e6:.3g} ms of the host in each step"
                f"{f', and its kernels {device_ns / facts.steps / 1e6:.3g} ms' if on_device else ''}; the step takes "
                f"{facts.step_ns / 1e6:.3g} ms."
            ),
            advice=(
                f"{fused}Step less often: add up the gradients of several batches (`if i % 2: optimizer.step(); "
                "optimizer.zero_grad()`), which makes the batch larger."
            ),
            values={
                "host_ns": host_ns / facts.steps,
                "device_ns": device_ns / facts.steps,
                "on_device": on_device,
                "step_ns": facts.step_ns,
                "fused": steps.fused,
            },
            rows=rows,
            changes=(scale(None, 0.5, rows=rows.tolist()), *([kernels(0.5, rows=work.tolist())] if len(work) else [])),
            evidence=tuple(evidence),
            confidence="medium",
            links=(LINK,),
            # half of it is what the change saves
            least_share=facts.limit("optimizer_share", "least_share") / 2,
        ),
    )


def _usual_share(facts: Facts, rows: Int32, work: Int32) -> float:
    """Of a step in the middle, so that what only the first one does (state is made, modules are loaded) is left out."""
    host, device = (
        np.bincount(facts.step_of(some), facts.duration(some), minlength=facts.steps) for some in (rows, work)
    )
    return median(np.maximum(host, device) / np.maximum(facts.period_ns, 1))


RULE = Rule("optimizer_share", "R29", (STEPS, MACHINE, HOST), _find)
