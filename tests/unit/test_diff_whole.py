"""A whole comparison in arrays says what the comparison says of one entry at a time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.events import Event, annotation, kernel, launch, model_of, op
from tests.properties import examples
from tests.unit.test_program import module, training
from torch_tb_profiler.analysis.compare import entries as whole_tree
from torch_tb_profiler.analysis.compare.comparison import Comparison, ComparisonEntry, turns_of
from torch_tb_profiler.analysis.compare.entries import (
    EntrySides,
    EntryTable,
    OperatorTables,
    all_entries,
    entry_with_children,
)
from torch_tb_profiler.analysis.compare.program import SUMS, EntrySide
from torch_tb_profiler.model import Model

#: what ran, and what ran inside of it
Call = tuple[str, list[Any]]


def one_by_one(comparison: Comparison, most: int) -> list[tuple[int, ComparisonEntry]]:
    """The entries in preorder, with their depth; once `most` are known none is opened."""
    waiting, found, known = [(0, comparison.root())], [], 1
    while waiting:
        depth, node = waiting.pop()
        found.append((depth, node))
        children = comparison.children(node) if known < most else []
        known += len(children)
        waiting += [(depth + 1, child) for child in reversed(children)]
    return found


def check(left: Model, right: Model, most: int = 10**9) -> list[str | None]:
    """The names of the left sides."""
    comparison = Comparison(left, right, "parts")
    wanted = one_by_one(comparison, most)
    found = all_entries(comparison, most)
    assert found.depth.tolist() == [depth for depth, _ in wanted]
    same(found, [node for _, node in wanted])
    for _, node in wanted[:10]:
        turns = turns_of(node.path)
        assert turns is not None
        children = comparison.children(node)
        assert entry_with_children(comparison, [*turns, len(children)]) is None
        one = entry_with_children(comparison, turns)
        assert one is not None
        assert one.depth.tolist() == [0] + [1] * len(children)
        same(one, [node, *children])
    return found.left.names()


def same(found: EntryTable, wanted: list[ComparisonEntry]) -> None:
    for some, left, right in found.operators():
        same_side(found.left.some(some), left, [node.left for node in wanted[some]])
        same_side(found.right.some(some), right, [node.right for node in wanted[some]])


def same_side(sides: EntrySides, operators: OperatorTables, wanted: Sequence[EntrySide]) -> None:
    assert sides.size.tolist() == [len(side.nodes) for side in wanted]
    assert sides.names() == [side.name for side in wanted]
    times = zip(*(column.tolist() for column in sides.times()), strict=True)
    assert list(times) == [(t.duration_ns, t.device_ns, t.total_ns) for t in (side.times for side in wanted)]
    for (first, after), side in zip(pairwise(operators.bounds.tolist()), wanted, strict=True):
        table = side.operators()
        assert operators.sums.name[first:after] == table.name
        for key in SUMS:
            assert getattr(operators.sums, key)[first:after].tolist() == getattr(table, key).tolist()


def events_of(calls: list[Call], start: float = 0.0) -> tuple[list[Event], float]:
    """The events of calls one after the other, and when the last returned."""
    events: list[Event] = []
    for name, inside in calls:
        below, end = events_of(inside, start + 1)
        make = module if name[0].isupper() and "#" not in name else op if name.startswith("aten::") else annotation
        events += [make(name, start, end + 1.5 - start), *below]
        if name == "aten::b":
            number = int(start)
            events += [launch(start + 0.25, number, 0.5), kernel(10**6 + start, 0.125 + number % 3, number)]
        start = end + 2
    return events, start


def program(calls: list[Call]) -> Model:
    return model_of(events_of(calls)[0])


names = st.sampled_from(["ProfilerStep#1", "A_0", "A_1", "B", "Optimizer.step#SGD.step", "aten::a", "aten::b"])
leaves: st.SearchStrategy[list[Call]] = st.builds(list)
programs = st.recursive(leaves, lambda inside: st.lists(st.tuples(names, inside), max_size=5), max_leaves=25)


@pytest.mark.slow
@examples(150)
@given(programs, programs, st.integers(1, 12))
def test_any_programs(left: list[Call], right: list[Call], most: int) -> None:
    first, second = program(left), program([*left[:1], *right])
    for pair in ((first, first), (first, second), (second, first)):
        check(*pair)
        check(*pair, most)


def step(*calls: Call) -> Call:
    return "ProfilerStep#1", list(calls)


A: Call = ("A", [("aten::b", [("aten::a", [])]), ("B", [("aten::a", [])]), ("aten::a", [])])


@pytest.mark.parametrize(
    "calls",
    [
        pytest.param([], id="nothing"),
        pytest.param([A, ("aten::a", []), A], id="no steps"),
        pytest.param([step(A, ("aten::a", [])), ("aten::a", []), step(("aten::b", []), A)], id="between steps"),
        pytest.param([step(A, step(("aten::b", []), A), ("aten::b", [])), step(A)], id="steps in steps"),
    ],
)
def test_what_steps_do(calls: list[Call]) -> None:
    check(program(calls), program(calls))
    check(program(calls), program([step(("aten::a", []), A)]))


def test_with_a_backward_thread() -> None:
    named = check(model_of(training(2)), model_of(training(2)))
    assert "nn.Module: Linear_1.backward" in named


def test_operators_come_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_tree, "_OPERATORS_OF_A_PIECE", 7)
    model = program([step(*[A] * 10)])
    found = all_entries(Comparison(model, model, "parts"), 10**9)
    assert len(list(found.operators())) > 5
    check(model, model)


def test_a_comparison_of_so_many_entries() -> None:
    """What comes after the limit is there and is not opened."""
    model = program([step(A, A, A)])
    assert check(model, model, 4)[1:] == [
        "nn.Module: A",
        "nn.Module: A",
        "nn.Module: A",
    ]
    assert len(check(model, model, 5)) == len(check(model, model)) - 2 * 3
