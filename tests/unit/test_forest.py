"""Sums over forests, walks over them and to their roots, against recursion."""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.arrays.forest import Forest, paths, preorder
from torch_tb_profiler.arrays.nesting import by_depth, depths, nearest, to_root

Parents = list[int]
#: as often the same forest has levels that are worth calls of numpy
WIDE = 64


@st.composite
def forests(draw: st.DrawFn) -> Parents:
    """Parents of nodes that stand anywhere: any forest, its nodes renumbered at random."""
    nodes = draw(st.integers(0, 15))
    above = [draw(st.integers(-1, i - 1)) for i in range(nodes)]
    number = draw(st.permutations(range(nodes)))
    parent = [-1] * nodes
    for i, up in enumerate(above):
        parent[number[i]] = number[up] if up >= 0 else -1
    return parent


def walk(parent: Parents, turns: list[int]) -> list[int]:
    """The definition of preorder."""

    def below(node: int) -> list[int]:
        return [node, *(each for child in turns if parent[child] == node for each in below(child))]

    return [each for root in turns if parent[root] < 0 for each in below(root)]


def ancestors(parent: Parents, node: int) -> list[int]:
    """The node itself first."""
    return [node, *(ancestors(parent, parent[node]) if parent[node] >= 0 else [])]


@given(forests(), st.data())
def test_preorder(parent: Parents, data: st.DataObject) -> None:
    turns = data.draw(st.permutations(range(len(parent))))
    given_parents = np.array(parent, np.int32)
    expected = walk(parent, turns)
    assert preorder(given_parents, np.array(turns, np.int64)).tolist() == expected


@given(forests(), st.data())
def test_paths(parent: Parents, data: st.DataObject) -> None:
    """Against the definition: an entry is the keys from the root down; level by level, as they first occur."""
    drawn = st.lists(st.integers(0, 2), min_size=len(parent), max_size=len(parent))
    keys = [data.draw(drawn), data.draw(drawn)]
    way = [tuple((keys[0][at], keys[1][at]) for at in reversed(ancestors(parent, node))) for node in range(len(parent))]
    entries = sorted(dict.fromkeys(way), key=len)
    narrow, wide = (
        paths(np.array(parent * times, np.int32), [np.array(key * times, np.int64) for key in keys])
        for times in (1, WIDE)
    )
    for of, around in (narrow, wide):
        assert of[: len(parent)].tolist() == [entries.index(each) for each in way]
        assert around.tolist() == [entries.index(each[:-1]) if len(each) > 1 else -1 for each in entries]


def test_a_walk_over_many_levels_is_no_round_for_each() -> None:
    """Deep trees take numpy some calls, not some for each level."""
    deep = np.arange(-1, 3_000, dtype=np.int32)
    calls = Counter[str]()

    def count(_: object, event: str, function: object) -> None:
        calls["numpy"] += event == "c_call"

    sys.setprofile(count)
    try:
        order = preorder(deep, np.arange(len(deep)))
        of, _ = paths(deep, [np.zeros(len(deep), np.int64)])
    finally:
        sys.setprofile(None)
    assert order.tolist() == of.tolist() == list(range(len(deep)))
    assert calls["numpy"] < 4 * len(deep)


@given(forests(), st.data())
def test_sums_over_everything_below(parent: Parents, data: st.DataObject) -> None:
    # renumbered so that nodes stand in preorder
    order = walk(parent, list(range(len(parent))))
    in_order = [order.index(parent[node]) if parent[node] >= 0 else -1 for node in order]
    values = data.draw(st.lists(st.integers(-(2**58), 2**58), min_size=len(order), max_size=len(order)))
    forest = Forest(np.array(in_order, np.int32))
    members = [[each for each in range(len(order)) if node in ancestors(in_order, each)] for node in range(len(order))]
    assert forest.below(np.array(values, np.int64)).tolist() == [sum(values[i] for i in of) for of in members]
    assert forest.below(np.array(values, np.int64) > 0).tolist() == [sum(values[i] > 0 for i in of) for of in members]
    assert forest.after.tolist() == [node + len(of) for node, of in enumerate(members)]
    assert forest.children.tolist() == [in_order.count(node) for node in range(len(order))]


@given(forests(), st.data())
def test_ways_up(parent: Parents, data: st.DataObject) -> None:
    nodes = range(len(parent))
    given_parents = np.array(parent, np.int32)
    depth = depths(given_parents)
    assert depth.tolist() == [len(ancestors(parent, node)) - 1 for node in nodes]
    levels = [[node for node in nodes if depth[node] == level] for level in range(max(depth.tolist(), default=-1) + 1)]
    assert [level.tolist() for level in by_depth(depth)] == levels
    link = np.array([up if up >= 0 else node for node, up in enumerate(parent)], np.int64)
    assert to_root(link).tolist() == [ancestors(parent, node)[-1] for node in nodes]
    wanted = data.draw(st.lists(st.booleans(), min_size=len(parent), max_size=len(parent)))
    begin = data.draw(st.lists(st.integers(-1, len(parent) - 1), max_size=12))
    expected = [next((n for n in ancestors(parent, b) if wanted[n]), -1) if b >= 0 else -1 for b in begin]
    assert nearest(given_parents, np.array(wanted, np.bool_), np.array(begin, np.int64)).tolist() == expected
