"""Light and dark: whose choice counts, and every view in TensorBoard in both."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Keep, OpenPage
from tests.browser.profiler import GPU_RUN, VIEWS, Profiler
from tests.browser.servers import Server

DARK = "?darkMode=true"
PANELS = {
    "overview": "The median step",
    "steps": "Time of each step",
    "criticalpath": "Critical path of each step",
    "operators": "Operators",
    "kernels": "Kernels",
    "roofline": "How close to the peak?",
    "trace": "Timeline",
    "stacks": "Call stacks",
    "memory": "Memory in use",
    "distributed": "Computation/Communication Overview",
    "program": "What the step did",
    "modules": "Modules",
    "lightning": "Modules",
    "compare": "What is compared",
    "health": "Notes",
}


def brightness(body: Locator) -> float:
    """Of the background, 0…255."""
    color: str = body.evaluate("(body) => getComputedStyle(body).backgroundColor")
    return sum(float(part) for part in color[color.index("(") + 1 : -1].split(",")[:3]) / 3


def is_dark(profiler: Profiler) -> bool:
    return brightness(profiler.ui.locator("body")) < 100


def has_come(profiler: Profiler, view: str) -> None:
    """The view with everything in it."""
    expect(profiler.heading(VIEWS[view])).to_be_visible()
    profiler.loaded()
    panel = PANELS[view]
    expect(profiler.panel(panel)).to_be_visible()
    expect(profiler.ui.locator(".timeline[aria-busy=true]")).to_have_count(0)
    # Two frames, for what is drawn after it is in the document.
    profiler.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


@pytest.mark.long
def test_pictures_in_tensorboard(in_tensorboard: Profiler, keep: Keep) -> None:
    """Dark; light is every view behind a proxy (test_opens.py)."""
    in_tensorboard.page.set_viewport_size({"width": 1440, "height": 1750})
    in_tensorboard.open(DARK, r=GPU_RUN)
    for view in VIEWS:
        in_tensorboard.go_to(view)
        has_come(in_tensorboard, view)
        assert is_dark(in_tensorboard)
        keep(f"tensorboard-{view}-dark")


def test_follows_tensorboard(in_tensorboard: Profiler, page: Page) -> None:
    in_tensorboard.open()
    expect(in_tensorboard.heading("Overview")).to_be_visible()
    assert not is_dark(in_tensorboard)
    page.locator("body").evaluate("(body) => body.classList.add('dark-mode')")  # as TensorBoard's own switch does
    expect(in_tensorboard.ui.locator("html")).to_have_attribute("data-theme", "dark")
    assert is_dark(in_tensorboard)
    page.locator("body").evaluate("(body) => body.classList.remove('dark-mode')")
    expect(in_tensorboard.ui.locator("html")).to_have_attribute("data-theme", "light")


def test_own_choice_wins_and_is_remembered(in_tensorboard: Profiler, page: Page) -> None:
    in_tensorboard.open(DARK)
    expect(in_tensorboard.heading("Overview")).to_be_visible()
    assert is_dark(in_tensorboard)
    in_tensorboard.ui.get_by_role("button", name="Theme: automatic").click()
    expect(in_tensorboard.ui.get_by_role("button", name="Theme: light")).to_be_visible()
    assert not is_dark(in_tensorboard)
    page.reload()
    expect(in_tensorboard.heading("Overview")).to_be_visible()
    assert not is_dark(in_tensorboard)


@pytest.mark.parametrize("system", ["light", "dark"])
def test_follows_the_system_without_tensorboard(open_page: OpenPage, alone: Server, system: str) -> None:
    profiler = Profiler(open_page(color_scheme=system), alone).open()
    expect(profiler.heading("Overview")).to_be_visible()
    assert is_dark(profiler) == (system == "dark")
