"""Every rule of trace health with a minimal trace that breaks it, and none of them on healthy ones."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.events import Event, annotation, copy, event, frame, kernel, launch, memory, model_of, op
from tests.tracegen import Config, write_run
from torch_tb_profiler.analysis.health.notes import health, troubles
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Note, read_trace

#: everything recorded, nothing wrong
HEADER: dict[str, Any] = {"deviceProperties": [{"id": 0}], "distributedInfo": {"rank": 0}, "schemaVersion": 1}
DAY_US = 24 * 3600 * 10**6


def healthy() -> list[Event]:
    return [
        annotation("ProfilerStep#1", 0, 100.5),
        op("aten::mm", 10, 50, **{"Input Dims": [[2, 2]], "Call stack": "train.py(1): main"}),
        launch(20, 1),
        kernel(30.5, 20, 1),
        memory(15, 64, 1, 64),
        {**event("Trace", "PyTorch Profiler (0)", 0, 200, tid=0), "pid": "Spans"},
    ]


def module_frame() -> Event:
    return frame("nn.Module: Linear_0", 5, 60)


def notes_of(events: Iterable[Event], **header: Any) -> dict[str, Note]:
    return {note.kind: note for note in health(model_of(list(events), **{**HEADER, **header}))}


def test_nothing_is_said_of_a_trace_that_has_everything() -> None:
    assert notes_of([*healthy(), module_frame()]).keys() == {"frames_cost_time"}
    assert notes_of(healthy()).keys() == {"no_modules"}


def without(*categories: str) -> list[Event]:
    return [e for e in healthy() if e.get("cat") not in categories]


@pytest.mark.parametrize(
    ("kind", "events", "remedy"),
    [
        ("no_operators", without("cpu_op"), "ProfilerActivity.CPU"),
        ("no_memory", [e for e in healthy() if e["name"] != "[memory]"], "profile_memory=True"),
        ("no_modules", healthy(), "with_modules=True"),
        ("no_steps", without("user_annotation"), "prof.step()"),
        ("no_shapes", [*without("cpu_op"), op("aten::mm", 10, 50)], "record_shapes=True"),
        ("no_stacks", [*without("cpu_op"), op("aten::mm", 10, 50)], "with_stack=True"),
    ],
)
def test_what_was_not_recorded_and_how_to_record_it(kind: str, events: list[Event], remedy: str) -> None:
    note = notes_of(events)[kind]
    assert note.severity == "info"
    assert note.touches
    assert remedy in str(note.remedy)
    model = model_of(events, **HEADER)
    assert kind not in {note.kind for note in troubles(model)}


def test_without_a_sign_of_a_device_the_program_may_have_used_none() -> None:
    note = notes_of([annotation("ProfilerStep#1", 0, 100), op("aten::mm", 10, 50)], deviceProperties=[])["no_kernels"]
    assert (note.severity, note.touches) == ("info", ("kernels",))
    assert "ProfilerActivity.CUDA" in str(note.remedy)


def test_a_file_of_nothing_but_names_and_marks_says_so_everywhere() -> None:
    span = {**op("PyTorch Profiler (0)", 0, 100), "cat": "Trace"}
    marks = [
        {"ph": "i", "name": "Iteration Start: PyTorch Profiler", "pid": "Traces", "tid": "Trace", "ts": 1, "s": "g"}
    ]
    names = [{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "ts": 0, "args": {"name": "python"}}]
    note = notes_of([span, *marks, *names])["no_events"]
    assert note.severity == "error"
    assert note.values == {"entries": 3}
    assert {"overview", "operators", "kernels", "trace", "memory"} <= set(note.touches)


@pytest.mark.parametrize(
    "event",
    [op("aten::mm", 10, 50), memory(20, 512), {"ph": "C", "name": "GPU", "pid": 0, "ts": 1, "args": {"load": 1}}],
    ids=lambda event: event["name"],
)
def test_one_event_is_enough(event: Event) -> None:
    assert "no_events" not in notes_of([event])


def test_launches_but_no_kernel_at_all() -> None:
    note = notes_of(without("kernel"))["no_kernels"]
    assert note.severity == "warning"
    assert "overview" in note.touches


VLLM_STEP, SGLANG_STEP = "execute_context_1(8)_generation_0(0)", "step[DECODE bs=32]"


def served(step: str, *missing: str) -> Note | None:
    """A pass of a server; what is missing of shapes, stacks and memory."""
    told: dict[str, dict[str, Any]] = {
        "shapes": {"Input Dims": [[2, 2]]},
        "stacks": {"Call stack": "worker.py(1): run"},
    }
    events = [e for e in without("cpu_op", "user_annotation") if "memory" not in missing or e["name"] != "[memory]"]
    args = {key: value for option, values in told.items() if option not in missing for key, value in values.items()}
    return notes_of([*events, annotation(step, 0, 100), op("aten::mm", 10, 50, **args)]).get("recorded_by_server")


def test_a_server_has_options_of_its_own() -> None:
    assert served(VLLM_STEP) is None
    note = served(VLLM_STEP, "shapes", "memory")
    assert note is not None
    assert (note.severity, note.values, note.touches) == ("info", {"server": "vLLM"}, ("operators", "memory"))
    told = json.loads(str(note.remedy).partition("--profiler-config '")[2].removesuffix("'"))
    assert told.pop("torch_profiler_dir").startswith("/")
    assert told == {"profiler": "torch", "torch_profiler_record_shapes": True, "torch_profiler_with_memory": True}
    stacks = served(VLLM_STEP, "stacks")
    assert stacks is not None
    assert stacks.touches == ("operators",)
    assert '"torch_profiler_with_stack": true}' in str(stacks.remedy)


def test_what_a_server_has_no_option_for_is_not_asked_of_it() -> None:
    assert served(SGLANG_STEP, "memory") is None
    note = served(SGLANG_STEP, "memory", "stacks", "shapes")
    assert note is not None
    told = json.loads(str(note.remedy).partition("--json '")[2].removesuffix("'"))
    assert told == {"record_shapes": True, "with_stack": True}


@pytest.mark.parametrize("step", ["ProfilerStep#1", "[Executor] _forward_step 3: 1 ctx reqs, 0 gen reqs"])
def test_who_calls_the_profiler_is_told_nothing_of_servers(step: str) -> None:
    assert served(step, "shapes", "stacks", "memory") is None


def test_no_device_properties() -> None:
    assert "no_device_properties" in notes_of(healthy(), deviceProperties=[])
    assert "no_device_properties" not in notes_of(without("kernel"), deviceProperties=[])


def test_no_distributed_info() -> None:
    talks = [*healthy(), annotation("nccl:all_reduce", 60, 5)]
    assert "no_distributed_info" in notes_of(talks, distributedInfo={})
    assert "no_distributed_info" not in notes_of(talks)
    assert "no_distributed_info" not in notes_of(healthy(), distributedInfo={})


def test_kernels_lost_at_the_start() -> None:
    events = [*healthy(), launch(11, 8), launch(17, 9, cat="cuda_driver")]
    note = notes_of(events)["kernels_lost_at_start"]
    assert (note.severity, note.count) == ("warning", 2)
    assert "pytorch#192021" not in note.text
    for version in (12060, 12090, 13000):
        assert "pytorch#192021" in notes_of(events, cuda_runtime_version=version)["kernels_lost_at_start"].text
    for version in (12050, 13010, "13000"):
        assert "pytorch#192021" not in notes_of(events, cuda_runtime_version=version)["kernels_lost_at_start"].text


def test_a_bad_version_alone_is_no_alarm() -> None:
    assert notes_of(healthy(), cuda_runtime_version=12080).keys() == {"no_modules"}
    blind = notes_of(without("cuda_runtime"), cuda_runtime_version=12080)
    assert blind["kernels_may_be_lost"].severity == "info"


def test_kernels_lost_and_kernels_of_a_graph() -> None:
    between = [*healthy(), launch(40, 8), launch(55, 2), kernel(70, 1, 2)]
    assert notes_of(between)["kernels_lost"].severity == "warning"
    graph = {**launch(80, 3), "name": "cudaGraphLaunch"}
    assert notes_of([*between, graph, kernel(90, 1, 3)])["kernels_lost"].severity == "info"


def test_what_is_captured_into_a_graph_is_not_lost() -> None:
    """The program replays no graph, so that only the calls around it say what its launches become."""
    begin, end = ({**launch(at, number), "name": f"hipStream{name}Capture"} for at, number, name in _CAPTURE)
    captured = [launch(42, 8), launch(44, 9)]
    assert not {"kernels_lost", "kernels_after_end"} & notes_of([*healthy(), begin, *captured, end]).keys()
    later = [*healthy(), begin, *captured, end, launch(70, 2), kernel(80, 1, 2)]
    assert "kernels_lost" not in notes_of(later)
    assert notes_of([*later, launch(60, 10)])["kernels_lost"].count == 1


_CAPTURE = ((41, 20, "Begin"), (50, 21, "End"))


def test_kernels_after_the_end() -> None:
    note = notes_of([*healthy(), launch(50, 8)])["kernels_after_end"]
    assert (note.severity, note.count) == ("info", 1)
    assert "synchronize" in str(note.remedy)


def test_copies_of_nothing_and_calls_within_calls_lost_nothing() -> None:
    empty = {**launch(12, 8), "name": "cudaMemsetAsync"}
    inner = {**launch(21, 9, 2, cat="cuda_driver"), "name": "cuLaunchKernel"}
    assert notes_of([*healthy(), empty, inner]).keys() == {"no_modules"}


def test_before_its_launch() -> None:
    note = notes_of([*healthy(), launch(60, 2), copy(59, 5, 2)])["before_launch"]
    assert (note.severity, note.count) == ("warning", 1)


def test_timestamps_of_zero() -> None:
    events = [{**e, "ts": e["ts"] + 2 * DAY_US} for e in healthy()]
    note = notes_of([*events, kernel(0, 10, 7)])["far_timestamps"]
    assert (note.severity, note.count) == ("error", 1)


def test_durations_of_days() -> None:
    assert notes_of([*healthy(), op("aten::add", 70, DAY_US + 1)])["huge_durations"].count == 1
    assert "huge_durations" not in notes_of([*healthy(), op("aten::add", 70, DAY_US - 1)])


def test_events_written_as_two() -> None:
    begin = {**op("aten::add", 70, 0), "ph": "B"}
    found = notes_of([*healthy(), begin, {**begin, "ph": "E", "ts": 75}, {**begin, "ph": "b"}])["begin_and_end"]
    assert (found.count, found.severity) == (1, "warning")
    assert "begin_and_end" not in notes_of(healthy())


def test_kernels_without_length() -> None:
    assert notes_of([*healthy(), launch(60, 2), kernel(70, 0, 2)])["empty_kernels"].severity == "warning"
    whole = [{**e, "ts": int(e["ts"]), **({"dur": int(e["dur"])} if "dur" in e else {})} for e in healthy()]
    found = notes_of([*whole, launch(60, 2), kernel(70, 0, 2)])
    assert "empty_kernels" not in found
    assert (found["rounded_kernels"].severity, found["rounded_kernels"].count) == ("info", 1)
    shifted = [{**e, "ts": e["ts"] + 0.25} for e in [*whole, launch(60, 2), kernel(70, 0, 2)]]
    assert "rounded_kernels" in notes_of(shifted)


def test_a_slow_first_step() -> None:
    def steps(first: float) -> list[Event]:
        later = [annotation(f"ProfilerStep#{i}", first + 100 * i, 100) for i in (1, 2, 3)]
        return [annotation("ProfilerStep#0", 100, first), *later]

    assert "slow_first_step" not in notes_of(steps(150))
    note = notes_of(steps(300))["slow_first_step"]
    assert note.severity == "info"
    assert "3.0 times" in note.text
    assert "warmup" in str(note.remedy)


def test_overhead_of_the_profiler() -> None:
    assert "profiler_overhead" not in notes_of([*healthy(), event("overhead", "Buffer Flush", 70, 5)])
    busy = [event("overhead", "Buffer Flush", 70, 5), event("overhead", "Buffer Flush", 72, 5, tid=2)]
    note = notes_of([*healthy(), *busy])["profiler_overhead"]
    assert (note.severity, note.count) == ("warning", 2)
    assert "4 %" in note.text


def test_what_the_profiler_logged() -> None:
    lines = [f"ERROR:2026-01-08 08:51:59 DeviceProperties.cpp:47] failed with code {i}" + "x" * 999 for i in range(5)]
    found = notes_of(healthy(), ERROR=lines, WARNING=["WARNING: slow"], INFO=["INFO: Enabling GPU tracing"])
    assert (found["profiler_errors"].severity, found["profiler_errors"].count) == ("warning", 5)
    assert "failed with code 2" in found["profiler_errors"].text
    assert "failed with code 3" not in found["profiler_errors"].text
    assert len(found["profiler_errors"].text) < 800
    assert found["profiler_warnings"].severity == "info"
    assert "profiler_errors" not in notes_of(healthy(), ERROR="no list", WARNING=[1, None])


def test_records_out_of_range() -> None:
    line = "INFO: Record counts: Out-of-range = {}, Blocklisted runtime = 3"
    note = notes_of(healthy(), INFO=[line.format(12), line.format(30), "INFO: else"])["out_of_range"]
    assert (note.severity, note.count) == ("info", 42)
    assert "out_of_range" not in notes_of(healthy(), INFO=[line.format(0)])


def test_an_empty_trace_breaks_no_rule() -> None:
    notes = health(model_of([]))
    assert {note.severity for note in notes if note.kind != "no_events"} <= {"info"}


GENERATED = {
    "h100": Config(steps=3, layers=2, ranks=2),
    "v100": Config(steps=3, layers=1, device="v100", legacy=True),
    "mi300x": Config(steps=3, layers=1, device="mi300x"),
    "bare": Config(steps=2, layers=1, stacks=False, memory=False, shapes=False),
}


def alarms(path: Path) -> list[str]:
    with path.open("rb") as stream:
        return [f"{note.kind}: {note.text}" for note in health(Model(read_trace(stream))) if note.severity != "info"]


@pytest.mark.parametrize("config", GENERATED.values(), ids=GENERATED.keys())
def test_no_false_alarm_on_generated_traces(config: Config, tmp_path: Path) -> None:
    write_run(config, tmp_path)
    for path in tmp_path.iterdir():
        assert alarms(path) == []


def test_no_false_alarm_on_the_samples(samples: Path) -> None:
    paths = list(samples.rglob("*.json*"))
    assert paths
    for path in paths:
        assert alarms(path) == [], path


def test_every_kind_of_note_is_documented(repository: Path) -> None:
    text = (repository / "docs" / "health.md").read_text()
    kinds: set[str] = set()
    for path in (repository / "torch_tb_profiler").rglob("*.py"):
        source = path.read_text()
        kinds |= set(re.findall(r'\bNote\(\s*"(\w+)"', source))
        kinds |= set(re.findall(r'repairer\.replace\("(\w+)"', source))
        kinds |= set(re.findall(r'_note\("(\w+)"', source))
        kinds |= set(re.findall(r'\(self\._\w+, "(\w+)", "(?:error|warning|info)"', source))
    kinds |= {"profiler_errors", "profiler_warnings", "traces_loading", "traces_failed"}
    assert {kind for kind in kinds if f"`{kind}`" not in text} == set()
