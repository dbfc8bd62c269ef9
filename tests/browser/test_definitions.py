"""Every number of every view says what it is when it is pointed at."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.profiler import CPU_RUN, GPU_RUN, VIEWS, Profiler
from tests.browser.servers import Server

STATS = (
    ".simple-table:not(.full) th.number, .area-average th[scope=row], .devices-table th:nth-child(n + 5), "
    ".tile dt, .facts[data-look=edges] dt"
)
NAMES = {
    *("Worker", "Rank", "Node", "Process", "Device", "Name", "Compute capability", "Backend", "Process groups", "Path")
}
"""Columns that name something; there is nothing to measure."""
UNEXPLAINED = """(found) => found
    .filter((each) => !each.closest("[title]:not([title=''])"))
    .map((each) => each.textContent.trim())"""


@pytest.mark.parametrize(
    "run", [GPU_RUN, *(pytest.param(run, marks=pytest.mark.long) for run in ("ddp_gloo_2ranks", CPU_RUN))]
)
def test_every_column_and_number_has_its_definition(run: str, on_its_own: Profiler) -> None:
    on_its_own.page.set_viewport_size({"width": 1920, "height": 1750})
    on_its_own.open(r=run, sel="op:aten::add", x="all")
    missing: dict[str, list[str]] = {}
    seen = 0
    for view in VIEWS:
        on_its_own.go_to(view)
        on_its_own.loaded()
        stats = on_its_own.ui.locator(STATS)
        unexplained = stats.evaluate_all(UNEXPLAINED)
        seen += stats.count()
        # The tip of a heading is made when it is pointed at; the chooser has the same texts, of hidden columns, too.
        for chooser in on_its_own.ui.get_by_role("main").get_by_role("button", name="Columns", exact=True).all():
            chooser.click()
            columns = on_its_own.ui.get_by_role("group", name="Columns").locator("label")
            expect(columns.first).to_be_visible()
            unexplained += [name for name in columns.evaluate_all(UNEXPLAINED) if name not in NAMES]
            seen += columns.count()
            on_its_own.page.keyboard.press("Escape")
        if unexplained:
            missing[view] = unexplained
    assert not missing, json.dumps(missing, ensure_ascii=False)
    assert seen > 60


def test_the_overview_says_what_the_docs_say(open_page: OpenPage, alone: Server) -> None:
    """The server's definitions, which docs/views/overview.md repeats word for word."""
    profiler = Profiler(open_page(), alone).open(r=GPU_RUN, x="all")
    definitions = alone.api("overview", run=GPU_RUN, worker="rank0")["definitions"]
    panel = profiler.panel("Execution Summary")
    expect(panel.get_by_role("rowheader", name="Runtime")).to_have_attribute("title", definitions["runtime"])
    tile = profiler.ui.locator(".tile").filter(has_text="SM efficiency")
    expect(tile).to_have_attribute("title", definitions["sm_efficiency"])
    profiler.go_to("steps")
    grid = profiler.grid("Steps")
    grid.header("Runtime").get_by_role("button").hover()
    expect(profiler.ui.get_by_role("tooltip")).to_contain_text(definitions["runtime"])
