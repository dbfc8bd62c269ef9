"""What a program that is compiled runs outside compiled code: the eager remainder."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.program.regions import COMPILING, compiled_nodes, named_nodes, work_in
from torch_tb_profiler.analysis.result import Result, column
from torch_tb_profiler.analysis.shared.backward_links import evaluates
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.grouping import descending, group, sums_at
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model import Model


class EagerOperators(Result, group="eager"):
    """One row per name of an operator outside compiled code, by time on devices, else on the host, descending.

    The last row may be work that no operator launched.
    """

    name: tuple[str | None, ...] = column("Operator", "Outermost operator; empty for work that no operator launched.")
    calls: Int64 = column("Calls", "Calls outside compiled code in the steps.", missing_below_zero=True)
    host_ns: Int64 = column("Host", "Σ durations of these.", missing_below_zero=True)
    device_ns: Int64 = column("Device", "Σ durations of device work launched in them.")
    row: Int64 = column(
        "Longest call", "Event of the longest of these on the host.", unit=None, missing_below_zero=True, hidden=True
    )


@cached
def eager_operators(model: Model) -> EagerOperators:
    """Of the steps that are chosen; nothing where nothing compiled runs. Device time adds up to the remainder."""
    inside = model.in_steps
    tree = inside.tree
    compiled = compiled_nodes(inside)
    if not compiled.any():
        none = np.empty(0, np.int64)
        return EagerOperators((), none, none, none, none)
    outer = _outermost(inside, compiled)
    node = np.flatnonzero(outer)
    groups = group([tree.name[node].astype(np.int64)])
    of_node = np.full(len(tree) + 1, len(groups), np.int64)
    of_node[node] = groups.of
    work, around, duration = work_in(inside, compiled)
    eager = around < 0
    launched = nearest(tree.parent, outer, inside.device_links.node[work[eager]])
    device = sums_at(of_node[launched], duration[eager], len(groups) + 1)
    length = tree.end[node] - tree.start[node]
    host = groups.sum(length)
    order = descending(device[:-1] if device[:-1].any() else host)
    longest = np.lexsort((tree.start[node], -length, groups.of))
    first = node[longest[np.searchsorted(groups.of[longest], np.arange(len(groups)))]]
    names: list[str | None] = list(inside.trace.strings.texts(tree.name[node[groups.first[order]]]))
    rest = device[-1:] if device[-1] else device[:0]
    unknown = np.full(len(rest), -1)
    return EagerOperators(
        name=(*names, *[None] * len(rest)),
        calls=np.append(groups.count()[order], unknown),
        host_ns=np.append(host[order], unknown),
        device_ns=np.append(device[:-1][order], rest),
        row=np.append(tree.row[first[order]].astype(np.int64), unknown),
    )


def _outermost(inside: Model, compiled: Bool) -> Bool:
    """Outermost operators that neither are compiled code, nor are in it, nor hold any, nor are of compiling.

    Calls of the autograd engine hold the operators of the backward pass: these are told.
    """
    tree = inside.tree
    holding = np.zeros(len(tree), np.bool_)
    at = distinct(tree.parent[np.flatnonzero(compiled)])
    while len(at := at[at >= 0]):
        holding[at] = True
        at = distinct(tree.parent[at])
        at = at[~np.append(holding, True)[at]]
    excluded = compiled | named_nodes(inside, COMPILING.search)
    eager = tree.is_operator & ~evaluates(inside) & ~holding
    eager &= nearest(tree.parent, excluded, np.arange(len(tree))) < 0
    found: Bool = eager & (nearest(tree.parent, eager, tree.parent) < 0)
    return found
