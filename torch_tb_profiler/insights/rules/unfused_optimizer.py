"""An optimizer that goes over its parameters one by one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import fused_groups
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import CALLS, DEVICE, HOST, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.optimizers import optimizer_steps
from torch_tb_profiler.model.program_tree import ACCUMULATE

LINK = Link("optimizers", "Implementations of optimizers", "https://docs.pytorch.org/docs/stable/optim.html#algorithms")

#: optimizers of torch with a fused implementation, and those with one for many tensors
_FUSED = ("Adam", "AdamW", "SGD", "Adagrad")
_FOREACH = ("Adadelta", "Adafactor", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop")
_ADVICE = {
    "fused": "Write `torch.optim.{0}(…, fused=True)`, one kernel for many parameters. In versions of torch that do not "
    "have it, `foreach=True`, or `torch.optim._multi_tensor.{0}` before 1.12.",
    "foreach": "Write `torch.optim.{0}(…, foreach=True)`: one operator for many parameters.",
    "other": "Use the `torch._foreach_…` operators in it, or compile it: `step = torch.compile(optimizer.step)`.",
}


def _find(facts: Facts) -> Sequence[Found]:
    steps = optimizer_steps(facts.model)
    inside = facts.step_of(steps.rows) >= 0
    chosen = steps.single & inside[steps.of] if len(steps.of) else steps.single
    singles = np.bincount(steps.of[chosen], minlength=len(steps.rows))
    kernels = np.bincount(steps.of, minlength=len(steps.rows))
    slow = np.flatnonzero((singles >= facts.limit("unfused_optimizer", "least_kernels")) & (2 * singles > kernels))
    if not len(slow):
        return ()
    groups = [steps.kernel[chosen & (steps.of == call)] for call in slow.tolist()]
    spent = [int(facts.duration(rows).sum()) for rows in groups]
    name = str(facts.trace.strings[facts.trace.events.name[steps.rows[slow[0]]]])
    optimizer = name.partition("#")[2].removesuffix(".step") or "Optimizer"
    implementation = "fused" if optimizer in _FUSED else "foreach" if optimizer in _FOREACH else "other"
    count, mean_ns = sum(map(len, groups)) / facts.steps, sum(spent) / sum(map(len, groups))
    left = _left(facts, count, mean_ns)
    return (
        Found(
            title="The optimizer updates its parameters one by one",
            detail=(
                f"`{optimizer}.step` launches {count:.0f} kernels in each step, {mean_ns / 1e3:.1f} µs long on "
                "average, for one tensor each."
            ),
            advice=_ADVICE[implementation].format(optimizer),
            values={"optimizer": optimizer, "implementation": implementation, "kernels": count, "mean_ns": mean_ns},
            rows=facts.longest_first(steps.rows[slow]),
            changes=(fused_groups((rows.tolist(), round(left * ns)) for rows, ns in zip(groups, spent, strict=True)),),
            evidence=(
                Evidence("optimizer_kernels", "Kernels of the optimizer, per step", count, "count", "kernels"),
                Evidence("optimizer_ns", "Time of these kernels, per step", sum(spent) / facts.steps, "ns", "kernels"),
            ),
            links=(LINK,),
        ),
    )


def _left(facts: Facts, kernels: float, mean_ns: float) -> float:
    """Which part of the time of these kernels a fused one takes.

    All of it where each parameter is gone over once already, by kernels that are long enough to be about memory.
    """
    model = facts.model
    accumulated = facts.in_steps(model.tree.row[model.tree.name == facts.trace.strings.code(ACCUMULATE)])
    once = len(accumulated) > 0 and kernels < 1.5 * len(accumulated) / facts.steps
    return (
        1.0
        if once and mean_ns >= facts.limit("unfused_optimizer", "small_ns")
        else facts.limit("unfused_optimizer", "time_left")
    )


RULE = Rule("unfused_optimizer", "R29", (STEPS, HOST, DEVICE, CALLS), _find, replaces=("optimizer_share",))
