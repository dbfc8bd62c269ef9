"""Two traces side by side."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.events import US, Event, annotation, kernel, launch, model_of, op
from tests.unit.test_program import EVALUATE, deep, module, training
from torch_tb_profiler.analysis.compare.comparison import Comparison, ComparisonEntry
from torch_tb_profiler.analysis.compare.program import SUMS, EntrySide, OperatorTotals, Program
from torch_tb_profiler.analysis.compare.question import delta
from torch_tb_profiler.analysis.kernels import KernelSums
from torch_tb_profiler.analysis.modules import modules
from torch_tb_profiler.analysis.operators.table import operators
from torch_tb_profiler.model import Model
from torch_tb_profiler.web.old_plugin import diff

LOADER = "enumerate(DataLoader)#_{}DataLoaderIter.__next__"


def names(nodes: list[ComparisonEntry]) -> list[tuple[list[str], list[str]]]:
    return [(_names(node.left), _names(node.right)) for node in nodes]


def _names(side: EntrySide) -> list[str]:
    return [side.program.timed.name(node).removeprefix("nn.Module: ") for node in side.nodes.tolist()]


def parts(*kinds: str) -> Model:
    """A step that calls modules (upper case) and operators."""
    events = [annotation("ProfilerStep#1", 0, 1000)]
    for i, name in enumerate(kinds):
        start = 10 + 20 * i
        events.append(module(name, start, 10) if name[0].isupper() else op(name, start, 10))
    return model_of(events)


def top(left: Model, right: Model, detail: Any = "parts") -> list[tuple[list[str], list[str]]]:
    comparison = Comparison(left, right, detail)
    return names(comparison.children(comparison.root()))


def test_parts_are_paired_and_the_rest_is_compared_as_one() -> None:
    assert top(parts("x", "A", "y", "z", "B"), parts("A", "w", "B", "v")) == [
        (["x"], []),
        (["A"], ["A"]),
        (["y", "z"], ["w"]),
        (["B"], ["B"]),
        ([], ["v"]),
    ]


def test_a_far_match_does_not_swallow_what_is_between() -> None:
    """The old plugin paired B and lost A and C."""
    assert top(parts("B", "A", "C"), parts("A", "C", "B")) == [
        (["B"], []),
        (["A"], ["A"]),
        (["C"], ["C"]),
        ([], ["B"]),
    ]


def test_nothing_in_common() -> None:
    assert top(parts("A"), parts("B")) == []
    assert top(parts("a", "b"), parts("a", "b")) == []
    assert top(parts("a", "b", "c"), parts("a", "c", "d"), "all") == [
        (["a"], ["a"]),
        (["b"], []),
        (["c"], ["c"]),
        ([], ["d"]),
    ]


def test_renamed_parts() -> None:
    single = parts(LOADER.format("SingleProcess"), "Linear_0", "a")
    multi = parts(LOADER.format("MultiProcessing"), "Linear_7", "a")
    loaders = ([LOADER.format("SingleProcess")], [LOADER.format("MultiProcessing")])
    assert top(single, multi) == []
    assert top(single, multi, "all") == [loaders, (["Linear_0"], ["Linear_7"]), (["a"], ["a"])]


def test_annotations_come_before_operators() -> None:
    def run(extra: str) -> Model:
        return model_of(
            [
                annotation("ProfilerStep#1", 0, 1000),
                annotation("## forward ##", 10, 100),
                op("a", 20, 10),
                op(extra, 50, 10),
                op("b", 200, 10),
            ]
        )

    assert top(run("x"), run("y"), "all") == [(["## forward ##"], ["## forward ##"]), (["b"], ["b"])]
    comparison = Comparison(run("x"), run("y"), "all")
    below = comparison.at("0-0")
    assert below is not None
    assert names(comparison.children(below)) == [(["a"], ["a"]), (["x"], ["y"])]


def everything(comparison: Comparison) -> Iterator[ComparisonEntry]:
    waiting = [comparison.root()]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += comparison.children(node)


@pytest.mark.parametrize("detail", ["parts", "all"])
@pytest.mark.parametrize("tid", [1, 2])
def test_a_trace_and_itself(tid: int, detail: Any) -> None:
    comparison = Comparison(model_of(training(tid)), model_of(training(tid)), detail)
    seen = list(everything(comparison))
    assert len(seen) >= 7
    for node in seen:
        assert node.left.nodes.tolist() == node.right.nodes.tolist()
        assert node.left.times == node.right.times
        found = comparison.at(node.path)
        assert found is not None
        assert found.left.nodes.tolist() == node.left.nodes.tolist()
        for table in (
            delta(node.left.operators(), node.right.operators(), ("device_self_ns", "host_self_ns")),
            delta(node.left.kernels(), node.right.kernels(), ("total_ns",)),
        ):
            assert all((table.right[c] == table.left[c]).all() for c in table.left)


def test_the_backward_thread_is_compared() -> None:
    """kineto#863."""
    one, two = (model_of(training(2)) for _ in "ab")
    paths = [names([node])[0][0] for node in everything(Comparison(one, two, "all"))]
    assert [EVALUATE + "LossBackward0"] in [p[-1:] for p in paths]
    assert ["Linear_1.backward"] in paths


def test_numbers() -> None:
    node = Comparison(model_of(training()), model_of(training()), "parts").at("0-0")
    assert node is not None
    times = node.left.times
    assert (times.duration_ns, times.device_ns, times.total_ns) == (200_000, 30_000, 30_000)
    sums, kernels = node.left.operators(), node.left.kernels()
    assert sums.name == ("aten::addmm", "aten::linear")
    assert sums.calls.tolist() == [1, 2]
    assert sums.device_total_ns.tolist() == [10_000, 30_000]
    assert sums.device_self_ns.tolist() == [10_000, 20_000]
    assert (kernels.name, kernels.calls.tolist(), kernels.total_ns.tolist()) == (("kernel",), [2], [30_000])


def checkpointed() -> list[Event]:
    """Activation checkpointing: an operator of the backward calls the module again, and that its operators."""
    return [
        annotation("ProfilerStep#1", 0, 1000),
        op(EVALUATE + "CheckpointFunctionBackward", 100, 500, 2),
        op("CheckpointFunctionBackward", 110, 480, 2),
        module("Block_0", 150, 300, 2),
        launch(160, 1, 10, 2),
        module("Linear_0", 200, 200, 2, id_=1),
        op("aten::linear", 210, 100, 2),
        launch(220, 2, 20, 2),
        launch(500, 3, 5, 2),
        *(kernel(2000 + 100 * i, 10 * i, i) for i in (1, 2, 3)),
    ]


def same_name(between: Event) -> list[Event]:
    """An operator that calls one of its name, with something in between."""
    return [op("a", 10, 100), between, op("a", 30, 50), launch(40, 1), launch(70, 2), kernel(200, 9, 1)]


def test_the_module_that_an_operator_calls_is_looked_through() -> None:
    """Its Python is the operator's own time, and so is the work that it launched itself."""
    found = operators(model_of(checkpointed()))
    at = found.name.index("CheckpointFunctionBackward")
    assert (found.host_self_ns[at], found.host_total_ns[at]) == (365 * US, 480 * US)
    assert (found.device_self_ns[at], found.device_total_ns[at]) == (40 * US, 60 * US)
    table = modules(model_of(checkpointed()), "nn")
    assert table.name == ("Block_0", "Linear_0")
    assert table.host_self_ns.tolist() == [90 * US, 100 * US]
    assert table.device_self_ns.tolist() == [10 * US, 20 * US]


@pytest.mark.parametrize("detail", ["parts", "all"])
@pytest.mark.parametrize(
    "events",
    [
        checkpointed(),
        same_name(module("Net_0", 20, 70)),
        same_name(annotation("label", 20, 70)),
        same_name(annotation("label", 85, 10)),
        [module("Net_0", 0, 50), op("a", 10, 100), op("b", 60, 20), launch(70, 1), kernel(200, 9, 1)],
        [op("a", 0, 100), annotation("Optimizer.step#SGD.step", 10, 50), launch(20, 1), op("b", 30, 9)],
    ],
    ids=["checkpoint", "module between", "annotation between", "annotation after", "crossing", "optimizer"],
)
def test_operators_have_the_numbers_of_the_operator_view(events: list[Event], detail: Any) -> None:
    model = model_of(events)
    sums, table = Program(model, detail).everything()[0], operators(model)
    shown = [
        dict(zip(t.name, zip(*(getattr(t, c).tolist() for c in SUMS), strict=True), strict=True)) for t in (sums, table)
    ]
    assert shown[0] == shown[1]
    whole = json.loads(b"".join(diff.diff(model, model)))
    for row in whole["left"]["aggs"]:
        _, _, _, host_self, device_self = shown[1][row["name"]]
        assert (row["self_host_duration"], row["self_device_duration"]) == (host_self / US, device_self / US)


def test_everything_includes_what_no_part_launched() -> None:
    model = model_of([*training(), kernel(9000, 7, 999, name="orphan")])
    _, kernels = Comparison(model, model, "all").left.everything()
    assert dict(zip(kernels.name, kernels.calls.tolist(), strict=True)) == {"kernel": 4, "orphan": 1}


def test_delta_by_the_largest_change() -> None:
    left = KernelSums(("a", "b", "gone"), np.array([1, 1, 1]), np.array([100, 50, 5]))
    right = KernelSums(("b", "a", "new"), np.array([1, 2, 1]), np.array([50, 105, 90]))
    table = delta(left, right, ("total_ns",))
    assert table.name == ("new", "a", "gone", "b")
    assert (table.right["total_ns"] - table.left["total_ns"]).tolist() == [90, 5, -5, 0]
    assert table.left["calls"].tolist() == [0, 1, 1, 1]


def test_delta_of_equals_is_by_size() -> None:
    zero = np.zeros(2, np.int64)
    table = OperatorTotals(("a", "b"), zero + 1, np.array([1, 9]), zero, np.array([1, 9]), zero)
    assert delta(table, table, ("device_self_ns", "host_self_ns")).name == ("b", "a")
    nothing = KernelSums((), zero[:0], zero[:0])
    assert delta(nothing, nothing, ("total_ns",)).name == ()


@pytest.mark.parametrize("path", ["", "1", "0-", "0-99", "0-x", "0--1", "0-٣", "0-" + "9" * 30, "0-0-0-0-0-0-0-0"])
def test_paths_of_nothing(path: str) -> None:
    model = model_of(training())
    assert Comparison(model, model, "parts").at(path) is None
    assert diff.diffnode(model, model, path) is None


def node_at_root(left: Model, right: Model) -> dict[str, Any]:
    pieces = diff.diffnode(left, right, "0")
    assert pieces is not None
    node: dict[str, Any] = json.loads(b"".join(pieces))
    return node


def test_the_old_answers() -> None:
    model = model_of(training())
    whole = json.loads(b"".join(diff.diff(model, model)))
    assert list(whole) == ["left", "right", "children"]
    assert list(whole["left"]) == ["name", "duration", "device_duration", "total_duration", "aggs"]
    assert whole["left"]["name"] == "CompositeNodes"
    node = node_at_root(model, model)
    assert list(node) == ["left", "right", "path", "children"]
    assert [(c["path"], c["left"]["name"]) for c in node["children"]] == [
        ("0-0", "nn.Module: Net_0"),
        ("0-1", "CompositeNodes"),
        ("0-2", "nn.Module: Net_0.backward"),
    ]
    assert all("children" not in child for child in node["children"])
    assert node_at_root(model, model_of([op("a", 0, 1)]))["children"] == []
    empty = node_at_root(model, model_of([]))
    assert empty["right"] == {"name": "Blank", "duration": 0, "device_duration": 0, "total_duration": 0, "aggs": []}


def test_a_deep_comparison() -> None:
    model = deep(2000, lambda i, start, length: module(f"M_{i}", start, length))
    assert b"".join(diff.diff(model, model)).count(b'"children"') == 2000
    node = Comparison(model, model, "all").at("-".join(["0"] * 1500))
    assert node is not None


def test_a_slower_kernel_is_the_first_row() -> None:
    def run(scale: float) -> list[Event]:
        events = [annotation("ProfilerStep#1", 0, 1000)]
        for i in range(10):
            events += [op(f"op{i}", 10 + 50 * i, 40), launch(20 + 50 * i, i + 1)]
            length = 100 * (scale if i == 4 else 1)
            events.append(kernel(2000 + 1000 * i, length, i + 1, name=f"kernel{i}"))
        return events

    comparison = Comparison(model_of(run(1)), model_of(run(1.05)), "all")
    (left_ops, left_kernels), (right_ops, right_kernels) = (
        comparison.left.everything(),
        comparison.right.everything(),
    )
    assert delta(left_kernels, right_kernels, ("total_ns",)).name[0] == "kernel4"
    assert delta(left_ops, right_ops, ("device_self_ns", "host_self_ns")).name[0] == "op4"


@pytest.mark.parametrize("detail", ["parts", "all"])
def test_whether_there_are_children_is_known_without_aligning_them(detail: Any) -> None:
    pairs = [
        (training(), training()),
        (training(backward_tid=2), [annotation("ProfilerStep#1", 0, 900), module("Net_0", 10, 200), op("x", 300, 9)]),
        ([op("x", 0, 10), op("y", 20, 10)], [op("x", 0, 10), op("z", 20, 10)]),
        ([op("x", 0, 10), op("y", 20, 10)], [op("p", 0, 10), op("q", 20, 10)]),
        ([op("x_1", 0, 10), op("y", 20, 10)], [op("x_2", 0, 10), op("z", 20, 10)]),
    ]
    seen = set()
    for left, right in pairs:
        comparison = Comparison(model_of(left), model_of(right), detail)
        waiting = [comparison.root()]
        while waiting:
            node = waiting.pop()
            children = comparison.children(node)
            assert comparison.has_children(node) == bool(children)
            seen.add(bool(children))
            waiting += children
    assert seen == {True, False}
