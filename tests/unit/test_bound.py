"""What is said to bound a run, and what is not said where the trace does not show it."""

from __future__ import annotations

import pytest

from tests.events import Event, annotation, copy, event, kernel, launch, model_of, op
from torch_tb_profiler.analysis.replay.host_time import ALLOCATOR
from torch_tb_profiler.insights import diagnosis
from torch_tb_profiler.insights.bound import Bound, Relief, slower_host
from torch_tb_profiler.insights.resources import BoundKind, HostPart
from torch_tb_profiler.model import Model
from torch_tb_profiler.words import Values, section

WAIT = "cudaStreamSynchronize"


def bound(*events: Event, length: float = 1000) -> Bound:
    return diagnosis(model_of([annotation("ProfilerStep#1", 0, length), *events])).bound


def call(name: str, start: float, duration: float, correlation: int = 900) -> Event:
    return event("cuda_runtime", name, start, duration, correlation=correlation)


def test_what_the_path_has_decides_where_a_relief_is_refused() -> None:
    """Launches without kernels: how much faster kernels would help is not known, but the path has none."""
    launches = [launch(100 * at, at + 1) for at in range(9)]
    operators = [op("aten::a", 100 * at + 6, 90) for at in range(9)]
    told = bound(*launches, *operators, copy(8, 1, 1))
    assert {relief.kind: relief.share for relief in told.reliefs}["communication"] is None
    assert told.kind == "host"


def test_nothing_is_said_where_the_refused_one_could_be_the_largest() -> None:
    """Kernels without launches: what the host costs is not known."""
    told = bound(op("aten::a", 0, 400), *(kernel(100 * at, 20, 50 + at) for at in range(1, 9)))
    assert (told.kind, told.values["why"]) == ("unknown", "no_launches")
    assert told.sentence == (
        "What bounds this run cannot be determined: 100 % of the work on devices has no recorded launch."
    )


def test_what_the_waterfall_does_not_know_is_not_explained() -> None:
    """The critical path takes a silent thread for Python, which is a guess."""
    parts = [op("aten::mm", 0, 6_000), op("aten::mm", 9_000, 1_000)]
    model = model_of([annotation("ProfilerStep#1", 0, 10_000), *parts])
    told = diagnosis(model).bound
    assert told.explained == pytest.approx(0.7)
    assert told.confidence == "low"
    assert bound(op("aten::mm", 0, 1000)).explained == 1.0


def test_compilation_is_neither_compute_nor_python() -> None:
    compiling = [op("dynamo", 0, 700), op("_compile.compile_inner (dynamo_timed)", 1, 698)]
    told = bound(*compiling, op("aten::mm", 700, 300))
    assert (told.kind, told.values["by"]) == ("host", "compilation")
    assert told.sentence == (
        "Recorded cold: 70 % of the time passes once, when the program starts, and will not come again. "
        "This run is host-bound: code is compiled during the steps. Without that, a step would take 300 µs "
        "instead of 1 ms (70 % less). Next: compute."
    )


@pytest.mark.parametrize(
    ("called", "by"), [("cudaDeviceGetStreamPriorityRange", "calls"), (None, None)], ids=["calls", "operators"]
)
def test_calls_of_the_api_are_told_from_operators(called: str | None, by: str | None) -> None:
    before = op("aten::empty", 0, 800) if called is None else call(called, 0, 800)
    told = bound(before, op("aten::a", 805, 100), launch(810, 1), kernel(820, 30, 1))
    assert (told.kind, told.values.get("by")) == ("host", by)
    assert ("API" in told.sentence) == (by == "calls")


def test_silence_is_not_taken_for_the_host() -> None:
    """A device that idles for long while no event of the host shows why, as while Triton compiles."""
    events = [op("aten::a", 0, 50), launch(10, 1), kernel(20, 30, 1), op("aten::a", 9_800, 200), launch(9_810, 2)]
    told = bound(*events, kernel(9_820, 30, 2), length=10_000)
    assert (told.kind, told.values["why"]) == ("unknown", "idle")
    assert told.sentence == (
        "What bounds this run cannot be determined: the devices idle 98 % of the time, and the trace does not show why."
    )


def test_the_host_saves_no_more_than_the_device_idles() -> None:
    """Kernels of two streams that took turns: without waits they would run at the same time in the replay."""
    events = []
    for at in range(8):
        begin, correlation = 120 * at, at + 1
        work = {**kernel(begin + 10, 100, correlation), "tid": 7 + at % 2}
        work["args"] = {**work["args"], "stream": 7 + at % 2}
        events += [launch(begin, correlation), work, call("synchronizeStream", begin + 6, 106, 900 + at)]
    told = bound(*events, length=960)
    reliefs = {relief.kind: relief.share or 0.0 for relief in told.reliefs}
    assert told.kind == "compute"
    assert reliefs["sync"] == pytest.approx(1 - 800 / 960, abs=0.01)


def test_waits_of_a_mostly_idle_device_are_the_hosts_or_those_of_communication() -> None:
    """What saves most but for the wait itself is named: communication, where that is what the host waits for."""
    reliefs = (Relief("sync", 0.27), Relief("communication", 0.26), Relief("host", 0.17))
    assert slower_host(reliefs, "host") == reliefs[1]
    assert slower_host((reliefs[0], reliefs[2], Relief("communication", 0.1)), "host") == reliefs[2]
    assert slower_host(reliefs, "compute") is None


def test_capturing_graphs_passes_once() -> None:
    events = [call("hipStreamBeginCapture", 10, 1), op("aten::mm", 20, 800), call("hipStreamEndCapture", 850, 1)]
    told = bound(*events, launch(900, 1), kernel(910, 5, 1))
    assert told.sentence.startswith("Recorded cold: 84 % of the time passes once")


@pytest.mark.parametrize(
    ("waiting", "order"), [(2, ["device_idle", "sync_points"]), (5, ["sync_points", "device_idle"])]
)
def test_a_general_cause_that_is_far_larger_comes_first(waiting: int, order: list[str]) -> None:
    """Operators keep the host busy for most of the step; beside it, waits save little: unless they are 5 % of the step
    and more, which can be mended at their line.
    """
    operators = [op("aten::a", 20 * at, 18) for at in range(45)]
    work = [each for at in range(5) for each in (launch(180 * at + 1, at + 1), kernel(180 * at + 8, 10, at + 1))]
    waits = [call(WAIT, 180 * at + 7, 13, 900 + at) for at in range(waiting)]
    found = diagnosis(model_of([annotation("ProfilerStep#1", 0, 900), *operators, *work, *waits]))
    savings = [(each.id, each.saving.after_others_ns) for each in found.findings if each.saving is not None]
    assert [id_ for id_, _ in savings] == order
    assert sum(after or 0.0 for _, after in savings) == found.together_ns


@pytest.mark.parametrize(
    "name",
    [
        "hipDeviceSynchronize",
        "aclrtSynchronizeStream",
        "zeEventHostSynchronize",
        "urQueueFinish",
        "urEventWait",
        "piQueueFinish",
        "piEventsWait",
    ],
)
def test_a_wait_is_one_whatever_the_device_calls_it(name: str) -> None:
    def waiting(called: str) -> Model:
        events = []
        for at in range(5):
            begin = 200 * at
            events += [launch(begin, at + 1), kernel(begin + 8, 90, at + 1), call(called, begin + 7, 93, 900 + at)]
        return model_of([annotation("ProfilerStep#1", 0, 1000), op("aten::a", 990, 5), *events])

    found, usual = diagnosis(waiting(name)), diagnosis(waiting(WAIT))
    assert (found.bound.kind, found.bound.reliefs) == (usual.bound.kind, usual.bound.reliefs)
    assert [each.id for each in found.findings] == [each.id for each in usual.findings] == ["sync_points"]
    assert found.findings[0].values["how"] in ("stream", "device")  # torch's own call, not an engine's
    assert max(each.share or 0.0 for each in found.bound.reliefs if each.kind == "sync") > 0.1


def test_memory_of_any_device_is_allocated() -> None:
    names = ("cudaMalloc", "hipMalloc", "aclrtMalloc", "urUSMDeviceAlloc", "piextUSMSharedAlloc", "urUSMFree")
    assert [bool(ALLOCATOR.search(each)) for each in (*names, "urEnqueueUSMMemcpy")] == [True] * 6 + [False]


@pytest.mark.parametrize(
    ("kind", "on_device", "by", "condition"),
    [
        ("host", True, None, "If they took a third less time"),
        ("host", False, None, "If Python took a third less time"),
        ("host", True, "calls", "If the host took a third less time"),
        ("launch", True, None, "If the host took a third less time"),
        ("compute", True, None, "If kernels were twice as fast"),
    ],
)
def test_a_relief_that_is_not_whole_is_a_condition(
    kind: BoundKind, on_device: bool, by: HostPart | None, condition: str
) -> None:
    values: Values = {"device": on_device, "calls": False, **({} if by is None else {"by": by})}
    assert section("bounds", kind).say("begin", values).endswith(condition)
