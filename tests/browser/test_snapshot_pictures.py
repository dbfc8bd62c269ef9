"""The pictures of the Memory snapshot view by keyboard, as tables and as files."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser import numbers
from tests.browser.axe import Axe
from tests.browser.profiler import Profiler, as_table
from tests.browser.test_keyboard import tab_to
from tests.tiny import wait_until

RUN = {"run": "out_of_memory", "worker": "snapshot"}
MAP, TIMELINE = "Segments", "Allocations over time"


@pytest.fixture
def opened(on_its_own: Profiler) -> Profiler:
    on_its_own.open(v="snapshot", r=RUN["run"])
    expect(on_its_own.panel(MAP).get_by_role("slider")).to_be_visible()
    return on_its_own.loaded()


def asked(profiler: Profiler, question: str) -> Any:
    return profiler.server.api(f"snapshot/{question}", **RUN)


def saved(panel: Locator, kind: str) -> bytes:
    with panel.page.expect_download() as download:
        panel.get_by_role("button", name=f"Save as {kind}").click()
    content: bytes = download.value.path().read_bytes()
    return content


def is_within(mark: Locator, frame: Locator) -> bool:
    inner, outer = mark.bounding_box(), frame.bounding_box()
    assert inner
    assert outer
    # its box has its line as well, with the tips of its corners
    return outer["y"] - 5 <= inner["y"] <= outer["y"] + outer["height"] - inner["height"] + 5


def test_the_map_by_keyboard(opened: Profiler) -> None:
    page, panel, pieces = opened.page, opened.panel(MAP), asked(opened, "segments")["pieces"]
    keys, mark = panel.get_by_role("slider", name=MAP), panel.locator(".chart-mark.reached path")
    tab_to(page, keys, most=120)
    expect(keys).to_have_attribute("aria-valuemax", str(len(pieces["bytes"])))

    def reached(at: int) -> dict[str, float]:
        expect(keys).to_have_attribute("aria-valuenow", str(at + 1))
        said = keys.get_attribute("aria-valuetext") or ""
        assert numbers.same(said.split("Requested ")[1].split(", Allocations")[0], pieces["bytes"][at])
        # what is spoken can be seen, too, inside of what is scrolled
        expect(panel.locator(".chart-tip")).to_contain_text(said.split(", ")[0])
        expect(mark).to_be_visible()
        wait_until(lambda: is_within(mark, panel.locator(".chart-scroll")), "the mark in sight")
        return dict(mark.bounding_box() or {})

    first = reached(0)
    page.keyboard.press("ArrowRight")
    second = reached(1)
    assert (second["x"], second["y"]) > (first["x"], first["y"] - 1)
    page.keyboard.press("ArrowDown")
    below = int(keys.get_attribute("aria-valuenow") or 0) - 1
    # the segments of a row are as wide as the largest one at most
    assert pieces["segment"][below] > pieces["segment"][1]
    assert reached(below)["y"] > second["y"]
    page.keyboard.press("End")
    reached(len(pieces["bytes"]) - 1)


def test_the_map_as_a_table_and_as_files(opened: Profiler) -> None:
    panel, answer = opened.panel(MAP), asked(opened, "segments")
    panel.hover()
    assert saved(panel, "PNG").startswith(b"\x89PNG")
    svg = saved(panel, "SVG")
    lines = answer["pieces"]["line"]
    assert svg.count(b"<rect") == 1 + len(answer["segments"]["bytes"]) + sum(line != -1 for line in lines)
    rows = as_table(panel)
    # the other table of the panel has the pools
    sizes = sorted(answer["pieces"]["bytes"], reverse=True)
    assert numbers.all_same([row[3] for row in rows[: len(sizes)]], sizes)


def test_the_timeline_by_keyboard(opened: Profiler) -> None:
    page, panel, answer = opened.page, opened.panel(TIMELINE), asked(opened, "timeline")
    slider = panel.get_by_role("slider", name="Moment")
    tab_to(page, slider, most=120)
    (peak,) = [moment["position"] for moment in asked_moments(opened) if moment["kind"] == "peak"]
    at = max(column for column, position in enumerate(answer["position"]) if position <= peak)
    for key, column in (("ArrowLeft", at - 1), ("ArrowLeft", at - 2), ("ArrowRight", at - 1)):
        page.keyboard.press(key)
        wait_until(lambda: opened.state.get("c") == str(answer["position"][column]), "the column")  # noqa: B023
        said = slider.get_attribute("aria-valuetext") or ""
        assert numbers.same(said.split("In use ")[1].split(", ")[0], answer["requested"][column])
    page.keyboard.press("Escape")
    wait_until(lambda: "c" not in opened.state, "the peak again")


def asked_moments(profiler: Profiler) -> Any:
    (device,) = profiler.server.api("snapshot", **RUN)["devices"]
    return device["moments"]


def test_the_timeline_as_a_table_and_as_a_file(opened: Profiler) -> None:
    panel, answer = opened.panel(TIMELINE), asked(opened, "timeline")
    panel.hover()
    svg = saved(panel, "SVG").decode()
    # with what the colours stand for, which a file cannot be asked
    assert "Out of memory" in svg
    assert "In use" in svg
    rows = as_table(panel)
    assert len(rows) == len(answer["shapes"]["bytes"]) + len(answer["bands"])
    sizes = [*answer["shapes"]["bytes"], *(max(band["bytes"]) for band in answer["bands"])]
    assert numbers.all_same([row[1] for row in rows], sorted(sizes, reverse=True))


def test_usable_by_everybody(axe: Axe) -> None:
    profiler = axe.profiler.open(v="snapshot", r=RUN["run"])
    expect(profiler.panel(MAP).get_by_role("slider")).to_be_visible()
    axe.look("the pictures")
    as_table(profiler.panel(TIMELINE))
    as_table(profiler.panel(MAP))
    axe.look("the pictures as tables")
    axe.check()
