"""Advice fits the devices of the trace: what rules say for CUDA is said in other words, or left out, elsewhere."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from tests.held_out import host_faults, inference
from tests.held_out.machine import A100, MI300X
from tests.held_out.run import Program, run
from torch_tb_profiler import words
from torch_tb_profiler.insights.findings import Diagnosis, diagnosis
from torch_tb_profiler.insights.shared.device_words import Platform, platform, said_for
from torch_tb_profiler.model import Model
from torch_tb_profiler.toml_text import toml_of
from torch_tb_profiler.trace import read_trace
from torch_tb_profiler.words import Sentence

#: what a kernel launch, a wait and a copy are called
CALLS = {
    "xpu": {"LaunchKernel": "urEnqueueKernelLaunch", "Synchronize": "urQueueFinish", "": "urEnqueueUSMMemcpy"},
    "npu": {"LaunchKernel": "aclrtLaunchKernel", "Synchronize": "aclrtSynchronizeStream", "": "aclrtMemcpyAsync"},
}
FOREIGN: dict[Platform, str] = {
    "rocm": r"CUDA graph|nvidia-smi|[Tt]ensor core|CUDA_MODULE|PYTORCH_CUDA",
    "xpu": r"torch\.cuda|CUDA graph|nvidia-smi|NCCL_DEBUG|[Tt]ensor core|CUDA_MODULE|PYTORCH_CUDA|\"cuda\"",
    "npu": r"torch\.cuda|CUDA graph|nvidia-smi|[Tt]ensor core|CUDA_MODULE|PYTORCH_CUDA|\"cuda\"",
}
#: they find something on NVIDIA's devices alone
OF_NVIDIA = {"tf32", "distributed_backend"}
#: it chooses among whole sentences
CHOOSES = {"launch_bound"}


def on(where: Platform, program: Program) -> Model:
    """The trace of a program on other devices."""
    machine = run(program, gpu=MI300X if where == "rocm" else A100)
    document: dict[str, Any] = machine.document()
    if where in CALLS:
        document["deviceProperties"] = [{"id": 0, "name": "Some accelerator"}]
        for event in document["traceEvents"]:
            if event.get("cat") == "cuda_runtime":
                event["name"] = next(meant for part, meant in CALLS[where].items() if part in event["name"])
    return Model(read_trace(BytesIO(json.dumps(document).encode())))


def diagnosed(where: Platform, program: Program) -> Diagnosis:
    model = on(where, program)
    assert platform(model) == where
    return diagnosis(model)


@pytest.mark.parametrize(
    ("where", "advised"),
    [("cuda", "torch.cuda.graph"), ("rocm", "torch.cuda.graph"), ("xpu", "torch.compile(model)`"), ("npu", "torchair")],
)
def test_launches_are_advised_on_as_the_device_has_it(where: Platform, advised: str) -> None:
    said = {each.id: each for each in diagnosed(where, inference.eager_decode).findings}["launch_bound"]
    assert advised in said.advice
    assert ("graph" in said.advice) == (where != "xpu")
    assert [link.key for link in said.links] == (["cuda_graphs"] if where in ("cuda", "rocm") else [])


@pytest.mark.slow
@pytest.mark.parametrize("where", FOREIGN)
def test_findings_on_other_devices_have_no_words_of_cuda(where: Platform) -> None:
    for program in (host_faults.synchronized_steps, host_faults.emptied_cache, inference.eager_decode):
        for each in diagnosed(where, program).findings:
            assert not re.search(FOREIGN[where], f"{each.title} {each.detail} {each.advice}"), each
            assert each.values["platform"] == where


def sentences() -> Iterator[tuple[str, str]]:
    """All that rules say, of one trace and of a run, with the rule."""
    for path in sorted((Path(words.__file__).parent / "en/rules").glob("*.toml")):
        for rule, section in toml_of(path.read_text("utf-8")).items():
            yield from ((rule, text) for sentence in section.values() for text in texts_of(sentence))


def texts_of(sentence: Sentence) -> Iterator[str]:
    if isinstance(sentence, str):
        yield sentence
    else:
        yield from (text for key, choice in sentence.items() if key != "by" for text in texts_of(choice))


@pytest.mark.parametrize("where", FOREIGN)
def test_no_rule_has_a_sentence_for_cuda_that_is_not_said_otherwise(where: Platform) -> None:
    texts = [(rule, text) for rule, text in sentences() if rule not in OF_NVIDIA | CHOOSES]
    assert len(texts) > 200
    missed = [(rule, said_for(where, text)) for rule, text in texts if re.search(FOREIGN[where], said_for(where, text))]
    assert missed == []
