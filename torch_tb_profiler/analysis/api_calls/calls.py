"""Calls of the device's API: by what they are called and who called them."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.tabular import Tabular
from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.arrays.types import Bool, Float64, Int64
from torch_tb_profiler.model import Model


class ApiCalls(Tabular, frozen=True):
    """One row per function and caller, by total_ns, descending. Arrays of shape (rows,), times in ns.

    Columns as in `columns.API_CALLS`.
    """

    name: tuple[str, ...]
    caller: tuple[str, ...]
    by_operator: Bool
    calls: Int64
    total_ns: Int64
    mean_ns: Float64
    max_ns: Int64
    longest_row: Int64

    def __len__(self) -> int:
        return len(self.name)


def api_calls(model: Model) -> ApiCalls:
    """Calls inside other calls of the API are left out: they are parts of those."""
    trace, tree, links = model.trace, model.tree, model.launch_links
    rows, strings = model.launches.row, model.trace.strings
    # a call inside another one has no time of its own
    at = np.flatnonzero((links.duration > 0) | (trace.events.duration[rows] <= 0))
    at = at[descending(links.duration[at])]
    node = np.where(links.operator_node[at] >= 0, links.operator_node[at], links.node[at])
    caller = np.where(node >= 0, tree.name[node], -1) if len(tree) else np.full(len(at), -1)
    operator = links.operator_node[at] >= 0
    groups = group([trace.events.name[rows[at]], caller, operator.astype(np.int8)])
    total, calls = groups.sum(links.duration[at]), groups.count()

    order = descending(
        total,
        lambda group: (
            strings[int(trace.events.name[rows[at[groups.first[group]]]])],
            "" if (code := int(caller[groups.first[group]])) < 0 else strings[code],
        ),
    )
    first = groups.first[order]
    longest = rows[at[first]]
    return ApiCalls(
        name=tuple(strings[code] for code in trace.events.name[longest].tolist()),
        caller=tuple(strings[code] if code >= 0 else "" for code in caller[first].tolist()),
        by_operator=operator[first],
        calls=calls[order],
        total_ns=total[order],
        mean_ns=(total / np.maximum(calls, 1))[order],
        max_ns=links.duration[at[first]],
        longest_row=longest.astype(np.int64),
    )
