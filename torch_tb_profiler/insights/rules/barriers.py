"""Barriers inside of steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import COMMUNICATION, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.collective_calls import collective_calls, steps_with
from torch_tb_profiler.insights.shared.exposed import ONE_RANK


def _find(facts: Facts) -> Sequence[Found]:
    calls = collective_calls(facts)
    calls = calls.take(calls.are("barrier"))
    spent = float(np.maximum(calls.duration, 0).sum())
    in_steps = steps_with(facts, "barriers", calls.step, spent)
    if not in_steps:
        return ()
    return (
        Found(
            title="Steps have barriers",
            detail=(
                f"Ranks stop at {len(calls)} barriers in {in_steps} of {facts.steps} steps, and spend "
                f"{100 * facts.share(spent):.1f} % of the steps in them."
            ),
            advice=(
                "Remove `torch.distributed.barrier()` from the step: collectives already wait for each other. Around "
                "checkpoints and logging, call it only in the steps that have them."
            ),
            values={"calls": len(calls), "in": in_steps, "steps": facts.steps, "share": facts.share(spent)},
            rows=facts.longest_first(calls.row),
            refused=ONE_RANK,
            confidence="medium",
            evidence=(
                Evidence("barriers", "Barriers in the steps", len(calls), "count", "distributed"),
                Evidence(
                    "barrier_time", "Time in barriers, average per step", spent / facts.steps, "ns", "distributed"
                ),
            ),
            links=(
                Link(
                    "barrier",
                    "torch.distributed.barrier",
                    "https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.barrier",
                ),
            ),
        ),
    )


RULE = Rule("barriers", "R58", (STEPS, COMMUNICATION), _find)
