"""Numbers of tiles and tables are doors: a click leads to what makes the number."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler
from tests.browser.servers import Server
from tests.events import Event, annotation, op
from tests.tiny import wait_until

DECODE = "execute_context_0(0)_generation_8(8)"
LOOKUP = "TorchDynamo Cache Lookup"


def tile(profiler: Profiler, name: str) -> Locator:
    """The number of a tile."""
    return profiler.ui.get_by_role("button", name=re.compile(f"^{re.escape(name)}: "))


def selected(profiler: Profiler, name: str) -> None:
    """The Trace view has come, with this event selected."""
    expect(profiler.heading("Trace")).to_be_visible()
    panel = profiler.ui.get_by_role("region", name="Selection", exact=True)
    expect(panel).to_contain_text(name)


@pytest.fixture
def own(tmp_path: Path, page: Page, serve_logs: Callable[[Path], Server]) -> Callable[[list[Event]], Profiler]:
    """The page over a trace of these events."""

    def serve(events: list[Event]) -> Profiler:
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / "worker.1.pt.trace.json").write_text(json.dumps({"traceEvents": events}))
        server = serve_logs(tmp_path)
        server.wait_for_traces()
        return Profiler(page, server)

    return serve


@pytest.mark.parametrize(("name", "share"), [("Median", 0.5), ("p95", 0.95)])
def test_a_percentile_of_steps_leads_to_the_nearest_step(name: str, share: float, page: Page, alone: Server) -> None:
    profiler = Profiler(page, alone).open(r=CPU_RUN, v="steps")
    steps = alone.api("overview", run=CPU_RUN, worker="worker0", span="1")["steps"]
    durations = sorted(steps["duration_ns"])
    place = share * (len(durations) - 1)
    low, high = durations[int(place)], durations[min(int(place) + 1, len(durations) - 1)]
    time = low + (high - low) * (place - int(place))
    nearest = min(range(len(durations)), key=lambda step: abs(steps["duration_ns"][step] - time))
    tile(profiler, name).click()
    expect(profiler.inspector).to_contain_text(f"ProfilerStep#{steps['names'][nearest]}")


def test_the_number_of_steps_leads_to_all_of_them(page: Page, alone: Server) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    profiler = Profiler(page, alone).open(r=CPU_RUN, v="steps", q="duration>1h", o="-duration_ns")
    grid = profiler.grid("Steps")
    expect(grid.root).not_to_be_in_viewport()
    tile(profiler, "Steps").click()
    expect(grid.root).to_be_in_viewport()
    assert len(grid.first_rows("Step", 6)) == 6
    wait_until(lambda: "q" not in profiler.state, "the address without a filter")


def test_imbalance_leads_to_the_ranks_the_latest_first(page: Page, alone: Server) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    profiler = Profiler(page, alone).open(r=GPU_RUN, v="distributed", o2="rank")
    grid = profiler.grid("Ranks")
    expect(grid.first_row).to_contain_text("rank0")
    tile(profiler, "Lost to imbalance").click()
    expect(grid.root).to_be_in_viewport()
    expect(grid.first_row).to_contain_text("rank2")


def test_utilization_leads_to_its_operators(page: Page, alone: Server) -> None:
    profiler = Profiler(page, alone).open(r=GPU_RUN, v="roofline")
    tile(profiler, "MFU").click()
    grid = profiler.grid("Lost time")
    expect(grid.first_row).to_contain_text("aten::mm")
    wait_until(lambda: (profiler.state.get("o"), profiler.state.get("g")) == ("-flops", "operator"), "the address")


def test_tokens_per_second_lead_to_the_steps_from_first_to_last(
    own: Callable[[list[Event]], Profiler],
) -> None:
    events: list[Event] = [op("aten::linear", 0, 100_000)]
    for at in (20_000.0, 30_000.0, 40_000.0):
        events += [annotation(DECODE, at, 8_000), op("aten::mm", at + 10, 7_000)]
    profiler = own(events).open(v="program")
    tile(profiler, "Tokens per second").click()
    expect(profiler.heading("Trace")).to_be_visible()
    wait_until(lambda: "t" in profiler.state, "the window in the address")
    start, end = (float(each) for each in profiler.state["t"].split("-"))
    assert 0 < start < 20_000_000
    assert 48_000_000 < end < 90_000_000


def test_guards_lead_to_their_longest_check(own: Callable[[list[Event]], Profiler]) -> None:
    events: list[Event] = [annotation("ProfilerStep#0", 0, 1_000)]
    for at, length in ((10.0, 5.0), (200.0, 50.0), (400.0, 6.0)):
        events += [op(LOOKUP, at, length), op("Torch-Compiled Region: 0/0", at + 60, 100)]
    profiler = own(events).open(v="program")
    tile(profiler, "Checking guards").click()
    selected(profiler, LOOKUP)
    expect(profiler.ui.get_by_role("region", name="Selection", exact=True)).to_contain_text("50 µs")


def test_an_optimizer_leads_to_its_ranges(page: Page, alone: Server) -> None:
    profiler = Profiler(page, alone).open(r=GPU_RUN, v="program")
    panel = profiler.panel("Backward passes and optimizers")
    panel.get_by_role("button", name="AdamW").click()
    tree = profiler.ui.get_by_role("treegrid", name="Ranges that the program names")
    expect(tree).to_be_in_viewport()
    expect(tree).to_contain_text("Optimizer.step#AdamW.step")
    expect(tree).not_to_contain_text("DistributedDataParallel.forward")
    wait_until(lambda: profiler.state.get("q") == 'name="Optimizer.step#AdamW.step"', "the filter in the address")


@pytest.mark.parametrize("run", [CPU_RUN, GPU_RUN])
def test_the_tools_of_the_trace_are_one_line(run: str, page: Page, alone: Server) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    profiler = Profiler(page, alone).open(r=run, v="trace")
    bookmarks = profiler.ui.get_by_role("button", name="Bookmarks")
    expect(bookmarks).to_be_visible()
    box = page.locator(".trace-tools").bounding_box()
    assert box is not None
    assert box["height"] < 40
    expect(profiler.ui.get_by_role("button", name="Ranks")).to_have_count(1 if run == GPU_RUN else 0)
