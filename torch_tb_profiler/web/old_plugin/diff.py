"""The old plugin's /diff and /diffnode, in microseconds."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise

import msgspec

from torch_tb_profiler.analysis.compare.comparison import ROOT, Comparison, turns_of
from torch_tb_profiler.analysis.compare.entries import (
    EntrySides,
    EntryTable,
    OperatorTables,
    all_entries,
    entry_with_children,
)
from torch_tb_profiler.analysis.compare.program import SUMS, OperatorTotals
from torch_tb_profiler.arrays.types import dumps
from torch_tb_profiler.model import Model
from torch_tb_profiler.web.old_plugin.modules import many_microseconds, nested_pieces

#: nodes of the whole comparison; deeper ones are left out
MOST_NODES = 20_000
_NODES_OF_A_PIECE = 500

_Number = int | float
#: name and times of a side
_Head = tuple[str, _Number, _Number, _Number]


class _Operator(msgspec.Struct, gc=False):
    name: str
    calls: int
    host_duration: _Number
    device_duration: _Number
    self_host_duration: _Number
    self_device_duration: _Number


class _Side(msgspec.Struct, gc=False):
    name: str
    duration: _Number
    device_duration: _Number
    total_duration: _Number
    aggs: list[_Operator]


class _Node(msgspec.Struct, gc=False):
    left: _Side
    right: _Side


class _Placed(_Node, gc=False):
    path: str


def diff(left: Model, right: Model) -> Iterator[bytes]:
    """Answer /diff: the whole tree, in pieces."""
    found = all_entries(Comparison(left, right, "parts"), MOST_NODES)
    return _pieces(nested_pieces(zip(found.depth.tolist(), map(dumps, _count_nodes(found)), strict=True)))


def diffnode(left: Model, right: Model, path: str) -> Iterator[bytes] | None:
    """Answer /diffnode: a node and its children, in pieces; None if there is no such path."""
    turns = turns_of(path)
    found = None if turns is None else entry_with_children(Comparison(left, right, "parts"), turns)
    if turns is None or found is None:
        return None
    return _pieces(_in_one(_count_nodes(found), "-".join(map(str, (ROOT, *turns)))))


def _pieces(texts: Iterator[bytes]) -> Iterator[bytes]:
    return iter(lambda: b"".join(islice(texts, _NODES_OF_A_PIECE)), b"")


def _in_one(nodes: Iterator[_Node], path: str) -> Iterator[bytes]:
    """Yield the first node with the others as its children."""
    yield dumps(_placed(next(nodes), path))[:-1] + b',"children":['
    for place, node in enumerate(nodes):
        yield (b"," if place else b"") + dumps(_placed(node, f"{path}-{place}"))
    yield b"]}"


def _placed(node: _Node, path: str) -> _Placed:
    return _Placed(node.left, node.right, path)


def _count_nodes(found: EntryTable) -> Iterator[_Node]:
    left, right = _heads(found.left), _heads(found.right)
    for _, left_operators, right_operators in found.operators():
        yield from map(_Node, _sides(left, left_operators), _sides(right, right_operators))


def _heads(sides: EntrySides) -> Iterator[_Head]:
    """Yield all of each side but its operators."""
    names = map(_name, sides.names(), sides.size.tolist())
    return zip(names, *map(many_microseconds, sides.times()), strict=True)


def _sides(heads: Iterator[_Head], operators: OperatorTables) -> Iterator[_Side]:
    """Yield the next sides, as many as there are tables."""
    rows = _operators(operators.sums)
    for first, after in pairwise(operators.bounds.tolist()):
        name, duration, device, total = next(heads)
        yield _Side(name, duration, device, total, rows[first:after])


def _name(name: str | None, nodes: int) -> str:
    if name is None:
        return "CompositeNodes" if nodes else "Blank"
    return name


def _operators(table: OperatorTotals) -> list[_Operator]:
    times = [many_microseconds(getattr(table, column)) for column in SUMS[1:]]
    return list(map(_Operator, table.name, table.calls.tolist(), *times))
