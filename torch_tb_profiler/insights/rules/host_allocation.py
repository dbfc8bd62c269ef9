"""Pinned memory of the host is allocated in every step."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.analysis.replay.changes import free
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import CALLS, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Rule
from torch_tb_profiler.insights.shared.allocations import allocations_of, in_steady_state
from torch_tb_profiler.insights.shared.links import PINNED_MEMORY
from torch_tb_profiler.insights.shared.wording import how_many, ms


def _find(facts: Facts) -> Sequence[Found]:
    found = allocations_of(facts).of_host()
    rows = facts.longest_first(found.row)
    n, took = facts.steps, float(facts.duration(rows).sum())
    if not in_steady_state(facts, found, released=False) or facts.share(took) < facts.limit(
        "host_allocation", "least_share"
    ):
        return ()
    name = str(facts.trace.strings[facts.trace.events.name[rows[0]]])
    return (
        Found(
            title="Pinned memory is allocated again in every step",
            detail=(
                f"{how_many(len(rows), n, 'call')}, {name} among them, allocate, free or register pinned memory "
                f"and take {ms(took / n)} of {ms(facts.step_ns)}."
            ),
            advice=(
                "Allocate pinned buffers once, before the loop (`torch.empty(…, pin_memory=True)`), and copy into "
                "them. For batches `DataLoader(…, pin_memory=True)` does it in a thread of its own."
            ),
            values={"calls": len(rows), "steps": n, "call": name, "ns": took / n, "step_ns": facts.step_ns},
            rows=rows,
            changes=(free(rows=rows),),
            evidence=(
                Evidence("allocator_per_step", "These calls, average per step", took / n, "ns", "trace"),
                Evidence("pinned_calls", "Calls, average per step", len(rows) / n, "count", "trace"),
            ),
            links=(PINNED_MEMORY,),
            confidence="medium",
        ),
    )


RULE = Rule("host_allocation", "R40", (STEPS, CALLS), _find)
