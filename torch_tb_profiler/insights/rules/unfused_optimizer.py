"""An optimizer that goes over its parameters one by one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import fused_groups
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import CALLS, DEVICE, HOST, STEPS
from torch_tb_profiler.insights.optimizers import optimizer_steps
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule

LINK = Link("optimizers", "Implementations of optimizers", "https://docs.pytorch.org/docs/stable/optim.html#algorithms")


def _find(facts: Facts) -> Sequence[Found]:
    steps = optimizer_steps(facts.model)
    inside = facts.step_of(steps.rows) >= 0
    chosen = steps.single & inside[steps.of] if len(steps.of) else steps.single
    singles = np.bincount(steps.of[chosen], minlength=len(steps.rows))
    kernels = np.bincount(steps.of, minlength=len(steps.rows))
    slow = np.flatnonzero((singles >= facts.limit("unfused_optimizer", "least_kernels")) & (2 * singles > kernels))
    if not len(slow):
        return ()
    left = facts.limit("unfused_optimizer", "time_left")
    groups = [steps.kernel[chosen & (steps.of == call)] for call in slow.tolist()]
    spent = [int(facts.duration(rows).sum()) for rows in groups]
    name = str(facts.trace.strings[facts.trace.events.name[steps.rows[slow[0]]]])
    optimizer = name.partition("#")[2].removesuffix(".step") or "Optimizer"
    count = sum(map(len, groups)) / facts.steps
    return (
        Found(
            title="The optimizer updates its parameters one by one",
            detail=(
                f"`{optimizer}.step` launches {count:.0f} kernels in each step, {sum(spent) / count / facts.steps / 1e3:.1f} µs "
                "long on average, several for each parameter."
            ),
            advice=(
                f"Write `torch.optim.{optimizer}(…, fused=True)`, one kernel for many parameters, or `foreach=True` where "
                "the optimizer or the version of torch has no fused one. Both are as exact."
            ),
            values={"optimizer": optimizer, "kernels": count, "mean_ns": sum(spent) / count / facts.steps},
            rows=facts.longest_first(steps.rows[slow]),
            changes=(fused_groups((rows.tolist(), round(left * ns)) for rows, ns in zip(groups, spent, strict=True)),),
            evidence=(
                Evidence("optimizer_kernels", "Kernels of the optimizer, per step", count, "count", "kernels"),
                Evidence("optimizer_ns", "Time of these kernels, per step", sum(spent) / facts.steps, "ns", "kernels"),
            ),
            links=(LINK,),
        ),
    )


RULE = Rule("unfused_optimizer", "R29", (STEPS, HOST, DEVICE, CALLS), _find, replaces=("optimizer_share",))
