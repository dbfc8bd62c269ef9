"""The tracks of the timeline, and several ranks below each other."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.profiler import GPU_RUN, Profiler
from tests.browser.timeline import STREAM, Slice, Timeline, assert_drawn, exact_slices, hits_of, leaf, open_trace
from tests.browser.watch import Watch
from tests.tiny import wait_until

HEAVY_TILES = """
const plain = window.fetch;
const HEAD = 40, EXTRA = 2_300_000;
window.fetch = async (...request) => {
  const response = await plain(...request);
  if (!response.url.includes("/api/timeline/tiles")) return response;
  const tile = await response.arrayBuffer();
  const view = new DataView(tile);
  const [lanes, items] = [view.getUint32(32, true), view.getUint32(36, true)];
  const widths = [4, 4, 4, 4, 4, ...(view.getUint32(4, true) === 4 ? [4] : []), 1, 1];
  let from = HEAD + 4 * lanes + 4 * (lanes + 1);
  const parts = [tile.slice(0, from)];
  for (const width of widths) {
    parts.push(tile.slice(from, from + width * items), new ArrayBuffer(width * EXTRA));
    from += width * items;
  }
  new DataView(parts[0]).setUint32(36, items + EXTRA, true);
  return new Response(new Blob(parts));
};
"""
"""Every tile has 2.3 million items more, which lie on no lane: one is larger than all that may be kept."""


@pytest.fixture
def opened(on_its_own: Profiler) -> Timeline:
    return open_trace(on_its_own)


def test_tracks_collapse_pin_hide_move_and_filter(opened: Timeline) -> None:
    profiler, ui = opened.profiler, opened.root
    key, _ = leaf(opened.meta("rank0"), "rank0", STREAM)
    ui.get_by_role("button", name="Collapse CPU python 4200").click()
    expect(ui.get_by_role("button", name="Expand CPU python 4200")).to_have_attribute("aria-expanded", "false")
    wait_until(lambda: "thread 4260 (python)" not in opened.names(), "the threads are folded away")
    opened.settle()
    # Nothing that is collapsed disappears: the outermost lanes are strips.
    group = opened.root.locator("li", has_text="CPU python 4200")
    height = group.evaluate("(row) => row.offsetTop + 5 - row.closest('.timeline-scroll').scrollTop")
    strip = opened.colours(height).astype(int)
    assert (np.abs(strip - np.array(opened.colour("--surface-2"))).sum(axis=1) > 12).mean() > 0.9
    opened.label(key).hover()
    ui.get_by_role("button", name=f"Pin {STREAM} to the top").click()
    expect(opened.root.locator("li").first).to_contain_text(STREAM)
    wait_until(lambda: profiler.state.get("p") == key, "the pinned track in the address")
    ui.get_by_role("button", name=f"Unpin {STREAM}").click()
    opened.label(key).hover()
    ui.get_by_role("button", name=f"Hide {STREAM}", exact=True).click()
    expect(opened.label(key)).to_have_count(0)
    expect(ui.get_by_text("1 track is not shown")).to_be_visible()
    ui.get_by_role("button", name="Show all tracks").click()
    expect(opened.label(key)).to_have_count(1)
    opened.root.locator("li", has_text="GPU 0").hover()
    ui.get_by_role("button", name="Move GPU 0 up").click()
    wait_until(lambda: opened.recorded()[1] == "GPU 0", "GPU 0 stands first")
    ui.get_by_label("Filter tracks").fill("stream 20")
    expect(opened.root.locator("li", has_text=STREAM)).to_have_count(0)
    wait_until(lambda: opened.names()[:3] == ["rank0", "GPU 0", "stream 20"], "only what fits")
    assert all("stream 20" in name for name in opened.names()[2:])
    ui.get_by_label("Filter tracks").fill("no such track")
    expect(ui.get_by_text("No matches.")).to_be_visible()
    wait_until(lambda: profiler.state.get("f") == "no such track", "the filter in the address")
    link = profiler.page.url
    profiler.page.goto("about:blank")
    profiler.page.goto(link)
    expect(ui.get_by_label("Filter tracks")).to_have_value("no such track")


def offsets(profiler: Profiler) -> dict[str, int]:
    """ns to add to a time of a rank for one of rank0, the rank of the page."""
    workers = profiler.server.api("timeline/overview", run=GPU_RUN)["workers"]
    found = {each["worker"]: each["offset_ns"] for each in workers}
    return {worker: offset - found["rank0"] for worker, offset in found.items()}


def test_what_needs_too_much_memory_is_drawn_without_detail_and_said(on_its_own: Profiler) -> None:
    on_its_own.page.add_init_script(HEAVY_TILES)
    opened = open_trace(on_its_own)
    key, _ = leaf(opened.meta("rank0"), "rank0", STREAM)
    opened.show(key)
    coarse = on_its_own.ui.get_by_text("Some tracks are drawn with less detail to save memory.")
    for _ in range(4):
        on_its_own.page.keyboard.press("w")
    expect(coarse).to_be_visible()
    # What is here is stretched.
    opened.settle()
    assert opened.drawn(key, 0).any()


def test_search_sums_and_arrows_are_of_all_ranks_shown(on_its_own: Profiler, watch: Watch) -> None:
    server, ranks = on_its_own.server, ("rank0", "rank2")
    shift = offsets(on_its_own)
    timeline = open_trace(on_its_own, w="rank2", a="20000000-40000000", q="nccl:", m="all")

    answers = {rank: server.api("timeline/search", run=GPU_RUN, worker=rank, q="nccl:", hits="10000") for rank in ranks}
    total = sum(answer["count"] for answer in answers.values())
    names = {each["name"] for answer in answers.values() for each in answer["names"]}
    expect(on_its_own.ui.get_by_text(hits_of(total, len(names)))).to_be_visible()
    hits = sorted(
        (start + shift[rank], ranks.index(rank), row)
        for rank, answer in answers.items()
        for row, start in zip(answer["hits"]["row"], answer["hits"]["start_ns"], strict=True)
    )
    assert {rank for _, rank, _ in hits[:9]} == {0, 1}
    field = on_its_own.ui.get_by_role("searchbox", name="Search names")
    for at, (_, rank, row) in enumerate(hits[:9]):
        field.press("Enter")
        selected = str(row) if rank == 0 else f"rank2~{row}"
        wait_until(lambda selected=selected: on_its_own.state.get("e") == selected, f"hit {at}")
        expect(on_its_own.ui.get_by_text(f"{at + 1} of {total:,}", exact=True).first).to_be_visible()

    sums = []
    for rank in ranks:
        start, end = 20_000_000 - shift[rank], 40_000_000 - shift[rank]
        query = {"run": GPU_RUN, "worker": rank, "from": str(start), "to": str(end)}
        sums.append(server.api("timeline/range", **query))
    panel = on_its_own.panel("Range")
    slices, instants = (sum(each[kind] for each in sums) for kind in ("slices", "instants"))
    expect(panel).to_contain_text(f"{slices:,} slices, {instants:,} instants")
    for rank, each in zip(ranks, sums, strict=True):
        assert each["devices"]
        expect(panel.get_by_role("rowheader", name=f"{rank}: GPU {each['devices'][0]['device']}")).to_be_visible()
    first = on_its_own.grid("By name").first_rows("Name", 1)[0]
    count = sum(name["count"] for each in sums for name in each["by_name"] if name["name"] == first)
    assert on_its_own.grid("By name").first_rows("Count", 1) == [f"{count:,}"]

    timeline.settle()
    asked = [url for url in watch.requests if "timeline/flows" in url]
    assert {rank for rank in ranks for url in asked if f"worker={rank}&" in url} == set(ranks)


def test_ranks_below_each_other_and_one_collective(opened: Timeline) -> None:
    profiler = opened.profiler
    profiler.ui.get_by_role("button", name=re.compile("^Ranks")).click()
    profiler.ui.get_by_label("rank1", exact=True).check()
    profiler.ui.get_by_label("rank3", exact=True).check()
    profiler.page.keyboard.press("Escape")
    wait_until(lambda: profiler.state.get("w") == "rank1,rank3", "the ranks in the address")
    opened.root.get_by_label("Filter tracks").fill("stream 20")
    opened.settle()
    shifts = offsets(profiler)
    for worker in ("rank0", "rank1", "rank3"):
        meta = opened.meta(worker)
        key, lanes = leaf(meta, worker, "stream 20")
        opened.show(key)
        start, end = 0, meta["end_ns"]
        query = {"run": GPU_RUN, "worker": worker, "lanes": str(lanes[0]), "from": str(start), "to": str(end)}
        shifted = [
            Slice(each.row, each.lane, each.start + shifts[worker], each.duration)
            for each in exact_slices(profiler.server, **query)
        ]
        assert_drawn(opened, key, 0, shifted)
