"""Steps: their periods, and what belongs to none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.events import US, Event, annotation, copy, kernel, launch, model_of, op
from torch_tb_profiler.analysis.compare.question import COMPARE, WhichPart
from torch_tb_profiler.analysis.device_time import step_of_operations
from torch_tb_profiler.analysis.health.notes import troubles
from torch_tb_profiler.analysis.kernels import kernels
from torch_tb_profiler.analysis.operators.table import operators
from torch_tb_profiler.analysis.overview import average_step
from torch_tb_profiler.analysis.question import Subject
from torch_tb_profiler.analysis.shared.operator_times import full_program
from torch_tb_profiler.analysis.traces import STEP_NAMES, NamesParams
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


def test_what_begins_within_the_rounding_is_not_inside() -> None:
    """Marks, and the operators at the end of the first: two trees."""
    model = model_of(
        [
            annotation("ProfilerStep#0", 0, 100.001),
            op("a", 90, 10.001),
            annotation("ProfilerStep#1", 100, 100),
            op("b", 150, 5),
        ]
    )
    assert model.tree.parent.tolist() == [-1, 0, -1, 2]
    program = full_program(model)
    names = [program.name(node) for node in range(len(program.tree))]
    inside = {
        name: names[parent] for name, parent in zip(names, program.tree.parent.tolist(), strict=True) if parent >= 0
    }
    assert inside == {"a": "ProfilerStep#0", "b": "ProfilerStep#1"}
    assert model.structure.clamped() == 0


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
    found = STEP_NAMES.compute(subject, NamesParams("kernels"))
    assert found.steps == 2
    assert dict(zip(found.names.rows["name"], found.names.rows["total_ns"], strict=True))["gemm"] == 60 * US
    found = STEP_NAMES.compute(subject, NamesParams())
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
