"""Exact slices, sums over a window, search, arrows and one slice: against brute force and by known answers."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.events import Event, annotation, kernel, launch, model_of, op
from tests.properties import examples
from tests.timelines import events, lanes_of, ns, timeline_of
from torch_tb_profiler.model.patterns import SlowPattern
from torch_tb_profiler.timeline import search as search_module
from torch_tb_profiler.timeline.details import Details, details, neighbour
from torch_tb_profiler.timeline.enclosing import self_time
from torch_tb_profiler.timeline.flows import FLOW_KINDS, of_slice, of_window
from torch_tb_profiler.timeline.search import SearchedFor, search
from torch_tb_profiler.timeline.summary import edges
from torch_tb_profiler.timeline.tiles import SlicesOfWindow, exact_slices
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.timeline.timeline_file import build
from torch_tb_profiler.timeline.totals import PLACE, totals
from torch_tb_profiler.trace import Category

windows = st.tuples(st.integers(-50, 2**20), st.integers(0, 2**20)).map(lambda pair: (pair[0], pair[0] + pair[1]))


def drawn(timeline: Timeline) -> list[tuple[int, int, int, int]]:
    """row, lane, start and end of everything on a lane."""
    held, of_row = timeline.trace.events, timeline.placed.of_row.tolist()
    return [(row, lane, int(held.start[row]), int(held.end[row])) for row, lane in enumerate(of_row) if lane >= 0]


def touches(start: int, end: int, low: int, high: int) -> bool:
    return low < high and start < high and (end > low or start >= low)


@given(events, windows, st.integers(0, 1000), st.integers(1, 5))
@examples(60)
def test_exact_slices_are_all_there_are(given: list[Event], window: tuple[int, int], least: int, limit: int) -> None:
    timeline = timeline_of(given)
    lanes = lanes_of(timeline)[::2]
    expected = [
        (start, lane, row, end)
        for row, lane, start, end in drawn(timeline)
        if lane in lanes.tolist() and touches(start, end, *window) and end - start >= least
    ]
    total, found = exact_slices(timeline, lanes, SlicesOfWindow("", *window, least, 10_000))
    assert total == len(expected)
    columns = (found.start, found.lane, found.longest, found.end)
    assert list(zip(*(c.tolist() for c in columns), strict=True)) == sorted(expected)
    total, found = exact_slices(timeline, lanes, SlicesOfWindow("", *window, least, limit))
    lengths = sorted((end - start for start, _, _, end in expected), reverse=True)
    assert (total, len(found)) == (len(expected), min(limit, len(expected)))
    assert sorted((found.end - found.start).tolist(), reverse=True) == lengths[:limit]


@given(events, windows)
@examples(60)
def test_sums_over_a_window_are_those_of_brute_force(given: list[Event], window: tuple[int, int]) -> None:
    timeline = timeline_of(given)
    low, high = window
    held, strings = timeline.trace.events, timeline.trace.strings
    lanes = lanes_of(timeline)[1:]
    by_name: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    by_category: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    instants = 0
    for row, lane, start, end in drawn(timeline):
        if lane in lanes.tolist() and touches(start, end, low, high):
            category = Category(int(held.category[row])).name.lower()
            instants += int(held.duration[row] < 0)
            for sums in (by_name[strings[held.name[row]], category], by_category[category]):
                sums[0] += 1
                sums[1] += min(end, high) - max(start, low)
    found = totals(timeline, lanes, low, high)
    assert found.instants == instants
    assert found.slices == sum(count for count, _ in by_category.values()) - instants
    names = found.by_name
    assert {
        (strings[names.name[i]], Category(int(names.category[i])).name.lower()): [
            int(names.count[i]),
            int(names.total_ns[i]),
        ]
        for i in range(len(names))
    } == by_name
    places = PLACE[names.category].tolist()
    assert sorted(order := list(zip(places, (-names.total_ns).tolist(), strict=True))) == order
    assert {c.category: [c.count, c.total_ns] for c in found.by_category} == by_category


@given(
    st.lists(
        st.tuples(st.sampled_from(["kernel", "gpu_memcpy"]), st.integers(0, 300), st.integers(0, 80), st.booleans())
    )
)
@examples(50)
def test_what_devices_did_in_a_window_is_what_each_ns_says(given: list[tuple[str, int, int, bool]]) -> None:
    names = {True: "ncclDevKernel_AllReduce_Sum_f32_RING_LL", False: "gemm"}
    timeline = timeline_of(
        [ns(cat, names[comm], start, length, 7) for cat, start, length, comm in given] + [ns("cpu_op", "a", 0, 400)]
    )
    low, high = 37, 251
    if not given:
        assert totals(timeline, lanes_of(timeline), low, high).devices == ()
        return
    moments: dict[str, set[int]] = defaultdict(set)
    first = min(0, *(start for _, start, _, _ in given))
    for cat, start, length, comm in given:
        inside = range(max(start - first, low), min(start - first + length, high))
        is_comm = comm and cat == "kernel"
        for key in ("busy", cat, "comm" if is_comm else "computing" if cat == "kernel" else "copy"):
            moments[key].update(inside)
    (device,) = totals(timeline, lanes_of(timeline), low, high).devices
    assert device.device == 0
    assert device.busy_ns == len(moments["busy"])
    assert device.idle_ns == high - low - device.busy_ns
    assert device.computing_ns == len(moments["computing"])
    assert device.memcpy_ns == len(moments["gpu_memcpy"])
    assert device.communicating_ns == len(moments["comm"])
    assert device.exposed_communication_ns == len(moments["comm"] - moments["computing"])


@given(events, st.sampled_from(["a", "B", "mark", ""]), st.booleans())
@examples(60)
def test_search_finds_all(given: list[Event], text: str, ignore_case: bool) -> None:
    timeline = timeline_of(given)
    held, strings = timeline.trace.events, timeline.trace.strings

    def fits(name: str) -> bool:
        return text.lower() in name.lower() if ignore_case else text in name

    expected = sorted((start, row) for row, _, start, _ in drawn(timeline) if fits(strings[held.name[row]]))
    asked = SearchedFor(text, case="ignore" if ignore_case else "match", bins=7, hits=5)
    found = search(timeline, asked)
    assert found.count == found.density.sum() == len(expected)
    assert found.hits.tolist() == [row for _, row in expected[:5]]
    counts = Counter(strings[held.name[row]] for _, row in expected)
    assert {strings[timeline.names.code[n]]: int(timeline.names.count[n]) for n in found.names.tolist()} == counts
    for number, longest in zip(found.names.tolist(), found.longest.tolist(), strict=True):
        of_name = [row for _, row in expected if held.name[row] == timeline.names.code[number]]
        assert held.duration[longest] == max(held.duration[row] for row in of_name)
    if len(expected) > 5:
        more = search(timeline, replace(asked, after=expected[4][1]))
        assert more.hits.tolist() == [row for _, row in expected[5:10]]
        then = expected[4][0]
        later = search(timeline, replace(asked, earliest=then))
        assert later.hits.tolist() == [row for start, row in expected if start >= then][:5]
        assert later.count == len(expected)


def test_bins_of_a_trace_that_spans_years() -> None:
    """A product of its times and a count is no int64."""
    years = 9 * 10**13
    timeline = timeline_of([op("aten::mm", 0, 10), op("aten::mm", years, 10)])
    found = search(timeline, SearchedFor("aten", case="match", bins=400, hits=10))
    assert found.density.tolist() == [1, *[0] * 398, 1]
    borders = edges(timeline.begin, timeline.end)
    assert (np.diff(borders) > 0).all()
    assert (borders[0], borders[-1]) == (timeline.begin, timeline.end)


def test_search_by_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    timeline = timeline_of(
        [ns("cpu_op", name, 10 * i, 5) for i, name in enumerate(["aten::mm", "aten::addmm", "MM", "a" * 40 + "!"])]
    )

    def found(pattern: str, ignore_case: bool = True) -> list[int]:
        case: Any = "ignore" if ignore_case else "match"
        return search(timeline, SearchedFor(pattern, "regex", case, 4, 10)).hits.tolist()

    assert found("mm$") == [0, 1, 2]
    assert found("mm$", ignore_case=False) == [0, 1]
    assert found("::(add)?mm") == [0, 1]
    with pytest.raises(ValueError, match="not a regular expression"):
        found("(")
    monkeypatch.setattr(search_module, "PATTERN_SECONDS", 0.05)
    with pytest.raises(SlowPattern, match="too long"):
        found("(a|a)*(a|a)*(a|aa)*$")


def gpu_trace() -> Timeline:
    """Two modules call operators, which launch a kernel and a copy each; one of them has a backward."""
    return timeline_of(
        [
            {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "python"}},
            ns("user_annotation", "ProfilerStep#3", 0, 1000),
            ns("python_function", "train.py(3): main", 0, 990),
            ns("python_function", "nn.Module: Net_0", 10, 500),
            ns("python_function", "nn.Module: Linear_0", 15, 400),
            ns(
                "cpu_op",
                "aten::linear",
                20,
                300,
                **{"External id": 7, "Input Dims": [[8, 3], []], "Concrete Inputs": ["", "1"]},
            ),
            ns("cpu_op", "aten::mm", 30, 200, **{"Call stack": "inner.py(1): f;outer.py(2): g"}),
            ns("cuda_runtime", "cudaLaunchKernel", 50, 20, correlation=41),
            ns("cuda_runtime", "cudaMemcpyAsync", 90, 20, correlation=42),
            ns("kernel", "gemm", 120, 80, 7, correlation=41, grid=[2, 1, 1], **{"blocks per SM": 0.5}),
            ns("gpu_memcpy", "Memcpy HtoD", 210, 40, 7, correlation=42, bytes=1 << 40),
            ns("kernel", "gemm", 400, 90, 7, correlation=99),
            ns("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 600, 100, 2),
            ns("cpu_op", "MmBackward0", 610, 80, 2),
            {"ph": "s", "cat": "fwdbwd", "name": "fwdbwd", "id": 5, "pid": 1, "tid": 1, "ts": 0.03},
            {"ph": "f", "cat": "fwdbwd", "name": "fwdbwd", "id": 5, "pid": 1, "tid": 2, "ts": 0.61, "bp": "e"},
            {"ph": "s", "cat": "fwdbwd", "name": "fwdbwd", "id": 6, "pid": 1, "tid": 1, "ts": 0.03},
        ]
    )


STEP, MAIN, NET, LINEAR, OP, MM, LAUNCH, COPY_CALL, KERNEL, COPY, ORPHAN, AROUND, BACKWARD = range(1, 14)


@pytest.fixture(scope="module")
def timeline() -> Timeline:
    return gpu_trace()


def rows(found: tuple[object, ...]) -> list[int]:
    return [slice_.row for slice_ in found]  # type: ignore[attr-defined]


def test_details_of_a_kernel(timeline: Timeline) -> None:
    found = details(timeline, KERNEL)
    assert (found.name, found.category, found.start_ns, found.duration_ns) == (
        "gemm",
        "kernel",
        120,
        80,
    )
    assert found.launch is not None
    assert found.launch.row == LAUNCH
    assert found.operator is not None
    assert found.operator.row == MM
    assert found.parents == ()
    assert [frame.row for frame in found.stack] == [MAIN, NET, LINEAR]
    assert found.modules == ("Net_0", "Linear_0")
    assert found.launched.total == 0
    assert [(f.kind, f.source.row, f.target.row) for f in found.flows] == [("launch", LAUNCH, KERNEL)]
    assert found.args == {"correlation": 41, "device": 0, "stream": 7, "grid": [2, 1, 1], "blocks per SM": 0.5}
    same = found.same_name
    assert (same.count, same.total_ns, same.mean_ns, same.min_ns, same.median_ns, same.max_ns) == (
        2,
        170,
        85.0,
        80,
        85.0,
        90,
    )
    assert (same.longest_row, same.position) == (ORPHAN, 0)
    assert same.histogram is not None
    assert sum(same.histogram.counts) == 2
    assert len(same.histogram.edges_ns) == len(same.histogram.counts) + 1


def test_details_of_an_operator(timeline: Timeline) -> None:
    found = details(timeline, OP)
    assert rows(found.parents) == [STEP, MAIN, NET, LINEAR]
    assert found.self_ns == 100
    assert found.args == {"External id": 7, "Input Dims": [[8, 3], []], "Concrete Inputs": ["", "1"]}
    assert (found.launched.total, found.launched.total_ns, rows(found.launched.slices)) == (2, 120, [KERNEL, COPY])
    assert found.launch is found.operator is None
    assert found.call_stack == ()
    assert details(timeline, MM).call_stack == ("inner.py(1): f", "outer.py(2): g")
    assert details(timeline, MM).modules == ("Net_0", "Linear_0")
    assert details(timeline, LINEAR).modules == ("Net_0", "Linear_0")
    call = details(timeline, LAUNCH)
    assert call.operator is not None
    assert call.operator.row == MM
    assert rows(call.launched.slices) == [KERNEL]
    assert details(timeline, COPY).args["bytes"] == 1 << 40


def test_forward_and_backward_know_each_other(timeline: Timeline) -> None:
    forward = details(timeline, MM)
    assert len(forward.backward) == 1
    backward: Details = details(timeline, forward.backward[0].row)
    assert rows(backward.forward) == [MM]
    assert forward.flows[0].kind == "forward_backward"


def test_self_time_is_what_no_slice_below_covers(timeline: Timeline) -> None:
    assert self_time(timeline, MM) == 160
    assert self_time(timeline, LAUNCH) == 20
    assert self_time(timeline, NET) == 100


def test_arrows_of_a_window_and_of_a_slice(timeline: Timeline) -> None:
    found = of_window(timeline, 0, 1000, 10)
    pairs = list(zip(found.arrows.source.tolist(), found.arrows.target.tolist(), strict=True))
    assert pairs[1:] == [(LAUNCH, KERNEL), (COPY_CALL, COPY)]
    assert pairs[0][0] == MM
    assert (found.total, found.loose) == (3, 2), "a kernel without launch, an arrow without end"
    assert of_window(timeline, 0, 60, 10, ("launch",)).arrows.target.tolist() == [KERNEL]
    assert of_window(timeline, 205, 300, 10, ("launch",)).arrows.source.tolist() == [COPY_CALL]
    cut = of_window(timeline, 0, 1000, 1, ("launch",))
    assert (cut.total, cut.arrows.target.tolist(), cut.loose) == (2, [KERNEL], 1)
    assert of_slice(timeline, COPY, 10).arrows.source.tolist() == [COPY_CALL]
    assert of_slice(timeline, MM, 10, ("launch",)).total == 0
    assert set(FLOW_KINDS) == {"launch", "forward_backward"}


def test_next_and_previous_of_the_same_name(timeline: Timeline) -> None:
    following = neighbour(timeline, KERNEL, forwards=True)
    assert following is not None
    assert following.row == ORPHAN
    assert neighbour(timeline, ORPHAN, forwards=True) is None
    before = neighbour(timeline, ORPHAN, forwards=False)
    assert before is not None
    assert before.row == KERNEL


def test_statistics_of_equally_long_and_of_very_short_slices() -> None:
    equal = timeline_of([ns("cpu_op", "a", 10 * i, 5) for i in range(3)])
    assert details(equal, 2).same_name.histogram is None
    assert details(equal, 2).same_name.position == 2
    short = timeline_of([ns("cpu_op", "a", 10 * i, i % 3) for i in range(9)])
    histogram = details(short, 0).same_name.histogram
    assert histogram is not None
    assert sum(histogram.counts) == 9
    assert list(histogram.edges_ns) == sorted(set(histogram.edges_ns))


def graph_launch(start: float, correlation: int) -> Event:
    """A call that may start any number of kernels."""
    return {**launch(start, correlation), "name": "cudaGraphLaunch"}


def test_the_owner_of_device_work_and_how_it_is_known() -> None:
    step = [op("aten::mm", 0, 20), graph_launch(2, 1), *(kernel(100 + 20 * i, 10, 1, f"k{i}") for i in range(9))]
    again = [op("aten::mm", 600, 20), graph_launch(602, 2), *(kernel(700 + 20 * i, 10, 2, f"k{i}") for i in range(9))]
    outside = [annotation("Optimizer.step#SGD.step", 900, 50), launch(910, 3), kernel(1000, 10, 3)]
    lost = [kernel(10 + 2 * i, 1, 77, f"k{i}") for i in range(9)]
    timeline = build(model_of([*step, *again, *outside, *lost]))
    names = {row: timeline.trace.strings[code] for row, code in enumerate(timeline.trace.events.name.tolist())}

    def owner(row: int) -> Any:
        return details(timeline, row).owner

    first, last = 2, len(names) - len(lost)
    assert (owner(first).how, owner(first).text, owner(first).slice.name) == ("operator", "aten::mm", "aten::mm")
    assert owner(first).evidence is None
    optimizer = owner(last - 1)
    assert (optimizer.how, optimizer.name, optimizer.slice.row) == ("annotation", optimizer.text, last - 3)
    inferred = owner(last)
    assert (inferred.how, inferred.text, inferred.reason) == ("inferred", "inferred: aten::mm", None)
    assert (inferred.slice.name, inferred.evidence.name) == ("aten::mm", "k0")
    assert owner(0) is None
    alone = build(model_of([op("aten::mm", 0, 20), kernel(100, 10, 1)]))
    unknown = details(alone, 1).owner
    assert unknown is not None
    assert (unknown.how, unknown.reason, unknown.slice) == ("none", "host_not_recorded", None)
