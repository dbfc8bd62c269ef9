"""The timeline of recorded traces that lie beside the repository; without them these tests are skipped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Keep
from tests.browser.profiler import Profiler
from tests.browser.servers import Server
from tests.browser.timeline import Slice, Timeline, assert_drawn, exact_slices
from tests.recorded import recorded as recorded_traces

AMG = "amg_a100_inductor_cudagraph"
DLRM = "dlrm_v100_8ranks"


@pytest.fixture
def recorded(serve_logs: Callable[[Path], Server], page: Page) -> Callable[[str, str], Profiler]:
    """The page over one folder of recorded traces."""

    def serve(folder: str, run: str) -> Profiler:
        server = serve_logs(recorded_traces(f"{folder}/{run}"))
        server.wait_for_traces()
        return Profiler(page, server)

    return serve


def device_lanes(meta: Any) -> dict[str, list[int]]:
    """By key, the lanes of every stream."""
    found: dict[str, list[int]] = {}
    for lane, (track, band) in enumerate(zip(meta["lanes"]["track"], meta["lanes"]["band"], strict=True)):
        if band == "device":
            found.setdefault(str(track), []).append(lane)
    return found


@pytest.mark.parametrize(
    "part",
    [pytest.param((0, 1), marks=pytest.mark.long), (0.2, 0.21), pytest.param((0.2, 0.2002), marks=pytest.mark.long)],
)
def test_streams_of_a_compiled_model(
    recorded: Callable[[str, str], Profiler], keep: Keep, part: tuple[float, float]
) -> None:
    """Whole, a hundredth of it, and a fiftieth of that."""
    profiler = recorded("saf", AMG)
    where = {"run": AMG, "worker": "worker0"}
    meta = profiler.server.api("timeline", **where)
    streams = device_lanes(meta)
    assert len(streams) > 1
    start, end = (int(meta["end_ns"] * share) for share in part)
    profiler.open(v="trace", r=AMG, k="worker0", t=f"{start}-{end}")
    timeline = Timeline(profiler).settle()
    keep(f"timeline-amg-{part[1]}")
    for track, lanes in streams.items():
        timeline.show(f"worker0:{track}")
        for depth, lane in enumerate(lanes):
            query = {**where, "lanes": str(lane), "from": str(start), "to": str(end + 1), "limit": "50000"}
            assert_drawn(timeline, f"worker0:{track}", depth, exact_slices(profiler.server, **query))


def test_eight_ranks_below_each_other(recorded: Callable[[str, str], Profiler], keep: Keep) -> None:
    profiler = recorded("param", DLRM)
    workers = [f"worker{rank}" for rank in range(8)]
    profiler.open(v="trace", r=DLRM, k="worker0", w=",".join(workers[1:]), f="stream 84", t="0-14000000")
    timeline = Timeline(profiler).settle()
    keep("timeline-dlrm")
    overview = profiler.server.api("timeline/overview", run=DLRM)
    offset = {each["worker"]: each["offset_ns"] for each in overview["workers"]}
    seen = 0
    for worker in workers:
        meta = profiler.server.api("timeline", run=DLRM, worker=worker)
        named = [str(track["id"]) for track in meta["tracks"] if track["name"] == "stream 84"]
        for track, lanes in device_lanes(meta).items():
            if track not in named:
                continue
            timeline.show(f"{worker}:{track}")
            shift = offset[worker] - offset["worker0"]
            query = {"run": DLRM, "worker": worker, "lanes": str(lanes[0]), "from": "0", "to": str(meta["end_ns"])}
            slices = [
                Slice(each.row, each.lane, each.start + shift, each.duration)
                for each in exact_slices(profiler.server, **query)
            ]
            assert_drawn(timeline, f"{worker}:{track}", 0, slices)
            seen += len(slices)
    assert seen > 0
    expect(timeline.root.get_by_role("alert")).to_have_count(0)
