"""Optimizers that take long or go over their parameters one by one, and gradients that nobody needs."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.replay.changes import fused_groups, kernels, scale
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.insights.facts import CALLS, DEVICE, HOST, MACHINE, STEPS, Facts
from torch_tb_profiler.insights.rule import Found, evidence, link, rule
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.kernel_names.families import family_of
from torch_tb_profiler.model.kernel_names.family import KernelKind
from torch_tb_profiler.model.program_tree import ACCUMULATE, EVALUATE
from torch_tb_profiler.trace import Category

_STEP = "Optimizer.step#"


class OptimizerSteps(msgspec.Struct, frozen=True):
    """Calls of Optimizer.step in which no backward pass runs, and the compute kernels that they launched.

    node     shape (n,): positions in the call tree
    rows     shape (n,): their events
    kernel   shape (m,): events of kernels
    of       shape (m,): the index of the call that each kernel belongs to, ascending
    single   shape (m,): whether it is an elementwise kernel that an operator on one tensor launched
    fused    whether an operator that does a whole step for many tensors (`aten::_fused_…`) runs in any
    """

    node: Int64
    rows: Int32
    kernel: Int32
    of: Int64
    single: Bool
    fused: bool


@cached
def optimizer_steps(model: Model) -> OptimizerSteps:
    """All calls. With a closure, as Lightning gives one, a call holds the whole step and is left out."""
    tree, strings, links = model.tree, model.trace.strings, model.device_links
    named = strings.where(lambda name: name.startswith(_STEP), tree.name)
    chosen = named[tree.name] if len(tree) else np.zeros(0, np.bool_)
    chosen &= nearest(tree.parent, chosen, tree.parent) < 0
    backward = strings.where(lambda name: name.startswith(EVALUATE), tree.name)
    began = np.sort(tree.start[backward[tree.name]]) if len(tree) else np.empty(0, np.int64)
    node = np.flatnonzero(chosen)
    events, row = model.trace.events, tree.row[node]
    # as recorded: in the tree a call that outlives a step is cut
    within = np.searchsorted(began, events.end[row]) - np.searchsorted(began, events.start[row])
    node = node[within == 0]
    is_step = np.zeros(len(tree), np.bool_)
    is_step[node] = True
    around = nearest(tree.parent, is_step, links.node)
    work = np.flatnonzero((around >= 0) & (model.device_category == Category.KERNEL) & ~links.is_communication)
    work = work[np.argsort(around[work], kind="stable")]
    many = strings.where(lambda name: name.startswith(("aten::_foreach", "aten::_fused")), tree.name)
    named = strings.where(lambda name: name.startswith("aten::_fused"), tree.name)
    fused = named[tree.name] if len(tree) else np.zeros(0, np.bool_)
    operator = take_known(tree.name, links.operator_node[work], missing=0)
    names = model.trace.events.name[model.device_work.row[work]]
    elementwise = strings.where(_is_elementwise, names)
    single = ~np.append(many, False)[operator] & elementwise[names] & (links.operator_node[work] >= 0)
    return OptimizerSteps(
        node=node,
        rows=tree.row[node],
        kernel=model.device_work.row[work],
        of=np.searchsorted(node, around[work]).astype(np.int64),
        single=single,
        fused=bool((nearest(tree.parent, is_step, np.flatnonzero(fused)) >= 0).any()),
    )


def _is_elementwise(name: str) -> bool:
    family = family_of(name)
    return family is not None and family.kind == KernelKind.POINTWISE and family.library != "Inductor"


#: optimizers of torch with a fused implementation, and those with one for many tensors
_FUSED = ("Adam", "AdamW", "SGD", "Adagrad")
_FOREACH = ("Adadelta", "Adafactor", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop")
#: what only a training program calls, though its backward pass may lie outside of the recording
_OF_TRAINING = ("DistributedDataParallel.forward", "aten::nll_loss", "aten::cross_entropy_loss", "aten::native_dropout")


@rule("R29", STEPS, MACHINE, HOST)
def optimizer_share(facts: Facts) -> Iterator[Found]:
    """Find an optimizer that takes a large part of the step."""
    steps = optimizer_steps(facts.model)
    rows = facts.longest_first(facts.in_steps(steps.rows))
    work = facts.in_steps(steps.kernel)
    on_device, least = facts.model.has_device_work, facts.limit("optimizer_share", "least_share")
    if not len(rows) or _usual_share(facts, rows, work) < least:
        return
    host_ns = int(facts.duration(rows).sum()) / facts.steps
    device_ns = int(facts.duration(work).sum()) / facts.steps
    numbers = [evidence("optimizer_host_ns", host_ns, "ns", "operators")]
    if on_device:
        numbers.append(evidence("optimizer_ns", device_ns, "ns", "kernels"))
    yield Found(
        values={
            "host_ns": host_ns,
            "device_ns": device_ns,
            "on_device": on_device,
            "step_ns": facts.step_ns,
            "fused": steps.fused,
        },
        rows=rows,
        changes=(scale(None, 0.5, rows=rows.tolist()), *([kernels(0.5, rows=work.tolist())] if len(work) else [])),
        evidence=tuple(numbers),
        confidence="medium",
        links=(link("optimizers"),),
        least_share=least / 2,  # half of it is what the change saves
    )


def _usual_share(facts: Facts, rows: Int32, work: Int32) -> float:
    """Of a step in the middle, so that what only the first one does (state is made, modules are loaded) is left out."""
    host, device = (
        np.bincount(facts.step_of(some), facts.duration(some), minlength=facts.steps) for some in (rows, work)
    )
    return median(np.maximum(host, device) / np.maximum(facts.period_ns, 1))


@rule("R29", STEPS, HOST, DEVICE, CALLS, replaces=("optimizer_share",))
def unfused_optimizer(facts: Facts) -> Iterator[Found]:
    """Find an optimizer that goes over its parameters one by one."""
    steps = optimizer_steps(facts.model)
    inside = facts.step_of(steps.rows) >= 0
    chosen = steps.single & inside[steps.of] if len(steps.of) else steps.single
    singles = np.bincount(steps.of[chosen], minlength=len(steps.rows))
    launched = np.bincount(steps.of, minlength=len(steps.rows))
    slow = np.flatnonzero((singles >= facts.limit("unfused_optimizer", "least_kernels")) & (2 * singles > launched))
    if not len(slow):
        return
    groups = [steps.kernel[chosen & (steps.of == call)] for call in slow.tolist()]
    spent = [int(facts.duration(rows).sum()) for rows in groups]
    name = str(facts.trace.strings[facts.trace.events.name[steps.rows[slow[0]]]])
    optimizer = name.partition("#")[2].removesuffix(".step") or "Optimizer"
    implementation = "fused" if optimizer in _FUSED else "foreach" if optimizer in _FOREACH else "other"
    count, mean_ns = sum(map(len, groups)) / facts.steps, sum(spent) / sum(map(len, groups))
    left = _left(facts, count, mean_ns)
    yield Found(
        values={"optimizer": optimizer, "implementation": implementation, "kernels": count, "mean_ns": mean_ns},
        rows=facts.longest_first(steps.rows[slow]),
        changes=(fused_groups((rows.tolist(), round(left * ns)) for rows, ns in zip(groups, spent, strict=True)),),
        evidence=(
            evidence("optimizer_kernels", count, "count", "kernels"),
            evidence("optimizer_ns", sum(spent) / facts.steps, "ns", "kernels"),
        ),
        links=(link("optimizers"),),
    )


def _left(facts: Facts, count: float, mean_ns: float) -> float:
    """Return the share of the time of these kernels that a fused one takes.

    All of it where each parameter is gone over once already, by kernels that are long enough to be about memory.
    """
    model = facts.model
    accumulated = facts.in_steps(model.tree.row[model.tree.name == facts.trace.strings.code(ACCUMULATE)])
    once = len(accumulated) > 0 and count < 1.5 * len(accumulated) / facts.steps
    return (
        1.0
        if once and mean_ns >= facts.limit("unfused_optimizer", "small_ns")
        else facts.limit("unfused_optimizer", "time_left")
    )


@rule("R61", STEPS, HOST)
def grad_recorded(facts: Facts) -> Iterator[Found]:
    """Inference that records a graph for a backward pass that never comes."""
    if facts.is_training or facts.steps < facts.limit("grad_recorded", "least_steps"):
        return
    tree, strings = facts.model.tree, facts.trace.strings
    named = strings.where(lambda name: name.startswith(_OF_TRAINING) or "Backward" in name, tree.name)
    if len(tree) and named[tree.name].any():
        return
    number = take_known(facts.trace.operators.sequence, tree.operator)
    counted = np.flatnonzero((number >= 0) & tree.is_operator)
    at = facts.step_of(tree.row[counted])
    counted, at = counted[at >= 0], at[at >= 0]
    if not len(counted):
        return
    # the number goes on by one with each node of the graph, and stands still while none is made
    nodes = [len(distinct(number[counted[at == step]])) for step in range(facts.steps)]
    if min(nodes) < facts.limit("grad_recorded", "least_nodes"):
        return
    mean = sum(nodes) / len(nodes)
    yield Found(
        values={"nodes": mean},
        rows=facts.longest_first(tree.row[counted]),
        confidence="medium",
        evidence=(evidence("graph_nodes", mean, "count", "operators"),),
        links=(link("inference_mode"),),
    )
