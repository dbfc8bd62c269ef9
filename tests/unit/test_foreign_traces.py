"""Traces that torch.profiler did not write: named, shown in the Trace view, and never judged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.events import Event, annotation, kernel, model_of, op
from torch_tb_profiler.analysis.health.notes import health
from torch_tb_profiler.cli import main
from torch_tb_profiler.insights import diagnosis
from torch_tb_profiler.model import Model


def process(name: str, pid: int = 1) -> Event:
    return {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}


def slice_of(name: str, start: float, duration: float = 10, cat: str | None = None, **more: Any) -> Event:
    return {**op(name, start, duration), **more, **({"cat": cat} if cat else {})}


def bare(*events: Event) -> list[Event]:
    """Events without a category."""
    return [{key: value for key, value in each.items() if key != "cat"} for each in events]


PROGRAMS: dict[str, tuple[list[Event], dict[str, Any]]] = {
    "JAX or XLA": (
        bare(
            process("/device:GPU:0"),
            process("/host:CPU", 7),
            slice_of("gemm_fusion", 5),
            slice_of("PjitFunction(f)", 1),
        ),
        {"displayTimeUnit": "ns", "metadata": {"highres-ticks": True}},
    ),
    "unitrace": ([process("HOST<node>"), slice_of("zeCommandListAppendLaunchKernel", 5, cat="cpu_op")], {}),
    "rocprof": (bare(process("GPU0", 6), process("CPU HIP API", 2), slice_of("hipLaunchKernel", 5)), {}),
    "Triton's Proton": ([process("matmul Core0 CTA0"), slice_of("load", 5, cat="kernel")], {}),
    "NCCL's profiler plugin": (bare(slice_of("AllReduce", 1, 90), slice_of("ProgressSend", 5)), {}),
    "ONNX Runtime": ([slice_of("model_loading_array", 5, cat="Session")], {}),
    "Horovod": (bare(slice_of("NEGOTIATE_ALLREDUCE", 5)), {}),
    "Clang": (bare(slice_of("ExecuteCompiler", 5)), {}),
    "VizTracer": ([slice_of("main", 5, cat="FEE")], {"viztracer_metadata": {"version": "1.0"}}),
    "": (
        [slice_of("draw", 5, cat="gfx"), {**slice_of("matmul", 5, cat="kernel"), "args": {"call_stack": ["ROOT"]}}],
        {},
    ),
}


def program_model(program: str) -> Model:
    events, header = PROGRAMS[program]
    return model_of(events, **header)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_trace_of_another_program_is_named_and_not_judged(program: str) -> None:
    model = program_model(program)
    assert model.foreign_program == program
    note, *others = health(model)
    assert (note.kind, note.severity, note.values) == ("foreign_trace", "warning", {"program": program})
    assert ("looks like" in note.text) == bool(program)
    assert "trace" not in note.touches
    assert {"overview", "operators", "kernels", "memory"} <= set(note.touches)
    assert not [each for each in others if each.remedy]
    found = diagnosis(model)
    assert (found.bound.kind, found.bound.values, found.findings) == ("unknown", {"why": "foreign"}, ())
    assert len(model.steps) == 0


@pytest.mark.parametrize(
    "events",
    [
        [annotation("ProfilerStep#0", 0, 50)],
        [kernel(5, 10, 1)],
        bare(op("aten::mm", 0, 10)),
        bare({**op("mm", 0, 10), "pid": "CPU functions"}),
        [process("python")],
    ],
    ids=["annotation", "kernel", "no category", "before Kineto", "names alone"],
)
def test_any_sign_of_torch_is_enough(events: list[Event]) -> None:
    assert model_of(events).foreign_program is None
    assert model_of(PROGRAMS[""][0], schemaVersion=1).foreign_program is None


def ascend() -> list[Event]:
    """A step of torch_npu: its times are texts, and its device is a process."""
    host = [annotation("ProfilerStep#0", 10, 900), op("aten::mm", 20, 60.5)]
    device = {**bare(slice_of("MatMulV2", 60.25, 500.25, pid=3))[0], "args": {"Task Type": "AI_CORE"}}
    texts = [{**each, "ts": f"17150000000{each['ts']:08.3f}"} for each in (*host, device)]
    return [process("Python"), process("CANN", 2), process("Ascend Hardware", 3), *texts]


def test_the_device_of_torch_npu_is_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = model_of(ascend())
    assert (model.unrecorded_device, model.foreign_program) == ("ascend", None)
    assert model.trace.events.duration.max() == 900_000
    bound = diagnosis(model).bound
    assert (bound.kind, bound.values["why"]) == ("unknown", "no_device")
    note = health(model)[0]
    assert (note.kind, note.remedy) == ("no_kernels", None)
    assert "torch_npu" in note.text
    path = tmp_path / "trace_view.json"
    path.write_text(json.dumps(ascend()))
    assert main(["summary", str(path)]) == 0
    assert "What bounds this run cannot be determined" in (said := capsys.readouterr().out)
    assert note.text in said
    assert main(["doctor", str(path)]) == 0
    assert note.text in capsys.readouterr().out
