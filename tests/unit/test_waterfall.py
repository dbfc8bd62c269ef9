"""The waterfall of the step: one known gap per cause, hand-checked, and programs of which the sums are exact."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.events import US, Event, annotation, copy, event, frame, kernel, launch, model_of, op
from tests.waterfall_checks import check_waterfall
from torch_tb_profiler.analysis.health.notes import troubles
from torch_tb_profiler.analysis.question import Refused, Subject
from torch_tb_profiler.analysis.replay import stream_edges
from torch_tb_profiler.analysis.waterfall import average, gaps, host_lanes
from torch_tb_profiler.analysis.waterfall.causes import BUSY, HOST, IDLE
from torch_tb_profiler.analysis.waterfall.question import WATERFALL, CauseParams, WaterfallAnswer
from torch_tb_profiler.insights.summary.summary import summary
from torch_tb_profiler.insights.summary.text import as_text
from torch_tb_profiler.model import Model, StepChoice
from torch_tb_profiler.model.selection import StepRange

DATA = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
NEVER = re.compile(r"(?!)")
NOTHING = np.empty(0, np.int64)


def call(name: str, start: float, duration: float, correlation: int = 90, tid: int = 1) -> Event:
    return event("cuda_runtime", name, start, duration, tid, correlation=correlation)


def first_kernel(**args: Any) -> list[Event]:
    """Step 0 … 1000 µs; it ends at 100. Σ before: 10 of Python, 5 of launching, 5 until it begins."""
    return [annotation("ProfilerStep#0", 0, 1000), launch(10, 1), kernel(20, 80, 1, **args), op("aten::mm", 990, 10)]


def last_kernel(called: float, begins: float, cost: float = 5, **args: Any) -> list[Event]:
    """It runs to the end of the step."""
    return [launch(called, 2, cost), kernel(begins, 1000 - begins, 2, **args)]


NO_PAIRS = (NOTHING, NOTHING)
#: the events between, µs of each cause from 100 on, and what has to go for the first cause to vanish
CAUSES: dict[str, tuple[list[Event], dict[str, float], dict[tuple[Any, str], Any]]] = {
    "profiler": (
        [
            op("aten::mm", 90, 225),
            event("overhead", "Buffer Flush", 120, 100, tid=99),
            *last_kernel(300, 310),
        ],
        {"idle.profiler": 100, "idle.host.operator": 100, "idle.host.launch": 5, "idle.launch_latency": 5},
        {(host_lanes, "_overhead"): lambda *_: lambda *_: host_lanes.EMPTY},
    ),
    "dependency": (
        [
            call("cudaEventRecord", 22, 2),
            call("cudaStreamWaitEvent", 25, 2),
            *last_kernel(30, 104, stream=8),
        ],
        {"idle.dependency": 4},
        {(gaps, "stream_waits"): lambda *_: NO_PAIRS},
    ),
    "launch latency": (
        last_kernel(30, 108),
        {"idle.launch_latency": 8},
        {(stream_edges, "LATENCY_NS"): 0, (stream_edges, "LATENCY_FACTOR"): 0},
    ),
    "sync": (
        [call("cudaDeviceSynchronize", 40, 63), op("aten::mm", 110, 60), *last_kernel(150, 160)],
        {"idle.sync": 3, "idle.sync.relaunch": 47, "idle.host.launch": 5, "idle.launch_latency": 5},
        {(host_lanes, "SYNCHRONIZE"): NEVER},
    ),
    "allocator": (
        [op("aten::mm", 90, 125), call("cudaMalloc", 110, 80), *last_kernel(200, 210)],
        {"idle.allocator": 80, "idle.host.operator": 20, "idle.host.launch": 5, "idle.launch_latency": 5},
        {(host_lanes, "ALLOCATOR"): NEVER},
    ),
    "input": (
        [annotation(DATA, 60, 340), op("aten::stack", 100, 100), op("aten::mm", 400, 20), *last_kernel(405, 415)],
        {"idle.input": 300, "idle.host.operator": 5, "idle.host.launch": 5, "idle.launch_latency": 5},
        {(host_lanes, "DATALOADER_NAME"): NEVER},
    ),
    "compile": (
        [op("compile_file (dynamo_timed)", 60, 340), op("aten::mm", 400, 20), *last_kernel(405, 415)],
        {"idle.compile": 300, "idle.host.operator": 5, "idle.host.launch": 5, "idle.launch_latency": 5},
        {(host_lanes, "COMPILE"): NEVER},
    ),
    "operator": (
        [op("aten::nonzero", 60, 340), op("aten::mm", 400, 20), *last_kernel(405, 415)],
        {"idle.host.operator": 305, "idle.host.launch": 5, "idle.launch_latency": 5},
        {(host_lanes, "_outermost_operators"): lambda tree: tree.is_operator & False},
    ),
    "slow launch": (
        [op("aten::mm", 110, 300), *last_kernel(120, 325, cost=200)],
        {"idle.slow_launch": 200, "idle.host.operator": 10, "idle.host.python": 10, "idle.launch_latency": 5},
        {(gaps, "SLOW_LAUNCH_NS"): 10**9},
    ),
    "unknown": (
        last_kernel(30, 400),
        {"idle.unknown": 300},
        {(stream_edges, "LATENCY_NS"): 10**9},
    ),
}
BEFORE = {"idle.host.python": 10, "idle.host.launch": 5, "idle.launch_latency": 5}


def parts_of(model: Model) -> dict[str, float]:
    """µs of each idle cause of the first step of the first device."""
    found = check_waterfall(model)
    return {
        cause: ns / US
        for cause, ns in zip(found.causes, found.ns[0, 0].tolist(), strict=True)
        if ns and cause.startswith("idle")
    }


def with_before(parts: dict[str, float]) -> dict[str, float]:
    return {cause: parts.get(cause, 0) + BEFORE.get(cause, 0) for cause in parts | BEFORE}


@pytest.mark.parametrize("name", CAUSES)
def test_each_cause_has_its_gap(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    events, expected, rule = CAUSES[name]
    assert parts_of(model_of(first_kernel() + events)) == with_before(expected)
    for (module, attribute), other in rule.items():
        monkeypatch.setattr(module, attribute, other)
    cause, without = next(iter(expected)), parts_of(model_of(first_kernel() + events))
    assert without.get(cause, 0) == BEFORE.get(cause, 0) if name != "launch latency" else cause not in without


@pytest.mark.parametrize(
    ("within", "cause"),
    [
        ([frame("train.py(3): main", 0, 3000)], "idle.host.python"),
        ([frame("train.py(3): main", 0, 3000), frame("Python GC", 110, 1900)], "idle.host.gc"),
        ([frame("torch/_inductor/compile_fx.py(9): compile_fx", 0, 2005)], "idle.compile"),
        ([annotation("validation", 90, 1920)], "idle.host.python"),
        ([call("cudaFuncGetAttributes", 90, 1920)], "idle.host.api"),
        ([event("user_annotation", "gloo:all_reduce", 90, 1920, tid=5)], "idle.host.collective"),
        ([], "idle.unknown"),
    ],
)
def test_what_a_thread_does_between_two_launches(within: list[Event], cause: str) -> None:
    """A silence of two milliseconds is not just what lies between two operators."""
    events = [annotation("ProfilerStep#0", 0, 3000), launch(10, 1), kernel(20, 80, 1), launch(2010, 2)]
    events += [kernel(2020, 980, 2), *within]
    found = check_waterfall(model_of(events))
    assert found.causes[int(np.argmax(found.ns[0, 0] * [c.startswith("idle") for c in found.causes]))] == cause


def test_what_the_autograd_thread_launches_waits_for_the_main_thread() -> None:
    events = [
        *first_kernel(),
        op("aten::nonzero", 60, 300),
        op("autograd::engine::evaluate_function: MmBackward0", 395, 30, tid=2),
        launch(400, 2, tid=2),
        kernel(410, 590, 2),
    ]
    # 300 … 395 nothing is recorded on either; 395 … 400 the engine's operator
    expected = {"idle.host.operator": 265, "idle.host.python": 35, "idle.host.launch": 5, "idle.launch_latency": 5}
    assert parts_of(model_of(events)) == with_before(expected)


def test_waiting_for_a_collective_is_told_apart() -> None:
    events = first_kernel(name=REDUCE)
    events += [call("cudaEventRecord", 22, 2), call("cudaStreamWaitEvent", 25, 2), *last_kernel(30, 104, stream=8)]
    assert parts_of(model_of(events)) == with_before({"idle.dependency.communication": 4})


def test_a_wait_that_was_over_is_not_to_blame() -> None:
    """The device had been idle for 20 µs when it was waited for."""
    events = [call("cudaDeviceSynchronize", 120, 10), op("aten::mm", 60, 200), *last_kernel(150, 160)]
    expected = {"idle.sync": 10, "idle.host.operator": 40, "idle.host.launch": 5, "idle.launch_latency": 5}
    assert parts_of(model_of(first_kernel() + events)) == with_before(expected)


def test_a_pageable_copy_holds_the_host() -> None:
    back = {**copy(100, 20, 3), "name": "Memcpy DtoH (Device -> Pageable)"}
    events = [call("cudaMemcpyAsync", 30, 95, 3), back, op("aten::mm", 130, 30), *last_kernel(150, 160)]
    expected = {"idle.sync": 5, "idle.sync.relaunch": 25, "idle.host.launch": 5, "idle.launch_latency": 5}
    assert parts_of(model_of(first_kernel() + events)) == with_before(expected)


def test_work_launched_before_the_recording_was_queued() -> None:
    """Nobody is to blame for its gaps: 4 µs are what a device takes, of 300 the reason is unknown."""
    events = [annotation("ProfilerStep#0", 0, 1000), op("aten::mm", 0, 1000), launch(500, 9), kernel(800, 200, 9)]
    events += [kernel(0, 96, 1, stream=8), kernel(100, 100, 2, stream=8), kernel(500, 300, 3, stream=8)]
    found = check_waterfall(model_of(events).with_steps(StepChoice(rule="whole_trace")))
    assert found.ns.sum() == 1000 * US
    parts = dict(zip(found.causes, (found.ns[0, 0] / US).tolist(), strict=True))
    assert (parts["idle.launch_latency"], parts["idle.unknown"]) == (4, 300)


def test_kinds_of_graph_work_and_communication() -> None:
    """Of what runs at the same time products count first, then other kernels, communication, copies."""
    model = model_of(
        [
            annotation("ProfilerStep#0", 0, 200),
            call("cudaGraphLaunch", 10, 5, 1),
            kernel(20, 40, 1, "volta_sgemm_32x128_nt"),
            kernel(40, 40, 1, "softmax_warp_forward", stream=8),
            kernel(70, 50, 1, REDUCE, stream=9),
            copy(110, 30, 1, stream=10),
            kernel(190, 10, 1, "volta_sgemm_32x128_nt"),
        ]
    )
    found = check_waterfall(model)
    assert dict(zip(found.causes, (found.ns[0, 0] / US).tolist(), strict=True)) == {
        "compute.gemm": 50,
        "compute.softmax": 20,
        "exposed_communication": 40,
        "exposed_copy": 20,
        "idle.launch_latency": 5,
        "idle.launch_latency.graph": 50,
        "idle.host.launch": 5,
        "idle.host.python": 10,
    }


def two_steps() -> list[Event]:
    """Steps of 400 and 401 µs, the gap between them from 100 to 610: input until 450, then an operator until 605."""
    return [
        annotation("ProfilerStep#0", 0, 400),
        annotation("ProfilerStep#1", 400, 400),
        launch(10, 1),
        kernel(20, 80, 1, "volta_sgemm_32x128_nt"),
        annotation(DATA, 90, 310),
        annotation(DATA, 400, 50),
        op("aten::mm", 450, 160),
        launch(600, 2),
        kernel(610, 191, 2, "volta_sgemm_32x128_nt"),
        frame("train.py(7): main", 0, 800),
        frame("nn.Module: Linear_0", 452, 200),
    ]


def test_a_gap_over_the_end_of_a_step_is_cut_there() -> None:
    found = check_waterfall(model_of(two_steps()))
    gaps_of = found.gaps.take(found.gaps.gap_ns == 510 * US)
    assert [found.causes[code] for code in gaps_of.cause] == [
        "idle.input",
        "idle.input",
        "idle.host.operator",
        "idle.host.launch",
        "idle.launch_latency",
    ]
    assert (gaps_of.duration_ns // US).tolist() == [300, 50, 150, 5, 5]
    assert gaps_of.step.tolist() == [0, 1, 1, 1, 1]
    assert len(set(gaps_of.closing_work.tolist())) == len(set(gaps_of.launch_call.tolist())) == 1


def test_the_parts_of_the_average_step_add_up_to_its_half_nanosecond() -> None:
    events = two_steps()
    events[-3]["dur"] = 191.001
    parts = {part.cause: part.ns for part in average(check_waterfall(model_of(events)))}
    assert sum(parts.values()) == 400_500.5
    assert (
        parts
        == {
            "compute.gemm": 135_501,
            "idle.input": 175_000.5,
            "idle.host.operator": 75_000,
            "idle.host.python": 5_000,
            "idle.host.launch": 5_000,
            "idle.launch_latency": 5_000,
        }
        or parts["compute.gemm"] == 135_500
    )


def asked(model: Model, cause: str | None = None, limit: int = 100) -> WaterfallAnswer:
    return WATERFALL.compute(Subject(model, "r", "w", "", 0, 1, troubles), CauseParams(cause, limit))


def test_pieces_name_what_a_person_can_look_at() -> None:
    answer = asked(model_of(two_steps()), "idle")
    assert answer.pieces is not None
    assert answer.pieces.total == 8
    assert answer.pieces.total_ns == 530 * US
    loading = answer.pieces.largest[0]
    assert (loading.cause, loading.step, loading.device, loading.host) == ("idle.input", "0", 0, DATA)
    assert (loading.work, loading.work_row) == ("volta_sgemm_32x128_nt", 8)
    assert (loading.launch, loading.launch_row, loading.owner, loading.owner_row) == (
        "cudaLaunchKernel",
        7,
        "aten::mm",
        6,
    )
    assert (loading.frame, loading.module, loading.gap_ns) == ("train.py(7): main", None, 510 * US)
    gemm = asked(model_of(two_steps()), "compute", 1).pieces
    assert gemm is not None
    assert (gemm.total, gemm.total_ns, len(gemm.largest)) == (2, 271 * US, 1)
    assert (gemm.largest[0].module, gemm.largest[0].frame) == ("Linear_0", "train.py(7): main")


def test_a_cause_that_there_is_not_is_refused() -> None:
    model = model_of(two_steps())
    with pytest.raises(Refused, match=r"no cause 'idle\.hos'"):
        asked(model, "idle.hos")
    nothing = asked(model, "idle.compile").pieces
    assert nothing is not None
    assert (nothing.total, list(nothing.largest)) == (0, [])


def test_parts_of_steps_are_means_over_devices_that_add_up() -> None:
    events = [*two_steps(), launch(12, 3), kernel(21, 30, 3, "softmax_warp_forward", device=1)]
    answer = asked(model_of(events))
    assert [each.device for each in answer.devices] == [0, 1]
    assert np.sum(list(answer.step_parts.values()), axis=0).tolist() == list(answer.step_ns) == [400 * US, 401 * US]
    assert answer.step_parts["compute.softmax"] == [15 * US, 0]
    assert [sum(part.ns for part in each.parts) for each in answer.devices] == [400_500, 400_500]


def test_short_gaps_due_to_launching_make_a_program_launch_bound() -> None:
    found = check_waterfall(model_of(first_kernel() + CAUSES["slow launch"][0]))
    # 20 µs before the first kernel; the other gap is longer than 100 µs
    assert found.launch_bound_ns.tolist() == [20 * US]
    assert found.launch_bound_score == pytest.approx(20 / 245)
    assert check_waterfall(model_of([op("aten::mm", 0, 9)])).launch_bound_score is None


def test_without_devices_it_is_the_time_of_the_main_thread() -> None:
    model = model_of(
        [
            annotation("ProfilerStep#0", 0, 5000),
            annotation(DATA, 10, 90),
            op("aten::stack", 20, 50),
            op("aten::mm", 100, 400),
            event("user_annotation", "gloo:all_reduce", 450, 1000, tid=5),
            op("autograd::engine::evaluate_function: AddBackward0", 1500, 100, tid=2),
            op("aten::add", 1700, 300),
        ]
    )
    found = check_waterfall(model)
    assert (found.basis, found.devices) == ("host", ())
    assert dict(zip(found.causes, (found.ns[0, 0] / US).tolist(), strict=True)) == {
        "host.data": 90,
        "host.operator": 800,
        "host.collective": 950,
        "host.python": 160,
        "host.unknown": 3000,
    }


def test_an_operator_that_waits_for_a_collective_of_the_host() -> None:
    """A blocking call, and a hook of autograd; what computes meanwhile is an operator."""
    found = check_waterfall(
        model_of(
            [
                annotation("ProfilerStep#0", 0, 1000),
                op("c10d::_allgather_base_", 0, 400),
                op("autograd::engine::evaluate_function: AddBackward0", 400, 600),
                op("aten::add", 400, 100),
                event("user_annotation", "gloo:all_gather", 100, 800, tid=5),
                op("aten::copy_", 150, 20, tid=5),
            ]
        )
    )
    assert dict(zip(found.causes, (found.ns[0, 0] / US).tolist(), strict=True)) == {
        "host.operator": 100 + 100 + 100,
        "host.collective": 300 + 400,
    }


def test_some_steps() -> None:
    whole = model_of(two_steps())
    found = check_waterfall(whole.of_steps(StepRange("0", "0")))
    assert found.ns.sum() == 400 * US
    every = check_waterfall(whole)
    assert found.of("idle.input").tolist() == every.of("idle.input")[:, :1].tolist()


def test_a_trace_without_anything() -> None:
    answer = asked(model_of([]))
    assert (answer.average, answer.causes, answer.step_parts, answer.launch_bound_score) == ((), [], {}, None)


def test_the_summary_has_the_largest_parts() -> None:
    found = summary(Subject(model_of(two_steps()), "run", "w0", "1", 10, 1, troubles))
    assert sum(part.ns for part in found.waterfall) == found.steps.mean_ns
    assert "Average step: Input data 43.7%, Computing: matmuls 33.8%, Host: operators 18.7%, " in as_text(found)


def test_the_docs_repeat_the_definitions(repository: Path) -> None:
    text = (repository / "docs" / "waterfall.md").read_text("utf-8")
    shown = [meaning for meaning in (*BUSY, *IDLE, *HOST) if not meaning.cause.startswith("compute.")]
    occurring = [m for m in shown if not m.cause.startswith(("host.dependency", "host.launch_latency", "host.sync."))]
    assert [m.cause for m in occurring if f"| `{m.cause}` | {m.help} |" not in text] == []
    kinds = [m.cause.removeprefix("compute.") for m in BUSY if m.cause.startswith("compute.")]
    assert len(kinds) > 30
    assert ", ".join(f"`{kind}`" for kind in kinds) in text
