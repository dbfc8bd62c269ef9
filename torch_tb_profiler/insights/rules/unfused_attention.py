"""Attention made of two products and a softmax."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import CALLS, DEVICE, HOST, STEPS
from torch_tb_profiler.insights.rule import Found, Link, Rule
from torch_tb_profiler.insights.shared.fusions import fusion_of
from torch_tb_profiler.insights.shared.patterns import attention, attention_group, by_hand
from torch_tb_profiler.insights.shared.wording import how_often

SDPA = Link(
    "sdpa",
    "scaled_dot_product_attention",
    "https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html",
)


def _find(facts: Facts) -> Sequence[Found]:
    spans = by_hand(facts.model, attention(facts.model))
    found = fusion_of(facts, [attention_group(facts, first, after) for first, after in spans])
    if found is None or facts.share(found.spent_ns) < facts.limit("unfused_attention", "least_share"):
        return ()
    share = facts.share(found.spent_ns)
    calls = len(found.groups)
    return (
        Found(
            title="Attention is not fused",
            detail=(
                f"Attention is computed as product, softmax and product {how_often(calls, facts.steps)}, "
                f"{100 * share:.1f} % of the step, and its weights go through the memory of the device."
            ),
            advice=(
                "Call `torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=…, dropout_p=…)`, or "
                "`is_causal=True` in place of a causal mask. Transformers: "
                '`from_pretrained(…, attn_implementation="sdpa")`.'
            ),
            values={"share": share, "calls": calls, "steps": facts.steps},
            rows=found.rows,
            changes=(found.change,),
            evidence=found.evidence(facts),
            confidence="medium",
            links=(SDPA,),
        ),
    )


RULE = Rule("unfused_attention", "R30", (STEPS, HOST, DEVICE, CALLS), _find)
