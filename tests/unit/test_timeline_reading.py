"""What makes lanes readable: names, colours, the order of tracks and sums, chains to a kernel, counters of the file."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.events import Event
from tests.growth import MOST, growth_of_text
from tests.timelines import ns, tiles_of, timeline_of
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.event_names import frame_label
from torch_tb_profiler.timeline import timeline_file
from torch_tb_profiler.timeline.counters import counter_tile, extremes
from torch_tb_profiler.timeline.enclosing import chain_of
from torch_tb_profiler.timeline.pyramid import tile_length
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.timeline.timeline_file import build
from torch_tb_profiler.timeline.totals import totals
from torch_tb_profiler.timeline.tracks import COMMUNICATION, DRAWN_CATEGORIES, TimelineSteps, drawn_categories, label
from torch_tb_profiler.timeline.tree import tree_of
from torch_tb_profiler.trace import Category, read_to_file, read_trace

NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
ADD = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >"
    "(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)"
)


def written(timeline: Timeline, name: str) -> str:
    return label(timeline, timeline.trace.strings.code(name))


def test_what_is_written_on_slices() -> None:
    frames = {
        "/home/me/train.py(61): main": "main (train.py:61)",
        "nn.Module: Linear_3": "Linear_3",
        "<built-in method mm of type object at 0x7f01>": "mm (built-in)",
        "<built-in function len>": "len (built-in)",
    }
    tensile = "Cijk_Alik_Bljk_BBS_BH_MT256x192x64_MI16x16x1_SN_1LDSB0"
    timeline = timeline_of(
        [
            *(ns("python_function", name, 0, 10) for name in frames),
            ns("kernel", ADD, 0, 10, 7),
            ns("kernel", tensile, 20, 10, 7),
            ns("cpu_op", "aten::add", 0, 5),
        ]
    )
    for name, expected in frames.items():
        assert written(timeline, name) == expected
    assert written(timeline, ADD) == "vectorized_elementwise_kernel<CUDAFunctor_add<float>>"
    assert written(timeline, tensile).startswith("Tensile TN")
    assert written(timeline, "aten::add") == "aten::add"


@pytest.mark.parametrize(
    ("begin", "part", "end"),
    [("<built-in function ", "aa", ">b\n"), ("", "(1", ""), ("", "a(", "1): f\n")],
    ids=["built-in", "brackets", "place"],
)
def test_long_names_of_frames_take_no_time(begin: str, part: str, end: str) -> None:
    assert frame_label(begin + part + end)
    assert growth_of_text(lambda times: begin + part * times + end, frame_label, 25_000) < MOST


def test_communication_has_a_colour_of_its_own() -> None:
    timeline = timeline_of(
        [
            ns("kernel", NCCL, 0, 10, 7),
            ns("kernel", ADD, 20, 10, 7),
            ns("user_annotation", "nccl:all_reduce", 0, 10),
            ns("cpu_op", "record_param_comms", 1, 5),
            ns("cpu_op", "aten::add", 20, 5),
            ns("python_function", "nccl:all_reduce", 40, 5),
        ]
    )
    found = drawn_categories(timeline, np.arange(6, dtype=np.int32))
    assert DRAWN_CATEGORIES[COMMUNICATION] == "communication"
    assert [DRAWN_CATEGORIES[code] for code in found.tolist()] == [
        *("communication", "kernel", "communication", "communication", "operator", "python_function")
    ]
    # the columns of the trace stay as they are
    assert timeline.trace.events.category[0] == Category.KERNEL


def test_the_main_thread_stands_first_and_idle_ones_last() -> None:
    """The steps decide, not the time: the thread of the backward pass can be busier."""
    steps = [
        each
        for number in range(3)
        for each in (
            ns("user_annotation", f"ProfilerStep#{number}", 10_000 * number, 9_000, 5),
            ns("cpu_op", "aten::mm", 10_000 * number + 10, 100, 5),
        )
    ]
    timeline = timeline_of(
        [
            ns("cpu_op", "autograd", 0, 29_999, 3),
            ns("python_function", "queue.py(1): get", 0, 30_000, 1),
            ns("cpu_op", "aten::pin_memory", 0, 20, 2),
            *steps,
            {**ns("cpu_op", "worker", 0, 9_000, 9), "pid": 0},
            ns("kernel", "k", 0, 10, 7),
        ]
    )
    nodes = tree_of(timeline).tracks
    assert [(node.name, node.role) for node in nodes] == [
        ("GPU 0", None),
        ("stream 7", None),
        ("process 1", None),
        *[(f"thread {tid}", role) for tid, role in ((5, "main"), (3, "active"), (1, "idle"), (2, "idle"))],
        ("process 0", None),
        ("thread 9", "active"),
    ]


def test_threads_without_any_call_are_not_idle() -> None:
    timeline = timeline_of([ns("python_function", "a.py(1): f", 0, 10, tid) for tid in (1, 2)])
    assert [node.role for node in tree_of(timeline).tracks] == [None, "active", "active"]


def test_sums_begin_with_kernels_and_end_with_frames() -> None:
    timeline = timeline_of(
        [
            ns("python_function", "a.py(1): main", 0, 1000),
            ns("user_annotation", "ProfilerStep#1", 0, 900),
            ns("cpu_op", "aten::mm", 0, 500),
            ns("cuda_runtime", "cudaLaunchKernel", 0, 600, 2),
            ns("kernel", "short", 0, 10, 7),
            ns("kernel", "long", 20, 30, 7),
        ]
    )
    found = totals(timeline, np.arange(timeline.lanes), 0, 1000)
    strings = timeline.trace.strings
    assert [strings[code] for code in found.by_name.name.tolist()] == [
        *("long", "short", "aten::mm", "ProfilerStep#1", "cudaLaunchKernel", "a.py(1): main")
    ]
    assert [each.category for each in found.by_category] == [
        *("kernel", "operator", "user_annotation", "runtime", "python_function")
    ]


def test_the_step_that_contains_a_slice() -> None:
    steps = TimelineSteps("profiler_step", ["5", "6", "7"], [100, 200, 400], [100, 100, 100])
    found = [(150, 180), (200, 300), (199, 201), (50, 500), (0, 100), (300, 400), (400, 400), (500, 500)]
    assert [steps.around(*each) for each in found] == [
        *(["5"], ["6"], ["5", "6"], ["5", "6", "7"], [], [], ["7"], []),
    ]


# from the module to the kernel --------------------------------------------------------------------------------------


def program() -> list[Event]:
    """Rows 0…9. The backward runs on thread 2, where there are no frames."""
    return [
        ns("python_function", "/home/me/train.py(10): main", 0, 9_000),
        ns("python_function", "nn.Module: Linear_0", 100, 800),
        ns("python_function", "torch/nn/modules/linear.py(114): forward", 110, 700),
        {**ns("cpu_op", "aten::linear", 120, 600, 1), "args": {"Sequence number": 4, "Fwd thread id": 0}},
        ns("cuda_runtime", "cudaLaunchKernel", 200, 20, 1, correlation=1),
        ns("kernel", "gemm", 1_000, 300, 7, correlation=1),
        {**ns("cpu_op", "AddmmBackward0", 3_000, 900, 2), "args": {"Sequence number": 4, "Fwd thread id": 1}},
        ns("cuda_runtime", "cudaLaunchKernel", 3_100, 20, 2, correlation=2),
        ns("kernel", "gemm_back", 4_000, 300, 7, correlation=2),
        {"ph": "s", "cat": "fwdbwd", "name": "fwdbwd", "id": 1, "pid": 1, "tid": 1, "ts": 0.120},
        {"ph": "f", "cat": "fwdbwd", "name": "fwdbwd", "id": 1, "pid": 1, "tid": 2, "ts": 3.0, "bp": "e"},
    ]


def places(timeline: Timeline, row: int) -> dict[str, int]:
    return {link.place: link.slice.row for link in chain_of(timeline, row)}


def test_the_chain_of_a_kernel_and_of_all_that_led_to_it() -> None:
    timeline = timeline_of(program())
    forward = {"module": 1, "frame": 0, "operator": 3, "launch": 4, "work": 5}
    for row in (5, 4, 3):
        assert places(timeline, row) == forward
        assert [*places(timeline, row)] == [*forward]
    # a kernel of the backward pass leads to the line that called the forward operator
    backward = {"module": 1, "frame": 0, "forward": 3, "operator": 6, "launch": 7, "work": 8}
    for row in (8, 7, 6):
        assert places(timeline, row) == backward
        assert [*places(timeline, row)] == [*backward]


def test_the_chain_of_a_module_and_of_a_line_goes_to_their_longest_work() -> None:
    timeline = timeline_of(program())
    assert places(timeline, 1) == {"module": 1, "frame": 2, "operator": 3, "launch": 4, "work": 5}
    assert places(timeline, 0) == {"frame": 0, "operator": 3, "launch": 4, "work": 5}
    assert places(timeline, 2) == {"module": 1, "frame": 2, "operator": 3, "launch": 4, "work": 5}


def test_chains_of_what_stands_alone() -> None:
    timeline = timeline_of(
        [ns("kernel", "k", 0, 10, 7), ns("cpu_op", "a", 0, 10), ns("user_annotation", "mine", 0, 20)]
    )
    assert places(timeline, 0) == {"work": 0}
    assert places(timeline, 1) == {"operator": 1}
    assert chain_of(timeline, 2) == ()


def test_chains_of_samples_hold_together(samples: Path) -> None:
    """Every link of a chain is asked for its own chain, and stands in it."""
    file = next(iter(sorted((samples / "generated_4gpu_h100").glob("*.gz"))))
    with file.open("rb") as stream:
        timeline = build(Model(read_trace(stream)))
    rows = timeline.trace.device_work.row
    for row in rows[:: max(1, len(rows) // 40)].tolist():
        if timeline.trace.events.category[row] not in (Category.KERNEL, Category.MEMCPY):
            continue
        links = chain_of(timeline, row)
        assert links[-1].place == "work"
        assert links[-1].slice.row == row
        for link in links:
            assert link.slice.row in places(timeline, link.slice.row).values()


# counters of the file -----------------------------------------------------------------------------------------------


def counter(name: str, at: int, args: Any, pid: int = 1) -> Event:
    return {"ph": "C", "name": name, "pid": pid, "tid": 0, "ts": at / 1000, "args": args}


def test_counter_events_of_the_file_are_counters(tmp_path: Path) -> None:
    events = [
        ns("cpu_op", "a", 0, 100_000),
        counter("power", 20_000, {"W": 100}),
        counter("heap", 10_000, {"used": 5, "free": 7.5}),
        counter("power", 60_000, {"W": 300}),
        counter("heap", 30_000, {"used": 6, "free": None, "note": "x", "is_full": True}),
    ]
    text = json.dumps({"traceEvents": events}).encode()
    stored = tmp_path / "trace.columns"
    read_to_file(io.BytesIO(text), stored)
    for trace in (read_trace(io.BytesIO(text)), read_to_file(io.BytesIO(text), stored)):
        timeline = build(Model(trace))
        path = tmp_path / "timeline"
        timeline_file.write(timeline, path)
        for each in (timeline, timeline_file.read(path, trace)):
            found = [one for one in each.counters.listed if one.kind == "recorded"]
            assert [each.recorded[one.place].name for one in found] == ["power", "heap: used", "heap: free"]
            assert [extremes(each, one) for one in found] == [(100.0, 300.0), (5.0, 6.0), (7.5, 7.5)]
            assert [values_at(each, found[0], at) for at in (10_000, 40_000, 80_000)] == [None, 100.0, 300.0]
            assert [values_at(each, found[1], at) for at in (5_000, 20_000, 90_000)] == [None, 5.0, 6.0]


def values_at(timeline: Timeline, one: Any, time: int) -> float | None:
    """At the finest level and at the one that is kept."""
    found = set()
    for level in (1, timeline.counters.level):
        for tile in tiles_of(timeline, level):
            bins = counter_tile(timeline, one, level, tile)
            length = tile_length(level)
            place = (time - tile * length) * 256 // length
            if 0 <= place < 256:
                found.add(None if np.isnan(bins.mean[place]) else float(bins.last[place]))
    assert len(found) == 1, found
    return found.pop()


@pytest.mark.parametrize("args", [None, "text", [1], {"a": "1"}, {"a": 1e999}, {"a": 10**400}, {}])
def test_counter_events_without_a_number(args: Any) -> None:
    text = json.dumps([ns("cpu_op", "a", 0, 100), counter("odd", 10, args)]).replace("Infinity", "1e999")
    trace = read_trace(io.BytesIO(text.encode()))
    assert len(trace.counter_values) == 0
    assert len(trace.events) == 2


def test_counters_of_several_processes_are_told_apart() -> None:
    timeline = timeline_of(
        [ns("cpu_op", "a", 0, 100), counter("power", 10, {"W": 1}, 1), counter("power", 10, {"W": 2}, 8)]
    )
    assert [each.name for each in timeline.recorded] == ["power (1)", "power (8)"]


def test_a_chunk_that_was_repaired_has_no_counter_values() -> None:
    text = json.dumps([ns("cpu_op", "a", 0, 100), counter("power", 10, {"W": 1})]).replace('"W": 1', '"W": NaN')
    trace = read_trace(io.BytesIO(text.encode()))
    assert len(trace.events) == 2
    assert len(trace.counter_values) == 0
