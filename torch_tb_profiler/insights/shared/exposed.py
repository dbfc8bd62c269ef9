"""Communication that no computation hides, as the rules about communication weigh it."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.device_time import step_of_operations
from torch_tb_profiler.analysis.device_use import step_use
from torch_tb_profiler.analysis.exposed_communication import WHY, exposure
from torch_tb_profiler.analysis.overview import average_step
from torch_tb_profiler.analysis.program.kinds import PHASES
from torch_tb_profiler.analysis.replay.quality import ReplayRefusal
from torch_tb_profiler.analysis.waterfall import average, waterfall
from torch_tb_profiler.arrays.grouping import group, sums_at
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.rule import Evidence, evidence
from torch_tb_profiler.reason import Value

#: why what communication costs is no saving
ONE_RANK = ReplayRefusal("one_rank_communication", "savings")


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


def most_exposed(facts: Facts) -> dict[str, Value]:
    """Of one name, group and phase the operations of the steps that are exposed longest, as a finding names them: how
    much of a step, ns, and why they were not hidden. Empty where nothing is exposed.
    """
    model = facts.model
    found, of = model.communications, exposure(model)
    inside = np.flatnonzero((step_of_operations(model) >= 0) & (of.exposed_ns > 0))
    if not len(inside):
        return {}
    ns, operations = of.exposed_ns[inside], found.operations
    alike = group([operations.name[inside], operations.group[inside], of.phase[inside]])
    total = sums_at(alike.of, ns, len(alike))
    longest = int(np.argmax(total))
    mine = inside[alike.of == longest]
    why = WHY[int(np.argmax(np.bincount(of.why[mine], of.exposed_ns[mine])))]
    first = int(mine[0])
    return {
        "collective": found.names[int(operations.name[first])],
        "members": found.groups[int(operations.group[first])].label,
        "phase": PHASES[int(of.phase[first])].value,
        "exposed_ns": int(total[longest]) / facts.steps,
        "why": why,
    }
