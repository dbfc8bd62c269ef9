"""Inference that records a graph for a backward pass that never comes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import HOST, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule

#: what only a training program calls, though its backward pass may lie outside of the recording
_OF_TRAINING = ("DistributedDataParallel.forward", "aten::nll_loss", "aten::cross_entropy_loss", "aten::native_dropout")


def _find(facts: Facts) -> Sequence[Found]:
    if facts.is_training or facts.steps < facts.limit("grad_recorded", "least_steps"):
        return ()
    tree, strings = facts.model.tree, facts.trace.strings
    named = strings.where(lambda name: name.startswith(_OF_TRAINING) or "Backward" in name, tree.name)
    if len(tree) and named[tree.name].any():
        return ()
    number = take_known(facts.trace.operators.sequence, tree.operator)
    counted = np.flatnonzero((number >= 0) & tree.is_operator)
    at = facts.step_of(tree.row[counted])
    counted, at = counted[at >= 0], at[at >= 0]
    if not len(counted):
        return ()
    # the number goes on by one with each node of the graph, and stands still while none is made
    nodes = [len(distinct(number[counted[at == step]])) for step in range(facts.steps)]
    if min(nodes) < facts.limit("grad_recorded", "least_nodes"):
        return ()
    mean = sum(nodes) / len(nodes)
    rows = facts.longest_first(tree.row[counted])
    return (
        Found(
            title="Inference records an autograd graph",
            detail=(
                f"In each step operators add {mean:.0f} nodes to a graph for a backward pass, and there is none: the "
                "tensors saved for it stay in memory until the result is freed."
            ),
            advice=("Run it inside `with torch.inference_mode():`. `model.eval()` alone does not do that."),
            values={"nodes": mean},
            rows=rows,
            severity="low",
            confidence="medium",
            evidence=(Evidence("graph_nodes", "Nodes of the graph, per step", mean, "count", "operators"),),
            links=(
                Link(
                    "inference_mode",
                    "Inference mode",
                    "https://docs.pytorch.org/docs/stable/notes/autograd.html#inference-mode",
                ),
            ),
        ),
    )


RULE = Rule("grad_recorded", "R61", (STEPS, HOST), _find)
