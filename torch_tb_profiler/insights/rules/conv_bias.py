"""Convolutions add a bias that the batch norm behind them takes away again."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import CALLS, DEVICE, HOST, STEPS
from torch_tb_profiler.insights.rule import Found, Link, Rule
from torch_tb_profiler.insights.shared.fusions import fusion_of
from torch_tb_profiler.insights.shared.operator_line import operator_line
from torch_tb_profiler.insights.shared.patterns import Group, kernels_of


def _find(facts: Facts) -> Sequence[Found]:
    line = operator_line(facts.model)
    groups = []
    # a batch norm that trains counts its batches (`add_`) first
    for first, _ in line.matches(r"Vi(?=a?b)"):
        rows = kernels_of(facts.model, line.rows(first, first + 2))
        adding = kernels_of(facts.model, line.rows(first + 1, first + 2))
        if len(adding) and len(rows) > len(adding):
            groups.append(Group(rows, int(facts.duration(rows).sum()) - int(facts.duration(adding).sum())))
    found = fusion_of(facts, groups)
    if found is None or facts.share(found.spent_ns - found.left_ns) < facts.limit("conv_bias", "least_share"):
        return ()
    spent = found.spent_ns - found.left_ns
    convolutions = len(found.groups) / facts.steps
    training = facts.is_training
    return (
        Found(
            title="Convolutions add a bias before a batch norm",
            detail=(
                f"{convolutions:.0f} convolutions in each step add a bias, {spent / facts.steps / 1e6:.3g} ms, and the "
                "batch norm that follows subtracts it again with the mean."
            ),
            advice=(
                "Make these layers `nn.Conv2d(…, bias=False)`."
                if training
                else "Fold the batch norm into the convolution: "
                "`torch.nn.utils.fusion.fuse_conv_bn_eval(conv.eval(), bn.eval())`."
            ),
            values={"convolutions": convolutions, "spent_ns": spent / facts.steps, "training": training},
            rows=found.rows,
            changes=(found.change,),
            evidence=found.evidence(facts),
            links=(
                Link(
                    "conv_bias",
                    "Convolutions before batch norms",
                    "https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html"
                    "#disable-bias-for-convolutions-directly-followed-by-a-batch-norm",
                ),
            ),
        ),
    )


RULE = Rule("conv_bias", "R33", (STEPS, HOST, DEVICE, CALLS), _find)
