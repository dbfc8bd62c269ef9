"""Names that mark phases, and what engines write into the names of their steps."""

from __future__ import annotations

from typing import get_args

import pytest

from torch_tb_profiler.analysis.program.engine_names import engine_step
from torch_tb_profiler.analysis.program.kinds import PhaseName, ProgramPhase
from torch_tb_profiler.analysis.program.known_names import known_names, normalised
from torch_tb_profiler.analysis.program.ranges import template


def test_the_names_of_answers_are_the_phases() -> None:
    assert get_args(PhaseName) == tuple(phase.value for phase in ProgramPhase)


@pytest.mark.parametrize(
    ("name", "phase"),
    [
        ("forward", ProgramPhase.FORWARD),
        ("## forward ##", ProgramPhase.FORWARD),
        ("Forward-Pass", ProgramPhase.FORWARD),
        ("[pl][profile][Strategy]SingleDeviceStrategy.training_step", ProgramPhase.FORWARD),
        ("[pl][profile][Strategy]SingleDeviceStrategy.backward", ProgramPhase.BACKWARD),
        ("[pl][profile][_TrainingEpochLoop].train_dataloader_next", ProgramPhase.DATA),
        ("[pl][profile][LightningModule]M.configure_gradient_clipping", ProgramPhase.OPTIMIZER),
        ("[param|pytorch.model.alex_net|0|0|0|measure|backward]", ProgramPhase.BACKWARD),
        ("## wait_for_batch ##", ProgramPhase.DATA),
        ("clip_grad_norm", ProgramPhase.OPTIMIZER),
        ("optimizer.zero_grad", ProgramPhase.ZERO_GRAD),
        ("update", ProgramPhase.OPTIMIZER),
        ("## forward:over_arch ##", None),
        ("forward_something", None),
        ("[pl][profile]run_training_batch", None),
        ("ProfilerStep#3", None),
        ("", None),
        ("#" * 10_000, None),
    ],
)
def test_a_name_marks_a_phase_as_a_whole(name: str, phase: ProgramPhase | None) -> None:
    assert known_names().by_user(name) is phase


@pytest.mark.parametrize(
    ("name", "phase"),
    [
        ("Optimizer.step#AdamW.step", ProgramPhase.OPTIMIZER),
        ("Optimizer.zero_grad#SGD.zero_grad", ProgramPhase.ZERO_GRAD),
        ("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", ProgramPhase.DATA),
        ("DistributedDataParallel.forward", ProgramPhase.FORWARD),
        ("FSDP::root_pre_forward", ProgramPhase.FORWARD),
        ("FSDP::pre_backward (blocks.0)", ProgramPhase.BACKWARD),
        ("FSDP::all_gather (blocks.0)", None),
        ("Torch-Compiled Region: !0/2/0", ProgramPhase.BACKWARD),
        ("Torch-Compiled Region: 0/0", None),
        ("_compile.compile_inner (dynamo_timed)", ProgramPhase.COMPILE),
    ],
)
def test_ranges_of_torch(name: str, phase: ProgramPhase | None) -> None:
    assert known_names().by_torch(name) is phase


@pytest.mark.parametrize(
    ("name", "phase"),
    [
        ("torch/_tensor.py(570): backward", ProgramPhase.BACKWARD),
        ("/usr/lib/python3/site-packages/torch/autograd/__init__.py(300): grad", ProgramPhase.BACKWARD),
        ("torch/optim/optimizer.py(480): wrapper", ProgramPhase.OPTIMIZER),
        ("torch/nn/utils/clip_grad.py(10): anything", ProgramPhase.OPTIMIZER),
        ("torch/utils/data/dataloader.py(700): __next__", ProgramPhase.DATA),
        ("torch/utils/checkpoint.py(1100): recompute_fn", ProgramPhase.RECOMPUTE),
        ("my_torch/_tensor.pyx(1): backward", None),
        ("train.py(12): backward", None),
    ],
)
def test_frames_of_torch(name: str, phase: ProgramPhase | None) -> None:
    assert known_names().by_frame(name) is phase


@pytest.mark.parametrize(
    ("name", "engine", "phase", "requests", "tokens", "context", "generation"),
    [
        ("execute_context_1(888)_generation_0(0)", "vllm", ProgramPhase.PREFILL, 1, 888, 1, 0),
        ("execute_context_1(888_788544)_generation_3(3_9)", "vllm", ProgramPhase.MIXED, 4, 891, 1, 3),
        ("execute_context_0(0)_generation_32(32)", "vllm", ProgramPhase.DECODE, 32, 32, 0, 32),
        (
            "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)",
            *("vllm", ProgramPhase.DECODE, 32, 32, 0, 32),
        ),
        # four tokens of each request: they were guessed, and are checked
        ("execute_context_0(0)_generation_8(32)", "vllm", ProgramPhase.VERIFY, 8, 32, 0, 8),
        ("execute_context_1(64)_generation_8(32)", "vllm", ProgramPhase.MIXED, 9, 96, 1, 8),
        ("execute_new_2_cached_5", "vllm", ProgramPhase.MIXED, 7, None, 2, 5),
        ("step[EXTEND bs=2 toks=300]", "sglang", ProgramPhase.PREFILL, 2, 300, 2, 0),
        ("step[DECODE bs=16]", "sglang", ProgramPhase.DECODE, 16, 16, 0, 16),
        ("step[MIXED bs=4 toks=90]", "sglang", ProgramPhase.MIXED, 4, 90, None, None),
        ("step[MIXED bs=4 toks=90 c=1 g=3]", "sglang", ProgramPhase.MIXED, 4, 90, 1, 3),
        ("step[TARGET_VERIFY bs=4]", "sglang", ProgramPhase.VERIFY, 4, None, None, None),
        ("step[DRAFT_EXTEND_V2 bs=4]", "sglang", ProgramPhase.DRAFT, 4, None, None, None),
        ("prefill[bs=2 tok=14721 ctx=[7000, 7721]]", "atom", ProgramPhase.PREFILL, 2, 14721, 2, 0),
        ("decode[bs=117/128 tok=117 d=117]", "atom", ProgramPhase.DECODE, 117, 117, 0, 117),
        ("decode[bs=5 tok=19 p=1 d=4]", "atom", ProgramPhase.MIXED, 5, 19, 1, 4),
        ("decode[bs=4 tok=16 d=4 spec=3]", "atom", ProgramPhase.VERIFY, 4, 16, 0, 4),
        ("eager_decode[bs=32 tok=32 ctx=[4096, 4096, 4096]...+29]", "atom", ProgramPhase.DECODE, 32, 32, 0, 32),
        ("dummy_decode[bs=1 tok=1 d=1]", "atom", ProgramPhase.OTHER, None, None, None, None),
        ("dummy_eager_decode[bs=1]", "atom", ProgramPhase.OTHER, None, None, None, None),
        ("propose_eagle[0/3 tok=4 bs=1/2 (graph)]", "atom", ProgramPhase.DRAFT, None, None, None, None),
        ("[Executor] _forward_step: 1 ctx reqs, 3 gen reqs", "tensorrt_llm", ProgramPhase.MIXED, 4, None, 1, 3),
        (
            "[Executor] _forward_step 7: 2 ctx reqs, 100 ctx tokens, 3 gen reqs",
            *("tensorrt_llm", ProgramPhase.MIXED, 5, 103, 2, 3),
        ),
        ("execute_diffusion_1_256x256", "xdit", ProgramPhase.DENOISE, 1, None, None, None),
        ("v2_gpu_model_runner: sample_logits", "vllm", ProgramPhase.SAMPLE, None, None, None, None),
        ("gpu_model_runner: sample", "vllm", ProgramPhase.SAMPLE, None, None, None, None),
    ],
)
def test_names_of_engines(
    name: str,
    engine: str,
    phase: ProgramPhase,
    requests: int | None,
    tokens: int | None,
    context: int | None,
    generation: int | None,
) -> None:
    found = engine_step(name)
    assert found is not None
    assert (found.engine, found.phase, found.requests, found.tokens) == (engine, phase, requests, tokens)
    assert (found.context, found.generation) == (context, generation)


def test_what_the_captured_graph_has_room_for() -> None:
    found = engine_step("decode[bs=117/128 tok=117 d=117]")
    assert found is not None
    assert found.padded == 128


@pytest.mark.parametrize(
    "name",
    [
        "",
        "execute",
        "execute_context_1(888)",
        "model_inference",
        f"execute_context_{'9' * 5000}(1)_generation_0(0)",
        "step[UNHEARD_OF bs=1]",
        "step[DECODE",
        "prefill",
        "propose_plan[bs=1]",
        "warm_decode[bs=1]",
        "decode[" + "[" * 5000,
        "step[" + "A=" * 5000,
    ],
)
def test_names_that_no_engine_writes(name: str) -> None:
    assert engine_step(name) is None


def test_numbers_that_are_none_are_not_known() -> None:
    found = engine_step("step[EXTEND bs=² toks=" + "9" * 5000 + "]")
    assert found is not None
    assert (found.requests, found.tokens) == (None, None)


@pytest.mark.parametrize(
    ("name", "writer"),
    [
        ("[pl][profile]run_training_batch", "lightning"),
        ("FSDP::all_gather (blocks.1)", "fsdp"),
        ("DistributedDataParallel.forward", "ddp"),
        ("nccl:all_reduce", "collective"),
        ("PP:0F3", "pipeline"),
        ("step[DECODE bs=1]", "sglang"),
        ("eager_decode[bs=1]", "atom"),
        ("KJTAllToAllPooled", "user"),
        ("## KJTListAwaitable wait() ##", "torchrec"),
        ("forward", "user"),
        ("model_inference", "user"),
        ("execute_diffusion_1_256x256", "xdit"),
    ],
)
def test_who_writes_a_range(name: str, writer: str) -> None:
    assert known_names().writer(name) == writer


def test_templates_hide_what_differs() -> None:
    assert template("layer 3 at 0x7f12ab") == "layer … at …"
    assert template("dynamo_data: compile_id=0/0") == template("_compile.compile_inner (dynamo_timed)")
    assert template("forward") == "forward"


def test_normalising_is_whole() -> None:
    assert normalised("a.b.c") == "c"
