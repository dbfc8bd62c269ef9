"""A mixture of experts as a loop over the experts: many small products."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import Change, fused_groups, without
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import CALLS, DEVICE, HOST, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.operator_line import operator_line
from torch_tb_profiler.insights.shared.patterns import kernels_of, products_left
from torch_tb_profiler.insights.shared.wording import how_often

#: take the tokens of an expert, multiply two or three times, put them back
_EXPERT = r"I[^AIgG\n]{0,5}(?:[gG][^AIgG\n]{0,5}){2,3}(?:I[^AIgG\n]{0,5})?A"
#: what routes tokens chooses the best experts (`topk`) at most so many operators before it; layers of graphs do not
AFTER_ROUTING = 40
#: operators between one expert and the next, at most
_BETWEEN = 12
GROUPED = Link(
    "grouped_mm",
    "grouped_mm",
    "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.grouped_mm.html",
)


def _find(facts: Facts) -> Sequence[Found]:
    line = operator_line(facts.model)
    least = int(facts.limit("expert_loop", "least_experts"))
    loops = [
        loop
        for loop in _loops(line.text, list(line.matches(_EXPERT)))
        if loop[2] >= least and line.is_soon_after("K", loop[0], AFTER_ROUTING)
    ]
    groups, experts, waiting = [], 0, []
    for first, after, count in loops:
        rows = kernels_of(facts.model, line.rows(first, after))
        if len(rows) and int(facts.step_of(rows[:1])[0]) >= 0:
            groups.append((rows, products_left(facts, rows)))
            experts += count
            nodes = line.node[first:after]
            waiting += facts.model.tree.row[nodes[[letter == "N" for letter in line.text[first:after]]]].tolist()
    spent = sum(int(facts.duration(rows).sum()) for rows, _ in groups)
    kernels = sum(len(rows) for rows, _ in groups)
    if not groups or kernels / facts.steps < facts.limit("expert_loop", "least_kernels"):
        return ()
    changes: list[Change] = [fused_groups((rows.tolist(), target) for rows, target in groups)]
    if waiting:
        changes.append(without("sync", rows=waiting))
    per_layer = experts / len(groups)
    longest = [int(rows[np.argmax(facts.duration(rows))]) for rows, _ in groups]
    return (
        Found(
            title="Experts run one after the other",
            detail=(
                f"A loop goes over {per_layer:.0f} experts {how_often(len(groups), facts.steps)}, "
                f"{kernels / facts.steps:.0f} kernels of {spent / kernels / 1e3:.1f} µs on average."
            ),
            advice=(
                "Sort the tokens by expert and multiply all experts at once: "
                "`torch.nn.functional.grouped_mm(tokens, weights, offs=offsets)`, in bfloat16. Transformers: "
                '`from_pretrained(…, experts_implementation="grouped_mm")`.'
            ),
            values={
                "layers": len(groups),
                "steps": facts.steps,
                "experts": per_layer,
                "kernels": kernels / facts.steps,
                "mean_ns": spent / kernels,
            },
            rows=facts.longest_first(np.array(longest, np.int32)),
            changes=tuple(changes),
            evidence=(
                Evidence("expert_kernels", "Kernels of experts, per step", kernels / facts.steps, "count", "kernels"),
                Evidence("expert_ns", "Time of these kernels, per step", spent / facts.steps, "ns", "kernels"),
            ),
            confidence="medium",
            links=(GROUPED,),
        ),
    )


def _loops(text: str, experts: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """(first, after, experts) of experts that follow one another, without a product of anything else between."""
    found: list[tuple[int, int, int]] = []
    for first, after in experts:
        between = text[found[-1][1] : first] if found else ""
        if found and len(between) <= _BETWEEN and not set(between) & set("gG\n"):
            found[-1] = (found[-1][0], after, found[-1][2] + 1)
        else:
            found.append((first, after, 1))
    return found


RULE = Rule("expert_loop", "R63", (STEPS, HOST, DEVICE, CALLS), _find)
