"""Millions of slices on sixty lanes, with mouse and keys: what is drawn is what was put in, at every zoom.

The columns are made directly, without the gigabytes of text; a worker's code builds the timeline, a real server has
them in its cache, and a real page draws them.
"""

from __future__ import annotations

import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Keep
from tests.browser.profiler import Profiler
from tests.browser.servers import Server
from tests.browser.timeline import Slice, Timeline, assert_drawn, exact_slices, hits_of
from tests.tiny import wait_until
from tests.wide import STREAMS, THREADS, Stretch, write_columns
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.discovery import parse_logdir
from torch_tb_profiler.model import Model
from torch_tb_profiler.storage import storage_for
from torch_tb_profiler.timeline.tracks import TIMELINE_STEPS
from torch_tb_profiler.web.answers.trace import first_of_trace
from torch_tb_profiler.workspace import OpenTrace, StoredAnswer
from torch_tb_profiler.workspace.cache.identity import content_key
from torch_tb_profiler.workspace.cache.trace_cache import TraceCache
from torch_tb_profiler.workspace.reading.protocol import Answering, Job, Prepared
from torch_tb_profiler.workspace.reading.worker import perform
from torch_tb_profiler.workspace.status import TraceSummary

SLICES = [200_000, *(pytest.param(slices, marks=pytest.mark.long) for slices in (1_000_000, 10_000_000))]
WHERE = {"run": "wide", "worker": "worker0"}
#: ns in which a stream has a dozen kernels
SOME_KERNELS = 300e3
#: of thread 103 and of stream 5
THREAD, STREAM = 3, THREADS + 5


@dataclass(frozen=True)
class Lane:
    """All slices of a lane, in order of time."""

    start: Int64
    duration: Int64
    name: Int64

    def within(self, low: float, high: float) -> Lane:
        """Those that touch [low, high)."""
        chosen = slice(
            int(np.searchsorted(self.start + self.duration, low, "right")), int(np.searchsorted(self.start, high))
        )
        return Lane(self.start[chosen], self.duration[chosen], self.name[chosen])

    def slices(self) -> list[Slice]:
        return [Slice(-1, -1, start, length) for start, length in zip(self.start, self.duration, strict=True)]


@dataclass(frozen=True)
class Wide:
    server: Server
    stretches: Sequence[Stretch]

    def lane(self, number: int) -> Lane:
        found = [stretch for stretch in self.stretches if stretch.lane == number]
        return Lane(*(np.concatenate([getattr(s, each) for s in found]) for each in ("start", "duration", "name")))

    @property
    def slices(self) -> int:
        return sum(len(stretch.start) * (2 if stretch.lane < THREADS else 1) for stretch in self.stretches)


def steps_only(trace: OpenTrace, model: Model) -> list[list[tuple[str, Callable[[Model], StoredAnswer]]]]:
    """What the timeline asks of a trace beside itself."""
    return [first_of_trace((TIMELINE_STEPS,), trace, model, TIMELINE_STEPS.bundle)]


@pytest.fixture(scope="module", params=SLICES)
def wide(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, output: Path) -> Iterator[Wide]:
    folder = tmp_path_factory.mktemp("wide")
    logs, cache = folder / "logs", TraceCache(folder / "cache" / "torch_tb_profiler")
    (logs / "wide").mkdir(parents=True)
    (logs / "wide" / "worker0.1.pt.trace.json").write_text('{"schemaVersion": 1, "traceEvents": []}')
    (root,) = parse_logdir(str(logs))
    storage = storage_for(root.url)
    (entry,) = storage.list(storage.resolve(root.url + "/wide"), lambda _: None)
    key = content_key(storage, entry)
    made = write_columns(request.param, cache.columns(key))
    trace = OpenTrace("wide", "worker0", "1", key, entry.size, 1)
    asked = Answering(f"{__name__}:steps_only", trace, str(cache.answers(key)), str(cache.timeline(key)))
    job = Job(0, entry, str(cache.columns(key)), asked, is_read=True)
    prepared = perform(job, lambda _: None)
    assert isinstance(prepared, Prepared)
    assert not prepared.details
    cache.add(key, TraceSummary(request.param, 0, (), ("overview", "operators", "kernels"), None, None, ""))
    arguments = ("serve", str(logs))
    server = Server("torch_tb_profiler", arguments, output / "wide.log", {"XDG_CACHE_HOME": str(folder / "cache")})
    server.start()
    try:
        server.wait_for_traces()
        # that it opens so large a timeline takes some seconds
        urllib.request.urlopen(f"{server.root}api/timeline?run=wide&worker=worker0", timeout=120).close()
        yield Wide(server, made)
    finally:
        server.stop()


def test_what_is_drawn_is_what_was_put_in(wide: Wide, page: Page, keep: Keep) -> None:
    profiler = Profiler(page, wide.server).open(v="trace", r="wide", k="worker0")
    timeline = Timeline(profiler)
    # the first picture of ten million slices takes some seconds of the server, on a busy machine many
    expect(timeline.root).to_have_attribute("aria-busy", "false", timeout=90_000)
    # so do the lanes that explain, for which nothing waits
    expect(profiler.ui.get_by_text("Computing tracks")).to_have_count(0, timeout=90_000)
    timeline.settle()
    expect(profiler.ui.locator(".trace-events")).to_contain_text(
        f"{wide.slices:,} of {wide.slices:,} events are on the tracks"
    )
    keep("timeline-wide")
    meta = timeline.meta("worker0")
    assert sum(meta["lanes"]["slices"]) == wide.slices
    keys = {track["name"]: f"worker0:{track['id']}" for track in meta["tracks"]}
    thread, stream = keys["thread 103"], keys["stream 5"]
    operators, kernels = wide.lane(THREAD), wide.lane(STREAM)

    # Ever closer, by the wheel and then by keys, down to single slices.
    timeline.show(stream)
    middle = float(kernels.start[len(kernels.start) // 2])
    seen: list[float] = []
    while True:
        start, end = timeline.window()
        seen.append(end - start)
        for key, lane in ((stream, kernels), (thread, operators)):
            timeline.show(key)
            assert_drawn(timeline, key, 0, lane.within(start, end).slices())
        if end - start < 100e3:
            break
        timeline.show(stream)
        page.mouse.move(*timeline.point(middle, stream, 0))
        page.keyboard.down("Control")
        page.mouse.wheel(0, -1500)
        page.keyboard.up("Control")
        timeline.settle()
        page.keyboard.press("w")
        timeline.settle()
    # each look at most fifty times closer: with a million slices and more, four looks
    assert len(seen) >= 3
    assert max(before / after for before, after in pairwise(seen)) < 50
    while end - start < SOME_KERNELS:
        page.keyboard.press("s")
        start, end = timeline.settle().window()
    keep("timeline-wide-close")

    # The server's exact answer is what was put in.
    start, end = (int(each) for each in timeline.window())
    number = meta["lanes"]["track"].index(int(stream.partition(":")[2]))
    exact = exact_slices(wide.server, **WHERE, lanes=str(number), **{"from": str(start), "to": str(end)})
    held = kernels.within(start, end)
    assert [(each.start, each.duration) for each in exact] == list(zip(held.start, held.duration, strict=True))

    # What is clicked on is selected, and the arrow keys go on along its lane.
    timeline.show(stream)
    first, last = np.searchsorted(kernels.start, [start, end]) - [0, 2]  # both it and the next are in sight
    at = int(first + np.argmax(kernels.duration[first:last]))
    timeline.click(float(kernels.start[at] + kernels.duration[at] // 2), stream, 0)
    panel = profiler.panel("Selection")
    expect(panel.get_by_role("heading", name=f"kernel_{kernels.name[at]}", exact=True)).to_be_visible()
    same = sum(int((s.name == kernels.name[at]).sum()) for s in wide.stretches if s.lane >= THREADS)
    expect(panel.get_by_role("heading", name=f"Same name: {same:,}")).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(panel.get_by_role("heading", name=f"kernel_{kernels.name[at + 1]}", exact=True)).to_be_visible()

    # A stretch is marked with the mouse and summed up.
    timeline.mark(stream, 0.2, 0.5, 0.7)
    low, high = (int(each) for each in profiler.state["a"].split("-"))
    expect(profiler.panel("Range")).to_contain_text(f"{slices_within(wide, low, high):,} slices, 0 instants")

    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    wait_until(lambda: not {"e", "a"} & set(profiler.state), "nothing is selected or marked")

    # Dragging moves the picture, and 0 shows everything again.
    before = timeline.window()
    x, y = timeline.point(sum(before) / 2, stream, 0)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 100, y)
    page.mouse.move(x - 200, y)
    page.mouse.up()
    timeline.settle()
    start, end = timeline.window()
    assert start - before[0] == pytest.approx(200 * (end - start) / timeline.width, rel=0.05)
    assert_drawn(timeline, stream, 0, kernels.within(start, end).slices())
    page.keyboard.press("0")
    timeline.settle()
    assert "t" not in profiler.state


def slices_within(wide: Wide, low: int, high: int) -> int:
    """How many slices touch [low, high)."""
    found = 0
    for stretch in wide.stretches:
        parts = [(stretch.start, stretch.duration)] + ([stretch.call] if stretch.lane < THREADS else [])
        found += sum(int(((start < high) & (start + duration > low)).sum()) for start, duration in parts)
    return found


def test_search_counts_all(wide: Wide, page: Page) -> None:
    profiler = Profiler(page, wide.server).open(v="trace", r="wide", k="worker0", q="kernel_7")
    hits = [s.name for s in wide.stretches if s.lane >= THREADS]
    wanted = [number for number in range(400) if f"kernel_{number}".startswith("kernel_7")]
    count = sum(int(np.isin(names, wanted).sum()) for names in hits)
    expect(profiler.ui.get_by_text(hits_of(count, len(wanted)))).to_be_visible()
    assert len({s.lane for s in wide.stretches if s.lane >= THREADS}) == STREAMS
