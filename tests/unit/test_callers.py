"""Stacks from the bottom: sorted texts give what walking up from every end gives."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.properties import examples
from torch_tb_profiler.analysis.stacks import stack_table as module
from torch_tb_profiler.analysis.stacks.entries import EntryColumns, Labels, StackEntries, merged
from torch_tb_profiler.analysis.stacks.flame_graph import bottom_up
from torch_tb_profiler.analysis.stacks.stack_table import StackTable
from torch_tb_profiler.arrays.forest import RootPaths

Path = tuple[str, ...]


def entries_of(parents: list[int], labels: list[int], times: list[int]) -> StackEntries:
    """Of nodes, each below an earlier one (taken modulo what there is), or -1."""
    n = len(parents)
    names = Labels()
    for label in range(4):
        names.number("abcd"[label], "operator")
    raw = EntryColumns(
        np.array([parent % (i + 1) - 1 for i, parent in enumerate(parents)], np.int64),
        np.array(labels[:n], np.int64),
        np.ones(n, np.int64),
        np.arange(n),
        np.array(times[:n], np.int64),
        np.zeros(n, np.int64),
    )
    return merged(raw, names, 0, has_frames=True)


def walked(found: StackEntries, below: Path, limit: int) -> dict[Path, tuple[int, int, int, int]]:
    """Of each path from the bottom up that begins with `below`: total, self, calls, first seen; what is worth less
    than the limit is left out."""
    sums: dict[Path, list[int]] = defaultdict(lambda: [0, 0, 0, 2**62])
    for end in np.flatnonzero(found.self_host > 0).tolist():
        at, path = end, Path()
        while at >= 0:
            path += (found.labels.names[found.label[at]],)
            at = int(found.parent[at])
            sum_ = sums[path]
            sum_[0] += int(found.self_host[end])
            sum_[1] += int(found.self_host[end]) if at < 0 else 0
            sum_[2] += int(found.calls[end])
            sum_[3] = min(sum_[3], int(found.first[end]))
    start = max(len(below) - 1, 0)
    return {
        path[start:]: (total, self_, calls, first)
        for path, (total, self_, calls, first) in sums.items()
        if total >= limit and path[: len(below)] == below
    }


def paths_of(table: StackTable) -> list[Path]:
    found: list[Path] = []
    for name, parent in zip(table.name, table.parent.tolist(), strict=True):
        found.append(((found[parent]) if parent >= 0 else ()) + (name,))
    return found


def check(found: StackEntries, table: StackTable, below: Path) -> list[Path]:
    paths = paths_of(table)
    expected = walked(found, below, table.limit_ns)
    rows = {path: i for i, path in enumerate(paths) if table.kind[i] != "smaller"}
    assert rows.keys() == expected.keys()
    for path, row in rows.items():
        total, self_, calls, _ = expected[path]
        assert (table.total_ns[row], table.self_ns[row], table.calls[row]) == (total, self_, calls)
    inner = table.parent >= 0
    sums = table.self_ns.copy()
    np.add.at(sums, table.parent[inner], table.total_ns[inner])
    assert (sums == table.total_ns).all()
    # siblings as they were first seen
    for path in {path[:-1] for path in rows}:
        seen = [expected[other][3] for other in rows if other[:-1] == path]
        assert seen == sorted(seen)
    return paths


trees = st.integers(1, 60).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 10**6), min_size=n, max_size=n),
        st.lists(st.integers(0, 3), min_size=n, max_size=n),
        st.lists(st.integers(0, 9), min_size=n, max_size=n),
    )
)


@examples(150)
@given(trees, st.sampled_from([0.0, 0.02, 0.3]), st.integers(0, 10**6))
def test_as_if_every_end_walked_up(tree: tuple[list[int], list[int], list[int]], share: float, chosen: int) -> None:
    found = entries_of(*tree)
    table = bottom_up(found, "host", 0, share)
    assert table is not None
    paths = check(found, table, ())
    entries = [i for i, kind in enumerate(table.kind) if kind != "smaller"]
    if not entries:
        return
    row = entries[chosen % len(entries)]
    inner = bottom_up(found, "host", int(table.id[row]), share)
    assert inner is not None
    assert inner.above is not None
    assert inner.above.name == paths[row][:-1]
    assert inner.id[0] == table.id[row]
    check(found, inner, paths[row])


@examples(60)
@given(trees)
def test_ids_do_not_depend_on_what_else_is_there(tree: tuple[list[int], list[int], list[int]]) -> None:
    found = entries_of(*tree)
    hashes = dict(zip(found.labels.names, found.labels.hashes().tolist(), strict=True))
    table = bottom_up(found, "host", 0, 0.0)
    assert table is not None
    for path, id_, kind in zip(paths_of(table), table.id.tolist(), table.kind, strict=True):
        state = 0
        for name in path:
            state = (state * 6364136223846793005 + hashes.get(name, 0)) % 2**64
        assert kind == "smaller" or id_ == max(state >> 12, 1)


def test_deep_stacks_do_not_make_more_entries_than_are_shown(monkeypatch: object) -> None:
    n = 3000
    found = entries_of([i + 0 for i in range(n)], [i % 4 for i in range(n)], [1] * n)
    full = bottom_up(found, "host", 0, 0.0)
    module_most = module.MOST_SHOWN
    try:
        module.MOST_SHOWN = 2000
        table = bottom_up(found, "host", 0, 0.0)
    finally:
        module.MOST_SHOWN = module_most
    assert full is not None
    assert table is not None
    assert len(table) < 2500 < len(full)
    assert table.limit_ns > full.limit_ns
    assert int(table.self_ns.sum()) == int(full.self_ns.sum()) == n


def test_an_unknown_id_is_not_found() -> None:
    assert bottom_up(entries_of([0, 1, 2], [0, 1, 0], [1, 1, 1]), "host", 12345, 0.0) is None


@examples(60)
@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=50), st.lists(st.integers(0, 2), min_size=50, max_size=50))
def test_texts_upwards(parents: list[int], labels: list[int]) -> None:
    parent = np.array([p % (i + 1) - 1 for i, p in enumerate(parents)], np.int64)
    label = np.array(labels[: len(parent)], np.int64)
    walks = RootPaths(parent, label)
    texts: list[list[int]] = []
    above: list[list[int]] = []
    for i, p in enumerate(parent.tolist()):
        texts.append([int(label[i]), *(texts[p] if p >= 0 else [])])
        above.append([i, *(above[p] if p >= 0 else [])])
    nodes = np.arange(len(parent))
    assert walks.order(nodes).tolist() == sorted(nodes.tolist(), key=lambda i: texts[i])
    a, b = np.repeat(nodes, len(nodes)), np.tile(nodes, len(nodes))

    def common(x: list[int], y: list[int]) -> int:
        return next((k for k, (s, t) in enumerate(zip(x, y, strict=False)) if s != t), min(len(x), len(y)))

    assert walks.common(a, b).tolist() == [
        common(texts[i], texts[j]) for i, j in zip(a.tolist(), b.tolist(), strict=True)
    ]
    distance = np.tile(np.arange(len(nodes)), len(nodes))
    expected = [above[i][d] if d < len(above[i]) else -1 for i, d in zip(a.tolist(), distance.tolist(), strict=True)]
    assert walks.ancestor(a, distance).tolist() == expected
