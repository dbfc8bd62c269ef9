"""Calls of the device's API: by what they are called and who called them."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.question import NoParameters
from torch_tb_profiler.analysis.result import Result, column, result_question
from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.arrays.types import Bool, Float64, Int64
from torch_tb_profiler.model import Model


class ApiCalls(Result, group="api_calls"):
    """A row per function and caller, by total time, descending."""

    name: tuple[str, ...] = column("Call", "Function of the device's runtime or driver API.")
    caller: tuple[str, ...] = column(
        "Caller",
        "The innermost operator around the call, otherwise the innermost annotation; empty if there is neither.",
    )
    by_operator: Bool = column("By an operator", "Whether the caller is an operator.", hidden=True)
    calls: Int64 = column(
        "Calls",
        "How often it was called. A call inside another call of the API is part of that call.",
    )
    total_ns: Int64 = column(
        "Total",
        "Σ durations within the caller. Long calls wait for the device, for memory, or for room in its queue.",
        total=True,
    )
    mean_ns: Float64 = column("Average", "Total ÷ calls.")
    max_ns: Int64 = column("Longest", "The longest call.")
    longest_row: Int64 = column("Longest call", "Number of the longest call's event in the file.", hidden=True)


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


API_CALLS = result_question(
    "api_calls",
    "Calls of the device's API, by function and caller",
    api_calls,
    answer=ApiCalls,
    view="operators",
    first=(NoParameters(),),
    report=({},),
)
