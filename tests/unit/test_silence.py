"""What threads do while they show nothing is not known: on the path, in the waterfall and in what bounds a run."""

from __future__ import annotations

from typing import Any

import pytest

from tests.events import US, Event, annotation, event, kernel, model_of, op
from torch_tb_profiler.analysis.critical_path import CRITICAL_PATH, CriticalPathParams
from torch_tb_profiler.analysis.idle import CAUSES, idle_gaps
from torch_tb_profiler.analysis.question import Subject
from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.changes import kernels
from torch_tb_profiler.analysis.replay.on_path import recorded_path
from torch_tb_profiler.analysis.replay.resources import path_parts
from torch_tb_profiler.analysis.replay.scenario import apply_changes
from torch_tb_profiler.analysis.waterfall import average, waterfall
from torch_tb_profiler.insights.findings import diagnosis
from torch_tb_profiler.insights.summary.summary import summary
from torch_tb_profiler.model import Model

MAIN, ENGINE, OTHER = 1, 2, 3
FORWARD, BACKWARD = 20, 60


def call(name: str, start: float, duration: float, correlation: int, tid: int = MAIN) -> Event:
    return event("cuda_runtime", name, start, duration, tid, correlation=correlation)


def device_only(
    sync: str | None = "cudaDeviceSynchronize",
    waits_from: float = 3_000,
    waiting: int = MAIN,
    pace: float = 40,
    api: str = "cudaLaunchKernel",
    kernel_us: float = 79,
) -> list[Event]:
    """Launches of two threads, one after the other, and kernels that keep a device busy; nothing else was recorded.

    The main thread launches 20 kernels, the other one 60 from 200 µs on, a call each `pace`; each kernel takes 79 µs
    and begins 1 µs after the one before it.
    """
    found, free = [], 20.0
    for at in range(FORWARD + BACKWARD):
        forward = at < FORWARD
        begin = 10.0 * at if forward else 200 + pace * (at - FORWARD)
        free = max(free, begin + 5)
        found.append(call(api, begin, 3, at + 1, MAIN if forward else ENGINE))
        found.append(kernel(free, kernel_us, at + 1, f"kernel_{at}"))
        free += kernel_us + 1
    if sync is not None:
        found.append(call(sync, waits_from, free + 5 - waits_from, 900, waiting))
    return found


def step_us(model: Model, *changes: Any) -> float:
    return int(apply_changes(model.trace, graph_of(model), changes).step_ns.sum()) / US


def parts(model: Model) -> dict[str, float]:
    """µs of the critical path."""
    path = recorded_path(model)
    return {part: ns / US for part, ns in path_parts(path, range(len(path.step_ns))).items()}


def causes(model: Model) -> dict[str, float]:
    """µs of the waterfall, all steps together."""
    return {part.cause: part.ns * len(model.steps) / US for part in average(waterfall(model))}


@pytest.mark.parametrize(
    "recording",
    [
        {},
        {"api": "hipLaunchKernel", "sync": "hipDeviceSynchronize"},
        {"sync": "cudaStreamSynchronize"},
        {"sync": "cudaEventSynchronize"},
        {"sync": "cuCtxSynchronize"},
        {"waiting": ENGINE},
        {"waiting": OTHER},
        {"sync": None},
        {"waits_from": 210},
        {"waits_from": 210, "sync": "hipStreamSynchronize"},
    ],
    ids=str,
)
def test_a_busy_device_bounds_whoever_launches_and_waits(recording: dict[str, Any]) -> None:
    """Free kernels save what the device takes beyond the launches: nobody knows of Python, so none is there."""
    model = model_of(device_only(**recording))
    recorded = step_us(model)
    assert recorded == pytest.approx(6_425, abs=10)
    launched = 200 + 40 * (BACKWARD - 1) + 3
    waits = recording.get("waits_from", 3_000) if recording.get("sync", "") is not None else 0
    assert max(launched, waits) <= step_us(model, kernels(0)) <= max(launched, waits) + 15
    found = parts(model)
    assert found["compute"] == 79 * (FORWARD + BACKWARD)
    assert found.get("python", 0) <= 10
    told = diagnosis(model).bound
    assert told.kind == "compute"
    assert "Python" not in told.sentence


def test_a_trace_ends_with_its_last_event() -> None:
    """The main thread, which has the most operators, is done long before another one."""
    busy = [op("aten::mul", 10 * at, 8) for at in range(20)]
    model = model_of([*busy, event("cpu_op", "aten::add", 150, 9_850, OTHER)])
    assert step_us(model) == 10_000
    assert parts(model) == {"fixed": 150, "operator": 9_850}


@pytest.mark.parametrize("in_mark", [False, True])
def test_path_and_waterfall_call_silence_by_one_name(in_mark: bool) -> None:
    """Between two operators is Python for a millisecond at most; the mark of a step says nothing of what it holds."""
    events = [op("aten::mul", 0, 500), op("aten::mul", 1_400, 600), op("aten::mul", 7_000, 3_000)]
    model = model_of([*events, annotation("ProfilerStep#1", 0, 10_000)] if in_mark else events)
    assert parts(model) == {"python": 900, "operator": 4_100, "unexplained": 5_000}
    assert causes(model) == {"host.python": 900, "host.operator": 4_100, "host.unknown": 5_000}


@pytest.mark.parametrize(
    "events",
    [
        [op("aten::mul", 0, 500), op("aten::mul", 9_500, 500)],
        [*device_only(), annotation("ProfilerStep#1", 0, 20_000)],
        [op("aten::mul", 0, 9_000), call("cudaLaunchKernel", 10, 5, 1), kernel(8_000, 100, 1)],
    ],
    ids=["silent host", "silent end", "late work"],
)
def test_what_is_explained_is_one_number(events: list[Event]) -> None:
    model = model_of(events)
    subject = Subject(model, "run", "worker0", "1", 10, 1, lambda _: ())
    told = CRITICAL_PATH.compute(subject, CriticalPathParams()).meta
    bound = diagnosis(model).bound
    assert told.explained is not None
    assert told.explained < 0.5
    assert (told.explained, told.confidence) == (bound.explained, bound.confidence)
    assert told.explained == summary(subject).explained


def test_a_silence_that_ends_as_the_device_is_done_waits_for_it() -> None:
    """As where a program waits by a call that was not recorded; a silence that ends at another time does not."""
    mark = annotation("ProfilerStep#1", 0, 10_000)
    work = [op("aten::mm", 0, 50), call("cudaLaunchKernel", 10, 5, 1), kernel(30, 9_960, 1)]
    waits = model_of([mark, *work])
    assert parts(waits)["compute"] == 9_960
    assert step_us(waits, kernels(0.5)) == pytest.approx(5_020, abs=10)
    assert diagnosis(waits).bound.kind == "compute"
    shorter = model_of([mark, *work[:-1], kernel(30, 8_000, 1)])
    assert parts(shorter)["unexplained"] == 9_950


def in_a_step(*work: Event) -> Model:
    """A step that ends with its work."""
    return model_of([annotation("ProfilerStep#1", 0, 100), op("aten::mm", 5, 60), *work])


@pytest.mark.parametrize(
    "work",
    [
        [call("cudaGraphLaunch", 10, 20, 1), kernel(40, 10, 1, "a"), kernel(12_050, 100, 1, "b")],
        [call("hipGraphLaunch", 10, 20, 1), kernel(40, 10, 1, "a"), kernel(12_050, 100, 1, "b")],
        [
            *(call("cudaLaunchKernel", 10, 5, 1), kernel(20, 30, 1, "a")),
            *(call("cudaLaunchKernel", 20, 5, 2), kernel(12_050, 100, 2, "b")),
        ],
        [
            *(call("cudaLaunchKernel", 10, 5, 1), kernel(20, 30, 1, "a")),
            *(call("cudaLaunchKernel", 60, 5, 2), kernel(12_050, 100, 2, "b")),
        ],
    ],
    ids=["graph", "graph of HIP", "queued", "launched late"],
)
def test_a_latency_is_microseconds(work: list[Event]) -> None:
    model = in_a_step(*work)
    assert causes(model)["idle.unknown"] >= 11_980
    assert parts(model)["unexplained"] >= 11_980
    assert [CAUSES[cause] for cause in idle_gaps(model).cause.tolist()] == ["unknown"]
    told = diagnosis(model)
    assert (told.bound.kind, told.bound.values["why"]) == ("unknown", "idle")
    assert [each.saving.after_others_ns for each in told.findings if each.saving] in ([], [None])


@pytest.mark.parametrize(("gap", "unknown"), [(2, False), (50, False), (70, True), (12_000, True)])
def test_what_is_usual_within_a_graph_is_latency(gap: float, unknown: bool) -> None:
    """No launch is measured within a graph: up to three times the longest launch that counts as usual, 60 µs."""
    model = in_a_step(call("cudaGraphLaunch", 10, 20, 1), kernel(40, 10, 1, "a"), kernel(50 + gap, 900, 1, "b"))
    found = causes(model)
    assert found.get("idle.launch_latency.graph", 0) == (0 if unknown else gap)
    assert parts(model).get("device_gap", 0) == (0 if unknown else gap)


def after_waits(silent: float, operators: bool) -> Model:
    """Five times a kernel, a wait for it, and nothing for a time."""
    events, now = [], 0.0
    for at in range(5):
        events += [call("cudaLaunchKernel", now, 4, at + 1), kernel(now + 8, 92, at + 1)]
        events.append(call("cudaStreamSynchronize", now + 10, 95, 900 + at))
        if operators:
            events.append(op("aten::item", now, 106))
        now += 106 + silent
    events += [call("cudaLaunchKernel", now, 4, 99), kernel(now + 8, 92, 99)]
    return model_of(events)


@pytest.mark.parametrize("silent", [400, 120_000])
def test_what_follows_a_wait_is_unknown_where_only_calls_were_recorded(silent: float) -> None:
    found = after_waits(silent, operators=False)
    known = causes(found)
    assert known.get("idle.sync.relaunch", 0) <= 10
    assert known["idle.unknown"] == pytest.approx(5 * silent, rel=0.2)
    assert parts(found)["unexplained"] == pytest.approx(5 * silent, rel=0.2)
    assert diagnosis(found).bound.kind == "unknown"
    # where operators tell what the host does, a short break is Python between two of them
    with_operators = causes(after_waits(400, operators=True))
    assert with_operators["idle.sync.relaunch"] == pytest.approx(5 * 400, rel=0.2)


def test_a_busy_device_whose_kernels_save_nothing_is_refused() -> None:
    """Launches as fast as the kernels, and a long silence: what waits for the device was not recorded."""
    model = model_of([annotation("ProfilerStep#1", 0, 7_000), *device_only(sync=None, pace=80)])
    told = diagnosis(model).bound
    assert step_us(model) - step_us(model, kernels(0)) < 0.25 * 79 * (FORWARD + BACKWARD)
    assert (told.kind, told.values["why"]) == ("unknown", "busy")


def test_python_is_named_only_where_some_was_recorded() -> None:
    """Launches twice as slow as the kernels."""
    model = model_of(device_only(pace=200, kernel_us=60))
    told = diagnosis(model).bound
    assert (told.kind, told.values["by"]) == ("host", "unrecorded")
    assert "Python" not in told.sentence
    named = diagnosis(model_of([*device_only(pace=200, kernel_us=60), op("aten::mm", 0, 14_000)])).bound
    assert (named.kind, "Python and CPU operators" in named.sentence) == ("host", True)


def test_what_runs_between_operators_is_called_python_only_with_stacks() -> None:
    """Breaks of less than a millisecond are mostly Python, which nothing in a recording without stacks shows."""
    events = [op("aten::mul", 900 * at, 200) for at in range(12)]
    silent = diagnosis(model_of([annotation("ProfilerStep#1", 0, 10_800), *events])).bound
    assert (silent.kind, silent.values["by"]) == ("host", "between")
    assert "no stacks are recorded" in silent.sentence
    stacks = event("python_function", "train.py(3): main", 0, 10_800)
    told = diagnosis(model_of([annotation("ProfilerStep#1", 0, 10_800), stacks, *events])).bound
    assert told.sentence.startswith("This run is bound by Python.")
