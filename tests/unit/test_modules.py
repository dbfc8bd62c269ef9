"""Time per module, Lightning's names, and the old plugin's shapes of both."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest

from tests.events import US, Event, annotation, kernel, launch, model_of, op
from tests.unit.test_program import deep, module, training
from torch_tb_profiler.analysis import modules as module_table
from torch_tb_profiler.analysis.modules import ModuleTable, hooks, modules
from torch_tb_profiler.analysis.shared.operator_times import module_sources
from torch_tb_profiler.model.program_tree import Source
from torch_tb_profiler.web.old_plugin import modules as old_modules


def rows(table: ModuleTable) -> dict[str, tuple[Any, ...]]:
    """path → calls, operators, and the six times in µs."""
    paths: list[str] = []
    for i, name in enumerate(table.name):
        parent = int(table.parent[i])
        paths.append(f"{paths[parent]}/{name}" if parent >= 0 else name)
    return {
        path: (
            int(table.calls[i]),
            int(table.operators[i]),
            *(
                int(column[i]) / US
                for column in (
                    table.host_total_ns,
                    table.host_self_ns,
                    table.device_total_ns,
                    table.device_self_ns,
                    table.backward_host_ns,
                    table.backward_device_ns,
                )
            ),
        )
        for i, path in enumerate(paths)
    }


@pytest.mark.parametrize("tid", [1, 2])
def test_forward_and_backward(tid: int) -> None:
    table = modules(model_of(training(tid)), "nn")
    assert rows(table) == {
        "Net_0": (1, 0, 200, 40, 30, 0, 190, 70),
        "Net_0/Linear_0": (1, 1, 80, 20, 10, 10, 90, 40),
        "Net_0/Linear_1": (1, 1, 80, 20, 20, 20, 100, 30),
    }
    assert table.module_id.tolist() == [0, 0, 1]
    assert (table.mean_host_ns / US).tolist() == [390, 170, 180]
    assert (table.mean_device_ns / US).tolist() == [100, 50, 50]


def test_calls_are_added_up() -> None:
    events = [
        *(module("MyModule", 100 * i, 50) for i in range(3)),
        *(module("Linear", 100 * i + 10, 20, id_=1) for i in range(3)),
        module("Conv2", 400, 10, id_=100),
    ]
    assert {path: row[:3] for path, row in rows(modules(model_of(events), "nn")).items()} == {
        "MyModule": (3, 0, 150),
        "MyModule/Linear": (3, 0, 60),
        "Conv2": (1, 0, 10),
    }


def nested(*calls: tuple[str, str, float]) -> list[Event]:
    """Calls of 100 µs, one after another: the module, the one that it calls, and how long that one takes."""
    return [
        event
        for at, (outer, inner, duration) in enumerate(calls)
        for event in (module(outer, 200 * at, 100), module(inner, 200 * at + 10, duration))
    ]


def test_variants_of_a_module_are_one_entry() -> None:
    """Defect 18: a call that takes another branch made a second entry with the same totals."""
    found = rows(modules(model_of(nested(("Net_0", "A_0", 20), ("Net_0", "B_0", 20))), "nn"))
    assert {path: row[:3] for path, row in found.items()} == {
        "Net_0": (2, 0, 200),
        "Net_0/A_0": (1, 0, 20),
        "Net_0/B_0": (1, 0, 20),
    }


def test_a_shared_module_has_an_entry_per_place() -> None:
    found = rows(modules(model_of(nested(("A_0", "Shared_0", 20), ("B_0", "Shared_0", 30))), "nn"))
    assert (found["A_0/Shared_0"][2], found["B_0/Shared_0"][2]) == (20, 30)


def test_kernels_launched_by_a_module_itself() -> None:
    """Defect 8: API calls without an id all went to the first module."""
    events = [
        module("A_0", 0, 100),
        module("B_0", 200, 100),
        module("C_0", 220, 50),
        launch(210, 1),
        launch(230, 2, cat="cuda_driver"),
        launch(400, 3),
        *(kernel(500 + 10 * i, i, i) for i in (1, 2, 3)),
    ]
    found = {path: row[4:6] for path, row in rows(modules(model_of(events), "nn")).items()}
    assert found == {"A_0": (0, 0), "B_0": (3, 1), "B_0/C_0": (2, 2)}


def test_names_tell_where_ids_are_missing() -> None:
    event = module("A_0", 0, 100)
    del event["args"]["Python module id"]
    table = modules(model_of([event]), "nn")
    assert (table.name, table.module_id.tolist()) == (("A_0",), [-1])
    assert json.loads(b"".join(old_modules.module(model_of([event])) or []))["data"][0]["id"] is None


def test_six_thousand_levels() -> None:
    model = deep(6000, lambda i, start, length: module(f"M_{i}", start, length))
    table = modules(model, "nn")
    assert table.parent.tolist() == list(range(-1, 5999))
    body = b"".join(old_modules.module(model) or [])
    assert body.count(b'"children":[') == body.count(b"{") - len(old_modules._COLUMNS) - 1 == 6000
    assert old_modules.tree(model) is not None


def lightning(category: str) -> list[Event]:
    def mark(name: str, start: float, duration: float) -> Event:
        return {**op(name, start, duration), "cat": category}

    return [
        mark("[pl][profile]run_training_batch", 0, 500),
        mark("[pl][profile][Strategy]training_step", 10, 200),
        mark("[pl][module]net.Net: net", 20, 180),
        mark("[pl][module]torch.nn.modules.linear.Linear: net.blocks.0.l1", 30, 60),
        op("aten::linear", 40, 20),
        mark("[pl][module]torch.nn.modules.linear.Linear: other", 120, 60),
        mark("[pl][profile]optimizer_step", 300, 100),
        mark("[pl][profile]optimizer_step", 450, 20),
    ]


@pytest.mark.parametrize("category", ["cpu_op", "Operator", "user_annotation"])
def test_lightning_of_either_age(category: str) -> None:
    model = model_of(lightning(category))
    assert module_sources(model) == ("lightning",)
    assert {path: row[:4] for path, row in rows(modules(model, "lightning")).items()} == {
        "net": (1, 0, 180, 60),
        "net/net.blocks.0.l1": (1, 1, 60, 40),
        "other": (1, 0, 60, 60),
    }
    assert not len(modules(model, "nn"))
    table = hooks(model)
    times = zip(table.calls.tolist(), table.host_total_ns // US, table.host_self_ns // US, strict=True)
    assert dict(zip(table.name, times, strict=True)) == {
        "run_training_batch": (1, 500, 180),
        "[Strategy]training_step": (1, 200, 200),
        "optimizer_step": (2, 120, 120),
    }
    assert (int(table.max_ns[2]), int(table.min_ns[2])) == (100_000, 20_000)

    data = json.loads(b"".join(old_modules.module(model) or []))["data"]
    assert [(d["name"], d["id"], [c["name"] for c in d["children"]]) for d in data] == [
        ("net", 0, ["net.blocks.0.l1"]),
        ("other", 0, []),
    ]
    root = json.loads(b"".join(old_modules.tree(model) or []))
    assert [(c["name"], c["type"]) for c in root["children"]] == [("run_training_batch", "pl_profile")]
    assert [c["name"] for c in root["children"][0]["children"]] == [
        "[Strategy]training_step",
        "optimizer_step",
        "optimizer_step",
    ]


def test_lightning_without_hooks_has_a_tree_too() -> None:
    events = [annotation("[pl][module]Linear: l1", 0, 50), op("a", 10, 5)]
    root = json.loads(b"".join(old_modules.tree(model_of(events)) or []))
    (top,) = root["children"]
    assert (top["name"], top["type"], top["children"][0]["name"]) == ("l1", "pl_module", "a")


def test_the_old_module_answer() -> None:
    answer = json.loads(b"".join(old_modules.module(model_of(training())) or []))
    assert [c["key"] for c in answer["columns"]] == [
        "name",
        "occurences",
        "operators",
        "host_duration",
        "self_host_duration",
        "device_duration",
        "self_device_duration",
    ]
    (net,) = answer["data"]
    assert list(net) == [
        "name",
        "id",
        "occurences",
        "operators",
        "host_duration",
        "self_host_duration",
        "device_duration",
        "self_device_duration",
        "avg_duration",
        "children",
    ]
    assert (net["host_duration"], net["avg_duration"]) == (200, 30)
    assert old_modules.module(model_of([op("a", 0, 1)])) is None
    assert modules(model_of([]), "nn").name == ()


def test_the_old_tree_answer() -> None:
    events = [{**annotation("ProfilerStep#1", 100.5, 50), "tid": "7"}, {**op("a", 110, 20), "tid": "7"}]
    root = json.loads(b"".join(old_modules.tree(model_of(events)) or []))
    assert root == {
        "name": "CallTreeRoot",
        "start_time": 100.5,
        "end_time": 150.5,
        "type": "Python",
        "tid": 7,
        "children": [
            {
                "name": "ProfilerStep#1",
                "start_time": 100.5,
                "end_time": 150.5,
                "type": "ProfilerStep",
                "tid": 7,
                "children": [
                    {"name": "a", "start_time": 110, "end_time": 130, "type": "Operator", "tid": 7, "children": []}
                ],
            }
        ],
    }
    assert old_modules.tree(model_of([kernel(0, 10, 1)])) is None


@pytest.mark.parametrize(("start", "duration"), [(0, 0), (0, 1), (8, 1)])
def test_times_of_one_digit(start: int, duration: int) -> None:
    events = [op("aten::a", start, duration), op("aten::b", start, duration)]
    (top, *_) = json.loads(b"".join(old_modules.tree(model_of(events)) or []))["children"]
    assert (top["start_time"], top["end_time"]) == (start, start + duration)


def test_a_tree_too_large_loses_its_deepest_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(old_modules, "MOST_NODES", 3)
    events = [op("a", 0, 100), op("b", 10, 50), op("c", 20, 10), op("d", 70, 10)]
    body = b"".join(old_modules.tree(model_of(events)) or [])
    (top,) = json.loads(body)["children"]
    assert [(c["name"], c["children"]) for c in top["children"]] == [("b", []), ("d", [])]


def test_nested_json() -> None:
    nodes = [(0, b'{"n":1}'), (1, b'{"n":2}'), (2, b'{"n":3}'), (1, b'{"n":4}'), (0, b'{"n":5}')]
    assert json.loads(b"[" + old_modules.nested(nodes) + b"]") == [
        {"n": 1, "children": [{"n": 2, "children": [{"n": 3, "children": []}]}, {"n": 4, "children": []}]},
        {"n": 5, "children": []},
    ]
    assert old_modules.nested([]) == b""


def test_without_modules_of_a_source_no_program_tree_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of([op("aten::mm", 0, 10), *lightning("user_annotation")])
    for made in ("nn_program", "lightning_program"):
        monkeypatch.setattr(module_table, made, lambda _: pytest.fail("it is not needed"))
    assert module_sources(model) == ("lightning",)
    assert (len(modules(model, "nn")), rows(modules(model, "nn"))) == (0, {})
    plain = model_of([op("aten::mm", 0, 10)])
    assert [len(modules(plain, source)) for source in get_args(Source)] == [0, 0]
