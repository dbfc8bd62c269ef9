"""A report in one file: opened from disk, without a server, it shows every view and makes no network requests."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Page, Request, expect

from tests import events
from tests.browser.conftest import Keep
from tests.browser.history import back
from tests.browser.layout import faults
from tests.browser.profiler import CPU_RUN, GPU_RUN, VIEWS, Profiler
from tests.browser.servers import Server

MARKUP = "<img src=stolen onerror=alert(1)></script><script>alert(2)</script>{a|b}"
"""What ends a script, and what would run if it were taken for HTML."""


class Opened(Profiler):
    """A report, known as the page of a server is; the file takes the place of the server."""

    def __init__(self, page: Page, file: Path) -> None:
        self.page = page
        self.ui = page
        self.file = file
        self.requests: list[str] = []
        page.on("request", self._asked)

    def _asked(self, request: Request) -> None:
        if not request.url.startswith(("blob:", "data:")):
            self.requests.append(request.url.partition("#")[0])

    def link(self, query: str = "", **state: str) -> str:
        parts = "&".join(f"{key}={value}" for key, value in state.items())
        return f"{self.file.as_uri()}{query}#{parts}"


def write_report(path: Path, output: Path, *options: str) -> Path:
    command = [sys.executable, "-m", "torch_tb_profiler", "report", str(path), "-o", str(output), *options]
    done = subprocess.run(
        [*command, "--cache-dir", str(output.parent / "cache")],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return output


@pytest.fixture(scope="module")
def reports(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    return {
        GPU_RUN: write_report(samples, folder / "gpu.html", "--run", GPU_RUN),
        CPU_RUN: write_report(samples / CPU_RUN, folder / "cpu.html"),
    }


@pytest.mark.parametrize("run", [GPU_RUN, pytest.param(CPU_RUN, marks=pytest.mark.long)])
def test_every_view(run: str, reports: dict[str, Path], page: Page, keep: Keep) -> None:
    opened = Opened(page, reports[run])
    opened.open()
    for view, name in VIEWS.items():
        opened.go_to(view)
        opened.loaded()
        expect(opened.ui.get_by_role("alert")).to_have_count(0)
        # Of the timeline there are as many pieces as there are places to look at.
        expect(opened.ui.get_by_text("Not in this report")).to_have_count(1 if view == "trace" else 0)
        page.wait_for_timeout(150)
        assert faults(page) == [], name
        keep(f"report-{run}-{view}")
    assert set(opened.requests) == {reports[run].as_uri()}


def test_a_single_trace_says_how_to_compare(reports: dict[str, Path], page: Page) -> None:
    opened = Opened(page, reports[CPU_RUN]).open(v="compare")
    panel = opened.panel("What is compared")
    expect(panel.get_by_text("There is only one trace in this report")).to_be_visible()
    expect(panel.get_by_text(re.compile(r"^torch-tb-profiler report .* --worker NAME"))).to_be_visible()


def test_the_numbers_are_those_of_the_server(reports: dict[str, Path], page: Page, alone: Server) -> None:
    opened = Opened(page, reports[GPU_RUN]).open(v="operators", o="-calls")
    shown = opened.grid("Operators").first_rows("Calls")
    served = Profiler(page, alone).open(v="operators", o="-calls", r=GPU_RUN)
    assert served.grid("Operators").first_rows("Calls") == shown


def test_is_looked_at_as_the_page(reports: dict[str, Path], page: Page) -> None:
    """Sorting, filters, charts as tables, another worker, the inspector, links and Back work in the file, too."""
    opened = Opened(page, reports[GPU_RUN]).open(v="operators", r=GPU_RUN, k="rank0")
    grid = opened.grid("Operators")
    grid.filter.fill("aten::mm")
    expect(grid.count).to_contain_text("of")
    grid.row("aten::mm").click()
    expect(opened.inspector).to_contain_text("nvjet")
    opened.choose("Worker", "rank2")
    back(page)
    expect(opened.picker("Worker")).to_contain_text("rank0")
    assert opened.state["sel"] == "op:aten::mm"
    opened.go_to("compare")
    opened.switch("How many traces", "Any number")
    expect(opened.grid("Traces").count).to_have_text("1 row")
    opened.switch("Which traces", "All of this run")
    expect(opened.grid("Traces").count).to_have_text("4 rows")
    opened.switch("What", "Kernels")
    expect(opened.grid("Side by side").header("rank3")).to_be_visible()
    assert set(opened.requests) == {reports[GPU_RUN].as_uri()}


def test_what_is_not_in_it_says_so(reports: dict[str, Path], page: Page) -> None:
    opened = Opened(page, reports[GPU_RUN]).open(v="overview", st="4~5")
    missing = opened.ui.get_by_text("Not in this report").first
    expect(missing).to_be_visible()
    expect(opened.ui.get_by_text("torch-tb-profiler serve LOGDIR").first).to_be_visible()
    expect(opened.ui.get_by_role("button", name="Retry")).to_have_count(0)
    expect(opened.ui.get_by_role("button", name="Refresh")).to_have_count(0)
    expect(opened.ui.get_by_role("contentinfo")).to_contain_text("Report of")


def test_markup_in_names_is_text(tmp_path: Path, page: Page) -> None:
    run = tmp_path / "<title><script>alert(3)<"
    run.mkdir()
    found = [
        events.annotation("ProfilerStep#1", 0, 1000),
        events.annotation(MARKUP, 5, 500),
        events.op(MARKUP, 10, 300),
        events.launch(20, 1),
        events.kernel(100, 500, 1, MARKUP),
    ]
    (run / "w.1.pt.trace.json").write_text(json.dumps({"traceEvents": found}))
    opened = Opened(page, write_report(run, tmp_path / "report.html"))
    for view in VIEWS:
        opened.open(v=view)
        expect(opened.heading(VIEWS[view])).to_be_visible()
        page.wait_for_timeout(100)
        assert page.locator("img[src=stolen]").count() == 0
    opened.open(v="operators")
    expect(opened.grid("Operators").row(MARKUP)).to_be_visible()
    assert set(opened.requests) == {opened.file.as_uri()}


def test_is_downloaded_from_the_page(on_its_own: Profiler, page: Page, tmp_path: Path) -> None:
    on_its_own.open(r=GPU_RUN, k="rank1")
    with page.expect_download() as download:
        on_its_own.ui.get_by_role("link", name="Report").click()
    assert re.fullmatch(rf"{GPU_RUN}-rank1-report\.html", download.value.suggested_filename)
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    opened = Opened(page, file).open()
    expect(opened.picker("Worker")).to_contain_text("rank1")
    opened.go_to("distributed")
    expect(opened.grid("Ranks").count).to_have_text("4 rows")
    assert len(file.read_bytes()) < 2_000_000
