"""One selection for all views: what is selected is described beside every view, with ways to where it can be seen."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser import numbers
from tests.browser.profiler import CPU_RUN, GPU_RUN, VIEWS, Profiler, definition
from tests.tiny import wait_until

OPERATOR = "aten::mm"


@pytest.fixture
def profiler(on_its_own: Profiler) -> Profiler:
    return on_its_own


def place_names(profiler: Profiler) -> list[str]:
    group = profiler.inspector.get_by_role("group", name="Show in")
    expect(group).to_be_visible()
    return [text.strip() for text in group.get_by_role("button").all_inner_texts()]


def test_an_operator_everywhere(profiler: Profiler) -> None:
    profiler.open(r=GPU_RUN, sel=f"op:{OPERATOR}")
    rows = profiler.server.api("operators", run=GPU_RUN, worker="rank0")["rows"]
    calls = rows["calls"][rows["name"].index(OPERATOR)]
    for view in VIEWS:
        profiler.go_to(view)
        heading = profiler.inspector.get_by_role("heading", name=OPERATOR, exact=True)
        expect(heading).to_be_visible()
        expect(definition(profiler.inspector, "Calls")).to_have_text(str(calls))
        assert VIEWS[view] not in place_names(profiler)


def test_from_an_operator_to_its_kernels(profiler: Profiler) -> None:
    profiler.open(r=GPU_RUN, v="operators", q="nothing is called so", sel=f"op:{OPERATOR}")
    assert place_names(profiler) == ["GPU Kernel", "Trace", "Stacks", "Memory"]
    profiler.inspector.get_by_role("button", name="Show in GPU Kernel").click()
    expect(profiler.heading("GPU Kernel")).to_be_visible()
    grid = profiler.grid("Kernels")
    expect(grid.filter).to_have_value(f'operator="{OPERATOR}"')
    launches = profiler.server.api("kernels", run=GPU_RUN, worker="rank0", group_by="name_op_launch")
    rows = launches["rows"]
    of_operator = [name for name, operator in zip(rows["name"], rows["operator"], strict=True) if operator == OPERATOR]
    expect(grid.count).to_have_text(f"{len(of_operator)} of {len(rows['name'])} rows")

    # Back where it is a row, and seen: the filter that hid it is taken off.
    profiler.inspector.get_by_role("button", name="Show in Operator").click()
    expect(profiler.grid("Operators").filter).to_have_value("")
    expect(profiler.grid("Operators").row(OPERATOR)).to_have_attribute("aria-selected", "true")

    # And from one of its kernels to the operators that launch it.
    kernel = profiler.inspector.get_by_role("table", name="Kernels it launched").get_by_role("button").first
    name = kernel.get_attribute("title")
    assert name is not None
    kernel.click()
    expect(profiler.inspector.get_by_role("heading", name=name, exact=True)).to_be_visible()
    operators = profiler.inspector.get_by_role("table", name="By operator")
    operators.get_by_role("button", name=OPERATOR, exact=True).click()
    expect(profiler.heading("Operator")).to_be_visible()
    expect(profiler.inspector.get_by_role("heading", name=OPERATOR, exact=True)).to_be_visible()


def test_places_without_data_are_not_offered(profiler: Profiler) -> None:
    """The CPU run has no kernels; the rail says so of the view, which explains."""
    profiler.open(r=CPU_RUN, v="operators", sel="op:aten::conv2d")
    expect(definition(profiler.inspector, "Calls")).to_be_visible()
    assert "GPU Kernel" not in place_names(profiler)
    expect(profiler.navigation.get_by_role("link", name="GPU Kernel")).to_have_count(0)
    entry = profiler.in_rail("kernels")
    expect(entry).to_have_attribute("title", "GPU Kernel: not recorded; the view says what to enable\nKeys: g k")
    entry.click()
    expect(profiler.ui.get_by_text("To record it:")).to_be_visible()


def test_a_step_can_be_the_only_one(profiler: Profiler) -> None:
    steps = profiler.server.api("overview", run=GPU_RUN, worker="rank0")["steps"]
    name = steps["names"][2]
    profiler.open(r=GPU_RUN, v="operators", sel=f"step:{name}")
    only = profiler.inspector.get_by_role("button", name="Only this step in all views")
    expect(only).to_have_attribute("aria-pressed", "false")
    only.click()
    expect(only).to_have_attribute("aria-pressed", "true")
    expect(profiler.ui.get_by_text(f"Step {name} of {len(steps['names'])}")).to_be_visible()
    only.click()
    expect(profiler.ui.get_by_text(f"Step {name} of {len(steps['names'])}")).to_have_count(0)
    assert place_names(profiler) == ["Steps"]
    for view in ("Overview", "Trace", "Distributed"):
        expect(profiler.inspector.get_by_role("button", name=f"Show in {view}")).to_have_count(1)


@pytest.mark.parametrize("sel", ["mod:Net_0", "step:99", "op:gone", "kernel:gone"])
def test_what_is_not_in_this_trace_is_said_not_raised(profiler: Profiler, sel: str) -> None:
    profiler.open(r=GPU_RUN, v="operators", sel=sel)
    expect(profiler.inspector.get_by_role("heading", name=sel.partition(":")[2], exact=True)).to_be_visible()
    expect(profiler.grid("Operators").count).to_be_visible()
    expect(profiler.inspector.get_by_role("alert")).to_have_count(0)
    expect(profiler.inspector.get_by_label("Loading…")).to_have_count(0)


def test_escape_and_the_button_clear_it(profiler: Profiler) -> None:
    for clear in ("key", "button"):
        profiler.open(r=GPU_RUN, v="overview", sel=f"op:{OPERATOR}")
        expect(definition(profiler.inspector, "Calls")).to_be_visible()
        if clear == "key":
            profiler.page.keyboard.press("Escape")
        else:
            profiler.inspector.get_by_role("button", name="Clear the selection").click()
        expect(profiler.inspector).to_have_count(0)
        wait_until(lambda: "sel" not in profiler.state, "the address names no selection")


def test_the_numbers_are_those_of_the_table(profiler: Profiler) -> None:
    profiler.open(r=GPU_RUN, v="memory", sel=f"op:{OPERATOR}")
    rows = profiler.server.api("operators", run=GPU_RUN, worker="rank0")["rows"]
    at = rows["name"].index(OPERATOR)
    for label, key in (("Device self", "device_self_ns"), ("Host total", "host_total_ns"), ("Kernels", "kernels")):
        shown = definition(profiler.inspector, label)
        expect(shown).to_be_visible()
        assert numbers.same(shown.inner_text(), rows[key][at])
