"""From a file to the screen: a generated trace, whose right numbers the generator knows, shows them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser import numbers
from tests.browser.profiler import Profiler, as_table
from tests.browser.servers import Server
from tests.tracegen.config import Config
from tests.tracegen.writer import write_run


def test_steps_operators_and_kernels(tmp_path: Path, serve_logs: Callable[[Path], Server], page: Page) -> None:
    (truth,) = write_run(Config(steps=3, layers=2, seed=7), tmp_path / "run")
    server = serve_logs(tmp_path)
    server.wait_for_traces()
    profiler = Profiler(page, server).open(x="all")

    steps = as_table(profiler.panel("Step Time Breakdown"))
    assert {row[0] for row in steps} <= {name.removeprefix("ProfilerStep#") for name in truth.steps}
    assert len(steps) == 3

    profiler.go_to("operators")
    grid = profiler.grid("Operators")
    expect(grid.count).to_be_visible()
    saved = {row["name"]: row for row in csv.DictReader(io.StringIO(grid.export("CSV")))}
    assert saved.keys() == truth.ops.keys()
    for name, expected in truth.ops.items():
        shown = [int(saved[name][key]) for key in ("calls", "device_self_ns", "device_total_ns", "host_total_ns")]
        assert shown == [expected.calls, expected.device_self_ns, expected.device_ns, expected.host_ns], name
    unattributed = grid.panel.get_by_text("not attributed to an operator").inner_text()
    assert numbers.same(" ".join(unattributed.split(" ")[:2]), truth.unattributed_ns)

    profiler.go_to("kernels")
    grid = profiler.grid("Kernels")
    expect(grid.count).to_be_visible()
    kernels = csv.DictReader(io.StringIO(grid.export("CSV")))
    assert {row["name"]: (int(row["calls"]), int(row["total_ns"])) for row in kernels} == dict(truth.kernels)
