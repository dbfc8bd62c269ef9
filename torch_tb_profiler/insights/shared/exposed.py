"""Communication that no computation hides, as the rules about communication weigh it."""

from __future__ import annotations

import msgspec

from torch_tb_profiler.analysis.device_use import step_use
from torch_tb_profiler.analysis.overview.overview import average_step
from torch_tb_profiler.analysis.replay.refusals import Refusal
from torch_tb_profiler.analysis.waterfall import average, waterfall
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.rule import Evidence, evidence

#: why what communication costs is no saving
ONE_RANK = Refusal("one_rank_communication", "savings")


class Exposed(msgspec.Struct, frozen=True):
    """Of the average step.

    ns        exposed communication
    share     its part of the step, 0…1
    evidence  where to see it
    """

    ns: float
    share: float
    evidence: Evidence


def exposed_communication(facts: Facts) -> Exposed | None:
    """None without steps, and where it is too little to be worth a word."""
    model = facts.model
    step_ns, use = facts.step_ns, step_use(model)
    if step_ns <= 0:
        return None
    if use is not None and use.exposed_communication_ns is not None:
        exposed, view = float(use.exposed_communication_ns.mean()), "steps"
    else:  # a library without kernels: the thread of the steps waits; other threads may compute beside its calls
        waited = sum(part.ns for part in average(waterfall(model)) if part.cause.endswith(".collective"))
        exposed, view = waited or average_step(model).category_ns.get("communication", 0.0), "overview"
    share = exposed / step_ns
    if share <= facts.limit("communication", "least_share"):
        return None
    return Exposed(exposed, share, evidence("exposed_communication_per_step", exposed, "ns", view))
