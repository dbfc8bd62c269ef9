"""Any number of traces in one table, in the Diff view, with the numbers of /api/traces."""

from __future__ import annotations

import csv
import io

import pytest
from playwright.sync_api import Route, expect

from tests.browser.axe import Axe
from tests.browser.conftest import Keep
from tests.browser.history import back
from tests.browser.layout import faults
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler
from tests.tiny import wait_until

MANY = {"v": "compare", "x": "many", "r": GPU_RUN, "k": "rank0", "s": "1"}


@pytest.fixture
def many(on_its_own: Profiler) -> Profiler:
    on_its_own.open(**MANY)
    expect(on_its_own.grid("Traces").count).to_have_text("4 rows")
    return on_its_own


def test_the_numbers(many: Profiler, keep: Keep) -> None:
    rows = list(csv.DictReader(io.StringIO(many.grid("Traces").export("CSV"))))
    answer = many.server.api("traces", of="runs", worker="rank0")["rows"]
    assert [row["trace"] for row in rows] == answer["trace"]
    assert [float(row["step"]) for row in rows] == answer["step"]
    names = many.server.api("traces/names", of="runs", worker="rank0")["rows"]["name"]
    assert many.grid("Side by side").first_rows("Name", 3) == names[:3]
    keep("compare-many-light")
    many.page.emulate_media(color_scheme="dark")
    many.page.wait_for_timeout(300)
    keep("compare-many-dark")


def test_which_traces_and_what_of_them_is_in_the_address(many: Profiler) -> None:
    many.switch("Which traces", "All of this run")
    expect(many.grid("Traces").count).to_have_text("4 rows")
    expect(many.grid("Side by side").header("rank3")).to_be_visible()
    many.switch("What", "Kernels")
    many.switch("Number", "Calls")
    many.grid("Traces").filter.fill("step>1s")
    expect(many.grid("Traces").count).to_have_text("0 of 4 rows")
    wanted = MANY | {"d": "run", "a": "kernels", "h": "calls", "q": "step>1s"}
    wait_until(lambda: many.state.get("q") == "step>1s", "the filter in the address")
    assert many.state.items() >= wanted.items()
    shown = many.grid("Side by side").first_rows("rank3")
    many.page.goto("about:blank")
    many.page.goto(many.link(**wanted))
    expect(many.grid("Traces").count).to_have_text("0 of 4 rows")
    assert many.grid("Side by side").first_rows("rank3") == shown


def test_a_row_shows_its_trace_and_back_leads_back(many: Profiler) -> None:
    many.grid("Traces").row(f"{CPU_RUN} · worker0").click()
    expect(many.picker("Run")).to_contain_text(CPU_RUN)
    assert many.state["x"] == "many"
    back(many.page)
    expect(many.picker("Run")).to_contain_text(GPU_RUN)


def test_an_operator_is_selected(many: Profiler) -> None:
    grid = many.grid("Side by side")
    name = grid.first_rows("Name", 1)[0]
    grid.row(name).click()
    expect(many.inspector).to_contain_text(name)


def test_to_and_fro(many: Profiler) -> None:
    many.grid("Traces").filter.fill("cnn")
    many.switch("How many traces", "Two traces")
    expect(many.panel("What is compared")).to_be_visible()
    assert "q" not in many.state
    many.switch("How many traces", "Any number")
    expect(many.grid("Traces").count).to_have_text("4 rows")


def test_an_error_says_so_and_retry_helps(many: Profiler) -> None:
    def fail(route: Route) -> None:
        route.fulfill(status=500, json={"error": "the server made a mistake"})

    many.page.route("**/api/traces?*", fail)
    many.switch("Which traces", "All traces")
    expect(many.panel("Traces").get_by_role("alert")).to_contain_text("the server made a mistake")
    many.page.unroute("**/api/traces?*")
    many.panel("Traces").get_by_role("button", name="Retry").click()
    expect(many.grid("Traces").count).to_have_text("8 rows")


@pytest.mark.parametrize("width", [1280, pytest.param(1920, marks=pytest.mark.long)])
def test_nothing_is_cut(many: Profiler, width: int) -> None:
    many.page.set_viewport_size({"width": width, "height": 1200})
    many.page.wait_for_timeout(200)
    assert faults(many.ui) == []


def test_axe_finds_nothing(many: Profiler) -> None:
    axe = Axe(many)
    axe.look("any number of traces")
    axe.check()
