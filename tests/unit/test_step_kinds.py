"""Kinds of steps: which recordings have them, what they are called, and where they are told."""

from __future__ import annotations

import pytest
from msgspec import json

from tests.events import annotation, model_of, op
from tests.step_programs import Recording, recording
from torch_tb_profiler.analysis.health.notes import troubles
from torch_tb_profiler.analysis.overview import average_step, kind_figures, step_times
from torch_tb_profiler.analysis.question import NoParameters, Subject
from torch_tb_profiler.analysis.step_kinds import step_kinds
from torch_tb_profiler.insights.findings import diagnosis
from torch_tb_profiler.insights.question import OVERVIEW
from torch_tb_profiler.insights.summary.summary import SummaryAnswer, summary
from torch_tb_profiler.insights.summary.text import as_text
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.selection import StepRange
from torch_tb_profiler.model.steps import StepChoice

TRAIN, VALID = "fbo", "v"


def made(steps: list[str], device: bool = False, lengths: tuple[float, ...] = ()) -> Model:
    return model_of(recording(steps, device, lengths))


def titles(model: Model) -> list[str]:
    """The kind of each step."""
    kinds = step_kinds(model)
    return [kinds.kinds[each].title for each in kinds.of.tolist()]


def told(model: Model) -> list[str]:
    return [note.text for note in troubles(model) if note.kind == "unlike_steps"]


def summary_of(model: Model) -> SummaryAnswer:
    return summary(Subject(model, "run", "w0", "1", 10, 1, troubles))


T, V = "training", "without backward pass"


@pytest.mark.parametrize("device", [False, True])
@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([TRAIN] * 8 + [VALID] * 2, [T] * 8 + [V] * 2),
        ([TRAIN, TRAIN, VALID] * 3, [T, T, V] * 3),
        ([TRAIN] * 4 + [VALID], [T] * 4 + [V]),
        ([VALID, *[TRAIN] * 4], [V, *[T] * 4]),
        ([VALID] * 5 + [TRAIN], [V] * 5 + [T]),
        (["i", "f"] * 3, ["program 1", "program 2"] * 3),
        (["fbi", "fb"] * 3, [T] * 6),
        (["fb", "iifbii"] * 3, ["training 1", "training 2"] * 3),
    ],
)
def test_unlike_programs(steps: list[str], expected: list[str], device: bool) -> None:
    model = made(steps, device)
    assert titles(model) == expected
    assert len(told(model)) == (len(set(expected)) > 1)


@pytest.mark.parametrize("device", [False, True])
@pytest.mark.parametrize(
    "steps",
    [
        [TRAIN] * 6,
        [VALID] * 6,
        ["fb", "fb", "fb", "fbo"] * 3,  # gradients are accumulated
        ["fbfbo", "fbo", "fbfbfbo"] * 3,  # numbers of micro-batches
        ["k" + TRAIN, *[TRAIN] * 5],  # the first step compiles
        ["k" + TRAIN, TRAIN, "k" + TRAIN, TRAIN],  # so does a later one
        [TRAIN, TRAIN, TRAIN + "c"] * 3,  # a checkpoint is saved
        ["-", *[TRAIN] * 5],  # what is before the first step
        [*[TRAIN] * 5, "-"],
        ["i", *["f"] * 5],  # one that is unlike all others
        ["f", *["f", "ff", "fff"] * 2],
        ["c", "-"],
        [TRAIN],
        [],
    ],
)
def test_one_program(steps: list[str], device: bool) -> None:
    model = made(steps, device)
    assert not step_kinds(model).are_several
    assert not told(model)
    assert kind_figures(model) == []
    assert step_times(model).kind is None


def test_one_program_with_other_durations() -> None:
    assert not step_kinds(made([TRAIN] * 6, True, (100, 10, 10, 40, 10, 30))).are_several


def test_a_step_whose_forward_pass_is_cut_is_no_validation() -> None:
    """The recording ends in the forward pass of the last step."""
    cut = Recording()
    for number in range(4):
        cut.step(TRAIN, number)
    begin = cut.now
    cut.operators(["aten::conv2d", "aten::relu", "aten::linear"])
    cut.events.append(annotation("ProfilerStep#4", begin, cut.now - begin + 1))
    assert not step_kinds(model_of(cut.events)).are_several


def test_replays_of_graphs_are_told_apart_by_their_kernels() -> None:
    assert titles(made(["g", "h"] * 3, True)) == ["program 1", "program 2"] * 3
    assert not step_kinds(made(["g"] * 6, True)).are_several
    # the optimizer runs every second step, and no graph tells of a backward pass
    assert not step_kinds(made(["g", "go"] * 4, True)).are_several
    # whether a graph has a backward pass is not known
    assert titles(made([TRAIN] * 3 + ["g"] * 3, True)) == [T] * 3 + ["program"] * 3


def test_ranges_that_the_program_names() -> None:
    def model(*names: str) -> Model:
        made = Recording()
        for number, name in enumerate(names):
            made.step("f", number, name)
        return model_of(made.events)

    assert titles(model("prefill", *["decode"] * 4)) == ["prefill", *["decode"] * 4]
    chosen = model("warm", "warm", "time 1", "time 2").with_steps(StepChoice(pattern="warm|time"))
    assert titles(chosen) == ["warm", "warm", "time #", "time #"]
    chosen = model(*(f"{chr(97 + each // 2)}_step" for each in range(40))).with_steps(StepChoice(pattern="step"))
    assert not step_kinds(chosen).are_several


def test_validation_that_is_named() -> None:
    made = Recording()
    for number, parts in enumerate([TRAIN, TRAIN, VALID]):
        begin = made.now
        made.step(parts, number)
        if parts == VALID:
            made.events.append(annotation("validation_step", begin + 1, made.now - begin - 3))
    assert titles(model_of(made.events)) == [T, T, "validation"]


@pytest.mark.parametrize("device", [False, True])
def test_each_kind_has_its_figures(device: bool) -> None:
    model = made([TRAIN, TRAIN, VALID, VALID, TRAIN], device)
    times = step_times(model)
    training, validation = kind_figures(model)
    assert (training.id, training.count, training.steps) == ("training", 3, ["3", "4", "7"])
    assert (training.from_step, training.to_step) == (None, None)
    assert (validation.id, validation.from_step, validation.to_step) == ("without_backward", "5", "6")
    assert times.kind == (T, T, V, V, T)
    for figures, at in ((training, [0, 1, 4]), (validation, [2, 3])):
        assert figures.mean_ns == times.duration_ns[at].mean()
        assert sum(figures.category_ns.values()) == pytest.approx(figures.mean_ns)
        assert sum(part.ns for part in figures.waterfall) == figures.mean_ns
    both = training.mean_ns * 3 + validation.mean_ns * 2
    assert both / 5 == pytest.approx(average_step(model).step_ns)


def test_a_choice_of_steps_has_the_kinds_that_are_in_it() -> None:
    model = made([TRAIN] * 3 + [VALID] * 2)
    assert titles(model.of_steps(StepRange("5", "6"))) == [T, V]
    assert len(told(model.of_steps(StepRange("5", "6")))) == 1
    alone = model.of_steps(StepRange("6", "7"))
    assert titles(alone) == [V, V]
    assert told(alone) == kind_figures(alone) == []


def test_the_note_names_each_kind_with_its_mean_and_range() -> None:
    (text,) = told(made([TRAIN] * 3 + [VALID]))
    assert text.startswith("Steps are of 2 kinds, which run different programs, and means over all steps mix them: ")
    assert (
        "training, 3 steps (3 to 5), 1.36 ms on average; without backward pass, 1 step (6), 137 µs on average." in text
    )
    assert text.endswith("can be shown alone, by its range of steps.")
    assert "(" not in told(made([TRAIN, VALID, TRAIN, VALID]))[0]


def test_the_summary_says_that_its_mean_is_over_kinds() -> None:
    found = summary_of(made([TRAIN] * 3 + [VALID] * 2))
    assert [each.count for each in found.steps.kinds] == [3, 2]
    lines = as_text(found).splitlines()
    assert lines[1].endswith(" over 2 kinds of steps")
    assert lines[2].startswith("  training: 3 steps (3 to 5), median ")
    assert lines[3].startswith("  without backward pass: 2 steps (6 to 7), median ")
    plain = as_text(summary_of(made([TRAIN] * 3))).splitlines()
    assert "kinds" not in plain[1]
    assert plain[2].startswith("Average step")


def test_the_overview_has_the_kind_of_each_step() -> None:
    def steps(parts: list[str]) -> dict[str, list[object]]:
        answer = OVERVIEW.compute(Subject(made(parts), "run", "w0", "1", 10, 1, troubles), NoParameters())
        return dict(json.decode(json.encode(answer.steps)))

    found = steps([TRAIN, VALID, TRAIN])
    assert found["kind"] == [0, 1, 0]
    assert len(found["kinds"]) == 2
    assert steps([TRAIN] * 3)["kinds"] == steps([TRAIN] * 3)["kind"] == []


def test_steps_of_another_kind_are_no_slow_steps() -> None:
    """Validation of long sequences takes thrice as long as training."""

    def slow(steps: list[str]) -> bool:
        model = made(steps, True, tuple(90.0 if each == VALID else 3.0 for each in steps))
        return "step_jitter" in {each.id for each in diagnosis(model).findings}

    assert not slow([*[TRAIN] * 4, VALID, *[TRAIN] * 4, VALID])


def test_a_first_step_is_compared_with_those_of_its_kind() -> None:
    """Training is longer than validation, not warming up."""
    model = made([TRAIN, VALID, VALID, VALID], True)
    assert "slow_first_step" not in {note.kind for note in troubles(model)}
    slow = made([TRAIN, VALID, TRAIN, TRAIN, VALID], True, (100, 10, 10, 10, 10))
    assert "slow_first_step" in {note.kind for note in troubles(slow)}


def test_steps_without_operators_are_of_one_kind() -> None:
    events = [annotation(f"ProfilerStep#{number}", number * 100, 90) for number in range(4)]
    assert not step_kinds(model_of([*events, op("aten::mm", 10, 10)])).are_several
