"""Phases: hand-made steps with known times, and sums that are exact."""

from __future__ import annotations

import numpy as np
import pytest

from tests.events import US, Event, annotation, frame, kernel, launch, memory, model_of, op
from tests.recorded import SHARED
from tests.recorded import model_of as recorded
from torch_tb_profiler.analysis.program.kinds import ProgramPhase
from torch_tb_profiler.analysis.program.micro_batches import micro_batches, optimizers
from torch_tb_profiler.analysis.program.phases import phase_times, phases, phases_at_peak
from torch_tb_profiler.analysis.program.question import phase_means
from torch_tb_profiler.model import Model

EV = "autograd::engine::evaluate_function: "
PROGRAM = SHARED / "program"


def forward(name: str, start: float, duration: float, number: int, tid: int = 1) -> Event:
    return op(name, start, duration, tid, **{"Sequence number": number, "Fwd thread id": 0})


def node(name: str, start: float, duration: float, number: int, tid: int = 1) -> Event:
    return op(EV + name, start, duration, tid, **{"Sequence number": number, "Fwd thread id": 1})


def host(model: Model) -> dict[str, int]:
    """µs of the main thread by phase, over all steps."""
    times = phase_times(model)
    return {p.value: int(times.host_ns[:, at].sum()) // US for at, p in enumerate(times.phases)}


def check_sums(model: Model) -> None:
    times, steps = phase_times(model), model.steps
    inside = model.in_steps
    rows = inside.device_work.row[inside.is_work]
    assert (times.host_ns.sum(axis=1) == steps.host_end - steps.host_start).all()
    assert (times.exposed_ns.sum(axis=1) == steps.end - steps.start).all()
    assert times.device_ns.sum() == np.maximum(model.trace.events.duration[rows], 0).sum()
    means = phase_means(model)
    if means:
        assert sum(each.exposed_ns for each in means) == (steps.end - steps.start).mean()
        assert sum(each.exposed_ns for each in reversed(means)) == (steps.end - steps.start).mean()


def test_a_step_by_its_marks() -> None:
    model = model_of(
        [
            annotation("ProfilerStep#0", 0, 1000),
            annotation("enumerate(DataLoader)#_X.__next__", 0, 100),
            annotation("forward", 100, 300),
            annotation("loss", 300, 50),
            node("AddmmBackward0", 450, 200, 1),
            annotation("Optimizer.step#SGD.step", 700, 200),
            annotation("forward_something", 950, 20),
        ]
    )
    assert host(model) == {
        "data": 100,
        "forward": 250,
        "loss": 50,
        "backward": 250,  # without frames up to what the thread shows next
        "optimizer": 200,
        "other": 150,
    }
    check_sums(model)


def test_operators_before_a_backward_pass_are_forward() -> None:
    model = model_of(
        [
            annotation("ProfilerStep#0", 0, 1000),
            forward("aten::linear", 100, 50, 1),
            forward("aten::relu", 200, 50, 2),
            forward("aten::mse_loss", 300, 50, 3),
            op("aten::ones_like", 360, 10),
            node("MseLossBackward0", 380, 100, 3),
            node("AddmmBackward0", 500, 100, 1),
            annotation("Optimizer.step#SGD.step", 600, 100),
        ]
    )
    assert host(model) == {"forward": 200, "loss": 50, "backward": 240, "optimizer": 100, "other": 410}
    times = phase_times(model)
    assert int(times.inferred_ns.sum()) == (200 + 50 + 240 - 200) * US
    check_sums(model)


def test_without_a_backward_pass_nothing_is_inferred_to_be_forward() -> None:
    model = model_of([annotation("ProfilerStep#0", 0, 1000), forward("aten::linear", 100, 50, 1)])
    assert host(model) == {"other": 1000}


def test_operators_without_numbers() -> None:
    model = model_of(
        [annotation("ProfilerStep#0", 0, 1000), op("aten::linear", 100, 50), op(EV + "X", 200, 100), op("z", 300, 1)]
    )
    assert host(model) == {"forward": 50, "backward": 100, "other": 850}


def test_an_optimizer_without_a_range() -> None:
    model = model_of(
        [
            annotation("ProfilerStep#0", 0, 1000),
            forward("aten::linear", 100, 50, 1),
            node("AddmmBackward0", 200, 100, 1),
            op("aten::_foreach_add_", 300, 50),
            op("aten::_foreach_mul_", 400, 50),
        ]
    )
    assert host(model)["optimizer"] == 150


def test_the_main_thread_waits_for_the_backward_pass() -> None:
    """The nodes run on a thread of their own; with frames the call holds the main thread."""
    model = model_of(
        [
            annotation("ProfilerStep#0", 0, 1000),
            forward("aten::linear", 100, 50, 1),
            frame("torch/_tensor.py(1): backward", 200, 400),
            node("AddmmBackward0", 220, 300, 1, tid=9),
            launch(230, 1, tid=9),
            kernel(300, 500, 1),
        ]
    )
    assert host(model) == {"forward": 50, "backward": 400, "other": 550}
    times = phase_times(model)
    assert times.of(ProgramPhase.BACKWARD, times.device_ns) == 500 * US
    assert times.of(ProgramPhase.BACKWARD, times.exposed_ns) == (100 + 500) * US
    check_sums(model)


def test_work_that_was_launched_first_has_the_moment() -> None:
    model = model_of(
        [
            annotation("ProfilerStep#0", 0, 100),
            annotation("forward", 0, 20),
            launch(0, 1),
            annotation("backward", 20, 20),
            launch(20, 2),
            kernel(10, 60, 1),
            kernel(30, 60, 2, stream=9),
        ]
    )
    times = phase_times(model)
    assert times.of(ProgramPhase.FORWARD, times.exposed_ns) == 70 * US
    assert times.of(ProgramPhase.BACKWARD, times.exposed_ns) == 20 * US
    check_sums(model)


def test_work_without_a_launch_is_shown_as_such() -> None:
    model = model_of([annotation("ProfilerStep#0", 0, 100), launch(0, 1), kernel(10, 20, 1), kernel(50, 20, 7)])
    times = phase_times(model)
    assert times.of(ProgramPhase.NO_LAUNCH, times.device_ns) == 20 * US
    check_sums(model)


def test_a_closure_keeps_forward_and_backward() -> None:
    model = model_of(
        [
            annotation("ProfilerStep#0", 0, 1000),
            annotation("Optimizer.step#LBFGS.step", 100, 800),
            annotation("forward", 200, 100),
            node("AddmmBackward0", 300, 100, 1),
        ]
    )
    assert host(model) == {"forward": 100, "backward": 100, "optimizer": 600, "other": 200}


def test_an_optimizer_in_the_backward_pass() -> None:
    model = model_of(
        [
            annotation("ProfilerStep#0", 0, 1000),
            node("torch::autograd::AccumulateGrad", 100, 300, 1),
            annotation("Optimizer.step#SGD.step", 200, 100),
            op("aten::end", 400, 10),
        ]
    )
    assert host(model) == {"backward": 200, "optimizer": 100, "other": 700}
    assert len(micro_batches(model)) == 1


def test_a_module_inside_a_backward_node_is_computed_again() -> None:
    model = model_of(
        [
            annotation("ProfilerStep#0", 0, 1000),
            frame("nn.Module: Net_0", 100, 100),
            frame("torch/_tensor.py(1): backward", 300, 400),
            node("CheckpointFunctionBackward", 310, 300, 1),
            frame("nn.Module: Block_0", 350, 100),
        ]
    )
    assert host(model) == {"forward": 100, "backward": 300, "recompute": 100, "other": 500}


def test_compiling_wins_over_what_it_holds() -> None:
    model = model_of(
        [
            annotation("ProfilerStep#0", 0, 1000),
            op("_compile.compile_inner (dynamo_timed)", 100, 500),
            frame("nn.Module: Net_0", 200, 100),
        ]
    )
    assert host(model) == {"compile": 500, "other": 500}


def test_a_crossing_step_mark_is_no_parent() -> None:
    model = model_of(
        [
            annotation("run_training_batch", 0, 500),
            annotation("training_step", 100, 200),
            annotation("ProfilerStep#0", 200, 800),
        ]
    )
    # the batch is the step, and the mark of the forward pass is whole
    assert host(model) == {"forward": 200, "other": 300}


def test_modules_of_compiled_autograd_are_backward() -> None:
    model = model_of(
        [
            annotation("ProfilerStep#0", 0, 1000),
            op("CompiledFunction", 100, 100, **{"Sequence number": 3, "Fwd thread id": 0}),
            frame("torch/_tensor.py(1): backward", 300, 400),
            frame("nn.Module: OptimizedModule_0", 350, 300),
            op("Torch-Compiled Region: !0/2/0", 500, 100),
            annotation("Optimizer.step#SGD.step", 800, 100),
        ]
    )
    assert host(model) == {"forward": 100, "backward": 400, "optimizer": 100, "other": 400}
    assert micro_batches(model).forward_ns.tolist() == [100 * US]


def test_compiled_code_without_a_backward_pass_is_inferred_to_be_forward() -> None:
    model = model_of(
        [
            annotation("ProfilerStep#0", 0, 1000),
            op("Torch-Compiled Region: 0/0", 100, 300),
            op("Torch-Compiled Region: 1/0", 200, 100),
        ]
    )
    assert host(model) == {"forward": 300, "other": 700}
    assert int(phase_times(model).inferred_ns.sum()) == 300 * US


def test_a_step_mark_that_crosses_another_mark_does_not_cut_it() -> None:
    model = model_of(
        [
            annotation("ProfilerStep#0", 0, 500),
            annotation("Optimizer.step#SGD.step", 400, 300),
            annotation("ProfilerStep#1", 500, 500),
        ]
    )
    assert host(model) == {"optimizer": 300, "other": 700}


def test_a_range_that_the_recording_left_open_ends_with_what_was_recorded() -> None:
    window_end = {"ph": "i", "name": "Record Window End", "pid": 1, "tid": 1, "ts": 1000, "s": "g"}
    events = [annotation("ProfilerStep#0", 0, 500), annotation("Optimizer.step#SGD.step", 400, 600)]
    model = model_of([*events, annotation("ProfilerStep#1", 500, 500), op("aten::add_", 510, 20), window_end])
    assert model.steps.names == ("0",)
    assert phases(model).segments.end[-1] == 530 * US
    # what ends with the last event is as long as it says
    model = model_of([*events, op("aten::add_", 900, 100), window_end])
    assert phases(model).segments.end[-1] == 1000 * US


def test_the_model_on_validation_batches_is_told_apart() -> None:
    model = model_of(
        [
            annotation("ProfilerStep#0", 0, 1000),
            annotation("training_step", 0, 100),
            annotation("[pl][profile][Strategy]SingleDeviceStrategy.validation_step", 200, 100),
            frame("nn.Module: Net_0", 210, 50),
            annotation("evaluate", 400, 100),
            annotation("data", 400, 30),
        ]
    )
    assert host(model) == {"data": 30, "forward": 100, "validation": 170, "other": 700}


def token_lookup(start: float, tokens: int) -> Event:
    return op("aten::embedding", start, 5, **{"Input Dims": [[1000, 64], [2, tokens], [], [], []]})


def test_passes_of_a_language_model_are_phases() -> None:
    events = [op("generate", 0, 500)]
    for start, tokens in ((0, 24), (200, 1), (300, 1)):
        events += [frame("nn.Module: Gpt_0", start, 80), token_lookup(start + 10, tokens)]
    assert host(model_of(events)) == {"prefill": 80, "decode": 160, "other": 140}
    # without frames a pass lasts to the next look-up
    plain = model_of([each for each in events if "Gpt" not in each["name"]])
    assert host(plain) == {"prefill": 200, "decode": 290, "other": 10}
    assert int(phase_times(plain).inferred_ns.sum()) == 490 * US


def test_a_model_that_only_reads_generates_nothing() -> None:
    events = [frame("nn.Module: Encoder_0", start, 80) for start in (0, 100)]
    model = model_of([*events, token_lookup(10, 24), token_lookup(110, 24)])
    assert host(model) == {"forward": 160, "other": 20}


def test_two_losses_one_after_the_other_are_two_passes() -> None:
    frames = [frame("torch/_tensor.py(1): backward", start, 90) for start in (100, 200)]
    model = model_of(
        [
            annotation("ProfilerStep#0", 0, 400),
            *frames,
            node("AddmmBackward0", 110, 50, 1),
            node("MulBackward0", 210, 50, 2),
        ]
    )
    assert len(micro_batches(model)) == 2
    alike = model_of([annotation("ProfilerStep#0", 0, 400), node("A", 110, 50, 1), node("B", 210, 50, 2)])
    assert len(micro_batches(alike)) == 1


def test_accumulation_and_two_optimizers() -> None:
    events = [annotation("ProfilerStep#0", 0, 1000)]
    for start in (0, 200):
        events += [annotation("forward", start, 50), node("AddmmBackward0", start + 60, 50, start)]
    events += [annotation("nccl:all_reduce", 270, 10)]
    for number, kind in enumerate(("AdamW", "SGD", "AdamW")):
        events.append(annotation(f"Optimizer.step#{kind}.step", 500 + 100 * number, 50))
    model = model_of(events)
    passes = micro_batches(model)
    assert passes.number.tolist() == [0, 1]
    assert passes.forward_ns.tolist() == [50 * US, 50 * US]
    assert passes.synchronises.tolist() == [False, True]
    found = optimizers(model)
    assert found.name == ("AdamW", "SGD", "AdamW 2")
    assert found.host_ns.tolist() == [50 * US] * 3


def test_the_phase_at_the_peak_of_memory() -> None:
    model = model_of(
        [
            annotation("ProfilerStep#0", 0, 1000),
            annotation("forward", 0, 300),
            annotation("backward", 300, 300),
            memory(100, 1000, 1, total=1000),
            memory(400, 2000, 2, total=3000),
            memory(500, -2000, 2, total=1000),
        ]
    )
    (peak,) = phases_at_peak(model)
    assert (peak.phase, peak.time_ns, peak.bytes) == (ProgramPhase.BACKWARD, 400 * US, 3000)
    assert phases_at_peak(model_of([annotation("forward", 0, 300)])) == ()


def test_a_trace_with_nothing_in_it() -> None:
    model = model_of([])
    assert phase_means(model) == ()
    assert len(micro_batches(model)) == len(optimizers(model)) == 0


#: passes of each step that the programs of the recordings made
PASSES = {
    "checkpoint": [1, 1],
    "accumulation": [4, 4],
    "accumulation_plain": [4, 4, 4],
    "ddp_accumulate": [2, 2],
    "fsdp2": [2, 2],
    "double_backward": [2, 2],
    "hf_trainer": [2, 2],
    "nested_ranges": [1, 1, 1, 1],
}


@pytest.mark.skipif(not PROGRAM.exists(), reason="recorded traces are not here")
@pytest.mark.parametrize("run", sorted(PASSES))
def test_passes_of_recorded_programs(run: str) -> None:
    model = recorded(PROGRAM / run / "worker0.pt.trace.json.gz")
    check_sums(model)
    assert np.bincount(micro_batches(model).step, minlength=len(model.steps)).tolist() == PASSES[run]
