"""The optimizer takes a large part of the step."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.analysis.replay.changes import kernels, scale
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import HOST, STEPS
from torch_tb_profiler.insights.optimizers import optimizer_steps
from torch_tb_profiler.insights.rule import Evidence, Found, Rule
from torch_tb_profiler.insights.rules.unfused_optimizer import LINK


def _find(facts: Facts) -> Sequence[Found]:
    steps = optimizer_steps(facts.model)
    rows = facts.longest_first(facts.in_steps(steps.rows))
    work = facts.in_steps(steps.kernel)
    on_device = facts.model.has_device_work
    host_ns, device_ns = int(facts.duration(rows).sum()), int(facts.duration(work).sum())
    share = facts.share(max(host_ns, device_ns))
    if not len(rows) or share < facts.limit("optimizer_share", "least_share"):
        return ()
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
                "Step less often: add up the gradients of several batches (`if i % 2: optimizer.step(); "
                "optimizer.zero_grad()`), which makes the batch larger. `fused=True` makes each of its steps shorter."
            ),
            values={
                "host_ns": host_ns / facts.steps,
                "device_ns": device_ns / facts.steps,
                "on_device": on_device,
                "step_ns": facts.step_ns,
            },
            rows=rows,
            changes=(scale(None, 0.5, rows=rows.tolist()), *([kernels(0.5, rows=work.tolist())] if len(work) else [])),
            evidence=tuple(evidence),
            confidence="medium",
            links=(LINK,),
            # half of a part that is shown from a fifth of the step on
            least_share=facts.limit("optimizer_share", "least_share") / 2,
        ),
    )


RULE = Rule("optimizer_share", "R29", (STEPS, HOST), _find)
