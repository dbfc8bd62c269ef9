"""A device that the program used and that was not recorded: no verdict, and no advice that was already followed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import torch_tb_profiler
from tests.events import Event, annotation, copy, event, kernel, launch, memory, model_of, op
from tests.tracegen import Config, write_run
from torch_tb_profiler.analysis.health.notes import health, troubles
from torch_tb_profiler.analysis.overview import step_times
from torch_tb_profiler.insights import diagnosis
from torch_tb_profiler.insights.summary.text import as_text

GPU = {"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}]}


def host() -> list[Event]:
    """Two steps whose time is spent in operators."""
    found = [annotation(f"ProfilerStep#{step}", 1000 * step, 1000) for step in range(2)]
    return [*found, *(op("aten::mm", 100 * at, 90) for at in range(20))]


def call(name: str, start: float, duration: float = 5, correlation: int = 900) -> Event:
    return event("cuda_runtime", name, start, duration, correlation=correlation)


def launches() -> list[Event]:
    return [launch(100 * at + 10, at + 1) for at in range(20)]


def of_the_profiler() -> list[Event]:
    """What torch.profiler calls when it stops."""
    names = ("cudaGetDeviceCount", "cudaStreamIsCapturing", "cudaGetDeviceProperties", "cudaDeviceSynchronize")
    return [call(name, 2100 + 50 * at, 40, 900 + at) for at, name in enumerate(names)]


SIGNS: dict[str, list[Event]] = {
    "launches": [*host(), *launches()],
    "waits": [*host(), call("cudaStreamSynchronize", 995)],
    "communication": [*host(), annotation("nccl:all_reduce", 910, 20)],
    "allocations": [*host(), memory(50, 4096)],
    "operators": [*host(), op("aten::cudnn_convolution", 20, 30)],
    "properties": host(),
}


@pytest.mark.parametrize("evidence", SIGNS)
def test_nothing_bounds_a_run_whose_device_was_not_recorded(evidence: str) -> None:
    model = model_of(SIGNS[evidence], **GPU)
    assert model.unrecorded_device == evidence
    found = diagnosis(model)
    assert (found.bound.kind, found.bound.values) == ("unknown", {"why": "no_device"})
    assert "not recorded" in found.bound.sentence
    note = troubles(model)[0]
    assert (note.kind, note.severity) == ("no_kernels", "info" if evidence == "properties" else "warning")
    assert note.text.split(".")[0] in found.bound.sentence
    assert [each.kind for each in health(model)].count("no_kernels") == 1


def test_steps_have_no_time_of_what_was_not_recorded() -> None:
    """Not 0 ms of kernels."""
    assert {"kernel", "memcpy", "memset"} & set(step_times(model_of(SIGNS["launches"], **GPU)).categories) == set()
    assert {"kernel", "memcpy", "memset"} <= set(step_times(model_of([*launches(), kernel(30, 5, 1)])).categories)


@pytest.mark.parametrize("evidence", SIGNS)
def test_nobody_is_told_to_ask_for_what_was_asked_for(evidence: str) -> None:
    note = troubles(model_of(SIGNS[evidence], **GPU))[0]
    asked = evidence in ("launches", "waits")
    assert (note.remedy is None) == asked
    assert ("CUPTI" in note.text) == asked


@pytest.mark.parametrize("more", [[], [call("cudaDeviceSynchronize", 995)]], ids=["none", "a wait for nothing"])
def test_calls_of_the_profiler_itself_are_no_program(more: list[Event]) -> None:
    model = model_of([*host(), *more, *of_the_profiler()], **GPU)
    assert model.unrecorded_device is None
    assert diagnosis(model).bound.kind == "compute"
    assert troubles(model) == ()
    assert [note.severity for note in health(model) if note.kind == "no_kernels"] == ["info"]


def test_a_wait_in_an_operator_is_the_program_s() -> None:
    waits = call("cudaDeviceSynchronize", 1910, 70)
    assert model_of([*host(), waits, *of_the_profiler()]).unrecorded_device == "waits"


def test_a_trace_with_work_has_its_device_recorded() -> None:
    for work in (kernel(20, 50, 1), copy(20, 50, 1)):
        assert model_of([*host(), *launches(), work], **GPU).unrecorded_device is None
    assert model_of(host()).unrecorded_device is None


def test_copies_without_any_kernel_that_was_launched() -> None:
    note = next(
        each for each in troubles(model_of([*host(), *launches(), copy(20, 50, 1)])) if each.kind == "no_kernels"
    )
    assert (note.severity, note.values["evidence"]) == ("warning", "copies")
    copies = [call("cudaMemcpyAsync", 10, 5, 1), copy(20, 50, 1)]
    assert "no_kernels" not in [each.kind for each in troubles(model_of([*host(), *copies]))]


def test_what_the_host_spends_on_an_optimizer_says_nothing_of_the_step() -> None:
    steps = [annotation("Optimizer.step#SGD.step", 1000 * step + 400, 550) for step in range(2)]
    cpu = diagnosis(model_of([*host(), *steps]))
    assert "optimizer_share" in [each.id for each in cpu.findings]
    lost = diagnosis(model_of([*host(), *steps, *launches()]))
    assert "optimizer_share" not in [each.id for each in lost.findings]
    assert ("optimizer_share", "machine") in [(each.id, each.needs) for each in lost.not_evaluated]


def test_a_generated_run_of_which_only_the_host_is_left(tmp_path: Path) -> None:
    write_run(Config(ranks=2, steps=3), tmp_path, compress=False)
    on_device = {"kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation"}
    for path in tmp_path.iterdir():
        trace = json.loads(path.read_text())
        trace["traceEvents"] = [each for each in trace["traceEvents"] if each.get("cat") not in on_device]
        path.write_text(json.dumps(trace))
    run = torch_tb_profiler.open(str(tmp_path)).run()
    told = run.trace("rank0").answer("summary")
    assert (told.bound, told.notes[0].kind) == ("unknown", "no_kernels")
    assert "What bounds this rank cannot be determined: The device was not recorded" in as_text(told)
    assert run.diagnosis().bound.values["why"] == "no_device"
    assert all(each.saving is None or each.saving.refused is not None for each in told.findings)
