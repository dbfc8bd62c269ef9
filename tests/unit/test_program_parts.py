"""Ranges and inference: hand-made programs, and recorded ones with a known truth."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.events import US, Event, annotation, frame, kernel, launch, model_of, op
from tests.recorded import SHARED
from tests.recorded import model_of as recorded
from torch_tb_profiler.analysis.program.engine import engine
from torch_tb_profiler.analysis.program.engine_question import engine_summary
from torch_tb_profiler.analysis.program.kinds import ProgramPhase
from torch_tb_profiler.analysis.program.micro_batches import optimizers
from torch_tb_profiler.analysis.program.phases import phase_times
from torch_tb_profiler.analysis.program.ranges import calls_of_range, ranges
from torch_tb_profiler.model import Model

PROGRAM = SHARED / "program"
needs_recordings = pytest.mark.skipif(not PROGRAM.exists(), reason="recorded traces are not here")


def of(run: str) -> Path:
    return PROGRAM / run / "worker0.pt.trace.json.gz"


def lookup(start: float, requests: int, tokens: int) -> Event:
    return op("aten::embedding", start, 5, **{"Input Dims": [[1000, 64], [requests, tokens], [], [], []]})


# ranges ------------------------------------------------------------------------------------------------------


def test_ranges_are_a_tree_of_names() -> None:
    events = [annotation("ProfilerStep#0", 0, 1000)]
    for number, start in enumerate((0, 400)):
        events += [
            annotation("iteration", start, 300),
            annotation(f"layer {number}", start + 10, 100),
            launch(start + 20, number + 1),
            kernel(start + 100, 50, number + 1),
        ]
    found = ranges(model_of(events))
    assert found.name == ("ProfilerStep#…", "iteration", "layer …")
    assert found.parent.tolist() == [-1, 0, 1]
    assert found.calls.tolist() == [1, 2, 2]
    assert found.names.tolist() == [1, 1, 2]
    assert found.host_self_ns.tolist() == [400 * US, 400 * US, 200 * US]
    assert found.device_ns.tolist() == [100 * US] * 3
    assert found.between_ns.tolist() == [-1, 100 * US, 300 * US]
    # while its work runs, and while it runs and nothing works: 90 before the kernel and 50 of it
    assert found.exposed_ns.tolist() == [1000 * US, 600 * US, 280 * US]


def test_marks_of_steps_that_cross_other_ranges_cut_none() -> None:
    model = model_of(
        [
            annotation("ProfilerStep#0", 0, 500),
            annotation("batch", 400, 300),
            annotation("Optimizer.step#SGD.step", 450, 200),
            annotation("ProfilerStep#1", 500, 500),
            launch(600, 1),
            kernel(620, 30, 1),
        ]
    )
    found = ranges(model)
    assert dict(zip(found.name, found.host_total_ns.tolist(), strict=True)) == {
        "ProfilerStep#…": 1000 * US,
        "batch": 300 * US,
        "Optimizer.step#SGD.step": 200 * US,
    }
    assert found.device_ns.tolist() == [30 * US] * 3
    assert found.parent[found.name.index("Optimizer.step#SGD.step")] == found.name.index("batch")
    used = optimizers(model)
    assert (used.host_ns.tolist(), used.device_ns.tolist()) == ([200 * US], [30 * US])


def test_the_calls_of_a_range() -> None:
    model = model_of([annotation("a", 0, 10), annotation("a", 30, 20)])
    calls = calls_of_range(model, 0)
    assert calls is not None
    assert calls.duration_ns.tolist() == [10 * US, 20 * US]
    assert calls.between_ns.tolist() == [-1, 20 * US]
    assert calls_of_range(model, 1) is None


@needs_recordings
def test_nested_ranges_of_a_recording() -> None:
    found = ranges(recorded(of("nested_ranges")))
    calls = dict(zip(found.name, found.calls.tolist(), strict=True))
    assert {name: calls[name] for name in ("iteration", "forward", "block", "inner", "loss", "logging")} == {
        **dict.fromkeys(("iteration", "forward", "loss", "logging"), 4),
        **dict.fromkeys(("block", "inner"), 12),
    }


def host_phases(model: Model) -> dict[str, int]:
    """ns of the main thread by phase, over all steps; without what nothing marks."""
    times = phase_times(model)
    return {
        each.value: int(times.host_ns[:, at].sum())
        for at, each in enumerate(times.phases)
        if each is not ProgramPhase.OTHER
    }


# inference ---------------------------------------------------------------------------------------------------


def test_steps_of_an_engine_by_their_names() -> None:
    model = model_of(
        [
            annotation("execute_context_1(100)_generation_0(0)", 0, 100),
            annotation("step[EXTEND bs=1 toks=100]", 10, 50),
            annotation("execute_context_0(0)_generation_2(2)", 200, 50),
            annotation("execute_context_0(0)_generation_3(3)", 300, 50),
            annotation("execute_context_0(0)_generation_3(3)", 380, 50),
            annotation("gpu_model_runner: sample", 255, 20),
        ]
    )
    found, summary = engine(model), engine_summary(model)
    assert found is not None
    assert summary is not None
    assert found.steps.phase == ("prefill", "decode", "decode", "decode")
    assert found.steps.gap_ns.tolist() == [100 * US, 50 * US, 30 * US, -1]
    assert summary.tpot_ns == pytest.approx((2 * 100 + 3 * 80) / 5 * US)
    assert summary.generated == 8
    assert summary.gap_ns == 180 * US


def test_a_single_step_tells_no_rate() -> None:
    summary = engine_summary(model_of([annotation("execute_context_0(0)_generation_2(2)", 200, 50)]))
    assert summary is not None
    assert (summary.tpot_ns, summary.tokens_per_second, summary.gap_ns, summary.graph_share) == (None,) * 4


@pytest.mark.parametrize("name", ["execute_context_0(0)_generation_2(8)", "decode[bs=2 tok=8 d=2 spec=3]"])
def test_what_is_guessed_and_checked_tells_no_time_per_token(name: str) -> None:
    summary = engine_summary(model_of([annotation(name, 100 * at, 50) for at in range(3)]))
    assert summary is not None
    assert [each.name for each in summary.steps] == ["verify"]
    assert (summary.tpot_ns, summary.generated, summary.tokens_per_second) == (None, None, None)
    assert summary.tokens == 24


def test_prompts_beside_what_is_guessed_tell_no_time_per_token() -> None:
    names = ["execute_context_1(64)_generation_8(32)", "execute_context_0(0)_generation_9(9)"]
    summary = engine_summary(model_of([annotation(name, 100 * at, 50) for at, name in enumerate(names)]))
    assert summary is not None
    assert [each.name for each in summary.steps] == ["decode", "mixed"]
    assert (summary.tpot_ns, summary.generated) == (None, None)


def test_look_ups_of_tokens_begin_steps() -> None:
    positions = op("aten::embedding", 7, 2, **{"Input Dims": [[128, 64], [2, 24], [], [], []]})
    model = model_of([lookup(0, 2, 24), positions, lookup(100, 2, 1), lookup(150, 2, 1), op("aten::argmax", 190, 10)])
    found, summary = engine(model), engine_summary(model)
    assert found is not None
    assert summary is not None
    assert found.how == "embedding"
    assert found.steps.phase == ("prefill", "decode", "decode")
    assert found.steps.tokens.tolist() == [48, 2, 2]
    assert summary.gap_ns is None


@pytest.mark.parametrize("dims", ["[[1000,64],[2", "[]", "[[1000],[2]]", '[["a",64],[2,1]]', "[[-1,64],[2,1]]", "7"])
def test_shapes_that_are_damaged_say_nothing(dims: str) -> None:
    damaged = {"Input Dims": dims}
    model = model_of([op("aten::embedding", 0, 5, **damaged), op("aten::embedding", 10, 5, **damaged)])
    assert engine(model) is None


def hf_calls(*tokens: int, name: str = "GPT2LMHeadModel_0") -> list[Event]:
    """Calls of a language model, with how many tokens each looks up."""
    calls = []
    for number, length in enumerate(tokens):
        calls += [frame(f"nn.Module: {name}", 100 * number + 10, 80), lookup(100 * number + 20, 2, length)]
    return calls


def test_one_token_that_transformers_generates_is_a_prefill() -> None:
    generate = frame("/env/transformers/generation/utils.py(2255): generate", 0, 150)
    model = model_of([generate, *hf_calls(24)])
    found, summary = engine(model), engine_summary(model)
    assert found is not None
    assert summary is not None
    assert (found.how, found.steps.phase) == ("modules", ("prefill",))
    assert (found.steps.requests.tolist(), found.steps.tokens.tolist()) == ([2], [48])
    # nothing is told of the time of a token: none follows the first
    assert summary.tpot_ns is None
    # the step is from the first operator to the last
    assert host_phases(model) == {"prefill": 5 * US}


def test_a_language_model_that_reads_whole_sequences_need_not_generate() -> None:
    assert engine(model_of(hf_calls(24, 24))) is None
    # one of the calls alone is in `generate`
    one = frame("/env/transformers/generation/utils.py(2255): generate", 0, 95)
    assert engine(model_of([one, *hf_calls(24, 24)])) is None
    decoding = engine(model_of(hf_calls(24, 1)))
    assert decoding is not None
    assert decoding.steps.phase == ("prefill", "decode")


def test_the_prefill_of_a_loop_is_a_step_and_a_phase() -> None:
    decodes = [annotation("decode", 400 + 100 * i, 90) for i in range(3)]
    model = model_of([annotation("prefill", 0, 380), *decodes])
    assert (model.steps.rule, model.steps.labels) == ("repeated_annotation", ("prefill", *["decode"] * 3))
    assert host_phases(model) == {"prefill": 380 * US, "decode": 270 * US}
    # the same of one that only decodes in the recording
    assert model_of(decodes).steps.labels == ("decode",) * 3


def test_training_does_not_infer() -> None:
    backward = op("autograd::engine::evaluate_function: EmbeddingBackward0", 200, 10)
    assert engine(model_of([lookup(0, 2, 24), lookup(100, 2, 24), backward])) is None


@needs_recordings
@pytest.mark.parametrize(
    ("run", "how", "steps"),
    [
        ("hf_generate", "modules", {"prefill": 1, "decode": 7}),
        ("hf_generate_plain", "embedding", {"prefill": 1, "decode": 7}),
        ("generate_loop", "ranges", {"prefill": 1, "decode": 5}),
        ("diffusers_sd", "stages", {"encode": 1, "denoise": 3, "decode_image": 1}),
    ],
)
def test_inference_of_recordings(run: str, how: str, steps: dict[str, int]) -> None:
    summary = engine_summary(recorded(of(run)))
    assert summary is not None
    assert summary.how == how
    assert {each.name: each.steps for each in summary.steps} == steps


@needs_recordings
def test_the_phases_of_a_recorded_loop_have_its_prefill() -> None:
    model = recorded(of("generate_loop"))
    assert model.steps.labels == ("prefill", *["decode"] * 5)
    assert host_phases(model) == {"prefill": 8_223_875, "decode": 8_694_464}
