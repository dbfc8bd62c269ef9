"""The command palette: everything there is to go to and to do, found by typing."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Route, expect

from tests.browser.conftest import OpenPage
from tests.browser.history import back
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler
from tests.browser.servers import Server


class Palette:
    def __init__(self, profiler: Profiler) -> None:
        self.page = profiler.page
        self.dialog = profiler.ui.get_by_role("dialog", name="Go to or do anything")
        self.field = self.dialog.get_by_role("combobox", name="Go to or do anything")
        self.options = self.dialog.get_by_role("option")
        self.foot = self.dialog.get_by_role("status")

    def open(self) -> None:
        self.page.keyboard.press("Control+k")
        expect(self.field).to_be_focused()

    def choose(self, text: str) -> None:
        """The first answer to a text."""
        self.open()
        self.field.fill(text)
        # Names come later than views and actions.
        expect(self.foot).not_to_contain_text("loading")
        self.page.keyboard.press("Enter")
        expect(self.dialog).to_have_count(0)

    @property
    def active(self) -> Locator:
        return self.dialog.get_by_role("option", selected=True)


@pytest.fixture
def profiler(in_tensorboard: Profiler) -> Profiler:
    in_tensorboard.open(r=GPU_RUN)
    expect(in_tensorboard.panel("The median step")).to_be_visible()
    # As after any click into the page: without it TensorBoard around us gets the keys.
    in_tensorboard.heading("Overview").click()
    return in_tensorboard


def test_goes_everywhere(profiler: Profiler) -> None:
    palette = Palette(profiler)
    palette.choose("gpu kernel")
    expect(profiler.heading("GPU Kernel")).to_be_visible()

    palette.choose("worker rank2")
    expect(profiler.picker("Worker")).to_have_accessible_name("Worker rank2")
    expect(profiler.heading("GPU Kernel")).to_be_visible()

    palette.choose("aten::mm")
    expect(profiler.heading("Operator")).to_be_visible()
    expect(profiler.grid("Operators").row("aten::mm")).to_have_attribute("aria-selected", "true")
    expect(profiler.inspector.get_by_role("heading", name="aten::mm", exact=True)).to_be_visible()

    kernels = profiler.server.api("kernels", run=GPU_RUN, worker="rank2")["rows"]["name"]
    palette.choose(f"kernel {kernels[-1]}")
    expect(profiler.heading("GPU Kernel")).to_be_visible()
    expect(profiler.inspector.get_by_role("heading", name=kernels[-1], exact=True)).to_be_visible()

    palette.choose(f"run {CPU_RUN}")
    expect(profiler.picker("Run")).to_have_accessible_name(f"Run {CPU_RUN}")

    back(profiler.page)
    expect(profiler.picker("Run")).to_have_accessible_name(f"Run {GPU_RUN}")


def test_knows_modules_and_steps(profiler: Profiler) -> None:
    palette = Palette(profiler)
    modules = profiler.server.api("modules", run=GPU_RUN, worker="rank0")["rows"]
    inner = max(range(len(modules["name"])), key=lambda row: modules["parent"][row])
    outer = modules["parent"][inner]
    assert outer >= 0
    path = modules["name"][inner]
    while outer >= 0:
        path = f"{modules['name'][outer]}/{path}"
        outer = modules["parent"][outer]
    palette.choose(f"module {path}")
    expect(profiler.heading("Module")).to_be_visible()
    expect(profiler.inspector.get_by_role("heading", name=path, exact=True)).to_be_visible()

    steps = profiler.server.api("overview", run=GPU_RUN, worker="rank0")["steps"]["names"]
    palette.choose(f"step {steps[1]}")
    expect(profiler.heading("Steps")).to_be_visible()
    expect(profiler.inspector.get_by_role("heading", name=steps[1], exact=True)).to_be_visible()


def test_does_things(open_page: OpenPage, tensorboard: Server) -> None:
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    profiler = Profiler(page, tensorboard).open(v="operators", sel="op:aten::add")
    expect(profiler.inspector).to_be_visible()
    profiler.heading("Operator").click()
    palette = Palette(profiler)
    palette.choose("theme dark")
    expect(profiler.ui.locator("html")).to_have_attribute("data-theme", "dark")
    palette.choose("clear selection")
    expect(profiler.inspector).to_have_count(0)
    palette.choose("copy link")
    expect(profiler.ui.get_by_role("button", name="Link copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == profiler.link(
        v="operators", r=CPU_RUN, k="worker0", s="1"
    )
    palette.choose("keyboard")
    keys = profiler.ui.get_by_role("dialog", name="Keyboard")
    expect(keys).to_be_visible()
    page.keyboard.press("Escape")
    expect(keys).to_have_count(0)
    with page.expect_request("**/api/overview*"):
        palette.choose("refresh")


def test_asks_for_names_when_it_is_opened_and_once(profiler: Profiler) -> None:
    asked: list[str] = []
    profiler.page.on("request", lambda request: asked.append(request.url))
    palette = Palette(profiler)
    for _ in range(2):
        palette.open()
        expect(palette.foot).not_to_contain_text("loading")
        profiler.page.keyboard.press("Escape")
    routes = [re.sub(r"^.*/api/|\?.*$", "", url) for url in asked if "/api/" in url]
    assert sorted(route for route in routes if route != "status") == ["kernels", "modules", "operators"]


def test_opens_again_as_soon_as_it_is_closed(profiler: Profiler) -> None:
    palette = Palette(profiler)
    palette.open()
    for _ in range(10):
        profiler.page.keyboard.press("Escape")
        palette.open()


def test_is_a_combobox(profiler: Profiler) -> None:
    palette = Palette(profiler)
    palette.open()
    expect(palette.active).to_contain_text("Overview")
    expect(palette.field).to_have_attribute("aria-activedescendant", palette.active.get_attribute("id") or "")
    profiler.page.keyboard.press("ArrowDown")
    expect(palette.active).to_contain_text("Steps")
    profiler.page.keyboard.press("ArrowUp")
    profiler.page.keyboard.press("ArrowUp")
    expect(palette.active).to_have_count(1)
    expect(palette.active).to_be_in_viewport()
    palette.field.fill("no such thing anywhere")
    expect(palette.foot).to_have_text("No matches.")
    profiler.page.keyboard.press("Enter")
    expect(palette.dialog).to_be_visible()
    profiler.page.keyboard.press("Escape")
    expect(palette.dialog).to_have_count(0)
    # What was under it is as it was.
    expect(profiler.heading("Overview")).to_be_visible()


def test_opens_by_its_button_and_from_a_field(profiler: Profiler) -> None:
    palette = Palette(profiler)
    button = profiler.ui.get_by_role("button", name="Go to or do anything")
    button.click()
    expect(palette.field).to_be_focused()
    profiler.page.keyboard.press("Escape")
    expect(button).to_be_focused()
    profiler.go_to("operators")
    profiler.grid("Operators").filter.focus()
    palette.open()
    palette.options.filter(has_text="GPU Kernel").click()
    expect(profiler.heading("GPU Kernel")).to_be_visible()


def test_keeps_what_is_typed_before_its_code_has_arrived(on_its_own: Profiler) -> None:
    page = on_its_own.page
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        waiting.append(route)

    page.route("**/assets/PaletteSearch-*.js", hold)
    on_its_own.open(r=GPU_RUN)
    expect(on_its_own.panel("The median step")).to_be_visible()
    with page.expect_request("**/assets/PaletteSearch-*.js"):
        page.keyboard.press("Control+k")
    page.keyboard.type("gpu ")
    expect(on_its_own.ui.get_by_role("textbox", name="Go to or do anything")).to_have_value("gpu ")
    for route in waiting:
        route.continue_()
    palette = Palette(on_its_own)
    expect(palette.field).to_be_focused()
    page.keyboard.type("kernel")
    expect(palette.field).to_have_value("gpu kernel")
    expect(palette.foot).not_to_contain_text("loading")
    page.keyboard.press("Enter")
    expect(on_its_own.heading("GPU Kernel")).to_be_visible()
