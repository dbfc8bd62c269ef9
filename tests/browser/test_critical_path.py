"""The Critical path view and its what-if, with the numbers of /api/critical_path and /api/what_if."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Route, expect

from tests.browser import numbers
from tests.browser.axe import Axe
from tests.browser.conftest import Keep
from tests.browser.history import back
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler, definition
from tests.tiny import wait_until

CHART = "Critical path of each step"
LIMITS = "What limits the steps"
WHAT_IF = "What if"


@pytest.fixture
def opened(on_its_own: Profiler) -> Profiler:
    on_its_own.open(v="criticalpath", r=GPU_RUN, k="rank0")
    expect(on_its_own.panel(WHAT_IF)).to_be_visible()
    return on_its_own


def answer_of(profiler: Profiler, route: str = "critical_path", **query: str) -> Any:
    return profiler.server.api(route, run=GPU_RUN, worker="rank0", **query)


def cells_of(table: Locator) -> list[list[str]]:
    return [row.locator("th, td").all_inner_texts() for row in table.get_by_role("row").all()[1:]]


def chart(profiler: Profiler) -> Locator:
    return profiler.panel(CHART).get_by_role("slider", name=CHART)


def slider(profiler: Profiler, name: str) -> Locator:
    return profiler.panel(WHAT_IF).get_by_role("slider", name=name, exact=True)


def result(profiler: Profiler, label: str) -> Locator:
    return definition(profiler.panel(WHAT_IF), label)


def test_the_table_is_the_answer(opened: Profiler, keep: Keep) -> None:
    answer = answer_of(opened)
    n, total = len(answer["steps"]["names"]), answer["total_ns"]
    told = [
        each
        for each in answer["resources"]
        if each["on_path_ns"] or (each["if_free"] and (each["if_free"]["saved_ns"] or 0) > 0)
    ]
    rows = cells_of(opened.panel(LIMITS).get_by_role("table"))
    assert len(rows) == len(told) > 3
    for cells, each in zip(rows, told, strict=True):
        assert numbers.same(numbers.with_unit(cells[1], "ms"), each["on_path_ns"] / n), cells
        assert numbers.same(f"{cells[2]} %", each["on_path_ns"] / total), cells
        free, faster = ((each[key] or {}).get("saved_ns") for key in ("if_free", "if_faster"))
        assert numbers.same(numbers.with_unit(cells[3], "ms"), None if free is None else free / n), cells
        assert numbers.same(numbers.with_unit(cells[5], "ms"), None if faster is None else faster / n), cells
    keep("critical-path")


def test_a_step_is_listed_and_leads_to_the_trace(opened: Profiler) -> None:
    expect(opened.panel("Path of one step")).to_contain_text("Choose a step")
    chart(opened).focus()
    opened.page.keyboard.press("ArrowRight")
    opened.page.keyboard.press("Enter")
    step = answer_of(opened)["steps"]["names"][1]
    wait_until(lambda: opened.state.get("n") == step, "the step in the address")
    grid = opened.grid(f"Path of step {step}")
    expect(grid.count).to_be_visible()
    pieces = answer_of(opened, "critical_path/pieces", step=step, sort="-duration_ns", limit="1")["rows"]
    first = grid.first_row
    expect(first).to_contain_text(pieces["name"][0][:20])
    first.get_by_role("button", name="Show details").click()
    grid.panel.get_by_role("button", name="Show in Trace").click()
    expect(opened.heading("Trace")).to_be_visible()
    assert opened.state["e"] == str(pieces["row"][0])
    back(opened.page)
    expect(opened.heading("Critical path")).to_be_visible()
    opened.panel(f"Path of step {step}").get_by_role("button", name="Close").click()
    expect(opened.panel("Path of one step")).to_be_visible()


def test_what_the_path_runs_through(opened: Profiler) -> None:
    answer = answer_of(opened)
    grid = opened.grid("On the path")
    for label, key in (("Operators", "operators"), ("Kernels", "kernels"), ("Modules", "modules")):
        opened.switch("List", label)
        expect(grid.count).to_have_text(re.compile(f"^{len(answer[key])} rows?$"))
        saved = list(csv.DictReader(io.StringIO(grid.export("CSV"))))
        assert [row["name"] for row in saved] == [each["name"] for each in answer[key]]
        n = len(answer["steps"]["names"])
        assert [float(row["total_ns"]) for row in saved] == pytest.approx(
            [each["total_ns"] / n for each in answer[key]]
        )


def test_a_resource_leads_to_its_pieces(opened: Profiler) -> None:
    opened.panel(LIMITS).get_by_role("button", name="Communication").click()
    wait_until(lambda: opened.state.get("q2") == "part~^(communication|collective)$", "the filter in the address")
    steps = answer_of(opened)["steps"]
    times = steps["part_ns"]["communication"]
    most = steps["names"][times.index(max(times))]
    assert opened.state["n"] == most
    pieces = answer_of(opened, "critical_path/pieces", step=most)["rows"]
    of_communication = [
        ns for part, ns in zip(pieces["part"], pieces["duration_ns"], strict=True) if part == "communication"
    ]
    assert sum(of_communication) == max(times)
    shown = opened.page.locator("#path-pieces-place")
    expect(shown.get_by_text(f"{len(of_communication)} of {len(pieces['part'])} rows")).to_be_visible()
    expect(shown).to_be_in_viewport()


def test_a_slider_says_what_would_be_saved(opened: Profiler, keep: Keep) -> None:
    panel = opened.panel(WHAT_IF)
    expect(panel).to_contain_text("Move a slider")
    kernels = slider(opened, "Compute kernels")
    kernels.focus()
    for _ in range(10):
        opened.page.keyboard.press("ArrowLeft")
    expect(kernels).to_have_attribute("aria-valuetext", "× 0.50")
    wait_until(lambda: opened.state.get("w") == "kernels:0.5", "the change in the address")
    answer = answer_of(opened, "what_if", changes="kernels:0.5")
    n = len(answer["names"])
    expect(result(opened, "Mean step")).to_be_visible()
    assert numbers.same(result(opened, "Mean step").inner_text(), answer["after_ns"] / n)
    assert numbers.same(result(opened, "Saved per step").inner_text(), answer["saved"]["saved_ns"] / n)
    keep("what-if")

    panel.get_by_role("switch", name="No call waits for the device").check()
    wait_until(lambda: opened.state.get("w") == "kernels:0.5,sync", "both changes in the address")
    expect(panel).to_contain_text("An upper bound")
    opened.page.reload()
    expect(kernels).to_have_attribute("aria-valuetext", "× 0.50")
    expect(panel.get_by_role("switch", name="No call waits for the device")).to_be_checked()
    panel.get_by_role("button", name="Reset all", exact=True).click()
    expect(panel).to_contain_text("Move a slider")
    wait_until(lambda: "w" not in opened.state, "no change in the address")


def test_what_a_link_asks_for_can_be_removed(on_its_own: Profiler) -> None:
    name = "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_tn"
    changes = f"kernels.{name}:0.5,data:0"
    on_its_own.open(v="criticalpath", r=GPU_RUN, k="rank0", w=changes)
    added = slider(on_its_own, name)
    expect(added).to_have_attribute("aria-valuetext", "× 0.50")
    answer = answer_of(on_its_own, "what_if", changes=changes)
    assert answer["saved"]["saved_ns"] > 0
    assert numbers.same(result(on_its_own, "Mean step").inner_text(), answer["after_ns"] / len(answer["names"]))
    on_its_own.panel(WHAT_IF).get_by_role("button", name=f"Remove {name}").click()
    wait_until(lambda: on_its_own.state.get("w") == "data:0", "the other change alone")
    expect(added).to_have_count(0)


def test_the_picker_adds_what_is_on_the_path(opened: Profiler) -> None:
    panel = opened.panel(WHAT_IF)
    panel.get_by_role("button", name="Add: Chosen by name").click()
    name = answer_of(opened)["kernels"][1]["name"]
    opened.page.keyboard.type(f"Kernel {name}")
    opened.page.keyboard.press("Enter")
    wait_until(lambda: opened.state.get("w") == f"kernels.{name}:0.5", "the kernel in the address")
    expect(panel.get_by_role("slider", name=name)).to_be_visible()


def test_what_is_not_in_the_trace_and_what_means_nothing(on_its_own: Profiler) -> None:
    on_its_own.open(v="criticalpath", r=CPU_RUN, w="operator.no::such:0,nonsense:1,data:0")
    expect(on_its_own.panel(WHAT_IF)).to_contain_text("Not in this trace, so left out: no::such.")
    expect(on_its_own.panel(WHAT_IF).get_by_role("alert")).to_have_count(0)


def test_what_is_refused_has_its_reason_and_no_number(on_its_own: Profiler, keep: Keep) -> None:
    refused = [{"id": "unexplained", "scope": "savings", "text": "…", "share": 0.41}]

    def poor(route: Route) -> None:
        answer = route.fetch().json()
        answer["meta"] |= {"refused": refused, "confidence": "none", "explained": 0.59}
        for each in answer.get("resources", []):
            for key in ("if_free", "if_faster"):
                if each[key]:
                    each[key] |= {"saved_ns": None, "low_ns": None, "high_ns": None, "refused": "unexplained"}
            each |= {"next": None, "next_share": None}
        route.fulfill(json=answer)

    on_its_own.page.route("**/api/critical_path?*", poor)
    on_its_own.open(v="criticalpath", r=GPU_RUN)
    main = on_its_own.ui.get_by_role("main")
    expect(main.get_by_role("region", name="Not answered")).to_contain_text("41 % of the critical path has no cause")
    expect(main.get_by_text("59.0 % explained")).to_be_visible()
    rows = cells_of(on_its_own.panel(LIMITS).get_by_role("table"))
    assert {cells[3] for cells in rows} == {"–"}
    keep("critical-path-refused")


def test_usable_by_everybody(axe: Axe) -> None:
    profiler = axe.profiler
    profiler.open(v="criticalpath", r=GPU_RUN, w="kernels:0.5,sync,data:0", n="3")
    expect(result(profiler, "Mean step")).to_be_visible()
    axe.look("with changes and a step")
    profiler.panel(WHAT_IF).get_by_text("Every step").click()
    profiler.panel(WHAT_IF).get_by_role("button", name="Add: Chosen by name").click()
    axe.look("picker")
    axe.check()
