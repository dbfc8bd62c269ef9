"""Chains of elementwise kernels: each reads and writes the whole tensor."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import CALLS, DEVICE, HOST, STEPS
from torch_tb_profiler.insights.rule import Found, Rule
from torch_tb_profiler.insights.shared.fusions import fusion_of
from torch_tb_profiler.insights.shared.links import COMPILE_TUTORIAL
from torch_tb_profiler.insights.shared.patterns import attention, attention_group, chains, norms


def _find(facts: Facts) -> Sequence[Found]:
    taken = [attention_group(facts, first, after).rows for first, after in attention(facts.model)]
    taken += [each.rows for kind in ("rms_norm", "layer_norm", "softmax") for each in norms(facts, kind)]
    found = fusion_of(facts, chains(facts, taken, int(facts.limit("pointwise_chain", "least_kernels"))))
    if found is None or facts.share(found.spent_ns) < facts.limit("pointwise_chain", "least_share"):
        return ()
    share = facts.share(found.spent_ns)
    per_chain = found.kernels / len(found.groups)
    return (
        Found(
            title="Chains of elementwise kernels",
            detail=(
                f"{found.kernels / facts.steps:.0f} elementwise kernels in each step, {100 * share:.1f} % of its time, "
                f"follow one another on tensors of one size, {per_chain:.1f} in a chain: each reads and writes all of "
                "its tensor."
            ),
            advice=(
                "Let `model = torch.compile(model)` make one kernel of each chain; for a single function, the "
                "decorator `@torch.compile` is enough. Where torch has the chain as one operator "
                '(`F.gelu(x, approximate="tanh")`, `torch.addcmul`, `F.silu`), call that.'
            ),
            values={"share": share, "kernels": found.kernels / facts.steps, "per_chain": per_chain},
            rows=found.rows,
            changes=(found.change,),
            evidence=found.evidence(facts),
            confidence="medium",
            links=(COMPILE_TUTORIAL,),
        ),
    )


RULE = Rule("pointwise_chain", "R28", (STEPS, HOST, DEVICE, CALLS), _find)
