"""Steps: their periods, what belongs to none, and the rules that find them without marks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.events import US, Event, annotation, copy, frame, kernel, launch, model_of, op
from torch_tb_profiler.analysis.compare.question import COMPARE, WhichPart
from torch_tb_profiler.analysis.health import troubles
from torch_tb_profiler.analysis.kernels.table import kernels
from torch_tb_profiler.analysis.operators.table import operators
from torch_tb_profiler.analysis.overlap import step_of_operations
from torch_tb_profiler.analysis.overview.overview import average_step
from torch_tb_profiler.analysis.question import Subject
from torch_tb_profiler.analysis.run_metrics.question import STEP_NAMES, NamesAsked
from torch_tb_profiler.model import Model, Steps
from torch_tb_profiler.web.old_plugin import shapes

MS = 1000


def tail_of_work_before(prefetch: bool) -> Model:
    """Five steps of 213 ms or little more. 155 ms of work launched before the recording run on the main stream.

    The host runs ahead: step i is marked at i ms. With `prefetch` its first work is a copy on another stream.
    """
    events: list[Event] = [kernel(0, 155 * MS, 99, "before")]
    at = 155 * MS
    for i, length in enumerate((213, 215, 215, 215, 216)):
        begin = i * MS
        events += [annotation(f"ProfilerStep#{i}", begin, MS), op("aten::mm", begin, 500)]
        events += [launch(begin + 10, 2 * i + 1), kernel(at, length * MS, 2 * i + 1, "gemm")]
        if prefetch:
            events += [launch(begin + 20, 2 * i + 2), copy(begin + 30, 20, 2 * i + 2, stream=9)]
        at += length * MS
    return model_of(events)


def lengths(steps: Steps) -> list[float]:
    return ((steps.end - steps.start) / US / MS).tolist()


@pytest.mark.parametrize("prefetch", [False, True])
def test_the_first_step_begins_when_its_streams_are_done_with_earlier_work(prefetch: bool) -> None:
    model = tail_of_work_before(prefetch)
    assert lengths(model.steps) == [213, 215, 215, 215, 216]
    assert average_step(model).step_ns / US / MS == pytest.approx(214.8)
    assert "slow_first_step" not in {note.kind for note in troubles(model)}


def test_the_old_overview_keeps_its_first_step() -> None:
    first = shapes.overview(tail_of_work_before(True), 1)["performance"][0]
    # 368 ms from the mark on: the copy on another stream began before the work launched earlier had ended
    assert first["value"] == pytest.approx((368 + 215 * 3 + 216) * MS / 5)


def test_a_stream_that_the_first_step_does_not_use_does_not_hold_it() -> None:
    other = kernel(0, 90, 99, "before", stream=8)
    model = model_of([annotation("ProfilerStep#0", 10, 100), launch(20, 1), kernel(30, 40, 1), other])
    assert (model.steps.start + 0).tolist() == [10 * US]


def test_time_between_marks_belongs_to_the_later_step() -> None:
    model = model_of([annotation(f"ProfilerStep#{i}", i * 100, 60) for i in range(3)])
    assert (model.steps.start / US).tolist() == [0, 60, 160]
    assert (model.steps.end / US).tolist() == [60, 160, 260]
    assert (model.steps.overview_start / US).tolist() == [0, 100, 200]


def test_marks_may_overlap_by_a_nanosecond_of_rounding() -> None:
    marks = [annotation("ProfilerStep#0", 0, 100.001), annotation("ProfilerStep#1", 100, 100)]
    assert model_of([*marks, annotation("ProfilerStep#2", 200, 50)]).steps.names == ("0", "1", "2")
    further = [annotation("ProfilerStep#0", 0, 100.002), annotation("ProfilerStep#1", 100, 100)]
    assert model_of(further).steps.names == ("0",)
    inside = [annotation("ProfilerStep#0", 0, 100.001), annotation("ProfilerStep#1", 100, 0.001)]
    assert model_of(inside).steps.names == ("0",)


# periods -----------------------------------------------------------------------------------------------------

WORK = st.tuples(st.integers(0, 400), st.integers(0, 3), st.integers(1, 120), st.integers(0, 60))


@given(
    marks=st.lists(st.tuples(st.integers(0, 30), st.integers(1, 100)), min_size=1, max_size=6),
    work=st.lists(WORK, max_size=25),
    orphans=st.lists(st.tuples(st.integers(0, 200), st.integers(1, 150), st.integers(0, 3)), max_size=5),
)
def test_periods_add_up_to_the_window(
    marks: list[tuple[int, int]], work: list[tuple[int, int, int, int]], orphans: list[tuple[int, int, int]]
) -> None:
    """Windows are contiguous, Σ T_k = E_last - start_0, and each E_k is what its definition says."""
    events: list[Event] = [op("first", 0, 1)]
    at, windows = 1, []
    for i, (gap, length) in enumerate(marks):
        at += gap
        windows.append((at, at + length))
        events.append(annotation(f"ProfilerStep#{i}", at, length))
        at += length
    free = dict.fromkeys(range(4), 0)
    for start, length, stream in sorted(orphans):
        begin = max(start, free[stream])
        free[stream] = begin + length
        events.append(kernel(begin, length, 0, "orphan", stream=stream + 1))
    ran: list[tuple[int, int]] = []
    for correlation, (called, stream, length, delay) in enumerate(sorted(work), start=1):
        begin = max(called + delay, free[stream])
        free[stream] = begin + length
        ran.append((called, begin + length))
        events += [launch(called, correlation, 0), kernel(begin, length, correlation, stream=stream + 1)]
    steps = model_of(events).steps
    n = len(steps)
    assert steps.start[1:].tolist() == steps.end[:-1].tolist()
    assert (steps.end >= steps.start).all()
    assert int((steps.end - steps.start).sum()) == int(steps.end[-1] - steps.start[0])
    assert steps.start[0] >= steps.host_start[0]
    reached = 0
    for k, (low, high) in enumerate(windows[:n]):
        after = windows[k + 1][0] if k + 1 < len(windows) else None
        mine = [end for called, end in ran if low <= called <= high and (after is None or called < after)]
        reached = max(reached, high, *mine)
        assert steps.end[k] == reached * US
    # of each step only the start differs from what the old plugin had
    assert (steps.overview_start >= steps.host_start).all()


# work launched before the recording ---------------------------------------------------------------------------


def with_earlier_work() -> Model:
    """Two steps that launch 30 µs each; 40 µs were launched before the recording; of 7 the launch was lost."""
    return model_of(
        [
            annotation("ProfilerStep#0", 10, 90),
            annotation("ProfilerStep#1", 110, 90),
            op("aten::mm", 20, 10),
            op("aten::mm", 120, 10),
            op("between", 101, 5),
            launch(22, 1),
            launch(122, 2),
            launch(103, 3),
            kernel(2, 40, 97, "gemm"),
            kernel(50, 30, 1, "gemm"),
            kernel(105, 4, 3, "gap"),
            kernel(150, 30, 2, "gemm"),
            kernel(140, 7, 96, "lost"),
        ]
    )


def test_work_launched_before_the_recording_is_in_no_step() -> None:
    model = with_earlier_work()
    assert model.structure.launched_before.tolist() == [True, False, False, False, False]
    found = kernels(model.in_steps)
    sums = dict(zip(found.name, (found.total_ns / US).tolist(), strict=True))
    assert sums == {"gemm": 60, "lost": 7, "gap": 4}
    assert operators(model.in_steps).device_ns == 71 * US
    assert operators(model).device_ns == 111 * US


def test_the_parts_of_a_comparison_add_up_to_everything() -> None:
    model = with_earlier_work()
    subject = Subject(model, "run", "worker", "1", 0, 1, lambda _: ())
    answer = COMPARE.compute(subject, subject, WhichPart())
    rows = answer.parts.rows
    device = dict(zip(rows["kind"], rows["device_ns"], strict=True))
    # launched between the marks, or nobody knows where: 4 + 7
    assert (device["before"], device["rest"]) == (40 * US, 11 * US)
    assert answer.totals.device_ns == 111 * US
    for key in ("duration_ns", "device_ns", "total_ns"):
        for side in ("", "exp_", "delta_"):
            assert sum(rows[side + key]) == getattr(answer.totals, side + key)
    kernel_ns = dict(zip(answer.kernels.rows["name"], answer.kernels.rows["total_ns"], strict=True))
    assert kernel_ns["gemm"] == 60 * US


def test_sums_of_steps_leave_out_what_is_in_none() -> None:
    subject = Subject(with_earlier_work(), "run", "worker", "1", 0, 1, lambda _: ())
    found = STEP_NAMES.compute(subject, NamesAsked("kernels"))
    assert found.steps == 2
    assert dict(zip(found.names.rows["name"], found.names.rows["total_ns"], strict=True))["gemm"] == 60 * US
    found = STEP_NAMES.compute(subject, NamesAsked())
    assert dict(zip(found.names.rows["name"], found.names.rows["calls"], strict=True)) == {"aten::mm": 2, "between": 1}


def test_without_launches_nothing_is_known_of_them() -> None:
    model = model_of([annotation("ProfilerStep#0", 0, 90), kernel(10, 5, 1), kernel(20, 5, 2)])
    assert not model.structure.launched_before.any()
    assert int(kernels(model.in_steps).total_ns.sum()) == 10 * US


def test_a_collective_launched_before_the_recording_is_in_no_step() -> None:
    name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
    model = model_of(
        [
            annotation("ProfilerStep#0", 0, 100),
            launch(10, 1),
            kernel(5, 30, 99, name),
            kernel(40, 10, 1, name),
        ]
    )
    assert sorted(step_of_operations(model).tolist()) == [-1, 0]
    assert np.count_nonzero(model.structure.launched_before) == 1


# steps without marks -----------------------------------------------------------------------------------------


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
