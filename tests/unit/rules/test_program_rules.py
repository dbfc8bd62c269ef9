"""Gaps between the steps of inference, and steps that accumulate unevenly."""

from __future__ import annotations

import pytest

from tests.events import Event, annotation, kernel, launch, model_of, op
from torch_tb_profiler.insights import Finding, diagnosis


def generating(gap: float, steps: int = 8) -> list[Event]:
    """Steps of 100 µs of which the device works for 90, with a gap behind each in which the host samples."""
    events: list[Event] = []
    for number in range(steps):
        at = number * (100 + gap)
        events += [
            annotation("execute_context_0(0)_generation_4(4)", at, 100),
            op("aten::mm", at, 20),
            launch(at + 5, number + 1),
            kernel(at + 10, 90, number + 1),
            annotation("sample", at + 100, gap),
            op("aten::argmax", at + 100, gap),
        ]
    return events


def found(events: list[Event]) -> dict[str, Finding]:
    return {each.id: each for each in diagnosis(model_of(events)).findings}


def test_gaps_between_steps_of_inference() -> None:
    finding = found(generating(50))["step_gaps"]
    assert "30 %" in finding.detail
    assert finding.advice.startswith("Sample on the device")
    assert {each.key: each.value for each in finding.evidence} == {"step_gaps": 7, "step_gap_ns": 50_000}
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(50_000, rel=0.2)


def test_short_gaps_and_gaps_in_which_devices_work_are_none() -> None:
    assert "step_gaps" not in found(generating(5))
    hidden = [{**each, "dur": 145} if each["cat"] == "kernel" else each for each in generating(50)]
    assert "step_gaps" not in found(hidden)


def training(passes: list[int], optimizes: bool = True) -> list[Event]:
    events: list[Event] = []
    for step, count in enumerate(passes):
        at = step * 10_000
        for number in range(count):
            begin, sequence = at + 1000 * number, 100 * step + number
            numbers = {"Sequence number": sequence, "Fwd thread id": 0}
            events.append(op("aten::mm", begin, 300, **numbers))
            node = "autograd::engine::evaluate_function: MmBackward0"
            events.append(op(node, begin + 400, 300, **{**numbers, "Fwd thread id": 1}))
        if optimizes:
            events.append(annotation("Optimizer.step#SGD.step", at + 9000, 500))
        events.append(annotation(f"ProfilerStep#{step}", at, 10_000))
    return events


def test_a_changing_number_of_micro_batches() -> None:
    finding = found(training([4, 4, 3, 4]))["uneven_accumulation"]
    assert "1 of 4 steps" in finding.detail
    assert "(step 2)" in finding.detail
    assert {each.key: each.value for each in finding.evidence} == {"fewest_passes": 3, "most_passes": 4}


def test_equal_numbers_and_steps_without_an_optimizer_are_none() -> None:
    assert "uneven_accumulation" not in found(training([4, 4, 4]))
    assert "uneven_accumulation" not in found(training([4, 0, 4]))
    assert "uneven_accumulation" not in found(training([1, 2, 1], optimizes=False))


def adversarial(generator: list[int], critic: int = 1) -> list[Event]:
    """Steps in which a discriminator is updated from some passes, and then a generator so many times."""
    events: list[Event] = []
    number = 0

    def passed(at: float) -> None:
        nonlocal number
        number += 1
        forward = {"Sequence number": number, "Fwd thread id": 0}
        backward = {"Sequence number": number, "Fwd thread id": 1}
        events.append(op("aten::linear", at, 100, **forward))
        events.append(op("autograd::engine::evaluate_function: AddmmBackward0", at + 150, 100, **backward))

    for step, updates in enumerate(generator):
        at = float(step * 10_000)
        events.append(annotation(f"ProfilerStep#{step}", at, 10_000))
        for each in range(critic):
            passed(at + 10 + 300 * each)
        events.append(annotation("Optimizer.step#SGD.step", at + 3_000, 100))
        for each in range(updates):
            passed(at + 4_000 + 600 * each)
            events.append(annotation("Optimizer.step#Adam.step", at + 4_300 + 600 * each, 100))
    return events


@pytest.mark.parametrize(("generator", "critic"), [([0, 0, 1, 0, 0, 1], 1), ([1, 1, 1, 1], 3), ([2, 1, 2, 1], 2)])
def test_several_optimizers_in_a_step_are_no_accumulation(generator: list[int], critic: int) -> None:
    assert "uneven_accumulation" not in found(adversarial(generator, critic))
