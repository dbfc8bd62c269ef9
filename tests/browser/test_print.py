"""A view on paper: all of it and not what fits the screen, pictures unstretched, colours that can be read."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.profiler import GPU_RUN, Profiler
from tests.browser.test_themes import has_come

A4 = {"width": 794, "height": 1123}


def pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type /Page\b", pdf))


@pytest.fixture
def printed(on_its_own: Profiler) -> Profiler:
    """The Overview, higher than its screen."""
    on_its_own.page.set_viewport_size({"width": 1280, "height": 700})
    on_its_own.open(r=GPU_RUN, x="all")
    has_come(on_its_own, "overview")
    assert on_its_own.page.locator(".main").evaluate("(main) => main.scrollHeight > main.clientHeight + 300")
    return on_its_own


def test_all_pages(printed: Profiler) -> None:
    """The device table at the end of the view is on the last page."""
    expect(printed.page.get_by_text("all 4 ranks replayed together")).to_be_visible()  # comes last
    assert pages(printed.page.pdf(format="A4")) == 3


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_layout(printed: Profiler, theme: str) -> None:
    page = printed.page
    page.emulate_media(media="print", color_scheme="dark" if theme == "dark" else "light")
    page.set_viewport_size(A4)
    expect(page.locator(".rail")).to_be_hidden()
    expect(page.get_by_role("button", name="Refresh")).to_be_hidden()
    cut = "(e) => getComputedStyle(e).overflowY !== 'visible' && e.scrollHeight > e.clientHeight + 1"
    for part in ("body", ".shell", ".main"):
        assert not page.locator(part).evaluate(cut), part
    expect(page.get_by_text("GPU Summary")).to_be_visible()
    # Backgrounds are what makes light text, legends and bars seen.
    assert page.locator(".panel").first.evaluate("(e) => getComputedStyle(e).printColorAdjust") == "exact"


def test_pictures_are_not_stretched(printed: Profiler) -> None:
    """Nothing is painted anew for paper, which may be narrower."""
    printed.page.emulate_media(media="print")
    canvases = printed.page.locator(".panel canvas")
    assert canvases.count() >= 3
    assert set(canvases.evaluate_all("(all) => all.map((e) => getComputedStyle(e).objectFit)")) == {"contain"}
