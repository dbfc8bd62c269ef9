"""The forward pass is computed twice, though memory is left."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.memory.curve import memory_curves
from torch_tb_profiler.analysis.replay.changes import free, kernels
from torch_tb_profiler.analysis.shared.backward import recomputed
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import DEVICE, HOST, MEMORY, PROPERTIES, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.trace import Category


def _find(facts: Facts) -> Sequence[Found]:
    model, tree = facts.model, facts.model.tree
    nodes = recomputed(model)
    nodes = nodes[facts.step_of(tree.row[nodes]) >= 0]
    used = [curve.peak.reserved / curve.device_bytes for curve in memory_curves(model).curves if curve.device_bytes]
    if not len(nodes) or not used or max(used) >= facts.limit("recompute", "most_memory"):
        return ()
    is_again = np.zeros(len(tree), np.bool_)
    is_again[nodes] = True
    inside = nearest(tree.parent, is_again, model.device_links.node) >= 0
    work = model.device_work.row[
        inside & (model.device_category == Category.KERNEL) & ~model.device_links.is_communication
    ]
    rows = tree.row[nodes]
    spent = int(facts.duration(work).sum())
    share = facts.share(spent)
    if share < facts.limit("recompute", "least_share"):
        return ()
    return (
        Found(
            title="Activations are computed again, though memory is left",
            detail=(
                f"{100 * share:.0f} % of the time of the steps goes into operators of the forward pass that run again "
                f"in the backward pass, while {100 * max(used):.0f} % of the memory is used."
            ),
            advice=(
                "Checkpoint fewer blocks, every second one for instance, or keep results that are expensive to "
                "compute: `checkpoint(block, x, use_reentrant=False, "
                "context_fn=…create_selective_checkpoint_contexts)`."
            ),
            values={"share": share, "used": max(used)},
            rows=facts.longest_first(rows),
            changes=(free(rows=rows.tolist()), kernels(0.0, rows=work.tolist())),
            evidence=(
                Evidence("recompute_ns", "Kernels that run again, per step", spent / facts.steps, "ns", "kernels"),
                Evidence("memory_used", "Most memory reserved, of the device", max(used), "fraction", "memory"),
            ),
            confidence="medium",
            links=(
                Link(
                    "selective_checkpointing",
                    "Selective activation checkpointing",
                    "https://docs.pytorch.org/docs/stable/checkpoint.html"
                    "#torch.utils.checkpoint.create_selective_checkpoint_contexts",
                ),
            ),
        ),
    )


RULE = Rule("recompute", "R37", (STEPS, HOST, DEVICE, MEMORY, PROPERTIES), _find)
