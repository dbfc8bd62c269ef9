"""The weights of experts are copied for each token."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import CALLS, DEVICE, HOST, SHAPES, STEPS
from torch_tb_profiler.insights.rule import Found, Rule
from torch_tb_profiler.insights.rules.expert_loop import AFTER_ROUTING, GROUPED
from torch_tb_profiler.insights.shared.fusions import fusion_of
from torch_tb_profiler.insights.shared.operator_line import input_dims, operator_line
from torch_tb_profiler.insights.shared.patterns import Group, kernels_of, shapes
from torch_tb_profiler.insights.shared.wording import how_often


def _find(facts: Facts) -> Sequence[Found]:
    line = operator_line(facts.model)
    groups = []
    for first, after in line.matches(r"I[^IgGAS\n]{0,4}G"):
        if line.is_soon_after("K", first, AFTER_ROUTING) and _is_of_weights(facts, first, after - 1):
            rows = kernels_of(facts.model, line.rows(first, after))
            gather = kernels_of(facts.model, line.rows(first, first + 1))
            groups.append(Group(rows, int(facts.duration(rows).sum()) - int(facts.duration(gather).sum())))
    found = fusion_of(facts, groups)
    if found is None or facts.share(found.spent_ns - found.left_ns) < facts.limit("gathered_experts", "least_share"):
        return ()
    gathering = found.spent_ns - found.left_ns
    calls, share = len(found.groups), facts.share(gathering)
    return (
        Found(
            title="Weights of experts are copied for each token",
            detail=(
                f"An index gathers weights of experts before a product {how_often(calls, facts.steps)}: "
                f"{100 * share:.1f} % of the step goes into copying them."
            ),
            advice=(
                "Sort the tokens by expert and multiply with the weights where they are: "
                "`torch.nn.functional.grouped_mm(tokens, weights, offs=offsets)`."
            ),
            values={"calls": calls, "steps": facts.steps, "share": share},
            rows=found.rows,
            changes=(found.change,),
            evidence=found.evidence(facts),
            confidence="medium",  # of few tokens the copies may be cheaper than sorting
            links=(GROUPED,),
        ),
    )


def _is_of_weights(facts: Facts, gather: int, product: int) -> bool:
    """Whether an index takes whole matrices out of a stack of them, which the product then multiplies with."""
    line, strings = operator_line(facts.model), facts.trace.strings
    nodes = line.node[[gather, product]]
    taken, multiplied = (shapes(str(strings[code])) for code in input_dims(facts.model, nodes).tolist())
    if not taken or len(taken[0]) != 3:
        return False
    matrix = taken[0][1:]
    if min(matrix) < 16 or taken[0][0] < 2:
        return False
    size = prod(matrix)
    return any(
        len(shape) == 3 and prod(shape) % size == 0 and prod(shape) > 0 and bool({*shape} & {*matrix})
        for shape in multiplied
    )


RULE = Rule("gathered_experts", "R64", (STEPS, HOST, DEVICE, CALLS, SHAPES), _find)
