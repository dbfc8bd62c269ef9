"""The Trace page explains: the critical path, why devices idle, what is not critical, the instances of a finding."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Keep
from tests.browser.profiler import GPU_RUN, Profiler
from tests.browser.servers import Server
from tests.browser.timeline import Timeline

RECORDED = [
    ("kineto", "resnet50_num_workers_0", "worker0"),
    ("HTA", "v100_ddp_profile_memory_rank1_of_2", "rank1"),
]
PATH, IDLE = "Critical path", "Idle, by cause"


def lanes_of(server: Server, run: str, worker: str, of: str) -> Any:
    return server.api("timeline/derived", run=run, worker=worker, of=of)


def explain(profiler: Profiler) -> Timeline:
    timeline = Timeline(profiler).settle()
    expect(profiler.ui.get_by_text("Computing the critical path")).to_have_count(0)
    return timeline.settle()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_lanes_of_a_sample(alone: Server, page: Page, keep: Keep, theme: Any) -> None:
    page.emulate_media(color_scheme=theme)
    profiler = Profiler(page, alone).open(v="trace", r=GPU_RUN, k="rank0", u="path,idle")
    explain(profiler)
    keep(f"timeline-explained-{theme}")
    names = Timeline(profiler).names()
    assert PATH in names
    assert IDLE in names
    for of in ("path", "idle"):
        about = lanes_of(alone, GPU_RUN, "rank0", of)
        assert about["refused"] is None
        assert sum(lane["pieces"] for lane in about["lanes"]) > 100


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("folder", "run", "worker"), RECORDED)
def test_lanes_of_recorded_traces(
    repository: Path,
    serve_logs: Callable[[Path], Server],
    page: Page,
    keep: Keep,
    theme: Any,
    folder: str,
    run: str,
    worker: str,
) -> None:
    traces = repository.parent / "shared" / "data" / "traces" / folder
    if not (traces / run).is_dir():
        pytest.skip(f"recorded traces are not here: ../shared/data/traces/{folder}/{run} does not exist")
    server = serve_logs(traces)
    server.wait_for_traces()
    span = server.api("status")["runs"]
    span = next(each for each in span if each["name"] == run)["traces"][0]["span"]
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": 1400, "height": 1000})
    steps = server.api("timeline", run=run, worker=worker)["steps"]
    middle = len(steps["start_ns"]) // 2
    start, length = steps["start_ns"][middle], steps["duration_ns"][middle]
    profiler = Profiler(page, server)
    profiler.open(v="trace", r=run, k=worker, u="path,idle", i="100000")
    explain(profiler)
    keep(f"timeline-explained-{run}-{theme}")
    profiler.open(v="trace", r=run, k=worker, u="path,idle", i="100000", t=f"{start}-{start + length}")
    explain(profiler)
    keep(f"timeline-explained-{run}-step-{theme}")
    profiler.open(
        v="trace",
        r=run,
        k=worker,
        u="path,idle",
        i="0",
        t=f"{start + length // 2}-{start + length // 2 + length // 50}",
    )
    explain(profiler)
    keep(f"timeline-explained-{run}-near-{theme}")
