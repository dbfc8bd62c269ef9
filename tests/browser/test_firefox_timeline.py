"""The timeline in Firefox: drawn as the server says, and moved, zoomed, marked and searched with mouse and keys."""

from __future__ import annotations

from typing import Any

import pytest

from tests.browser import bidi
from tests.browser.profiler import GPU_RUN
from tests.browser.servers import Server
from tests.browser.test_firefox import address, link
from tests.browser.timeline import LANE, PADDING, STREAM, WHERE, exact_slices, hits_of, leaf

pytestmark = pytest.mark.skipif(bidi.executable() is None, reason="no Firefox on this machine; FIREFOX names one")

WINDOW = (20_000_000, 24_000_000)


class Timeline:
    """Of the page in Firefox; see tests.browser.timeline."""

    def __init__(self, firefox: bidi.Firefox, server: Server, **state: str) -> None:
        self.firefox, self.server = firefox, server
        firefox.open(link(server, r=GPU_RUN, k="rank0", v="trace", **state))
        self.settle()
        self.meta: Any = server.api("timeline", **WHERE)
        self.key, self.lanes = leaf(self.meta, "rank0", STREAM)

    def settle(self) -> None:
        settled = """async () => {
            const here = () => document.querySelector('.timeline')?.getAttribute('aria-busy') === 'false';
            if (!here()) return false;
            await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 600)));
            return here();
        }"""
        self.firefox.until(lambda: self.firefox.ask(settled), "the timeline has come")

    def state(self) -> dict[str, str]:
        return dict(part.split("=", 1) for part in address(self.firefox).partition("#")[2].split("&") if "=" in part)

    def window(self) -> tuple[int, int]:
        text = self.state().get("t")
        if text is None:
            return self.meta["begin_ns"], self.meta["end_ns"]
        start, end = text.split("-")
        return int(start), int(end)

    def canvas(self) -> dict[str, float]:
        """Its place in the page, and the middle of the first lane of the stream, which is scrolled to."""
        found: dict[str, float] = self.firefox.ask(
            """async (key) => {
                const find = () => document.querySelector(`li[data-track="${key}"]`);
                const scroll = document.querySelector(".timeline-scroll");
                if (!find()) scroll.scrollTop = 0;
                for (let turns = 0; !find() && turns < 100; turns++) {
                    scroll.scrollTop += scroll.clientHeight;
                    await new Promise((done) => setTimeout(done, 60));
                }
                scroll.scrollTop = find().offsetTop;
                await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 300)));
                const { left, top, width } = document.querySelector(".timeline-canvas").getBoundingClientRect();
                return { left, top, width, row: find().offsetTop - scroll.scrollTop };
            }""",
            self.key,
        )
        return found

    def point(self, time: float) -> tuple[float, float]:
        """On the first lane of the stream."""
        box, (start, end) = self.canvas(), self.window()
        x = box["left"] + (time - start) / (end - start) * box["width"]
        return x, box["top"] + box["row"] + PADDING + LANE / 2 - 1

    def drawn(self) -> list[bool]:
        """By pixel, whether something is drawn on the first lane of the stream, below the text."""
        box = self.canvas()
        found: list[bool] = self.firefox.ask(
            """(y) => {
                const canvas = document.querySelector(".timeline-canvas");
                const context = canvas.getContext("2d");
                const { data } = context.getImageData(0, Number(y) * devicePixelRatio, canvas.width, 1);
                return Array.from({ length: canvas.width }, (_, x) => data[4 * x] + data[4 * x + 2] < 470);
            }""",
            str(round(box["row"] + PADDING + LANE / 2 + 6)),
        )
        return found


def see_text(firefox: bidi.Firefox, text: str) -> None:
    firefox.until(lambda: firefox.ask("(text) => document.body.innerText.includes(text)", text), text)


@pytest.fixture
def timeline(firefox: bidi.Firefox, alone: Server) -> Timeline:
    return Timeline(firefox, alone, t="-".join(map(str, WINDOW)))


def test_what_is_drawn_is_what_the_server_says(timeline: Timeline) -> None:
    start, end = WINDOW
    query = {**WHERE, "lanes": str(timeline.lanes[0]), "from": str(start), "to": str(end)}
    slices = exact_slices(timeline.server, **query)
    drawn = timeline.drawn()
    covered = [False] * len(drawn)
    wide = 0
    for each in slices:
        left, right = ((time - start) / (end - start) * len(drawn) for time in (each.start, each.start + each.duration))
        low, high = max(0, int(left) - 6), min(len(drawn), int(right) + 7)
        covered[low:high] = [True] * (high - low)
        if right - left > 8:
            wide += 1
            assert all(drawn[max(0, round(left) + 1) : max(0, round(right) - 3)]), each
    assert wide > 10
    assert not any(there and not known for there, known in zip(drawn, covered, strict=True))


def test_mouse(timeline: Timeline) -> None:
    firefox, (start, end) = timeline.firefox, WINDOW
    time = start + 0.3 * (end - start)
    x, y = timeline.point(time)
    firefox.turn((x, y), -300, holding="Control")
    timeline.settle()
    closer = timeline.window()
    assert closer[1] - closer[0] < 0.8 * (end - start)
    assert timeline.point(time)[0] == pytest.approx(x, abs=2)
    firefox.drag((x, y), (x + 40, y), (x + 120, y))
    timeline.settle()
    assert timeline.point(time)[0] == pytest.approx(x + 120, abs=3)
    firefox.drag((x, y), (x + 50, y), (x + 200, y), holding="Shift")
    timeline.settle()
    first, last = timeline.state()["a"].split("-")
    sums = timeline.server.api("timeline/range", **WHERE, **{"from": first, "to": last})
    see_text(firefox, f"{sums['slices']:,} slices, {sums['instants']:,} instants")
    # What is clicked on is selected.
    query = {
        **WHERE,
        "lanes": str(timeline.lanes[0]),
        "from": str(timeline.window()[0]),
        "to": str(timeline.window()[1]),
    }
    longest = max(exact_slices(timeline.server, **query), key=lambda each: each.duration)
    low, high = timeline.window()
    middle = (max(longest.start, low) + min(longest.start + longest.duration, high)) / 2
    firefox.drag(timeline.point(middle))
    firefox.until(lambda: timeline.state().get("e") == str(longest.row), "the slice in the address")
    name = timeline.server.api("timeline/slice", **WHERE, row=str(longest.row))["name"]
    firefox.see(".trace-details-name", name)


def test_keys_and_selection(firefox: bidi.Firefox, alone: Server) -> None:
    hits = alone.api("timeline/search", **WHERE, q="aten::_local_scalar_dense")["hits"]
    timeline = Timeline(firefox, alone, e=str(hits["row"][0]), t="0-20000000")
    firefox.see(".trace-details-name", "aten::_local_scalar_dense")
    firefox.press("w")
    timeline.settle()
    start, end = timeline.window()
    assert end - start == pytest.approx(0.6 * 20e6, rel=1e-3)
    firefox.press("d")
    timeline.settle()
    assert timeline.window()[0] - start == pytest.approx(0.15 * (end - start), rel=1e-3)
    firefox.press("s", "0")
    timeline.settle()
    assert timeline.window() == (timeline.meta["begin_ns"], timeline.meta["end_ns"])
    firefox.press(".")
    firefox.until(lambda: timeline.state()["e"] == str(hits["row"][1]), "the next of the same name")
    firefox.press(",")
    firefox.until(lambda: timeline.state()["e"] == str(hits["row"][0]), "the one before")
    firefox.press("f")
    timeline.settle()
    low, high = timeline.window()
    first, length = hits["start_ns"][0], hits["duration_ns"][0]
    assert low <= first < first + length <= high
    firefox.press("m")
    firefox.until(lambda: timeline.state().get("a") == f"{first}-{first + length}", "the slice is the range")
    firefox.press("p")
    firefox.until(lambda: "p" in timeline.state(), "its track is pinned")
    firefox.ask("() => document.querySelector('.timeline-scroll').focus()")
    firefox.press("ArrowDown")
    firefox.until(lambda: timeline.state()["e"] != str(hits["row"][0]), "the slice below it")
    firefox.press("Escape")
    firefox.until(lambda: "e" not in timeline.state(), "nothing is selected")


def test_search_and_list(timeline: Timeline) -> None:
    firefox = timeline.firefox
    firefox.ask(
        "() => [...document.querySelectorAll('button')].find((button) => button.textContent === 'List').click()"
    )
    start, end = timeline.window()
    asked = {"start_ns": str(start), "end_ns": str(end)}
    total = timeline.server.api("trace/slices", **WHERE, **asked)["meta"]["total"]
    see_text(firefox, f"of {total:,} slices")
    answer = timeline.server.api("timeline/search", **WHERE, q="scalar")
    firefox.press("/", *"scalar")
    see_text(firefox, hits_of(answer["count"], answer["names_total"]))
    for row in answer["hits"]["row"][:2]:
        firefox.press("Enter")
        firefox.until(lambda row=row: timeline.state().get("e") == str(row), "the next hit")
