"""What the profiler itself costs in the steps."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import OVERHEAD, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.profiler_time import profiler_ns, profiler_rows
from torch_tb_profiler.insights.shared.wording import ms


def _find(facts: Facts) -> Sequence[Found]:
    events, strings, steps = facts.trace.events, facts.trace.strings, facts.model.steps
    rows, spent = profiler_rows(facts.model), profiler_ns(facts)
    share = facts.share(spent)
    if share < facts.limit("profiler_overhead", "least_share"):
        return ()
    rows = rows[(events.end[rows] > int(steps.host_start[0])) & (events.start[rows] < int(steps.host_end[-1]))]
    longest = facts.longest_first(rows)
    name = str(strings[int(events.name[longest[0]])])
    return (
        Found(
            title="The profiler itself takes part of the steps",
            detail=(
                f"{100 * share:.1f} % of the average step, {ms(spent / facts.steps)}, is work of the "
                f"profiler, mostly `{name}`: without it the steps are shorter."
            ),
            advice=(
                "Record fewer steps, after a warm-up: `schedule(wait=1, warmup=2, active=3)`. Leave out `with_stack`, "
                "`record_shapes` and `profile_memory` when times matter."
            ),
            values={"share": share, "spent_ns": spent / facts.steps, "name": name},
            rows=longest,
            severity="medium" if share >= facts.limit("profiler_overhead", "high_share") else "low",
            evidence=(
                Evidence(
                    "profiler_per_step", "The profiler, average per step", spent / facts.steps, "ns", "trace", name
                ),
                Evidence("share_of_step", "Share of the average step", share, "fraction", "trace"),
            ),
            links=(
                Link(
                    "profiler_schedule",
                    "torch.profiler.schedule",
                    "https://docs.pytorch.org/docs/stable/profiler.html#torch.profiler.schedule",
                ),
            ),
        ),
    )


RULE = Rule("profiler_overhead", "R20", (STEPS, OVERHEAD), _find)
