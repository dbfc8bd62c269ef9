"""Rules about no cause in particular."""

from __future__ import annotations

import numpy as np
import pytest

from tests.events import Event, annotation, kernel, launch, model_of, op
from torch_tb_profiler.analysis.health.notes import troubles
from torch_tb_profiler.analysis.shared.thresholds import thresholds
from torch_tb_profiler.insights import Finding, diagnosis
from torch_tb_profiler.insights.facts import Facts


def program(lengths: list[float], names: list[str] | None = None) -> list[Event]:
    """Steps of an operator that takes so long, ms, and of a kernel that it launches."""
    events: list[Event] = []
    now = 0.0
    for number, length in enumerate(lengths):
        us = 1000 * length
        events += [
            annotation(names[number] if names else f"ProfilerStep#{number}", now, us),
            op("aten::mm", now, us),
            launch(now + us - 50, number + 1),
            kernel(now + us - 40, 40, number + 1, "gemm"),
        ]
        now += us
    return events


def found(lengths: list[float]) -> dict[str, Finding]:
    return {each.id: each for each in diagnosis(model_of(program(lengths))).findings}


def test_slow_steps_are_told_with_what_grew() -> None:
    finding = found([10, 10, 10, 10, 10, 30, 10, 10])["step_jitter"]
    assert "1 of 7 steps" in finding.detail
    assert "grows most in them is “Host: operators”, by 20 ms per step" in finding.detail
    assert {each.key: each.value for each in finding.evidence} == {
        "slow_steps": 1,
        "excess_per_step": 20e6 / 7,
        "grown_part": 20e6,
    }
    assert [each.step for each in finding.instances] == ["5"]
    assert finding.saving is None
    assert finding.severity == "medium"


def test_of_few_steps_one_that_takes_twice_as_long_is_told_with_what_grew() -> None:
    finding = found([10, 10, 30, 10])["step_jitter"]
    assert "1 of 3 steps take more than 2 × the median" in finding.detail
    assert "“Host: operators”, by 20 ms per step" in finding.detail
    assert finding.confidence == "low"


def test_the_advice_about_slow_steps_fits_a_program_that_infers() -> None:
    finding = found([10, 10, 10, 10, 10, 30, 10, 10])["step_jitter"]
    assert finding.values["training"] is False
    assert "requests of similar length" in finding.advice
    assert "checkpoints" not in finding.advice
    trains = program([10, 10, 10, 10, 10, 30, 10, 10])
    trains += [annotation("Optimizer.step#SGD.step", 10_000 * step + 9_000, 100) for step in range(5)]
    finding = {each.id: each for each in diagnosis(model_of(trains)).findings}["step_jitter"]
    assert "checkpoints" in finding.advice


def test_slow_steps_whose_batches_are_larger_are_told_so() -> None:
    """Only of the longer step the operator reads more; without shapes nothing is known."""
    lengths = [10.0, 10, 10, 10, 10, 30, 10, 10]
    events = program(lengths)
    assert "larger" not in found(lengths)["step_jitter"].values
    for number, event in enumerate(each for each in events if each["name"] == "aten::mm"):
        event["args"] = {"Input Dims": [[96 if number == 5 else 32, 64], [64, 64]]}
    finding = {each.id: each for each in diagnosis(model_of(events)).findings}["step_jitter"]
    assert finding.values["larger"] == pytest.approx((96 + 64) / (32 + 64))
    assert "1.7 × as many elements" in finding.detail
    assert "padded to a few lengths" in finding.advice


def test_steps_that_are_alike_or_few_or_warm_up_are_no_finding() -> None:
    assert "step_jitter" not in found([10, 11, 10, 9, 10, 12, 10, 10])
    assert "step_jitter" not in found([10, 10, 30])
    assert "step_jitter" not in found([10, 10, 18, 10])
    assert "step_jitter" not in found([60, 10, 10, 10, 10, 10])
    assert "step_jitter" not in found([15, 10, 10, 10, 10, 10, 10])  # it fills the pipeline


def test_steps_are_compared_with_those_of_their_kind() -> None:
    """The prefill of a loop is no slow decode, and no first one that warms up."""

    def of(*decode: float) -> tuple[set[str], set[str]]:
        model = model_of(program([60, *decode, 60], ["prefill", *["decode"] * len(decode), "prefill"]))
        assert len(model.steps) == len(decode) + 2
        return {each.id for each in diagnosis(model).findings}, {note.kind for note in troubles(model)}

    healthy, notes = of(10, 10, 10, 10, 10, 10)
    assert "step_jitter" not in healthy
    assert "slow_first_step" not in notes
    ids, notes = of(10, 10, 10, 30, 10, 10)
    assert "step_jitter" in ids
    assert "slow_first_step" not in notes


def test_a_loop_inside_of_unmarked_steps_is_no_jitter() -> None:
    lengths = [30.0 if at % 6 == 5 else 10.0 for at in range(42)]
    marked = program(lengths)
    assert "step_jitter" in {each.id for each in diagnosis(model_of(marked)).findings}
    kernels = [each for each in marked if each["cat"] != "user_annotation"]
    for at, each in enumerate(each for each in kernels if each["cat"] == "kernel"):
        each["name"] = ("gemm", "norm")[at % 2]  # one kernel again and again is no step
    model = model_of(kernels)
    assert model.steps.rule == "repeated_kernels"
    assert len(model.steps) > 15
    assert "step_jitter" not in {each.id for each in diagnosis(model).findings}


def test_a_place_belongs_to_the_step_that_most_of_it_lies_in() -> None:
    """The wait for a batch begins at the end of one step, and makes the next one long."""
    facts = Facts(model_of(program([10, 10, 30, 10])), thresholds())
    ms = 1_000_000
    spans = [[19 * ms, 39 * ms], [9 * ms, 11 * ms], [12 * ms, 12 * ms], [-9 * ms, -5 * ms], [59 * ms, 99 * ms]]
    for on_device in (False, True):
        found = facts.step_with_most(np.array(spans, np.int64), np.full(len(spans), on_device))
        assert found.tolist() == [2, 0, 1, -1, 3]


def test_an_idle_device_shows_what_it_waited_for() -> None:
    finding = found([10, 10, 10, 10, 12])["device_idle"]
    assert {each.name for each in finding.instances} == {"gemm"}
    assert [each.duration_ns for each in finding.instances] == sorted(
        (each.duration_ns for each in finding.instances), reverse=True
    )
    assert finding.instances[0].duration_ns > 9e6, "the time in which nothing ran, not the kernel of 40 µs"
    assert finding.where is not None
    assert finding.where.operator == "aten::mm"
    assert finding.saving is not None
    assert not finding.saving.bound  # half of the host's time: a better remedy may save more
    assert finding.saving.low_ns is not None
    assert finding.saving.high_ns is not None
    assert finding.saving.low_ns <= (finding.saving.after_others_ns or 0) <= finding.saving.high_ns


@pytest.mark.parametrize(
    ("step", "stack", "told"),
    [
        ("ProfilerStep#{}", "", "`profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], with_stack=True)`"),
        ("execute_context_0(0)_generation_{}(8)", "", 'vllm serve MODEL --profiler-config \'{"profiler": "torch", '),
        ("step[DECODE bs={}]", "", "curl -X POST http://HOST:PORT/start_profile --json '{\"with_stack\": true}'`"),
        ("execute_context_0(0)_generation_{}(8)", "worker.py(1): run", "Stacks are recorded, but do not show why."),
    ],
)
def test_who_records_is_told_to_record_the_silent_host(step: str, stack: str, told: str) -> None:
    events: list[Event] = []
    for turn in range(1, 6):
        at = 10_000 * turn
        events += [annotation(step.format(turn), at, 10_000), op("aten::mm", at + 9000, 100, **{"Call stack": stack})]
        events += [launch(at + 9010, turn, 10), kernel(at + 9030, 900, turn)]
    finding = {each.id: each for each in diagnosis(model_of(events)).findings}["device_idle"]
    assert "silent" in finding.values or "unknown" in finding.values
    assert told in finding.advice
    assert ("with_stack" in finding.advice) == (not stack)
