"""Lanes and levels: by known answers, and against what must be true of every timeline."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict, replace

from tests.events import Event, memory, model_of, op
from tests.properties import examples
from tests.timelines import check_all, check_level, events, lanes_of, ns, tiles_of, timeline_of
from torch_tb_profiler.analysis.memory.records import memory_curves
from torch_tb_profiler.arrays import grouping
from torch_tb_profiler.timeline import counters, lanes, pyramid, timeline_file
from torch_tb_profiler.timeline.lanes import LaneBand
from torch_tb_profiler.timeline.pyramid import Levels, highest_level, tile_length, width_of
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.timeline.timeline_file import build
from torch_tb_profiler.timeline.tree import account, tree_of
from torch_tb_profiler.trace import column_file, read_trace


def depths(timeline: Timeline, band: LaneBand) -> dict[str, int]:
    """Of the slices of a band, by name."""
    trace, placed = timeline.trace, timeline.placed
    return {
        trace.strings[trace.events.name[row]]: int(placed.lanes.depth[lane])
        for row, lane in enumerate(placed.of_row.tolist())
        if lane >= 0 and placed.lanes.band[lane] == band
    }


@pytest.mark.slow
@given(events)
@examples(150)
def test_nothing_is_lost_at_any_zoom(given: list[Event]) -> None:
    timeline = timeline_of(given)
    check_all(timeline)
    found = account(timeline)
    assert found.total == len(timeline.trace.events)
    assert found.slices + found.instants == len(timeline.slices.items)
    counted = found.slices + found.instants + found.flows + found.counters + found.metadata
    assert counted + found.too_deep + found.other == found.total


@given(events)
@examples(60)
def test_a_slice_stands_below_what_encloses_it(given: list[Event]) -> None:
    timeline = timeline_of(given)
    held, of = timeline.trace.events, timeline.placed
    rows = np.flatnonzero(of.of_row >= 0)
    for inner in rows.tolist():
        for outer in rows.tolist():
            a, b = of.of_row[outer], of.of_row[inner]
            if (of.lanes.track[a], of.lanes.band[a]) != (of.lanes.track[b], of.lanes.band[b]):
                continue
            if held.start[outer] < held.start[inner] and held.end[inner] < held.end[outer]:
                assert of.lanes.depth[a] < of.lanes.depth[b]


@given(events)
@examples(60)
def test_busy_is_the_union_of_all_slices_of_a_track(given: list[Event]) -> None:
    timeline = timeline_of(given)
    held = timeline.trace.events
    for track in range(len(timeline.trace.tracks)):
        moments: set[int] = set()
        for row in np.flatnonzero((held.track == track) & (held.duration >= 0)).tolist():
            # every 64th ns is enough to find a mistake, and exact for what is made of such
            moments.update(range(-(-int(held.start[row]) // 64), -(-int(held.end[row]) // 64)))
        busy = int(timeline.placed.busy.busy[track])
        assert abs(busy - 64 * len(moments)) <= 64 * 2 * len(held)


@pytest.mark.slow
@given(events)
@examples(60)
def test_what_is_built_piece_by_piece_is_the_same(given: list[Event]) -> None:
    whole = timeline_of(given)
    with pytest.MonkeyPatch.context() as patch:
        for module, name in ((grouping, "BATCH_ROWS"), (pyramid, "_PIECE"), (counters, "_SLICES_AT_ONCE")):
            patch.setattr(module, name, 3)
        pieces = timeline_of(given)
        check_all(pieces)
    np.testing.assert_equal(pieces.placed.of_row, whole.placed.of_row)
    np.testing.assert_equal(pieces.placed.lanes.columns(), whole.placed.lanes.columns())
    np.testing.assert_equal(pieces.placed.busy.busy, whole.placed.busy.busy)
    assert pieces.levels.keys() == whole.levels.keys()


def test_a_model_answers_the_same_after_its_timeline_was_built() -> None:
    model = model_of([ns("cpu_op", "outer", 0, 100), ns("cpu_op", "inner", 10, 50), memory(0.01, 1024, 7, 1024, 2048)])
    before = model.tree.columns()
    curves = memory_curves(model).curves
    build(model)
    assert len(model.answers) == 0
    np.testing.assert_equal(model.tree.columns(), before)
    np.testing.assert_equal(memory_curves(model).curves[0].allocated, curves[0].allocated)


def test_nested_slices_stand_at_their_depth_and_overlapping_ones_beside() -> None:
    timeline = timeline_of(
        [
            ns("cpu_op", "outer", 0, 100),
            ns("cpu_op", "inner", 10, 50),
            ns("cpu_op", "innermost", 20, 10),
            ns("cpu_op", "next", 70, 20),
            ns("cpu_op", "crossing", 90, 30),
            ns("python_function", "frame", 5, 200),
            ns("kernel", "first", 0, 100, 7),
            ns("kernel", "second", 50, 100, 7),
            ns("kernel", "third", 120, 100, 7),
            ns("kernel", "within second", 60, 10, 7),
        ]
    )
    assert depths(timeline, LaneBand.HOST) == {"outer": 0, "inner": 1, "innermost": 2, "next": 1, "crossing": 1}
    assert depths(timeline, LaneBand.PYTHON) == {"frame": 0}
    assert depths(timeline, LaneBand.DEVICE) == {"first": 0, "second": 1, "third": 0, "within second": 2}


def test_a_stair_of_overlapping_slices_takes_two_lanes() -> None:
    timeline = timeline_of([ns("kernel", f"k{i}", 10 * i, 15, 7) for i in range(500)])
    assert timeline.lanes == 2
    check_all(timeline)


def test_slices_that_begin_and_end_together() -> None:
    timeline = timeline_of(
        [ns("cpu_op", "op", 0, 100), ns("user_annotation", "step", 0, 100), ns("cuda_runtime", "call", 0, 100)]
    )
    assert depths(timeline, LaneBand.HOST) == {"step": 0, "op": 1, "call": 2}


def test_too_deep_slices_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "MOST_DEPTHS", 5)
    timeline = timeline_of([ns("cpu_op", f"f{i}", i, 100 - 2 * i) for i in range(20)])
    found = account(timeline)
    assert (found.slices, found.too_deep, found.other, timeline.lanes) == (5, 15, 0, 5)


def test_cells_by_hand() -> None:
    width = width_of(4)
    timeline = timeline_of(
        [
            ns("kernel", "a", 0, 10, 7),
            ns("kernel", "b", 20, 30, 7),
            ns("kernel", "c", 60, 30, 7),
            ns("kernel", "long", 100, width, 7),
            ns("kernel", "d", 100 + width, 5, 7),
            ns("kernel", "end", 300 * width, 1, 7),
        ]
    )
    items = timeline.tile(4, 0, lanes_of(timeline))
    assert items.start.tolist() == [0, 100, 100 + width]
    assert items.end.tolist() == [90, 100 + width, 105 + width]
    assert items.idle.tolist() == [20, 0, 0]
    assert items.count.tolist() == [3, 1, 1]
    assert items.longest.tolist() == [1, 3, 4], "of equally long ones the first"


def test_a_slice_is_in_every_tile_that_it_touches() -> None:
    length = tile_length(0)
    timeline = timeline_of([ns("cpu_op", "long", 0, 3 * length), ns("cpu_op", "last", 5 * length, 10)])
    rows = [timeline.tile(0, tile, lanes_of(timeline)).longest.tolist() for tile in range(-1, 7)]
    assert rows == [[], [0], [0], [0], [], [], [1], []]


def test_levels_that_are_not_kept_are_made_the_same() -> None:
    """Merging once is merging twice: every level from the slices themselves, and from the level kept below."""
    random = np.random.default_rng(5)
    start = np.cumsum(random.integers(50, 3000, 4000))
    timeline = timeline_of(
        [ns("kernel", "k", int(s), int(d), 7) for s, d in zip(start, random.integers(1, 5000, 4000), strict=True)]
    )
    assert len(timeline.levels) > 1
    bare = Timeline(
        timeline.trace, timeline.placed, {0: timeline.levels[0]}, timeline.links, timeline.summary, timeline.counters
    )
    for level in range(1, timeline.highest_level + 1):
        for tile in tiles_of(timeline, level):
            one, other = (t.tile(level, tile, lanes_of(t)) for t in (timeline, bare))
            for name, values in asdict(one).items():
                assert values.tolist() == asdict(other)[name].tolist(), (level, tile, name)
        check_level(timeline, level, tiles_of(timeline, level))


def test_the_highest_level_holds_all() -> None:
    assert highest_level(0, 0) == 1
    assert highest_level(5, 5 + tile_length(7)) == 7
    assert highest_level(0, tile_length(7) + 1) == 8


@given(events)
@examples(30)
def test_what_is_kept_is_what_was_built(tmp_path_factory: pytest.TempPathFactory, given: list[Event]) -> None:
    folder = tmp_path_factory.mktemp("kept")
    timeline = timeline_of([*given, memory(1.5, 1024, 7, 1024, 2048)])
    timeline_file.write(timeline, folder / "t")
    again = timeline_file.read(folder / "t", timeline.trace)
    assert again.summary == timeline.summary == timeline_file.read_summary(folder / "t")
    assert again.counters.listed == timeline.counters.listed
    assert again.links.loose == timeline.links.loose
    np.testing.assert_equal(again.counters.bins.columns(), timeline.counters.bins.columns())
    np.testing.assert_equal(again.counters.memory.columns(), timeline.counters.memory.columns())
    np.testing.assert_equal(again.links.work.columns(), timeline.links.work.columns())
    np.testing.assert_equal(again.links.partners.columns(), timeline.links.partners.columns())
    np.testing.assert_equal(again.placed.of_row, timeline.placed.of_row)
    np.testing.assert_equal(again.placed.busy.busy, timeline.placed.busy.busy)
    assert again.levels.keys() == timeline.levels.keys()
    for level, held in timeline.levels.items():
        np.testing.assert_equal(again.levels[level].first, held.first)
        if level:  # of slices without length at one time the order is free
            for name, values in asdict(held.items).items():
                np.testing.assert_equal(asdict(again.levels[level].items)[name], values, name)
    check_all(again)


def test_a_timeline_of_another_trace_or_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t"
    timeline = timeline_of([ns("cpu_op", "a", 0, 10)])
    timeline_file.write(timeline, path)
    other = model_of([ns("cpu_op", "a", 0, 10), ns("cpu_op", "b", 20, 10)]).trace
    with pytest.raises(column_file.ColumnFileError, match="another trace"):
        timeline_file.read(path, other)
    assert timeline_file.is_there(path)
    assert not timeline_file.is_there(tmp_path / "nothing")
    monkeypatch.setattr(timeline_file, "VERSION", timeline_file.VERSION + 1)
    assert not timeline_file.is_there(path)
    with pytest.raises(column_file.ColumnFileError, match="another version"):
        timeline_file.read(path, timeline.trace)
    with pytest.raises(column_file.ColumnFileError, match="another version"):
        timeline_file.read_summary(path)


@pytest.mark.parametrize(
    ("field", "value"),
    [("begin_ns", 1), ("end_ns", 2**62), ("end_ns", 2**62 + 1), ("origin_ns", -(2**63)), ("host", [2**63])],
)
def test_a_summary_of_other_slices_is_refused(field: str, value: Any, tmp_path: Path) -> None:
    """A window of so many bins would take all memory."""
    timeline = timeline_of([ns("kernel", "a", 0, 10)])
    summary = replace(timeline.summary, **{field: value})
    timeline_file.write(replace(timeline, summary=summary), tmp_path / "t")
    with pytest.raises(column_file.ColumnFileError):
        timeline_file.read(tmp_path / "t", timeline.trace)


@pytest.mark.parametrize("level", [-1, 0, 2, 100, 2**62])
def test_counters_of_another_level_are_refused(level: int, tmp_path: Path) -> None:
    timeline = timeline_of([ns("kernel", "a", 0, 10)])
    assert timeline.counters.level == 1
    timeline_file.write(replace(timeline, counters=replace(timeline.counters, level=level)), tmp_path / "t")
    with pytest.raises(column_file.ColumnFileError):
        timeline_file.read(tmp_path / "t", timeline.trace)


def test_a_trace_without_slices() -> None:
    timeline = timeline_of([])
    assert timeline.lanes == len(timeline.slices.items) == len(timeline.names) == 0
    assert tree_of(timeline).tracks == ()
    assert len(timeline.tile(1, 0, lanes_of(timeline))) == 0
    check_all(timeline)


def test_the_tree_of_tracks() -> None:
    thread = {"ph": "M", "name": "thread_name", "pid": 1, "tid": 2, "args": {"name": "loader"}}
    labels = {"ph": "M", "name": "process_labels", "pid": 1, "tid": 0, "args": {"labels": "CPU"}}
    timeline = timeline_of(
        [
            thread,
            labels,
            ns("kernel", "k", 0, 10, 7),
            ns("cpu_op", "a", 0, 10, 1),
            ns("cpu_op", "b", 0, 10, 2),
            ns("cpu_op", "c", 5, 10, 2),
            {**ns("Trace", "PyTorch Profiler (0)", 0, 50), "pid": "Spans", "tid": "PyTorch Profiler"},
            {"ph": "i", "name": "mark", "pid": 1, "tid": 2, "ts": 0.004, "s": "t"},
        ]
    )
    tree = tree_of(timeline)
    assert [(n.parent, n.kind, n.name, n.device, n.slices, n.instants, n.busy_ns) for n in tree.tracks] == [
        (None, "process", "GPU 0", 0, 1, 0, 10),
        (0, "stream", "stream 7", 0, 1, 0, 10),
        (None, "process", "CPU 1", None, 3, 1, 25),
        (2, "thread", "loader", None, 2, 1, 15),
        (2, "thread", "thread 1", None, 1, 0, 10),
        (None, "other", "Spans", None, 1, 0, 50),
        (5, "other", "PyTorch Profiler", None, 1, 0, 50),
    ]
    assert tree.lanes.slices.sum() == 6
    assert (tree.lanes.end - tree.lanes.begin >= tree.lanes.busy).all()


def test_a_host_process_that_is_labelled_like_a_device() -> None:
    def label(pid: int, text: str) -> dict[str, object]:
        return {"ph": "M", "name": "process_labels", "pid": pid, "tid": 0, "args": {"labels": text}}

    def process(pid: int, category: str, name: str) -> dict[str, object]:
        return {**ns(category, name, 0, 10), "pid": pid, "tid": pid}

    events = [
        label(0, "GPU 0"),
        label(3, "GPU 3"),
        label(7, "GPU 7"),
        label(20, "CPU"),
        process(3, "python_function", "threading.py(1032): _bootstrap"),
        process(7, "cpu_op", "a"),
        process(20, "cpu_op", "b"),
        ns("kernel", "k", 0, 10, 7),
        {**process(0, "python_function", "tqdm/_monitor.py(60): run"), "tid": 0},
    ]
    nodes = tree_of(timeline_of(events)).tracks
    # frames of a thread that is not known stand behind the devices; a process that launches work never does
    names = [node.name for node in nodes if node.parent is None]
    assert names == ["GPU 0", "process 7", "CPU 20", "process 0", "process 3"]
    assert [node.name for node in nodes if node.device == 0] == ["GPU 0", "stream 7"]


@pytest.mark.slow
def test_samples(samples: Path) -> None:
    files = sorted(samples.glob("*/*.gz"))
    assert files
    for path in files:
        with path.open("rb") as stream:
            check_all(build_of(stream), most_tiles=24)


def build_of(stream: object) -> Timeline:
    from torch_tb_profiler.model import Model

    return build(Model(read_trace(stream)))  # type: ignore[arg-type]


def one_after_the_other(start: list[int], end: list[int]) -> list[int]:
    """The definition: the first free lane below the innermost enclosing slice."""
    found: list[int] = []
    for i, (begin, finish) in enumerate(zip(start, end, strict=True)):
        around = [j for j in range(i) if end[j] > begin and end[j] >= finish]
        taken = {found[j] for j in range(i) if end[j] > begin}
        lane = found[around[-1]] + 1 if around else 0
        while lane in taken:
            lane += 1
        found.append(lane)
    return found


@examples(200)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 20)), max_size=40), st.sampled_from([3, 2000]))
def test_slices_that_overlap_stand_side_by_side(slices: list[tuple[int, int]], most: int) -> None:
    slices.sort(key=lambda item: (item[0], -item[1]))
    start = [start for start, _ in slices]
    end = [start + length for start, length in slices]
    with mock.patch.object(lanes, "MOST_DEPTHS", most):
        found = lanes._side_by_side(np.array(start, np.int64), np.array(end, np.int64))
    assert found == [min(lane, most) for lane in one_after_the_other(start, end)]


@examples(40)
@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 90), st.integers(0, 20)), min_size=1, max_size=40))
def test_counting_and_searching_find_the_same_items(slices: list[tuple[int, int, int]]) -> None:
    timeline = timeline_of([op("aten::mm", start, length, tid=tid) for tid, start, length in slices])
    every = np.arange(len(timeline.placed.lanes))
    found = Levels(timeline.levels, timeline.trace.events.duration)
    for level in found.kept:
        for start in range(-10_000, 110_000, 7_000):
            ranges = []
            for searched in (0, 10**9):
                with mock.patch.object(pyramid, "_SEARCHED", searched):
                    ranges.append(found._ranges(every, start, start + 9_000, level))
            assert [(low, high) for low, high in ranges[0] if high > low] == [
                (low, high) for low, high in ranges[1] if high > low
            ]
            assert len(ranges[0]) == len(ranges[1])
