"""The timeline as a test sees it: where a lane and a time are on the screen, and what colour is there."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from playwright.sync_api import Locator, expect

from tests.browser.profiler import GPU_RUN, Profiler
from tests.browser.servers import Server
from tests.tiny import wait_until

PADDING, LANE, THIN_LANE = 3, 18, 5

WHERE = {"run": GPU_RUN, "worker": "rank0"}
STREAM = "stream 7"
#: lanes that are computed
EXPLAINED = {"Critical path", "Idle, by cause", "Phases"}


@dataclass(frozen=True)
class Slice:
    row: int
    lane: int
    start: float
    duration: float


def exact_slices(server: Server, **query: str) -> list[Slice]:
    """The answer of /api/timeline/slices; docs/maintainers/timeline-protocol.md says where what is."""
    body = server.binary("timeline/slices", **query)
    total, items = struct.unpack_from("<II", body, 24)
    assert total == items, "the answer was cut"
    start, duration = np.frombuffer(body, "<f8", 2 * items, 32).reshape(2, items)
    row, _, lane = np.frombuffer(body, "<u4", 3 * items, 32 + 16 * items).reshape(3, items)
    return [Slice(*each) for each in zip(row.tolist(), lane.tolist(), start.tolist(), duration.tolist(), strict=True)]


class Timeline:
    def __init__(self, profiler: Profiler) -> None:
        self.profiler = profiler
        self.root = profiler.ui.locator(".timeline")
        self.canvas = self.root.locator(".timeline-canvas")
        self.area = self.root.get_by_role("application", name="Timeline")
        self._scale = (0.0, 1.0, 1.0)

    def settle(self) -> Timeline:
        """Until all that is in sight has come, with the lanes that explain it."""
        expect(self.root).to_have_attribute("aria-busy", "false")
        expect(self.profiler.ui.get_by_text("Computing tracks")).to_have_count(0)
        # What has come is drawn with the next frame, and the address follows when nothing has moved for a while: by the
        # clock of the page, which on a busy machine runs behind that of the test.
        self.canvas.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 600)))")
        expect(self.root).to_have_attribute("aria-busy", "false")
        self._scale = (*self.window(), self.width)
        return self

    def window(self) -> tuple[float, float]:
        """What the address says is in sight, ns; all that ran when it says nothing."""
        text = self.profiler.state.get("t")
        if text:
            start, end = text.split("-")
            return float(start), float(end)
        state = self.profiler.state
        answer = self.meta(state.get("k", ""))
        ran = [track for track in answer["tracks"] if track["kind"] == "process" and track["parent"] is None]
        return min(track["begin_ns"] for track in ran), max(track["end_ns"] for track in ran)

    def meta(self, worker: str) -> Any:
        return self.profiler.server.api("timeline", run=self.profiler.state["r"], worker=worker)

    def label(self, key: str) -> Locator:
        """The row of a track, by its key: the worker, its number and the band, if that is not the main one."""
        return self.root.locator(f'li[data-track="{key}"]')

    def names(self) -> list[str]:
        return self.root.locator(".timeline-name").all_inner_texts()

    def recorded(self) -> list[str]:
        """The names of tracks that are not computed."""
        return [name for name in self.names() if name not in EXPLAINED]

    def show(self, key: str) -> None:
        """Scroll until a track is in sight, as far as that goes at the top."""
        if not self.label(key).count():
            self.area.evaluate("(view) => { view.scrollTop = 0; }")
            self.profiler.page.wait_for_timeout(60)
        for _ in range(200):
            label = self.label(key)
            if label.count():
                label.evaluate("(row) => { row.closest('.timeline-scroll').scrollTop = row.offsetTop; }")
                self.settle()
                return
            self.area.evaluate("(view) => { view.scrollTop += view.clientHeight; }")
            self.profiler.page.wait_for_timeout(60)
        raise AssertionError(f"there is no track {key}")

    def x(self, time: float) -> float:
        """Pixels from the left of the canvas, as it was when it last had settled."""
        start, end, width = self._scale
        return (time - start) / (end - start) * width

    @property
    def width(self) -> float:
        width: float = self.canvas.evaluate("(canvas) => canvas.clientWidth")
        return width

    def y(self, key: str, depth: int) -> float:
        """The middle of a lane of a track, pixels from the top of the canvas."""
        label = self.label(key)
        top: float = label.evaluate("(row) => row.offsetTop - row.closest('.timeline-scroll').scrollTop")
        height = THIN_LANE if label.get_attribute("data-collapsed") == "true" else LANE
        return top + PADDING + (depth + 0.5) * height - 1

    def colours(self, y: float) -> np.ndarray:
        """Red, green and blue of every pixel of the canvas at a height."""
        pixels = self.canvas.evaluate(
            """(canvas, y) => Array.from(
                canvas.getContext("2d").getImageData(0, Math.round(y * devicePixelRatio), canvas.width, 1).data)""",
            y,
        )
        return np.array(pixels, dtype=np.uint8).reshape(-1, 4)[:, :3]

    def drawn(self, key: str, depth: int) -> np.ndarray:
        """By pixel, whether something is drawn on a lane: below the text, where nothing is written."""
        at = self.y(key, depth) + (7 if self.label(key).get_attribute("data-collapsed") == "false" else 0)
        row = self.colours(at).astype(int)
        # Where nothing runs a lane is the page itself, or a line at the beginning of a step.
        found: np.ndarray = np.ones(len(row), dtype=bool)
        for empty in ("--surface", "--border"):
            found &= np.abs(row - np.array(self.colour(empty))).sum(axis=1) > 12
        return found

    def colour(self, name: str) -> tuple[int, int, int]:
        """Of the theme."""
        red, green, blue = self.root.evaluate(
            """(root, name) => {
                const context = document.createElement("canvas").getContext("2d");
                context.fillStyle = getComputedStyle(root).getPropertyValue(name);
                return [1, 3, 5].map((at) => parseInt(context.fillStyle.slice(at, at + 2), 16));
            }""",
            name,
        )
        return red, green, blue

    def point(self, time: float, key: str, depth: int) -> tuple[float, float]:
        """Of the window, for the mouse."""
        box = self.canvas.bounding_box()
        assert box is not None
        return box["x"] + self.x(time), box["y"] + self.y(key, depth)

    def click(self, time: float, key: str, depth: int) -> None:
        self.profiler.page.mouse.click(*self.point(time, key, depth))

    def mark(self, key: str, *shares: float) -> None:
        """Mark a range of the window on a track with the mouse, which comes by these shares of the window."""
        page = self.profiler.page
        start, end = self.window()
        first, *others = (self.point(start + share * (end - start), key, 0) for share in shares)
        page.keyboard.down("Shift")
        page.mouse.move(*first)
        page.mouse.down()
        for each in others:
            page.mouse.move(*each)
        page.mouse.up()
        page.keyboard.up("Shift")
        wait_until(lambda: "a" in self.profiler.state, "the range in the address")


def hits_of(count: int, names: int) -> str:
    """What the search says that it found."""
    return f"{count:,} hit{'s' * (count != 1)}, {names:,} name{'s' * (names != 1)}"


def open_trace(profiler: Profiler, **state: str) -> Timeline:
    profiler.open(**{"v": "trace", "r": GPU_RUN, "k": "rank0", **state})
    return Timeline(profiler).settle()


def leaf(meta: Any, worker: str, name: str) -> tuple[str, list[int]]:
    """The key of a stream or thread and its own lanes."""
    track = next(track["id"] for track in meta["tracks"] if track["name"] == name)
    lanes = meta["lanes"]
    own = [
        lane
        for lane, (of, band) in enumerate(zip(lanes["track"], lanes["band"], strict=True))
        if of == track and band in {"host", "device"}
    ]
    return f"{worker}:{track}", own


def assert_drawn(timeline: Timeline, key: str, depth: int, slices: list[Slice]) -> None:
    """Every slice is on the lane, those that are wide enough exactly, and nothing is where nothing ran."""
    drawn = timeline.drawn(key, depth)
    width = len(drawn)
    covered = np.zeros(width, dtype=bool)
    for each in slices:
        left, right = timeline.x(each.start), timeline.x(each.start + each.duration)
        if right < 1 or left > width - 1:
            continue
        assert drawn[max(0, int(left) - 2) : int(right) + 3].any(), f"slice {each.row} is not drawn"
        if right - left > 8:
            inner = drawn[max(0, round(left) + 1) : max(0, round(right) - 3)]
            assert inner.all(), f"slice {each.row} has a hole: {left} – {right}: {inner}"
        # Slices that share a cell are drawn as one, which is no longer than two buckets of three pixels.
        covered[max(0, int(left) - 6) : int(right) + 7] = True
    assert not (drawn & ~covered).any(), "something is drawn where nothing ran"
