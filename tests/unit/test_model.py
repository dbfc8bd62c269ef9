"""Call tree, launch links and steps: against hand-made traces and against the generator's own truth."""

from __future__ import annotations

import json
import time
from collections import Counter
from io import BytesIO
from typing import Any

import numpy as np
import pytest

from tests.events import US, annotation, event, kernel, launch, model_of, op
from tests.tracegen import Config, Expected, generate
from torch_tb_profiler.model import Model, StepChoice
from torch_tb_profiler.model.patterns import SlowPattern
from torch_tb_profiler.model.selection import StepRange
from torch_tb_profiler.trace import Category, read_trace


def name_at(model: Model, node: int) -> str | None:
    return model.trace.strings[model.tree.name[node]] if node >= 0 else None


def launched_by(model: Model) -> list[str | None]:
    return [name_at(model, node) for node in model.device_links.operator_node.tolist()]


def test_a_kernel_belongs_to_the_innermost_operator_around_its_launch() -> None:
    model = model_of(
        [
            annotation("ProfilerStep#1", 0, 100),
            op("aten::linear", 10, 50),
            op("aten::addmm", 20, 30),
            launch(25, 1),
            launch(55, 2),
            launch(80, 3),
            kernel(200, 10, 1),
            kernel(210, 10, 2),
            kernel(220, 10, 3),
            kernel(230, 10, 99),
        ]
    )
    assert launched_by(model) == ["aten::addmm", "aten::linear", None, None]
    assert [name_at(model, n) for n in model.device_links.node.tolist()] == [
        "aten::addmm",
        "aten::linear",
        "ProfilerStep#1",
        None,
    ]
    assert {n.kind: n.count for n in model.notes}["no_launch"] == 1


def test_an_annotation_inside_an_operator_does_not_take_its_kernels() -> None:
    model = model_of([op("aten::mm", 0, 50), annotation("mine", 10, 30), launch(20, 1), kernel(60, 5, 1)])
    assert launched_by(model) == ["aten::mm"]


def test_launches_of_another_thread_are_not_its_operators() -> None:
    model = model_of([op("aten::mm", 0, 50), launch(20, 1, tid=2), kernel(60, 5, 1)])
    assert launched_by(model) == [None]


def test_driver_launches_count_like_runtime_launches() -> None:
    model = model_of([op("triton", 0, 50), launch(20, 1, cat="cuda_driver"), kernel(60, 5, 1)])
    assert launched_by(model) == ["triton"]


def test_a_driver_call_inside_a_runtime_call_is_part_of_it() -> None:
    model = model_of([op("aten::mm", 0, 50), launch(20, 1, 10), launch(22, 1, 4, cat="cuda_driver"), kernel(60, 5, 1)])
    trace = model.trace
    assert model.launch_links.duration.tolist() == [10 * US, 0]
    assert trace.events.category[trace.launches.row[model.device_links.launch[0]]] == Category.RUNTIME


def test_external_ids_that_repeat_the_correlation_do_not_mislead() -> None:
    right = op("aten::right", 0, 50)
    wrong = {**op("aten::wrong", 100, 50), "args": {"External id": 1}}
    call = {**launch(20, 1), "args": {"correlation": 1, "External id": 1}}
    assert launched_by(model_of([right, wrong, call, kernel(60, 5, 1)])) == ["aten::right"]


def test_annotations_cross_python_frames_without_losing_anything() -> None:
    frame = event("python_function", "<built-in _record_function_enter_new>", 5, 10)
    outer = event("python_function", "train.py(1): train", 0, 100)
    model = model_of([outer, frame, annotation("ProfilerStep#1", 10, 80), op("aten::mm", 20, 10)])
    tree, frames = model.tree, model.frames
    assert [name_at(model, int(p)) for p in tree.parent] == [None, "ProfilerStep#1"]
    names = [model.trace.strings[frames.name[f]] for f in tree.frame.tolist()]
    assert names == ["<built-in _record_function_enter_new>", "train.py(1): train"]
    assert "clamped_ranges" not in {n.kind for n in model.notes}


def test_a_child_that_outlives_its_parent_is_cut_and_counted() -> None:
    model = model_of([op("parent", 0, 50), op("child", 40, 30), op("grandchild", 45, 20), op("next", 60, 5)])
    assert [name_at(model, int(p)) for p in model.tree.parent] == [None, "parent", "child", None]
    assert model.tree.end.tolist() == [50 * US, 50 * US, 50 * US, 65 * US]
    assert {n.kind: n.count for n in model.notes} == {"clamped_ranges": 2}


# steps ------------------------------------------------------------------------------------------------------


def test_gpu_copies_of_the_annotation_are_not_steps() -> None:
    model = model_of(
        [
            annotation("ProfilerStep#1", 0, 100),
            annotation("ProfilerStep#2", 100, 100),
            {**annotation("ProfilerStep#1", 30, 100), "cat": "gpu_user_annotation", "pid": 0, "tid": 7},
        ]
    )
    assert model.steps.names == ("1", "2")


def test_a_step_ends_with_the_work_it_launched_and_the_next_begins_there() -> None:
    model = model_of(
        [
            annotation("ProfilerStep#1", 100, 200),
            annotation("ProfilerStep#2", 350, 150),
            launch(280, 1),
            launch(400, 2),
            kernel(290, 90, 1),
            kernel(410, 200, 2),
        ]
    )
    steps = model.steps
    assert (steps.rule, steps.names) == ("profiler_step", ("1", "2"))
    first = 100
    assert (steps.start / US + first).tolist() == [100, 380]
    assert (steps.end / US + first).tolist() == [380, 610]
    assert (steps.host_start / US + first).tolist() == [100, 350]


def test_steps_marked_on_two_threads_are_taken_from_one() -> None:
    marks = [annotation(f"ProfilerStep#{i}", i * 100, 90, tid) for i in range(3) for tid in (1, 2)]
    assert model_of(marks).steps.names == ("0", "1", "2")


def test_trailing_steps_whose_work_was_not_recorded_are_left_out_and_said() -> None:
    steps = [annotation(f"ProfilerStep#{i}", i * 100, 90) for i in range(3)]
    model = model_of([*steps, launch(10, 1), launch(110, 2), kernel(20, 10, 1), kernel(120, 10, 2)])
    assert model.steps.names == ("0", "1")
    assert {n.kind: n.count for n in model.notes}["incomplete_last_steps"] == 1


def _steps_with(launches: list[int], ran: list[int]) -> Model:
    """One step of 100 µs per entry, which launches so many kernels, of which so many are in the trace."""
    events = []
    for i, (calls, kernels) in enumerate(zip(launches, ran, strict=True)):
        events.append(annotation(f"ProfilerStep#{i}", i * 100, 90))
        for k in range(calls):
            events.append(launch(i * 100 + k * 6, 100 * i + k + 1))
            if k < kernels:
                events.append(kernel(i * 100 + k * 6 + 5, 1, 100 * i + k + 1))
    return model_of(events)


def test_a_small_last_step_stays() -> None:
    model = _steps_with([10, 10, 2], [10, 10, 2])
    assert model.steps.names == ("0", "1", "2")
    assert not [n for n in model.notes if n.kind == "incomplete_last_steps"]


def test_a_last_step_whose_work_was_cut_off_is_left_out() -> None:
    assert _steps_with([10, 10, 10], [10, 10, 7]).steps.names == ("0", "1")
    assert _steps_with([10, 10, 10], [10, 10, 8]).steps.names == ("0", "1", "2")
    # calls that are never seen to run on the device, such as those of a graph capture, say nothing
    assert _steps_with([10, 10, 10], [6, 6, 6]).steps.names == ("0", "1", "2")


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([op("a", 10, 5), annotation("outer", 0, 100)], (10, 15)),
        ([annotation("only", 0, 100)], (0, 100)),
        ([kernel(50, 10, 1), kernel(70, 10, 2)], (50, 80)),
    ],
    ids=["operators", "annotations", "device only"],
)
def test_without_step_marks_the_whole_trace_is_one_step(
    events: list[dict[str, Any]], expected: tuple[int, int]
) -> None:
    steps = model_of(events).steps
    first = min(e["ts"] for e in events)
    assert (steps.rule, steps.names) == ("whole_trace", ("0",))
    assert (int(steps.start[0] / US + first), int(steps.end[0] / US + first)) == expected


def test_a_trace_without_durations_has_no_steps() -> None:
    model = model_of([{"ph": "i", "name": "mark", "pid": 1, "tid": 1, "ts": 5}])
    assert (model.steps.rule, len(model.steps)) == ("none", 0)


ENGINE_STEPS = [
    "execute_context_1(888_788544)_generation_0(0)",
    "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086)",
    "step[DECODE bs=32]",
    "step[EXTEND bs=15 toks=15360]",
    "execute_diffusion_1_256x256",
]
FRAMEWORK_STEPS = ["[pl][profile]run_training_batch", "training_step", "train_iter", "Trainer.training_step"]


@pytest.mark.parametrize(
    ("names", "rule"), [(ENGINE_STEPS, "inference_engine"), (FRAMEWORK_STEPS, "training_framework")]
)
def test_steps_of_engines_and_frameworks(names: list[str], rule: str) -> None:
    steps = model_of([annotation(n, i * 100, 90) for i, n in enumerate(names)]).steps
    assert (steps.rule, steps.labels) == (rule, tuple(names))
    assert steps.names == tuple(str(i) for i in range(len(names)))


@pytest.mark.parametrize("name", ["model_inference", "step[3]", "step[last]"])
def test_names_that_any_program_may_give_are_no_steps_of_an_engine(name: str) -> None:
    assert model_of([annotation(name, 0, 90)]).steps.rule == "whole_trace"
    assert model_of([annotation(name, i * 100, 90) for i in range(3)]).steps.rule == "repeated_annotation"


def test_profiler_steps_go_before_those_of_an_engine() -> None:
    model = model_of([annotation("ProfilerStep#3", 0, 100), annotation("step[DECODE bs=1]", 10, 20)])
    assert (model.steps.rule, model.steps.names) == ("profiler_step", ("3",))


def test_profiler_steps_that_are_parts_of_two_batches_are_none() -> None:
    batches = [annotation("[pl][profile]run_training_batch", i * 100, 90) for i in range(3)]
    crossing = [annotation(f"ProfilerStep#{i}", i * 100 + 50, 100) for i in range(3)]
    assert model_of([*batches, *crossing]).steps.rule == "training_framework"
    chosen = model_of([*batches, *crossing]).with_steps(StepChoice(rule="profiler_step"))
    assert (chosen.steps.rule, chosen.steps.notes) == ("profiler_step", ())
    around = [annotation(f"ProfilerStep#{i}", i * 100, 95) for i in range(3)]
    assert model_of([*batches, *around]).steps.rule == "profiler_step"


def test_an_annotation_that_repeats_around_most_of_the_work_is_the_step() -> None:
    marks = [annotation("my iteration", i * 100, 90) for i in range(3)]
    inner = [op("aten::mm", i * 100 + 10, 20) for i in range(3)]
    assert model_of([*marks, *inner]).steps.rule == "repeated_annotation"
    assert model_of([*marks[:1], *inner]).steps.rule == "whole_trace"
    short = [annotation("mark", i * 100, 5) for i in range(3)]
    assert model_of([*short, *inner]).steps.rule == "whole_trace"
    by_torch = [annotation("Optimizer.zero_grad#SGD.zero_grad", i * 100, 90) for i in range(3)]
    assert model_of([*by_torch, *inner]).steps.rule == "whole_trace"
    optimizer = [annotation("Optimizer.step#SGD.step", i * 100, 90) for i in range(3)]
    assert model_of([*optimizer, *inner]).steps.rule == "optimizer"


def test_a_step_inside_a_step_is_not_one() -> None:
    model = model_of([annotation("step[A]", 0, 100), annotation("step[B]", 10, 20), annotation("step[C]", 100, 50)])
    assert model.steps.labels == ("step[A]", "step[C]")


def test_a_person_chooses_how_steps_are_found() -> None:
    model = model_of([annotation("ProfilerStep#3", 0, 100), annotation("part 1", 10, 20), annotation("part 2", 40, 20)])
    tree = model.tree
    chosen = model.with_steps(StepChoice(pattern=r"^part \d"))
    assert (chosen.steps.rule, chosen.steps.labels) == ("pattern", ("part 1", "part 2"))
    assert chosen.tree is tree
    assert model.with_steps(StepChoice(rule="whole_trace")).steps.names == ("0",)
    fallback = model.with_steps(StepChoice(rule="inference_engine")).steps
    assert fallback.rule == "profiler_step"
    assert [n.kind for n in fallback.notes] == ["chosen_steps_not_found"]
    assert model.with_steps(StepChoice()) is model
    with pytest.raises(ValueError, match="no rule"):
        _ = model.with_steps(StepChoice(rule="oops")).steps


# against the generator's truth -------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["h100", "v100", "mi300x", "legacy"])
def known(request: pytest.FixtureRequest) -> tuple[Model, Expected]:
    legacy = request.param == "legacy"
    generated, expected = generate(Config(steps=3, layers=2, device="v100" if legacy else request.param, legacy=legacy))
    return Model(read_trace(BytesIO(json.dumps(generated).encode()))), expected


def test_every_kernel_finds_the_operator_that_launched_it(known: tuple[Model, Expected]) -> None:
    model, expected = known
    work = model.device_work
    found = {
        int(correlation): (name_at(model, int(node)), bool(launched >= 0))
        for correlation, node, launched, is_work in zip(
            work.correlation, model.device_links.operator_node, model.device_links.launch, model.is_work, strict=True
        )
        if is_work
    }
    assert found == {c: (entry.op, entry.launched) for c, entry in expected.launches.items()}


def test_device_time_by_category(known: tuple[Model, Expected]) -> None:
    model, expected = known
    duration = model.trace.events.duration[model.device_work.row]
    found: Counter[str] = Counter()
    for category, name in (
        (Category.KERNEL, "kernel"),
        (Category.MEMCPY, "gpu_memcpy"),
        (Category.MEMSET, "gpu_memset"),
    ):
        found[name] = int(duration[model.device_category == category].sum())
    assert found == Counter({k: expected.device_ns[k] for k in found})


def test_operator_calls_and_host_self_time(known: tuple[Model, Expected]) -> None:
    model, expected = known
    tree = model.tree
    duration = tree.end - tree.start
    own = duration.copy()
    # operators directly inside, whatever annotation lies between
    outer = tree.parent.copy()
    while len(skip := np.flatnonzero((outer >= 0) & ~tree.is_operator[outer])):
        outer[skip] = tree.parent[outer[skip]]
    inside = tree.is_operator & (outer >= 0)
    np.subtract.at(own, outer[inside], duration[inside])
    calls: Counter[str] = Counter()
    host: Counter[str] = Counter()
    for node in np.flatnonzero(tree.is_operator).tolist():
        name = name_at(model, node) or ""
        calls[name] += 1
        host[name] += int(own[node])
    assert calls == Counter({name: truth.calls for name, truth in expected.ops.items()})
    assert host == Counter({name: truth.host_self_ns for name, truth in expected.ops.items()})


def test_steps_of_the_generator(known: tuple[Model, Expected]) -> None:
    model, expected = known
    durations = (model.steps.host_end - model.steps.host_start).tolist()
    found = dict(zip(model.steps.names, durations, strict=True))
    assert found == {name.removeprefix("ProfilerStep#"): ns for name, ns in expected.steps.items()}


def test_a_pattern_that_would_run_for_years_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch_tb_profiler.model.steps.find.PATTERN_SECONDS", 0.2)
    model = model_of([annotation("a" * 300 + "b", 0, 10)])
    began = time.monotonic()
    with pytest.raises(SlowPattern, match="takes too long"):
        _ = model.with_steps(StepChoice(pattern=r"(.*a){30}$")).steps
    assert time.monotonic() - began < 20


def test_steps_found_another_way_share_the_structure_and_not_the_answers() -> None:
    model = model_of([annotation("ProfilerStep#1", 0, 50), op("aten::mm", 10, 20), annotation("part 1", 60, 30)])
    other = model.with_steps(StepChoice(pattern=r"^part \d"))
    assert other.structure is model.structure
    assert other.tree is model.tree
    model.answers.put("question", 1)
    assert len(other.answers) == 0
    model.answers.clear()
    assert model.answers.get("question", lambda: 2) == 2


def test_what_was_let_go_of_is_computed_again() -> None:
    model = model_of([annotation("ProfilerStep#1", 0, 50), op("aten::mm", 10, 20), launch(12, 1), kernel(30, 5, 1)])
    part = model.of_steps(StepRange("1", "1"))
    tree, links, steps = model.tree, model.device_links, model.steps
    model.pinned.put("question", 1)
    model.clear()
    assert len(model.pinned) == len(model.parts) == len(model.structure.parts) == 0
    assert model.of_steps(StepRange("1", "1")) is not part
    model.clear()
    assert model.tree is not tree
    assert model.tree.row.tolist() == tree.row.tolist()
    assert model.device_links.launch.tolist() == links.launch.tolist()
    assert model.steps.names == steps.names
