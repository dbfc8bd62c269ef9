"""Fits an answer as compact JSON into its budget: entries of lists are dropped, values are never cut."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from torch_tb_profiler.mcp.declaration import AnyTool, Told, Wrong


def fitted(tool: AnyTool, answer: Told) -> tuple[dict[str, Any], str]:
    """The answer as JSON values and as text; what was left out is counted in `more`. Raises Wrong."""
    found: dict[str, Any] = msgspec.to_builtins(answer)
    found["more"] = dict(found["more"])
    while len(text := compact(found)) > tool.budget:
        lists = [(path, entries) for path in tool.shrinks if (entries := _at(found, path))]
        if not lists:
            raise Wrong(f"the answer does not fit into {tool.budget} characters; ask for less")
        path, entries = max(lists, key=lambda each: len(compact(each[1])))
        # at least one entry, and about what is too much
        each = len(compact(entries)) / len(entries)
        dropped = min(max(int((len(text) - tool.budget) / (2 * each)), 1), len(entries))
        del entries[-dropped:]
        found["more"][path] = found["more"].get(path, 0) + dropped
    return found, text


def compact(value: Any) -> str:
    """JSON without spaces and without escapes of non-ASCII characters."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _at(found: dict[str, Any], path: str) -> list[Any] | None:
    """The list at a path such as `table.rows`, as a list that can be cut."""
    *above, last = path.split(".")
    place = found
    for name in above:
        place = place[name]
        if place is None:
            return None
    if not place[last]:
        return None
    place[last] = list(place[last])
    cut: list[Any] = place[last]
    return cut
