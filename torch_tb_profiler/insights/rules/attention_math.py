"""Torch's operator of attention runs without a fused kernel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import CALLS, DEVICE, HOST, STEPS
from torch_tb_profiler.insights.rule import Found, Link, Rule
from torch_tb_profiler.insights.shared.fusions import fusion_of
from torch_tb_profiler.insights.shared.operator_line import input_dims, input_types, operator_line
from torch_tb_profiler.insights.shared.patterns import attention_group, in_backward_of_attention, shapes

MATH = "aten::_scaled_dot_product_attention_math"


def _find(facts: Facts) -> Sequence[Found]:
    model, tree = facts.model, facts.model.tree
    named = tree.name == facts.trace.strings.code(MATH)
    calls = np.flatnonzero(named)
    if not len(calls):
        return ()
    line = operator_line(model)
    around = nearest(tree.parent, named, model.device_links.operator_node)
    groups = []
    for call in distinct(around[around >= 0]).tolist():
        place = line.place[(around == call) & (line.place >= 0)]
        if len(place):
            groups.append(attention_group(facts, int(place.min()), int(place.max()) + 1))
    groups += in_backward_of_attention(facts)
    found = fusion_of(facts, groups)
    if found is None or facts.share(found.spent_ns) < facts.limit("attention_math", "least_share"):
        return ()
    share, about = facts.share(found.spent_ns), _inputs(facts, calls)
    return (
        Found(
            title="Attention runs without a fused kernel",
            detail=(
                "`scaled_dot_product_attention` takes the path of single operators (math), "
                f"{100 * share:.1f} % of the step{about and f', for {about}'}."
            ),
            advice=(
                "Call it inside `with torch.nn.attention.sdpa_kernel([SDPBackend.FLASH_ATTENTION, "
                "SDPBackend.EFFICIENT_ATTENTION]):`, which fails with the reason. Usual ones: a mask that requires "
                "a gradient or has another type than the query, inputs of unequal types, heads of an odd size, nested "
                "tensors."
            ),
            values={"share": share, "inputs": about},
            rows=found.rows,
            changes=(found.change,),
            place_rows=tree.row[calls],
            evidence=found.evidence(facts),
            links=(
                Link(
                    "sdpa_kernel",
                    "sdpa_kernel",
                    "https://docs.pytorch.org/docs/stable/generated/torch.nn.attention.sdpa_kernel.html",
                ),
            ),
        ),
    )


def _inputs(facts: Facts, calls: Int64) -> str:
    """Type and shape of the query of the first call; empty if not recorded."""
    dims = shapes(str(facts.trace.strings[input_dims(facts.model, calls[:1])[0]]))
    types = str(facts.trace.strings[input_types(facts.model, calls[:1])[0]])
    if not dims or not dims[0]:
        return ""
    kind = types.strip("[]").split(",")[0].strip(' "')
    return f"a query of {' × '.join(map(str, dims[0]))} {kind}".rstrip()


RULE = Rule("attention_math", "R31", (STEPS, HOST, DEVICE, CALLS), _find)
