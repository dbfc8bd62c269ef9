"""Regular expressions come with links, and some would run for years: the page stays usable, wherever it is open."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests import events
from tests.browser.conftest import StartServer
from tests.browser.profiler import Profiler
from tests.browser.servers import Server
from tests.browser.test_report import Opened, write_report

SLOW = "name~(a|aa)+$"
TOO_SLOW = "The regular expression takes too long to match."
NAMES = ("a" * 60 + "!", "gemm", "relu")


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A run whose operators have the names."""
    folder = tmp_path / "logs" / "run"
    folder.mkdir(parents=True)
    ops = [events.op(name, 10 + 100 * at, 50) for at, name in enumerate(NAMES)]
    (folder / "w.1.pt.trace.json").write_text(json.dumps({"traceEvents": ops}))
    return folder.parent


@pytest.fixture(params=["alone", *(pytest.param(host, marks=pytest.mark.long) for host in ("tensorboard", "report"))])
def profiler(request: pytest.FixtureRequest, logs: Path, page: Page, start: StartServer) -> Profiler:
    if request.param == "report":
        return Opened(page, write_report(logs, logs / "report.html"))
    module, arguments = {
        "alone": ("torch_tb_profiler", ("serve", str(logs))),
        "tensorboard": ("tensorboard.main", ("--logdir", str(logs))),
    }[request.param]
    server = start("patterns", module, *arguments)
    server.wait_for_traces()
    return Profiler(page, server)


def test_a_pattern_that_would_run_for_years_is_given_up(profiler: Profiler) -> None:
    profiler.open(v="operators", q=SLOW)
    # Also while it is tried, and long before any time limit of the browser.
    expect(profiler.heading("Operator")).to_be_visible()
    grid = profiler.grid("Operators")
    expect(profiler.ui.get_by_text(TOO_SLOW)).to_be_visible()
    expect(grid.row("gemm")).to_be_visible()
    # What can be matched is, afterwards.
    grid.filter.fill("name~^(gemm|conv)+$")
    expect(grid.row("gemm")).to_be_visible()
    expect(grid.row("relu")).to_have_count(0)
    expect(profiler.ui.get_by_text(TOO_SLOW)).to_have_count(0)
    # The last filter that worked stays meanwhile.
    grid.filter.fill(SLOW)
    expect(profiler.ui.get_by_text(TOO_SLOW)).to_be_visible()
    expect(grid.row("gemm")).to_be_visible()
    expect(grid.row("relu")).to_have_count(0)
    profiler.go_to("overview")


def test_without_workers_only_patterns_that_cannot_be_slow_are_matched(
    logs: Path, page: Page, serve_logs: Callable[[Path], Server]
) -> None:
    page.add_init_script("delete window.Worker")
    server = serve_logs(logs)
    server.wait_for_traces()
    profiler = Profiler(page, server).open(v="operators", q=SLOW)
    refused = profiler.ui.get_by_text("the browser allows no Web Worker")
    expect(refused).to_be_visible()
    grid = profiler.grid("Operators")
    grid.filter.fill("name~^gemm")
    expect(grid.row("relu")).to_have_count(0)
    expect(grid.row("gemm")).to_be_visible()
    expect(refused).to_have_count(0)
