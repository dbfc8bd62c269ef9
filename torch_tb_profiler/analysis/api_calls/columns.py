"""Columns of the calls of the device's API."""

from __future__ import annotations

from torch_tb_profiler.analysis.definition import Definition, by_key

API_CALLS = by_key(
    "api_calls",
    Definition("name", "Call", "string", None, "Function of the device's runtime or driver API."),
    Definition(
        "caller",
        "Caller",
        "string",
        None,
        "The innermost operator around the call, otherwise the innermost annotation; empty if there is neither.",
    ),
    Definition("by_operator", "By an operator", "bool", None, "Whether the caller is an operator."),
    Definition(
        "calls",
        "Calls",
        "number",
        "count",
        "How often it was called. A call inside another call of the API is part of that call.",
    ),
    Definition(
        "total_ns",
        "Total",
        "number",
        "ns",
        "Σ durations within the caller. Long calls wait for the device, for memory, or for room in its queue.",
    ),
    Definition("mean_ns", "Average", "number", "ns", "Total ÷ calls."),
    Definition("max_ns", "Longest", "number", "ns", "The longest call."),
    Definition("longest_row", "Longest call", "number", "count", "Number of the longest call's event in the file."),
)
