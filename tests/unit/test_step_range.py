"""Some steps of a trace: what belongs to them is there, the rest is not, and together they are the whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.events import US, annotation, frame, kernel, launch, memory, model_of, op
from tests.served import client_of, everything_read, get
from tests.tracegen import Config, write_run
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.kernels import kernels
from torch_tb_profiler.analysis.operators.table import operator_kernels, operator_stacks, operators
from torch_tb_profiler.analysis.overview import step_times
from torch_tb_profiler.analysis.slices import slice_categories, slices
from torch_tb_profiler.model import Model, StepChoice
from torch_tb_profiler.model.selection import RowNumbering, StepRange, UnknownStep
from torch_tb_profiler.trace import Category, read_trace


def two_steps() -> Model:
    """Each launches a kernel of its own; that of the first runs on into the second step."""
    return model_of(
        [
            frame("train.py(1): main", 0, 200),
            op("before", 5, 2),
            annotation("ProfilerStep#1", 10, 80),
            op("aten::mm", 20, 30),
            launch(25, 1),
            annotation("ProfilerStep#2", 100, 80),
            op("aten::add", 110, 30),
            launch(115, 2),
            kernel(60, 60, 1, "first"),
            kernel(125, 70, 2, "second"),
            kernel(1, 3, 99, "earlier"),
            kernel(130, 3, 98, "without a launch"),
            memory(30, 100, total=100),
            memory(120, -100, total=0),
        ]
    )


def sums(model: Model) -> dict[str, int]:
    table = operators(model)
    return dict(zip(table.name, table.device_self_ns.tolist(), strict=True))


def test_what_a_step_launched_belongs_to_it_wherever_it_ran() -> None:
    model = two_steps()
    first, second = (model.of_steps(StepRange(name, name)) for name in "12")
    assert sums(first) == {"aten::mm": 60 * US}
    assert sums(second) == {"aten::add": 70 * US}
    assert kernels(first).name == ("first",)
    assert set(kernels(second).name) == {"second", "without a launch"}
    assert [len(part.memory) for part in (first, second)] == [1, 1]


def test_steps_keep_their_names_and_times() -> None:
    model = two_steps()
    both, second = step_times(model), step_times(model.of_steps(StepRange("2", "2")))
    assert second.names == ("2",)
    assert second.duration_ns.tolist() == both.duration_ns[1:].tolist()
    assert second.category_ns["kernel"].tolist() == both.category_ns["kernel"][1:].tolist()


def test_frames_that_run_on_are_kept_for_call_stacks() -> None:
    part = two_steps().of_steps(StepRange("2", "2"))
    assert operator_stacks(part, "aten::add").call_stack == ("train.py(1): main",)


def test_events_keep_their_rows() -> None:
    model = two_steps()
    part = model.of_steps(StepRange("2", "2"))
    names = [model.trace.strings[int(model.trace.events.name[row])] for row in part.tree.row.tolist()]
    assert names == ["ProfilerStep#2", "aten::add"]
    assert len(part.trace.events) == len(model.trace.events)


def test_what_is_left_out_is_nowhere() -> None:
    model = two_steps()
    whole = {each.category: each.slices for each in slice_categories(model)}
    for name in "12":
        part = model.of_steps(StepRange(name, name))
        counts = {each.category: each.slices for each in slice_categories(part)}
        assert all(count <= whole[category] for category, count in counts.items()), counts
        found = slices(part)
        assert found.total == sum(counts.values()) < sum(whole.values())
        assert (
            set(found.category)
            == set(counts)
            == {"python_function", "user_annotation", "operator", "runtime", "kernel"}
        )
    assert slices(model.of_steps(StepRange("1", "1")), category="other").total == 0
    assert slices(model.of_steps(StepRange("1", "1")), category="kernel").name == ("first",)


def test_the_structure_is_shared_and_the_trace_stays_whole() -> None:
    model = two_steps()
    category = model.trace.events.category.copy()
    part = model.of_steps(StepRange("1", "1"))
    assert part.structure is model.structure
    assert part.trace is model.trace
    assert part.rows_of(Category.KERNEL).tolist() == [8]
    assert model.rows_of(Category.KERNEL).tolist() == [8, 9, 10, 11]
    assert np.array_equal(model.trace.events.category, category)


def test_links_and_trees_are_numbered_anew() -> None:
    part = two_steps().of_steps(StepRange("2", "2"))
    names = part.trace.strings.texts(part.tree.name)
    assert names == ["ProfilerStep#2", "aten::add"]
    assert part.tree.parent.tolist() == [-1, 0]
    assert part.tree.depth.tolist() == [0, 1]
    assert part.tree.frame.tolist() == [0, 0]
    assert part.launch_links.node.tolist() == [1]
    assert part.device_links.launch.tolist() == [0, -1]
    assert part.device_links.operator_node.tolist() == [1, -1]
    assert part.innermost_node(np.zeros(1, np.int32), np.array([25 * US])).tolist() == [-1]


def test_the_ends_may_be_named_in_any_order_and_must_exist() -> None:
    model = two_steps()
    assert model.of_steps(StepRange("2", "1")).steps.names == ("1", "2")
    with pytest.raises(UnknownStep, match="no step '3'"):
        model.of_steps(StepRange("1", "3"))


def test_steps_found_another_way_have_ranges_of_their_own() -> None:
    model = model_of([annotation(f"batch {i}", 100 * i, 90) for i in range(4)])
    chosen = model.with_steps(StepChoice(pattern="^batch"))
    assert chosen.of_steps(StepRange("1", "2")).steps.labels == ("batch 1", "batch 2")


def test_answers_about_some_steps_and_about_all_stay_apart() -> None:
    asked: list[Model] = []

    @cached
    def question(model: Model) -> int:
        asked.append(model)
        return len(model.tree)

    model = two_steps()
    first = model.of_steps(StepRange("1", "1"))
    assert [question(first) for _ in range(3)] == [2, 2, 2]
    assert question(model) == 5
    assert len(asked) == 2


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("range") / "run"
    write_run(Config(ranks=1, events=8_000), directory)
    return directory


def test_the_steps_add_up_to_what_lies_in_steps(generated: Path) -> None:
    (path,) = generated.iterdir()
    with path.open("rb") as stream:
        model = Model(read_trace(stream))
    names = model.steps.names
    assert len(names) > 2
    alone = [model.of_steps(StepRange(name, name)) for name in names]
    whole = model.of_steps(StepRange(names[0], names[-1]))
    for ns in ("device_self_ns", "host_self_ns", "calls"):
        added: dict[str, int] = {}
        for part in alone:
            table = operators(part)
            for name, value in zip(table.name, getattr(table, ns).tolist(), strict=True):
                added[name] = added.get(name, 0) + value
        table = operators(whole)
        together = dict(zip(table.name, getattr(table, ns).tolist(), strict=True))
        # what runs between two steps is in the whole and in none of them
        assert set(added) <= set(together)
        assert all(added[name] <= together[name] for name in added)
        assert sum(added.values()) >= 0.9 * sum(together.values())
    assert np.isclose(
        sum(int(kernels(part).total_ns.sum()) for part in alone), int(kernels(whole).total_ns.sum()), rtol=0.05
    )
    name = operators(whole).name[0]
    assert operator_kernels(whole, name).calls.sum() == sum(operator_kernels(part, name).calls.sum() for part in alone)


def test_routes_take_ranges(generated: Path, tmp_path: Path) -> None:
    with everything_read(generated.parent, tmp_path / "cache") as workspace:
        client = client_of(workspace)
        trace = "run=run&worker=worker0"
        steps = get(client, f"/api/overview?{trace}")["steps"]
        first, last = steps["names"][1], steps["names"][2]
        chosen = f"{trace}&from_step={first}&to_step={last}"
        assert get(client, f"/api/overview?{chosen}")["steps"]["names"] == [first, last]
        whole = get(client, f"/api/operators?{trace}")["meta"]["device_ns"]
        part = get(client, f"/api/operators?{chosen}")["meta"]["device_ns"]
        assert 0 < part < whole
        assert 0 < get(client, f"/api/kernels?{chosen}")["meta"]["kernel_ns"] <= part
        assert get(client, f"/api/modules?{chosen}")["meta"]["total"]
        curve = get(client, f"/api/memory/curve?{chosen}")
        assert curve["start_ns"] == steps["start_ns"][1]
        assert curve["end_ns"] == steps["start_ns"][2] + steps["duration_ns"][2]
        assert get(client, f"/api/memory/curve?{chosen}&start_ns=5")["start_ns"] == 5
        rows = get(client, f"/api/memory/operators?{chosen}")["meta"]["all"]["allocation_count"]
        assert 0 < rows < get(client, f"/api/memory/operators?{trace}")["meta"]["all"]["allocation_count"]
        assert get(client, f"/api/health?{chosen}") == get(client, f"/api/health?{trace}")
        assert "no step '77x'" in get(client, f"/api/operators?{trace}&from_step=77x&to_step=77x", 404)["error"]
        assert "no step '77x'" in get(client, f"/api/memory/curve?{trace}&from_step=77x&to_step=77x", 404)["error"]
        assert "together" in get(client, f"/api/operators?{trace}&from_step={first}", 400)["error"]


def test_what_is_selected_as_a_whole_stays_as_it_is() -> None:
    model = model_of(
        [
            frame("train.py(1): before", 0, 5),
            frame("train.py(2): main", 6, 200),
            annotation("ProfilerStep#1", 10, 80),
            op("aten::mm", 20, 30),
            launch(25, 1),
            kernel(60, 10, 1, "mine"),
            kernel(1, 3, 99, "earlier"),
        ]
    )
    inside = model.in_steps
    assert inside is not model
    assert len(inside.frames) < len(model.frames)
    assert len(inside.device_work) < len(model.device_work)
    assert inside.launches is model.launches
    assert inside.launch_links is model.launch_links
    for name in ("row", "parent", "depth", "start", "end", "track", "category", "name", "operator"):
        assert getattr(inside.tree, name) is getattr(model.tree, name), name
    names = [model.trace.strings[int(model.trace.events.name[row])] for row in inside.frames.row[inside.tree.frame]]
    assert names == ["train.py(2): main"] * 2
    assert inside.device_links.launch.tolist() == [0]
    for nodes in (np.array([1, 0, -1], np.int32), np.empty(0, np.int32)):
        assert RowNumbering(np.ones(2, np.bool_), np.array([-1, 0], np.int32)).of(nodes).tolist() == nodes.tolist()
