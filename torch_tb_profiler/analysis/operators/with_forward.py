"""Calls of operators as they are grouped: each by itself, or what autograd nodes ran with their forward."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.operators.calls import OperatorCalls
from torch_tb_profiler.analysis.shared.backward_links import LINKS, backward_times, selected_links
from torch_tb_profiler.analysis.shared.device_roles import share
from torch_tb_profiler.arrays.distinct import distinct_places
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.program_tree import ACCUMULATE
from torch_tb_profiler.trace import StringTable

#: behind the name of a forward operator: all that its autograd nodes ran
BACKWARD_OF = " (backward)"


class Keys(msgspec.Struct, frozen=True):
    """What calls of operators are grouped by; parallel to `OperatorCalls`.

    strings  of which `name` has codes
    name     the operator, or its forward and `BACKWARD_OF`
    node     position in the call tree of that operator: where shapes and stack are from
    whole    whether its total times count; else they are in those of a call around it
    counted  whether it counts as a call: of the backward pass those that accumulate gradients do not
    """

    strings: StringTable
    name: Int32
    node: Int64
    whole: Bool
    counted: Bool


def keys_of(model: Model, calls: OperatorCalls, with_forward: bool) -> Keys:
    tree, strings = model.tree, model.trace.strings
    name, node = tree.name[calls.node], calls.node
    whole = np.ones(len(node), np.bool_)
    if not with_forward:
        return Keys(strings, name, node, whole, whole)
    linked, forward = selected_links(model)
    of = np.full(len(tree), -1, np.int64)
    of[linked] = forward
    around = nearest(tree.parent, of >= 0, node)
    moved = np.flatnonzero(around >= 0)
    target = of[around[moved]]
    different, place = distinct_places(tree.name[target].astype(np.int64))
    texts = [strings[code] + BACKWARD_OF for code in different.tolist()]
    name, node = name.copy(), node.copy()
    name[moved] = len(strings) + place
    node[moved] = target
    whole[moved] = calls.of_node[around[moved]] == moved
    codes = [strings.code(text) for text in (ACCUMULATE, "torch::autograd::AccumulateGrad")]
    counted = whole & ~((around >= 0) & np.isin(tree.name[around], codes))
    return Keys(StringTable([*strings, *texts]), name, node, whole, counted)


def unlinked_share(model: Model) -> float | None:
    """The part of the device time of autograd nodes, else of their host time, whose forward is not known."""
    times = backward_times(model)
    spent: Int64 = times.device if times.device.any() else times.host
    known = share(int(spent[LINKS.index("linked")]), int(spent.sum()))
    return None if known is None else 1 - known
