"""Hands on traces of four devices: keys, wheel, flow both ways, same name, measure, tracks and counters.

Recorded traces lie beside the repository; without them these tests are skipped.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.profiler import Profiler
from tests.browser.servers import Server
from tests.browser.timeline import Slice, Timeline, exact_slices
from tests.recorded import recorded
from tests.tiny import wait_until

H100 = "TraceLens/bert_small_h100"
MORE = ["HTA/nccl_a100_rank0_of_2", "TraceLens/bert_small_mi300x", "HTA/v100_ddp_profile_memory_rank1_of_2"]


@dataclass
class Hands:
    """A timeline, and what the server says of its trace."""

    timeline: Timeline
    where: dict[str, str]
    meta: Any

    @property
    def profiler(self) -> Profiler:
        return self.timeline.profiler

    @property
    def page(self) -> Page:
        return self.profiler.page

    def ask(self, route: str, **query: str) -> Any:
        return self.profiler.server.api(f"timeline/{route}", **self.where, **query)

    def slice(self, row: int | str) -> Any:
        return self.ask("slice", row=str(row))

    def key_of(self, lane: int) -> str:
        return f"{self.where['worker']}:{self.meta['lanes']['track'][lane]}"

    def open(self, **state: str) -> None:
        where = {"r": self.where["run"], "k": self.where["worker"], "s": self.where["span"]}
        self.profiler.open(**{"v": "trace", **where, **state})
        self.timeline.settle()

    def selected(self, row: int | str) -> None:
        wait_until(lambda: self.profiler.state.get("e") == str(row), f"{row} is selected")

    def kernel(self) -> Slice:
        """The longest on the busiest lane of a device that an operator launched."""
        lanes = self.meta["lanes"]
        for lane in [at for at, band in enumerate(lanes["band"]) if band == "device" and lanes["depth"][at] == 0]:
            query = {**self.where, "lanes": str(lane), "from": "0", "to": str(self.meta["end_ns"]), "limit": "50000"}
            for each in sorted(exact_slices(self.profiler.server, **query), key=lambda one: -one.duration)[:20]:
                if len(self.slice(each.row)["chain"]) > 2:
                    return each
        raise AssertionError("no kernel has an operator")


@pytest.fixture(
    params=[
        pytest.param(H100, id=Path(H100).name),
        *(pytest.param(folder, id=Path(folder).name, marks=pytest.mark.long) for folder in MORE),
    ]
)
def hands(request: pytest.FixtureRequest, serve_logs: Callable[[Path], Server], page: Page) -> Hands:
    folder = recorded(request.param)
    server = serve_logs(folder)
    server.wait_for_traces()
    (run,) = server.api("status")["runs"]
    trace = run["traces"][0]
    where = {"run": run["name"], "worker": trace["worker"], "span": trace["span"]}
    opened = Hands(Timeline(Profiler(page, server)), where, server.api("timeline", **where))
    opened.open()
    return opened


def test_a_trace_in_the_hand(hands: Hands) -> None:
    kernel = hands.kernel()
    moving(hands, kernel)
    flow(hands, kernel)
    same_name(hands, kernel)
    measuring(hands, kernel)
    tracks(hands, kernel)
    counters(hands)


def moving(hands: Hands, kernel: Slice) -> None:
    """W, S, A, D and the wheel, all around the pointer."""
    timeline, page = hands.timeline, hands.page
    key = hands.key_of(kernel.lane)
    timeline.show(key)
    whole = timeline.window()
    time = kernel.start + kernel.duration / 2
    page.mouse.move(*timeline.point(time, key, 0))
    before = timeline.x(time)
    for _ in range(3):
        page.keyboard.press("w")
    timeline.settle()
    near = timeline.window()
    assert near[1] - near[0] == pytest.approx(0.6**3 * (whole[1] - whole[0]), rel=1e-3)
    assert timeline.x(time) == pytest.approx(before, abs=2)
    page.keyboard.press("d")
    timeline.settle()
    assert timeline.window()[0] - near[0] == pytest.approx(0.15 * (near[1] - near[0]), rel=1e-2)
    page.keyboard.press("a")
    timeline.settle()
    assert timeline.window() == pytest.approx(near, abs=2)
    for _ in range(3):
        page.keyboard.press("s")
    timeline.settle()
    assert timeline.window() == pytest.approx(whole, abs=2)
    page.keyboard.down("Control")
    page.mouse.wheel(0, -600)
    page.keyboard.up("Control")
    timeline.settle()
    assert timeline.window()[1] - timeline.window()[0] < 0.5 * (whole[1] - whole[0])
    # the wheel knows whole pixels, a part of one becomes some
    assert timeline.x(time) == pytest.approx(before, abs=4)


def flow(hands: Hands, kernel: Slice) -> None:
    """From the kernel up to what caused it, by U, and down again, by Shift U; each place is one of the panel, too."""
    chain = hands.slice(kernel.row)["chain"]
    assert [link["place"] for link in chain][-2:] == ["launch", "work"]
    hands.open(e=str(kernel.row))
    shown = hands.profiler.panel("Selection").get_by_role("navigation", name="From the program to the device")
    expect(shown.get_by_role("button")).to_have_count(len(chain))
    rows = [link["slice"]["row"] for link in chain]
    for row in rows[-2::-1]:
        hands.page.keyboard.press("u")
        hands.selected(row)
    for row in rows[1:]:
        hands.page.keyboard.press("Shift+U")
        hands.selected(row)
    shown.get_by_role("button").first.click()
    hands.selected(rows[0])
    hands.timeline.settle()
    begin, end = hands.timeline.window()
    first = hands.slice(rows[0])
    assert begin < first["start_ns"] + first["duration_ns"]
    assert first["start_ns"] < end


def same_name(hands: Hands, kernel: Slice) -> None:
    """. and , go through all slices of a name."""
    operator = next(link["slice"] for link in hands.slice(kernel.row)["chain"] if link["place"] == "operator")
    if hands.slice(operator["row"])["same_name"]["count"] < 2:
        return
    hands.open(e=str(operator["row"]))
    first = hands.slice(operator["row"])
    keys = (",", ".") if hands.slice(operator["row"])["same_name"]["position"] else (".", ",")
    hands.page.keyboard.press(keys[0])
    wait_until(lambda: hands.profiler.state["e"] != str(operator["row"]), "another one of the name")
    other = hands.slice(hands.profiler.state["e"])
    assert other["name"] == first["name"]
    assert (other["start_ns"] > first["start_ns"]) == (keys[0] == ".")
    hands.page.keyboard.press(keys[1])
    hands.selected(operator["row"])


def measuring(hands: Hands, kernel: Slice) -> None:
    """X and another slice: the time between both."""
    chain = hands.slice(kernel.row)["chain"]
    launch = chain[-2]["slice"]
    hands.open(e=str(launch["row"]))
    panel = hands.profiler.panel("Between two slices")
    hands.page.keyboard.press("x")
    expect(panel.get_by_text("select another slice")).to_be_visible()
    hands.page.keyboard.press("Shift+U")
    hands.selected(kernel.row)
    expect(panel.get_by_role("term").filter(has_text="Start to start")).to_be_visible()
    assert hands.profiler.state["from"] == str(launch["row"])


def tracks(hands: Hands, kernel: Slice) -> None:
    """Pinned, hidden, moved, filtered: all of it is in the address, and there again after it is opened anew."""
    timeline, page, profiler = hands.timeline, hands.page, hands.profiler
    hands.open(e=str(kernel.row))
    key = hands.key_of(kernel.lane)
    page.keyboard.press("p")
    wait_until(lambda: profiler.state.get("p") == key, "the track is pinned")
    name = next(track["name"] for track in hands.meta["tracks"] if f"{hands.where['worker']}:{track['id']}" == key)
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    timeline.settle()
    expect(timeline.root.locator("li.pinned")).to_contain_text(name)
    page.keyboard.press("p")
    wait_until(lambda: "p" not in profiler.state, "the track is not pinned")
    hands.open(d=key)
    expect(timeline.label(key)).to_have_count(0)
    hands.open(f=name)
    assert any(name in each for each in timeline.names())
    assert not any("thread" in each and name not in each for each in timeline.names())


def counters(hands: Hands) -> None:
    """Device busy has an area where kernels ran."""
    timeline = hands.timeline
    hands.open(f="Device busy")
    rows = timeline.root.locator("li", has_text="Device busy")
    expect(rows.first).to_be_visible()
    label = rows.first
    top = label.evaluate("(row) => row.offsetTop - row.closest('.timeline-scroll').scrollTop")
    height = label.evaluate("(row) => row.offsetHeight")
    ground = np.array(timeline.colour("--surface"))
    lines = [timeline.colours(top + at).astype(int) for at in range(4, int(height) - 4)]
    drawn = [np.abs(line - ground).sum(axis=1) > 12 for line in lines]
    assert np.mean(np.any(drawn, axis=0)) > 0.02, "nothing is drawn"
