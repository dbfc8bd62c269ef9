"""What runs in the backward pass, and what of it is the forward pass again: activation checkpointing."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.arrays.distinct import distinct_places
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.program_tree import EVALUATE

#: fewer operators than these may be like others by chance
LEAST = 5


#: an operator of the backward pass as torch named it before 1.11
_OLD_NODE = lazy_pattern(r"\w*Backward\d*$|torch::autograd::AccumulateGrad$")


@cached
def autograd_nodes(model: Model) -> Bool:
    """Shape (call tree of the whole trace,): whether a node of it is a node of the autograd engine.

    Before torch 1.11 their ranges had no name of their own: there it is the operator itself that tells.
    """
    tree, strings = model.structure.tree, model.trace.strings
    if not len(tree):
        return np.zeros(0, np.bool_)
    found: Bool = tree.is_operator & strings.where(lambda name: name.startswith(EVALUATE), tree.name)[tree.name]
    if found.any():
        return found
    by_name = strings.where(_OLD_NODE.fullmatch, tree.name)[tree.name]
    by_thread = take_known(model.trace.operators.forward_thread, tree.operator) > 0
    return tree.is_operator & (by_name | by_thread)


@cached
def evaluates(model: Model) -> Bool:
    """Shape (call tree,): the calls of the autograd engine that the backward pass is made of."""
    tree = model.tree
    named = model.trace.strings.where(lambda name: name.startswith(EVALUATE), tree.name)
    found: Bool = tree.is_operator & named[tree.name] if len(tree) else np.zeros(0, np.bool_)
    return found


@cached(for_good=True)
def recomputed(model: Model) -> Int64:
    """Positions in the call tree of the operators that run again, outermost ones.

    Operators of the backward pass have no number of the autograd engine, but those that compute anew what was not
    kept. They count when they follow one another as they do somewhere in the forward pass, the last ones left out:
    recomputation stops where all that is needed is there. Of a gradient of gradients they do not.
    """
    tree = model.tree
    number = take_known(model.trace.operators.sequence, tree.operator)
    names = model.trace.strings.where(lambda name: name.startswith("aten::"), tree.name)
    numbered = (number >= 0) & tree.is_operator & names[tree.name] if len(tree) else np.zeros(0, np.bool_)
    if not numbered.any():
        return np.empty(0, np.int64)
    each = np.flatnonzero(numbered)
    evaluated = nearest(tree.parent, evaluates(model), each)
    inner, owner = each[evaluated >= 0], evaluated[evaluated >= 0]
    if not len(inner):
        return inner
    # operators inside others count for the comparison, too: `linear` holds `t` and `addmm`
    place = distinct_places(tree.name[each])[1]
    forward, letters = _as_text(place[evaluated < 0]), _as_text(place[evaluated >= 0])
    outermost = nearest(tree.parent, numbered, tree.parent[inner]) < 0
    known: dict[str, bool] = {}
    found = np.zeros(len(inner), np.bool_)
    for begin, after in _runs(owner):
        text = letters[begin:after]
        if text not in known:
            known[text] = after - begin >= LEAST and text[: max(LEAST, len(text) - 2)] in forward
        found[begin:after] = known[text]
    return inner[found & outermost]


def _as_text(numbers: Int64) -> str:
    """A letter for each of some small numbers, so that runs of them can be searched as text is."""
    return (0xE000 + numbers).astype("<u4").tobytes().decode("utf-32-le")


def _runs(values: np.ndarray[tuple[int], np.dtype[np.int32]]) -> list[tuple[int, int]]:
    """Where each run of equal values begins and ends."""
    edges = np.flatnonzero(np.diff(values)) + 1
    return list(zip([0, *edges.tolist()], [*edges.tolist(), len(values)], strict=True))
