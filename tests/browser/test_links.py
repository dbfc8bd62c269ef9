"""Everything on the screen is in the address."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.history import back, forward
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler
from tests.browser.servers import Server


def arrange(profiler: Profiler) -> None:
    """A view, a run, a worker, a grouping, a filter, a sort and a selection that nobody gets by default."""
    profiler.open()
    profiler.choose("Run", GPU_RUN)
    profiler.choose("Worker", "rank1")
    profiler.go_to("operators")
    profiler.switch("Group by", "+ Input shape")
    grid = profiler.grid("Operators")
    grid.filter.fill("aten::mm calls>10")
    grid.sort_by("Calls")
    grid.row("aten::mm").click()
    expect(profiler.inspector).to_be_visible()


def assert_as_arranged(profiler: Profiler) -> None:
    expect(profiler.heading("Operator")).to_be_visible()
    expect(profiler.picker("Run")).to_have_accessible_name(f"Run {GPU_RUN}")
    expect(profiler.picker("Worker")).to_have_accessible_name("Worker rank1")
    grouping = profiler.ui.get_by_role("radiogroup", name="Group by")
    expect(grouping.get_by_role("radio", name="+ Input shape")).to_be_checked()
    grid = profiler.grid("Operators")
    expect(grid.filter).to_have_value("aten::mm calls>10")
    expect(grid.count).to_have_text(re.compile(r"^\d+ of \d+ rows$"))
    expect(grid.header("Calls")).to_have_attribute("aria-sort", "descending")
    expect(grid.row("aten::mm")).to_have_attribute("aria-selected", "true")
    expect(profiler.inspector.get_by_role("heading", name="aten::mm")).to_be_visible()


@pytest.mark.parametrize("host", ["tensorboard", pytest.param("alone", marks=pytest.mark.long)])
def test_the_address_is_the_page(host: str, open_page: OpenPage, request: pytest.FixtureRequest) -> None:
    server: Server = request.getfixturevalue(host)
    first = Profiler(open_page(), server)
    arrange(first)
    assert_as_arranged(first)
    wanted = {"v", "r", "k", "g", "q", "o", "sel"}
    first.page.wait_for_function("(n) => location.hash.split('=').length > n", arg=len(wanted))
    assert wanted <= first.state.keys()

    second = Profiler(open_page(), server)
    second.page.goto(first.page.url)
    assert_as_arranged(second)
    assert second.state == first.state


def test_copy_link_names_what_was_chosen_by_itself(open_page: OpenPage, tensorboard: Server) -> None:
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    profiler = Profiler(page, tensorboard).open(v="operators")
    expect(profiler.picker("Run")).to_have_accessible_name(f"Run {CPU_RUN}")
    profiler.ui.get_by_role("button", name="Copy link").click()
    expect(profiler.ui.get_by_role("button", name="Link copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == profiler.link(v="operators", r=CPU_RUN, k="worker0", s="1")


def test_back_and_forward(in_tensorboard: Profiler) -> None:
    page = in_tensorboard.page
    in_tensorboard.open(r=CPU_RUN)
    in_tensorboard.go_to("operators")
    in_tensorboard.grid("Operators").filter.fill("conv")
    in_tensorboard.choose("Run", GPU_RUN)
    in_tensorboard.go_to("kernels")

    back(page)
    expect(in_tensorboard.heading("Operator")).to_be_visible()
    expect(in_tensorboard.picker("Run")).to_have_accessible_name(f"Run {GPU_RUN}")
    back(page)
    expect(in_tensorboard.picker("Run")).to_have_accessible_name(f"Run {CPU_RUN}")
    expect(in_tensorboard.grid("Operators").filter).to_have_value("conv")
    back(page)
    expect(in_tensorboard.heading("Overview")).to_be_visible()
    forward(page, 3)
    expect(in_tensorboard.heading("GPU Kernel")).to_be_visible()
    expect(in_tensorboard.picker("Run")).to_have_accessible_name(f"Run {GPU_RUN}")


def test_another_run_keeps_the_look(on_its_own: Profiler) -> None:
    on_its_own.open(v="operators", r=CPU_RUN, q="aten::add", sel="op:aten::add")
    expect(on_its_own.inspector).to_be_visible()
    on_its_own.choose("Run", GPU_RUN)
    expect(on_its_own.heading("Operator")).to_be_visible()
    expect(on_its_own.grid("Operators").filter).to_have_value("aten::add")
    expect(on_its_own.inspector.get_by_role("heading", name="aten::add")).to_be_visible()


def test_a_link_to_what_is_gone_says_so(on_its_own: Profiler) -> None:
    on_its_own.open(r="<b>yesterday</b>", k="rank9", v="flames")
    for text in (
        "Run “<b>yesterday</b>” no longer exists; showing another run.",
        "There is no worker “rank9” in this run; showing another one.",
        "There is no view “flames”; showing the overview.",
    ):
        expect(on_its_own.ui.get_by_role("status").filter(has_text=text)).to_be_visible()
    expect(on_its_own.panel("The median step")).to_be_visible()
    on_its_own.ui.get_by_role("button", name="Dismiss").first.click()
    expect(on_its_own.ui.get_by_role("button", name="Dismiss")).to_have_count(2)


def test_another_tab_and_back(in_tensorboard: Profiler) -> None:
    """TensorBoard keeps the frame, and our part of the address."""
    arrange(in_tensorboard)
    page = in_tensorboard.page
    frame = in_tensorboard.ui.locator("html")
    frame.evaluate("(html) => html.ownerDocument.defaultView.same = true")
    page.get_by_role("combobox", name="Inactive").click()
    page.get_by_role("option", name="scalars", exact=True).click()
    expect(page.get_by_text("No scalar data was found")).to_be_visible()
    page.get_by_role("tab", name="PYTORCH_PROFILER").click()
    assert_as_arranged(in_tensorboard)
    assert frame.evaluate("(html) => html.ownerDocument.defaultView.same")
    assert in_tensorboard.state["q"] == "aten::mm calls>10"


@pytest.mark.parametrize(
    "view", ["operators", "kernels", "memory", "distributed", "modules", "compare", "stacks", "steps"]
)
def test_every_filter_of_a_view_is_in_the_address(view: str, on_its_own: Profiler) -> None:
    """Each box of a view has a place of its own there, so that a link shows all tables as they were."""
    on_its_own.open(v=view, r=GPU_RUN)
    boxes = on_its_own.ui.get_by_role("main").locator("input[data-filter]")
    expect(boxes.first).to_be_visible()
    on_its_own.loaded()
    shown = boxes.all()
    filled = [f"word{place}" for place in range(len(shown))]
    for box, word in zip(shown, filled, strict=True):
        box.fill(word)
    on_its_own.page.wait_for_function(
        "(words) => words.every((word) => location.hash.includes(`=${word}`))", arg=filled
    )
    assert set(filled) <= set(on_its_own.state.values())
    on_its_own.page.reload()
    for box, word in zip(boxes.all(), filled, strict=False):
        expect(box).to_have_value(word)
    expect(boxes).to_have_count(len(filled))
