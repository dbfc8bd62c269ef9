"""The old plugin's /diff and /diffnode, in microseconds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch_tb_profiler.analysis.diff import Comparison, Node, OperatorSums, Side
from torch_tb_profiler.model import Model
from torch_tb_profiler.web.http import dumps
from torch_tb_profiler.web.microseconds import microseconds
from torch_tb_profiler.web.tree_json import nested

Json = dict[str, Any]

#: nodes of the whole comparison; what is left then has no children in the answer
MOST_NODES = 20_000


def diff(left: Model, right: Model) -> bytes:
    """/diff: the whole tree."""
    return nested(_walk(Comparison(left, right, "parts")))


def diffnode(left: Model, right: Model, path: str) -> Json | None:
    """/diffnode: a node and its children; None when there is no such path."""
    comparison = Comparison(left, right, "parts")
    node = comparison.at(path)
    if node is None:
        return None
    children = [{**_node(child), "path": child.path} for child in comparison.children(node)]
    return {**_node(node), "path": node.path, "children": children}


def _walk(comparison: Comparison) -> Iterator[tuple[int, bytes]]:
    stack = [(0, comparison.root())]
    known = 1
    while stack:
        depth, node = stack.pop()
        yield depth, dumps(_node(node))
        if known < MOST_NODES:
            children = comparison.children(node)
            known += len(children)
            stack += [(depth + 1, child) for child in reversed(children)]


def _node(node: Node) -> Json:
    return {"left": _side(node.left), "right": _side(node.right)}


def _side(side: Side) -> Json:
    times = side.times
    name = side.name
    if name is None:
        name = "CompositeNodes" if len(side.nodes) else "Blank"
    return {
        "name": name,
        "duration": microseconds(times.duration_ns),
        "device_duration": microseconds(times.device_ns),
        "total_duration": microseconds(times.total_ns),
        "aggs": _operators(side.operators()),
    }


def _operators(table: OperatorSums) -> list[Json]:
    return [
        {
            "name": name,
            "calls": int(table.calls[i]),
            "host_duration": microseconds(int(table.host_total_ns[i])),
            "device_duration": microseconds(int(table.device_total_ns[i])),
            "self_host_duration": microseconds(int(table.host_self_ns[i])),
            "self_device_duration": microseconds(int(table.device_self_ns[i])),
        }
        for i, name in enumerate(table.name)
    ]
