"""A trace and a memory snapshot of one process: the Trace page draws the snapshot, and each leads to the other."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PICTURED, Keep
from tests.browser.profiler import Profiler, definition
from tests.browser.servers import Server
from tests.browser.timeline import Timeline
from tests.linked import trace_of, trained, write_pair
from tests.snapshots import dumped, random_run
from tests.tiny import wait_until

ServeLogs = Callable[[Path], Server]
GROUP = "trainer:snapshot:0"


def row_of(timeline: Timeline, curve: str) -> tuple[float, float]:
    """Where a track begins on the canvas and how high it is, pixels."""
    top, height = timeline.label(f"{GROUP}:{curve}").evaluate(
        "(row) => [row.offsetTop - row.closest('.timeline-scroll').scrollTop, row.offsetHeight]"
    )
    return float(top), float(height)


def click(timeline: Timeline, curve: str, time: float) -> None:
    box = timeline.canvas.bounding_box()
    assert box is not None
    top, height = row_of(timeline, curve)
    timeline.profiler.page.mouse.click(box["x"] + timeline.x(time), box["y"] + top + height / 2)


@pytest.mark.parametrize("theme", PICTURED)
def test_a_snapshot_of_the_same_process(
    tmp_path: Path, serve_logs: ServeLogs, page: Page, keep: Keep, theme: Any
) -> None:
    allocator = trained()
    write_pair(tmp_path / "both", allocator)
    server = serve_logs(tmp_path)
    server.wait_for_traces()
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size({"width": 1440, "height": 1300})
    profiler = Profiler(page, server).open(v="trace", r="both", k="trainer")
    note = profiler.ui.get_by_text("Memory snapshot snapshot is from the same process as trainer")
    expect(note).to_contain_text("100.0 % of 107 allocations and releases have the same address, kind and device")
    expect(note).to_contain_text("differs by 1.5 ms")
    timeline = Timeline(profiler).settle()
    names = ["Allocator calls", "Requested, by line", "Allocated blocks", "Active blocks", "Reserved segments"]
    # they are asked for when the note is there
    wait_until(lambda: set(names) <= set(timeline.names()), "tracks of the snapshot")
    timeline.settle()
    # the picture is as high as the allocator knows, at every record
    link = server.api("snapshot/link", run="both", worker="trainer", exp_run="both", exp_worker="snapshot")
    first = allocator.records[0]["time_us"]
    top, height = row_of(timeline, "reserved")
    scale = max(truth.reserved for truth in allocator.log)
    pixels = np.array([timeline.colours(top + y).astype(int) for y in range(int(height) - 1)])
    page_colour = np.array(timeline.colour("--surface"))
    drawn = np.abs(pixels - page_colour).sum(axis=2) > 40
    checked = 0
    for record, truth, after in zip(allocator.records, allocator.log, allocator.records[1:], strict=False):
        time = (record["time_us"] - first) * 1000 + link["shift_ns"]
        x, next_x = timeline.x(time), timeline.x((after["time_us"] - first) * 1000 + link["shift_ns"])
        if next_x - x < 2.5:
            continue
        filled = drawn[:, int((x + next_x) / 2)]
        assert abs(filled.sum() - (truth.reserved / scale * (height - 8) + 1)) <= 3
        checked += 1
    assert checked > 100
    keep(f"linked-snapshot-{theme}")

    # a call of the allocator leads to its stack, and to the Memory snapshot view at that moment
    oom = next(number for number, each in enumerate(allocator.records) if each["action"] == "oom")
    at = (allocator.records[oom]["time_us"] - first) * 1000 + link["shift_ns"]
    click(timeline, "calls", at)
    panel = profiler.panel("Memory snapshot: record")
    expect(panel).to_contain_text("Out of memory: requested 700 MiB")
    expect(panel).to_contain_text("evaluate · train.py:18")
    expect(definition(panel, "Record")).to_have_text(f"{oom} (the last is {len(allocator.records) - 1})")
    wait_until(lambda: profiler.state.get("mem") == str(oom), "the record in the address")
    keep(f"linked-snapshot-record-{theme}")
    panel.get_by_role("button", name="Previous record").click()
    expect(definition(panel, "Record")).to_contain_text(str(oom - 1))
    # a curve leads to the record of that moment; what stands beside the picture has made it narrower
    click(Timeline(profiler).settle(), "requested", at - 200_000)
    last = max(
        number
        for number, each in enumerate(allocator.records)
        if (each["time_us"] - first) * 1000 + link["shift_ns"] <= at - 200_000
    )
    expect(definition(panel, "Record")).to_contain_text(f"{last} (")
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    profiler.ui.get_by_role("button", name="Out of memory").click()
    expect(panel).to_contain_text("Out of memory: requested 700 MiB")
    panel.get_by_role("button", name="Show this moment in Memory snapshot").click()
    wait_until(lambda: profiler.state.get("v") == "snapshot", "the view of the snapshot")
    assert (profiler.state["k"], profiler.state["c"]) == ("snapshot", str(oom))

    # and back
    profiler.ui.get_by_role("button", name="Show this moment in Trace").click()
    wait_until(lambda: profiler.state.get("v") == "trace", "the Trace view")
    assert (profiler.state["k"], profiler.state["mem"]) == ("trainer", str(oom))
    begin, end = map(int, profiler.state["t"].split("-"))
    assert begin < at < end
    expect(panel).to_contain_text("Out of memory: requested 700 MiB")
    Timeline(profiler).settle()
    keep(f"linked-snapshot-back-{theme}")


def test_a_snapshot_of_another_process_is_not_drawn(tmp_path: Path, serve_logs: ServeLogs, page: Page) -> None:
    (tmp_path / "both").mkdir()
    (tmp_path / "both" / "trainer.pt.trace.json").write_text(json.dumps(trace_of(random_run(3, steps=30))))
    (tmp_path / "both" / "snapshot.pickle").write_bytes(dumped(random_run(4, steps=30).snapshot()))
    server = serve_logs(tmp_path)
    server.wait_for_traces()
    profiler = Profiler(page, server).open(v="trace", r="both", k="trainer")
    expect(profiler.ui.get_by_text("is not drawn beside trainer")).to_contain_text("it is from another process.")
    timeline = Timeline(profiler).settle()
    assert not any("Memory snapshot" in name or "segments" in name for name in timeline.names())
