"""Steps that no mark tells: the optimizer's cadence, calls of a module, sequences of kernels."""

from __future__ import annotations

import pytest

from tests.events import US, Event, annotation, frame, kernel, launch, model_of, op
from tests.tracegen import Config, generate
from torch_tb_profiler.web.old_plugin import shapes


def iteration(at: float, correlation: int, layers: int = 3, optimizer: bool = True) -> list[Event]:
    """100 µs of eager training from a time on, without a mark; the work of the device follows 20 µs later."""
    names = [*(f"layer_{i}" for i in range(layers)), "loss", *(f"grad_{i}" for i in reversed(range(layers)))]
    events: list[Event] = []
    for i, name in enumerate(names):
        begin = at + 10 * i
        events += [op(f"aten::{name}", begin, 8, tid=2 if name.startswith("grad") else 1)]
        events += [launch(begin + 2, correlation + i, 2, tid=2 if name.startswith("grad") else 1)]
        events += [kernel(begin + 20, 9, correlation + i, name)]
    if optimizer:
        begin = at + 10 * len(names)
        events += [annotation("Optimizer.step#AdamW.step", begin, 20), op("aten::_fused_adamw_", begin + 2, 10)]
        events += [launch(begin + 5, correlation + 50, 2), kernel(begin + 20, 9, correlation + 50, "adamw")]
    return events


@pytest.mark.parametrize("iterations", [2, 3, 5])
def test_an_optimizer_step_ends_each_step(iterations: int) -> None:
    model = model_of([event for i in range(iterations) for event in iteration(100 * i, 100 * (i + 1))])
    steps = model.steps
    assert (steps.rule, len(steps)) == ("optimizer", iterations)
    assert (steps.host_start / US).tolist() == [0, *(100 * i - 10 for i in range(1, iterations))]
    assert (steps.host_end / US).tolist() == [100 * i + 90 for i in range(iterations)]
    assert (steps.end / US).tolist() == [100 * i + 99 for i in range(iterations)]
    assert set(steps.labels) == {"Optimizer.step#AdamW.step"}


def test_gradients_of_several_batches_are_accumulated_in_one_step() -> None:
    events: list[Event] = []
    for i in range(12):
        events += iteration(100 * i, 100 * (i + 1), optimizer=i % 4 == 3)
    steps = model_of(events).steps
    assert (steps.rule, len(steps)) == ("optimizer", 3)
    assert (steps.end / US).tolist() == [399, 799, 1199]


def test_two_optimizers_take_turns() -> None:
    """Those of a GAN: of one class, with other parameters."""
    events: list[Event] = []
    for i in range(8):
        events += iteration(100 * i, 100 * (i + 1), layers=3 if i % 2 else 1)
        events += [op("aten::_fused_adamw_", 100 * i + (83 if i % 2 else 43), 2)] if i % 2 else []
    steps = model_of(events).steps
    assert (steps.rule, len(steps)) == ("optimizer", 4)
    assert (steps.host_end / US).tolist() == [190, 390, 590, 790]


def test_what_was_made_before_the_first_iteration_is_in_no_step() -> None:
    made = [op("aten::uniform_", 5 * i, 4) for i in range(40)]
    events = [event for i in range(5) for event in iteration(300 + 100 * i, 100 * (i + 1))]
    steps = model_of([*made, *events]).steps
    assert (steps.rule, len(steps), steps.host_start[0] / US) == ("optimizer", 5, 300)


def test_an_iteration_whose_beginning_was_not_recorded_is_no_step() -> None:
    events = [event for i in range(4) for event in iteration(100 * i, 100 * (i + 1))]
    steps = model_of([event for event in events if event["ts"] >= 60]).steps
    assert (steps.rule, len(steps)) == ("optimizer", 3)


def test_work_launched_before_the_recording_belongs_to_the_whole_trace() -> None:
    """The host ran far ahead, and the recording ends before the work that it launched begins."""
    host = [op("aten::mm", 10, 80), launch(20, 900)]
    ahead = [kernel(100 + 100 * at, 90, 100 + at, f"gemm_{at}") for at in range(18)]
    steps = model_of([*host, *ahead]).steps
    assert (steps.rule, len(steps)) == ("whole_trace", 1)
    assert (steps.end - steps.start).tolist() == [1_880 * US]
    few = model_of([*host, kernel(30, 40, 100, "gemm"), kernel(75, 40, 900, "mm")]).steps
    assert (few.end - few.start).tolist() == [45 * US]


def test_an_optimizer_that_steps_once_is_no_cadence() -> None:
    assert model_of(iteration(0, 100)).steps.rule == "whole_trace"


@pytest.mark.parametrize("iterations", [2, 3, 5])
def test_calls_of_the_model_are_steps(iterations: int) -> None:
    events: list[Event] = []
    for i in range(iterations):
        events += [frame("nn.Module: Net_0", 100 * i, 60), frame("nn.Module: Linear_0", 100 * i + 5, 40)]
        events += [
            op("aten::linear", 100 * i + 10, 30),
            launch(100 * i + 20, i + 1),
            op("aten::argmax", 100 * i + 70, 5),
        ]
        events += [kernel(100 * i + 30, 50, i + 1, "gemm")]
    steps = model_of(events).steps
    assert (steps.rule, len(steps)) == ("repeated_module", iterations)
    assert (steps.host_start / US).tolist() == [100 * i for i in range(iterations)]
    assert steps.host_end[-1] / US == 100 * iterations - 25
    assert steps.labels[0] == "Net_0"


def test_modules_that_take_turns_are_one_step() -> None:
    events: list[Event] = []
    for i in range(3):
        for k, name in enumerate(("Encoder_0", "Decoder_0", "Loss_0")):
            begin = 100 * i + 30 * k
            events += [frame(f"nn.Module: {name}", begin, 25), op("aten::mm", begin + 1, 20)]
    steps = model_of(events).steps
    assert (steps.rule, len(steps), steps.labels[0]) == ("repeated_module", 3, "Encoder_0")


def test_one_call_of_the_model_is_one_step_however_its_layers_repeat() -> None:
    events: list[Event] = [frame("nn.Module: Net_0", 0, 1000)]
    for i in range(12):
        for k, name in enumerate(("gemm", "relu", "norm")):
            begin = 80 * i + 20 * k
            events += [op(f"aten::{name}", begin, 15), launch(begin + 2, 3 * i + k + 1)]
            events += [kernel(begin + 10, 12, 3 * i + k + 1, name)]
    assert model_of(events).steps.rule == "whole_trace"


def loop_of_kernels(iterations: int, layers: int = 4, before: int = 0) -> list[Event]:
    """Inference without stacks: an embedding, layers of two kernels, and a head, again and again."""
    names = ["embedding", *["gemm", "norm"] * layers, "head"]
    events: list[Event] = []
    for i in range(before):
        events += [
            op("aten::fill_", 10 * i, 5),
            launch(10 * i + 1, 5000 + i, 2),
            kernel(10 * i + 5, 4, 5000 + i, f"fill{i}"),
        ]
    for i in range(iterations):
        for k, name in enumerate(names):
            begin, correlation = 10 * before + 150 * i + 10 * k, 100 * i + k + 1
            events += [op(f"aten::{name}", begin, 8), launch(begin + 2, correlation, 2)]
            events += [kernel(begin + 15, 9, correlation, name)]
    return events


@pytest.mark.parametrize("before", [0, 7])
@pytest.mark.parametrize("iterations", [2, 3, 5])
def test_a_sequence_of_kernels_that_repeats_is_a_step(iterations: int, before: int) -> None:
    steps = model_of(loop_of_kernels(iterations, before=before)).steps
    assert (steps.rule, len(steps)) == ("repeated_kernels", iterations)
    assert ((steps.host_start - steps.host_start[0]) / US).tolist() == [150 * i for i in range(iterations)]
    assert steps.host_end[-1] / US == 10 * before + 150 * (iterations - 1) + 98


def test_layers_of_one_pass_are_no_steps() -> None:
    assert model_of(loop_of_kernels(1, layers=24)).steps.rule == "whole_trace"


@pytest.mark.parametrize("iterations", [4, 5, 9])
def test_a_kernel_that_repeats_is_no_step_two_at_a_time(iterations: int) -> None:
    events: list[Event] = []
    for i in range(iterations):
        events += [op("aten::mm", 100 * i, 20), launch(100 * i + 5, i + 1), kernel(100 * i + 30, 60, i + 1, "gemm")]
    assert model_of(events).steps.rule == "whole_trace"


@pytest.mark.parametrize("iterations", [3, 5])
def test_replays_of_a_graph_are_steps(iterations: int) -> None:
    events: list[Event] = []
    for i in range(iterations):
        events += [{**launch(10 * i, i + 1, 4), "name": "cudaGraphLaunch"}]
        events += [kernel(20 + 200 * i + 10 * k, 9, i + 1, "gemm" if k % 2 else "norm") for k in range(20)]
    steps = model_of(events).steps
    assert (steps.rule, len(steps)) == ("repeated_kernels", iterations)
    assert (steps.end / US).tolist() == [20 + 200 * i + 199 for i in range(iterations)]


def test_an_annotation_covers_the_device_work_that_it_launched() -> None:
    """The host marks 30 of 600 µs; the rest of the time it waits for what was launched there."""
    events: list[Event] = [op("aten::item", 590, 10)]
    for i in range(3):
        events += [annotation("forward", 12 * i, 10), op("aten::mm", 12 * i, 8), launch(12 * i + 1, i + 1)]
        events += [kernel(20 + 190 * i, 190, i + 1, f"kernel{i}")]
    assert model_of(events).steps.rule == "repeated_annotation"


def test_numbered_iterations_are_one_annotation() -> None:
    steps = model_of([annotation(f"iteration {i}", 100 * i, 90) for i in range(4)]).steps
    assert (steps.rule, steps.labels[0], len(steps)) == ("repeated_annotation", "iteration 0", 4)
    assert model_of([annotation(f"layer {i}", 100 * i, 90) for i in range(4)]).steps.rule == "whole_trace"


def test_the_old_overview_knows_no_steps_without_marks() -> None:
    model = model_of([event for i in range(3) for event in iteration(100 * i, 100 * (i + 1))])
    assert [row[0] for row in shapes.overview(model, 1)["steps"]["rows"]] == ["0"]


@pytest.mark.parametrize("iterations", [3, 5])
@pytest.mark.parametrize(
    ("rule", "gone"),
    [
        ("optimizer", ("ProfilerStep#",)),
        ("repeated_module", ("ProfilerStep#", "Optimizer.")),
        ("repeated_kernels", ("ProfilerStep#", "Optimizer.", "nn.Module: ")),
    ],
)
def test_a_training_run_without_its_marks_has_the_same_steps(rule: str, gone: tuple[str, ...], iterations: int) -> None:
    document, _ = generate(Config(steps=iterations, layers=2))
    marked = model_of(document["traceEvents"]).steps
    steps = model_of([event for event in document["traceEvents"] if not str(event["name"]).startswith(gone)]).steps
    assert (steps.rule, len(steps)) == (rule, iterations) == (rule, len(marked))
    # what loads the first batch is before the first call of the model
    assert steps.end[:-1] - steps.start[:-1] == pytest.approx(marked.end[:-1] - marked.start[:-1], rel=0.01)
    assert steps.end[-1] - steps.start[-1] == pytest.approx(marked.end[-1] - marked.start[-1], rel=0.05)
