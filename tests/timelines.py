"""Timelines of made-up traces, and what is true of every timeline."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.events import Event, model_of
from torch_tb_profiler.timeline.pyramid import tile_length, width_of
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.timeline.timeline_file import build

CATEGORIES = (
    *("cpu_op", "user_annotation", "python_function", "cuda_runtime", "kernel", "gpu_memcpy"),
    *("gpu_user_annotation", "cuda_sync", "overhead", "Trace"),
)

#: of them some overlap, some nest, some have no length, some begin together
slices = st.builds(
    lambda cat, name, tid, start, duration: ns(cat, name, start, duration, tid),
    st.sampled_from(CATEGORIES),
    st.sampled_from(["a", "b", "c"]),
    st.integers(1, 2),
    st.integers(0, 3000) | st.integers(0, 2**20),
    st.integers(0, 800) | st.integers(0, 2**19),
)
instants = st.builds(
    lambda start: {"ph": "i", "s": "t", "name": "mark", "pid": 1, "tid": 1, "ts": start / 1000}, st.integers(0, 4000)
)
metadata = st.just({"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "python"}})
others = st.sampled_from(["C", "B", "E", "s", "f"]).map(
    lambda ph: {"ph": ph, "name": "other", "cat": "fwdbwd", "id": 1, "pid": 1, "tid": 1, "ts": 1.5}
)
events = st.lists(slices | instants | metadata | others, min_size=1, max_size=60)


def ns(cat: str, name: str, start: int, duration: int, tid: int = 1, **args: Any) -> Event:
    """An event with times in ns; those of device work belong to device 0."""
    on_device = cat in ("kernel", "gpu_memcpy", "gpu_memset", "gpu_user_annotation", "cuda_sync")
    if on_device:
        args = {"device": 0, "stream": tid, **args}
    return {
        "ph": "X",
        "cat": cat,
        "name": name,
        "pid": 0 if on_device else 1,
        "tid": tid,
        "ts": start / 1000,
        "dur": duration / 1000,
        "args": args,
    }


def timeline_of(given: list[Event], **header: Any) -> Timeline:
    return build(model_of(given, **header))


def tiles_of(timeline: Timeline, level: int) -> range:
    """All tiles in which there can be anything."""
    length = tile_length(level)
    return range(timeline.begin // length, timeline.end // length + 1)


def lanes_of(timeline: Timeline) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.arange(timeline.lanes, dtype=np.int64)


def check_all(timeline: Timeline, most_tiles: int = 64) -> None:
    """What must be true of the lanes and the levels of every timeline."""
    check_lanes(timeline)
    for level in range(timeline.highest_level + 1):
        tiles = tiles_of(timeline, level)
        if len(tiles) <= most_tiles:
            check_level(timeline, level, tiles)


def check_lanes(timeline: Timeline) -> None:
    """Everything drawn stands on exactly one lane of its track, and slices of a lane do not overlap."""
    events, of_row = timeline.trace.events, timeline.placed.of_row
    drawn = (events.duration >= 0) | (events.phase == 2)
    items = timeline.slices.items
    assert sorted(items.longest.tolist()) == np.flatnonzero(drawn).tolist()
    assert (of_row >= 0).tolist() == drawn.tolist()
    assert (timeline.placed.lanes.track[items.lane] == events.track[items.longest]).all()
    assert (items.start == events.start[items.longest]).all()
    assert (items.end == events.end[items.longest]).all()
    same = items.lane[1:] == items.lane[:-1]
    assert (items.start[1:] >= items.end[:-1])[same].all()
    assert (items.end[1:] >= items.end[:-1])[same].all()


def check_level(timeline: Timeline, level: int, tiles: range) -> None:
    """No slice is lost or counted twice, no time invented, and what is long enough stands as it is."""
    lanes, events, width = lanes_of(timeline), timeline.trace.events, width_of(level)
    slices = timeline.slices.items
    count, busy = np.zeros(timeline.lanes, np.int64), np.zeros(timeline.lanes, np.int64)
    alone: list[int] = []
    for tile in tiles:
        items = timeline.tile(level, tile, lanes)
        begin, end = tile * tile_length(level), (tile + 1) * tile_length(level)
        assert (np.diff(items.lane) >= 0).all()
        same = items.lane[1:] == items.lane[:-1]
        assert (items.start[1:] >= items.end[:-1])[same].all(), "items overlap"
        assert (items.start < end).all()
        assert ((items.end > begin) | (items.start >= begin)).all()
        own = items.take(items.start >= begin)
        count += np.bincount(own.lane, own.count, timeline.lanes).astype(np.int64)
        ran = own.end - own.start - own.idle
        assert (ran >= 0).all()
        busy += np.bincount(own.lane, ran, timeline.lanes).astype(np.int64)
        cells = own.take(own.count > 1)
        if level == 0:
            assert not len(cells)
        else:
            assert (cells.end - cells.start < 2 * width).all()
            assert (events.duration[cells.longest] < width).all()
        alone += own.longest[own.count == 1].tolist()
    assert count.tolist() == np.diff(timeline.slices.first).tolist()
    assert busy.tolist() == np.bincount(slices.lane, slices.end - slices.start, timeline.lanes).astype(int).tolist()
    long_enough = slices.longest[slices.end - slices.start >= max(width, 1)].tolist()
    assert set(long_enough) <= set(alone)
    assert len(set(alone)) == len(alone)
