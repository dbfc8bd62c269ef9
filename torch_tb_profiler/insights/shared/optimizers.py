"""Calls of `Optimizer.step`, and the kernels that they launch."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.kernel_names.families import family_of
from torch_tb_profiler.model.kernel_names.family import KernelKind
from torch_tb_profiler.model.program_tree import EVALUATE
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
