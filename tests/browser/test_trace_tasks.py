"""Ten things that people do in a viewer of traces, with as few clicks and keys as docs/maintainers/trace-tasks.md says.

A click, a drag and a key count one each; what is typed into a search field counts one. Opening the page does not count,
nor does scrolling. The times that are logged are from the first of them until the answer is on the screen.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.profiler import GPU_RUN, Profiler, definition
from tests.browser.test_timeline_reading import COMMUNICATION, longest, slices_of
from tests.browser.timeline import STREAM, WHERE, Timeline, leaf, open_trace
from tests.tiny import wait_until

#: run and worker
TRACES = [(GPU_RUN, "rank0"), ("cnn_workers2", "worker0"), ("ddp_gloo_2ranks", "rank0")]

DOCUMENT = Path(__file__).parents[2] / "docs" / "maintainers" / "trace-tasks.md"


class Hands:
    """Uses the timeline, and counts."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self.page = timeline.profiler.page
        self.steps = 0

    def click(self, place: Locator) -> None:
        self.steps += 1
        place.click()

    def click_slice(self, each: Any, key: str, shift: bool = False) -> None:
        self.steps += 1
        if shift:
            self.page.keyboard.down("Shift")
        self.timeline.click(each.start + each.duration / 2, key, 0)
        if shift:
            self.page.keyboard.up("Shift")

    def press(self, key: str) -> None:
        self.steps += 1
        self.page.keyboard.press(key)

    def type(self, text: str) -> None:
        self.steps += 1
        self.page.keyboard.type(text)


def documented() -> dict[str, int]:
    """By task, the number of steps that the table of docs/maintainers/trace-tasks.md says are needed here."""
    rows = re.findall(r"^\| (\d+)\. [^|]* \| (\d+)[^|]* \|", DOCUMENT.read_text(), re.MULTILINE)
    return {number: int(steps) for number, steps in rows}


@contextmanager
def task(number: int, timeline: Timeline) -> Iterator[Hands]:
    hands = Hands(timeline)
    begin = time.perf_counter()
    yield hands
    took = time.perf_counter() - begin
    logging.getLogger(__name__).info("task %d: %d steps, %.2f s", number, hands.steps, took)
    assert hands.steps == documented()[str(number)]


@pytest.fixture
def opened(on_its_own: Profiler) -> Timeline:
    return open_trace(on_its_own)


def selected(timeline: Timeline) -> Any:
    row = timeline.profiler.state["e"]
    return timeline.profiler.server.api("timeline/slice", **WHERE, row=row)


def chain(timeline: Timeline) -> Locator:
    panel = timeline.profiler.panel("Selection")
    return panel.get_by_role("navigation", name="From the program to the device")


def test_every_task_is_in_the_table() -> None:
    assert sorted(documented(), key=int) == [str(number) for number in range(1, 11)]


def test_1_devices_and_the_main_thread_below_each_other(opened: Timeline) -> None:
    with task(1, opened):
        view = opened.area.evaluate("(view) => view.clientHeight")
        for name in (STREAM, next(name for name in opened.names() if name.startswith("thread"))):
            key, _ = leaf(opened.meta("rank0"), "rank0", name)
            assert opened.y(key, 0) < view


@pytest.mark.parametrize(
    ("run", "worker"), [TRACES[0], *(pytest.param(*each, marks=pytest.mark.long) for each in TRACES[1:])]
)
def test_2_one_step_in_full_width(on_its_own: Profiler, run: str, worker: str) -> None:
    opened = open_trace(on_its_own, r=run, k=worker)
    steps = opened.meta(worker)["steps"]
    with task(2, opened) as hands:
        hands.press("]")
        opened.settle()
    start, end = opened.window()
    assert end - start < 1.2 * max(steps["duration_ns"])


def test_3_the_line_that_launched_a_kernel(opened: Timeline) -> None:
    key, kernel = longest(opened, STREAM)
    opened.show(key)
    with task(3, opened) as hands:
        hands.click_slice(kernel, key)
        expect(chain(opened).get_by_role("button", name=re.compile(r"^line .*\.py"))).to_be_visible()


def test_4_from_a_kernel_of_the_backward_pass_to_its_forward_operator(opened: Timeline) -> None:
    key, slices = slices_of(opened, STREAM)
    chains = (
        (each, opened.profiler.server.api("timeline/slice", **WHERE, row=str(each.row))["chain"])
        for each in sorted(slices, key=lambda each: -each.duration)[:60]
    )
    kernel, links = next((each, links) for each, links in chains if any(link["place"] == "forward" for link in links))
    forward = next(link["slice"]["row"] for link in links if link["place"] == "forward")
    open_trace(opened.profiler, t=f"{round(kernel.start - 1e5)}-{round(kernel.start + kernel.duration + 1e5)}")
    opened.show(key)
    with task(4, opened) as hands:
        hands.click_slice(kernel, key)
        hands.click(chain(opened).get_by_role("button", name=re.compile("^forward ")))
        wait_until(lambda: opened.profiler.state.get("e") == str(forward), "the forward operator")


def test_5_the_next_slice_of_the_same_name(opened: Timeline) -> None:
    key, slices = slices_of(opened, COMMUNICATION)
    first, second = sorted(slices, key=lambda each: each.start)[:2]
    opened.show(key)
    with task(5, opened) as hands:
        hands.click_slice(first, key)
        hands.press(".")
        wait_until(lambda: opened.profiler.state.get("e") == str(second.row), "the next one")


def test_6_the_time_between_two_slices(opened: Timeline) -> None:
    key, slices = slices_of(opened, COMMUNICATION)
    first, second = sorted(slices, key=lambda each: each.start)[:2]
    opened.show(key)
    with task(6, opened) as hands:
        hands.click_slice(first, key)
        # the details beside the picture have made it narrower
        opened.settle()
        hands.click_slice(second, key, shift=True)
        panel = opened.profiler.panel("Between two slices")
        expect(definition(panel, "End to start")).to_be_visible()


@pytest.mark.parametrize(
    ("run", "worker"), [TRACES[0], *(pytest.param(*each, marks=pytest.mark.long) for each in TRACES[1:])]
)
def test_7_what_took_most_of_a_step(on_its_own: Profiler, run: str, worker: str) -> None:
    opened = open_trace(on_its_own, r=run, k=worker)
    with task(7, opened) as hands:
        hands.press("]")
        opened.settle()
        hands.press("m")
        first = "Kernel" if run == GPU_RUN else "Operator"
        assert on_its_own.grid("By name").first_rows("Category", 1) == [first]


def test_8_how_busy_the_device_was_in_a_step(opened: Timeline) -> None:
    with task(8, opened) as hands:
        hands.press("]")
        opened.settle()
        hands.press("m")
        table = opened.profiler.panel("Range").get_by_role("table").first
        expect(table.get_by_role("rowheader", name="GPU 0")).to_be_visible()


def test_9_a_collective_on_two_ranks(opened: Timeline) -> None:
    profiler = opened.profiler
    _, collective = longest(opened, COMMUNICATION)
    timeline = open_trace(profiler, f=COMMUNICATION)
    key, _ = leaf(timeline.meta("rank0"), "rank0", COMMUNICATION)
    timeline.show(key)
    with task(9, timeline) as hands:
        hands.click(profiler.ui.get_by_role("button", name="Ranks"))
        hands.click(profiler.ui.get_by_role("checkbox", name="rank1"))
        hands.press("Escape")
        expect(timeline.root.get_by_text("rank1", exact=True)).to_be_visible()
        timeline.settle()
        hands.click_slice(collective, key)
        wait_until(lambda: profiler.state.get("e") == str(collective.row), "the collective")


@pytest.mark.parametrize(
    ("run", "worker"), [TRACES[0], *(pytest.param(*each, marks=pytest.mark.long) for each in TRACES[1:])]
)
def test_10_the_first_slice_of_a_name(on_its_own: Profiler, run: str, worker: str) -> None:
    opened = open_trace(on_its_own, r=run, k=worker)
    hits = on_its_own.server.api("timeline/search", run=run, worker=worker, q="aten::add")["hits"]["row"]
    with task(10, opened) as hands:
        hands.press("/")
        hands.type("aten::add")
        expect(on_its_own.ui.get_by_text(re.compile(r"^\d[\d,]* hits, ")).first).to_be_visible()
        hands.press("Enter")
        wait_until(lambda: on_its_own.state.get("e") == str(hits[0]), "the first hit")
