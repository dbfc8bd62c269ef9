"""Gradients are filled with zeros in place of being let go of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import Change, free, targets
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import HOST, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.wording import ms
from torch_tb_profiler.trace import Category

_ZEROES = frozenset(("aten::zero_", "aten::_foreach_zero_"))
#: the same call on modules has no annotation
_FRAME = "): zero_grad"


def _find(facts: Facts) -> Sequence[Found]:
    model, trace = facts.model, facts.trace
    tree, strings = model.structure.tree, trace.strings
    zero = np.flatnonzero(strings.where(_ZEROES.__contains__, tree.name)[tree.name] & _in_zero_grad(facts))
    zero = zero[facts.step_of(tree.row[zero]) >= 0]
    if not len(zero):
        return ()
    wanted = np.zeros(len(tree), np.bool_)
    wanted[zero] = True
    links = model.structure.device_links
    work = trace.device_work.row[(links.launch >= 0) & (nearest(tree.parent, wanted, links.node) >= 0)]
    fills = max(len(zero), len(work)) / facts.steps
    if fills < facts.limit("zero_grad", "fewest_per_step"):
        return ()
    rows = tree.row[zero]
    on_host, on_device = int(facts.duration(rows).sum()), int(facts.duration(work).sum())
    changes: list[Change] = [free(rows=rows)]
    if len(work):
        changes.append(targets(work, np.zeros(len(work), np.int64)))
    return (
        Found(
            title="Gradients are filled with zeros",
            detail=(
                f"`zero_grad` fills gradients {fills:.0f} times a step: {ms(on_host / facts.steps)} on "
                "the host" + (f" and {ms(on_device / facts.steps)} on the device." if len(work) else ".")
            ),
            advice=(
                "Free them: `optimizer.zero_grad(set_to_none=True)`, which is the default since torch 2.0. The "
                "backward pass then writes the gradients and need not add to them."
            ),
            values={
                "fills": fills,
                "host_ns": on_host / facts.steps,
                "device_ns": on_device / facts.steps,
                "on_device": len(work) > 0,
            },
            rows=facts.longest_first(rows),
            changes=tuple(changes),
            evidence=(
                Evidence("fills_per_step", "Fills of gradients per step", fills, "count", "operators", "aten::zero_"),
                Evidence("zero_grad_on_host", "On the host, per step", on_host / facts.steps, "ns", "operators"),
                *(
                    (
                        Evidence(
                            "zero_grad_on_device", "On the device, per step", on_device / facts.steps, "ns", "kernels"
                        ),
                    )
                    if len(work)
                    else ()
                ),
            ),
            links=(
                Link(
                    "zero_grad",
                    "Optimizer.zero_grad",
                    "https://docs.pytorch.org/docs/stable/generated/torch.optim.Optimizer.zero_grad.html",
                ),
            ),
        ),
    )


def _in_zero_grad(facts: Facts) -> Bool:
    """Shape (nodes,): what runs inside of `zero_grad` of an optimizer or a module."""
    model = facts.model
    tree, frames, strings = model.structure.tree, model.structure.frames, facts.trace.strings
    marked = tree.category == Category.USER_ANNOTATION
    marked &= strings.where(lambda name: name.startswith("Optimizer.zero_grad#"), tree.name)[tree.name]
    nodes: Int64 = np.arange(len(tree), dtype=np.int64)
    found: Bool = nearest(tree.parent, marked, nodes) >= 0
    if len(frames):
        called = strings.where(lambda name: name.endswith(_FRAME) and "torch/" in name, frames.name)[frames.name]
        found |= nearest(frames.parent, called, tree.frame) >= 0
    return found


RULE = Rule("zero_grad", "R19", (STEPS, HOST), _find)
