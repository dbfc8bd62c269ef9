"""The UI as its users know it: by the names of what is on the screen."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from playwright.sync_api import FrameLocator, Locator, Page, expect

from tests.browser.servers import Server

if TYPE_CHECKING:
    from typing_extensions import Self

VIEWS = {
    "overview": "Overview",
    "steps": "Steps",
    "operators": "Operator",
    "kernels": "GPU Kernel",
    "trace": "Trace",
    "stacks": "Stacks",
    "criticalpath": "Critical path",
    "roofline": "Roofline",
    "memory": "Memory",
    "distributed": "Distributed",
    "program": "Program",
    "modules": "Module",
    "lightning": "Lightning",
    "compare": "Diff",
    "health": "Trace health",
}
GPU_RUN = "generated_4gpu_h100"
CPU_RUN = "cnn_workers0"


class Profiler:
    """The page of a server, in TensorBoard's frame or on its own."""

    def __init__(self, page: Page, server: Server) -> None:
        self.page = page
        self.server = server
        self.ui: Page | FrameLocator = page.frame_locator("iframe") if server.is_tensorboard else page

    def link(self, query: str = "", **state: str) -> str:
        """The address with this state, under the keys of the deep links: v view, r run, k worker, q filter, …"""
        state = {**({"r": self.server.run} if self.server.run else {}), **state}
        if self.server.is_tensorboard:
            parts = ["pytorch_profiler", *(f"p.pytorch_profiler.{key}={quote(state[key], '')}" for key in state)]
        else:
            parts = [f"{key}={quote(state[key], '')}" for key in state]
        return f"{self.server.address}{query}#{'&'.join(parts)}"

    def open(self, query: str = "", **state: str) -> Self:
        """Load the page, also when it is already there: another address after the # alone would not."""
        if self.page.url != "about:blank":
            self.page.goto("about:blank")
        self.page.goto(self.link(query, **state))
        return self

    def turn_to(self, **state: str) -> None:
        """Another address of the page that is there already, as Back and Forward do it: cheaper than `open`."""
        self.page.evaluate("(address) => { location.href = address; }", self.link(**state))

    def in_rail(self, view: str) -> Locator:
        """Its entry; those of views without data are shown first."""
        more = self.navigation.get_by_role("button", name="Not recorded")
        if more.count() and more.get_attribute("aria-expanded") == "false":
            more.click()
        return self.navigation.get_by_role("link", name=VIEWS[view], exact=True)

    def go_to(self, view: str) -> None:
        self.in_rail(view).click()
        expect(self.heading(VIEWS[view])).to_be_visible()

    def loaded(self) -> Profiler:
        """As a person does: wait until all that is in sight is there, and no longer moves what is below it."""
        expect(self.ui.get_by_label("Loading…")).to_have_count(0)
        return self

    @property
    def state(self) -> dict[str, str]:
        """What the address says, under the same keys."""
        parameters = self.page.evaluate("Object.fromEntries(new URLSearchParams(location.hash.slice(1)))")
        return {key.removeprefix("p.pytorch_profiler."): value for key, value in parameters.items() if value}

    # ---- the frame around the views

    @property
    def navigation(self) -> Locator:
        return self.ui.get_by_role("navigation", name="Views")

    @property
    def inspector(self) -> Locator:
        return self.ui.get_by_role("complementary", name="Selected")

    def picker(self, label: str) -> Locator:
        """The button that shows what is chosen, and opens the list."""
        return self.ui.locator("[aria-haspopup=listbox]").and_(
            self.ui.get_by_role("button", name=re.compile(f"^{label} "))
        )

    def choose(self, label: str, value: str) -> None:
        self.picker(label).click()
        self.ui.get_by_role("listbox", name=label).get_by_role("option", name=value).first.click()

    def heading(self, name: str) -> Locator:
        return self.ui.get_by_role("heading", name=name, exact=True, level=1)

    # ---- inside a view

    def panel(self, title: str) -> Locator:
        return self.ui.get_by_role("region", name=title, exact=True)

    def grid(self, name: str) -> Grid:
        return Grid(self, name)

    def switch(self, label: str, choice: str) -> None:
        """Choose one of a few exclusive choices."""
        self.ui.get_by_role("radiogroup", name=label).get_by_role("radio", name=choice, exact=True).click()


class Grid:
    """The large table of a view."""

    def __init__(self, profiler: Profiler, name: str) -> None:
        self._profiler = profiler
        ui = profiler.ui
        self.panel = profiler.panel(name)
        self.root = ui.get_by_role("grid", name=name, exact=True)
        self.filter = ui.get_by_role("searchbox", name=f"Filter: {name}")
        self.count = self.panel.get_by_text(re.compile(r"^[\d,]+( of [\d,]+)? rows?$"))

    def header(self, label: str) -> Locator:
        """By its label, whatever unit stands behind it."""
        return self.root.get_by_role(
            "columnheader", name=re.compile(rf"^{re.escape(label)}( (ns|µs|ms|s|%|\w?B(.s)?))?\W*$")
        )

    def sort_by(self, label: str) -> None:
        self.header(label).get_by_role("button").click()

    def row(self, name: str) -> Locator:
        """The first row with exactly this name; it must be on the screen."""
        # A row that opens has a button in front of its name.
        names = (name, f"Show details {name}", f"Hide details {name}")
        plain, closed, opened = (self._profiler.page.get_by_role("gridcell", name=each, exact=True) for each in names)
        cell = plain.or_(closed).or_(opened)
        return self.root.get_by_role("row").filter(has=cell).first

    @property
    def first_row(self) -> Locator:
        return self.root.locator("[aria-rowindex='2']")

    def first_rows(self, column: str, rows: int = 10) -> list[str]:
        """What stands in a column, from the top."""
        at = int(self.header(column).get_attribute("aria-colindex") or 0) - 1
        shown = self.root.locator("[aria-rowindex]").filter(has=self._profiler.page.locator("[role=gridcell]"))
        cells = [row.get_by_role("gridcell").nth(at).inner_text() for row in shown.all()[:rows]]
        return [cell.strip() for cell in cells]

    def export(self, kind: str) -> str:
        """The text of the file that Export saves; kind: CSV or JSON."""
        self.panel.get_by_role("button", name="Export").click()
        with self._profiler.page.expect_download() as download:
            self.panel.get_by_role("button", name=f"Save as {kind}").click()
        return download.value.path().read_text()


def rows_of(table: Locator) -> list[list[str]]:
    """The texts of an ordinary table, without its head."""
    expect(table.locator("tbody tr").first).to_be_visible()
    texts: Any = table.locator("tbody tr").evaluate_all(
        "(rows) => rows.map((row) => Array.from(row.cells, (cell) => cell.innerText.trim()))"
    )
    return [[str(text) for text in row] for row in texts]


def as_table(panel: Locator) -> list[list[str]]:
    """The numbers behind the picture of a panel."""
    panel.get_by_role("button", name="Show as table").click()
    return rows_of(panel.get_by_role("table"))


def definition(within: Locator, term: str) -> Locator:
    """What stands next to a term of a list of terms."""
    found = within.get_by_role("term").filter(has_text=re.compile(f"^{re.escape(term)}$"))
    return found.locator("xpath=following-sibling::dd[1]")


def saved_whole(panel: Locator) -> list[dict[str, str]]:
    """The rows that a table saves as CSV, with its hidden columns."""
    panel.get_by_role("button", name="Export").click()
    panel.get_by_role("checkbox", name="With hidden columns").check()
    with panel.page.expect_download() as download:
        panel.get_by_role("button", name="Save as CSV").click()
    return list(csv.DictReader(io.StringIO(download.value.path().read_text())))
