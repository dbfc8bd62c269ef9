"""The Query view: only of a server that was begun with --sql."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage, StartServer
from tests.browser.profiler import Profiler
from tests.browser.servers import Server
from tests.recorded import ROOT

pytest.importorskip("duckdb", reason="the extra `sql` is not installed")

RUN = "generated_4gpu_h100"


@pytest.fixture(scope="module")
def with_sql(start_for_all: StartServer) -> Server:
    server = start_for_all("sql", "torch_tb_profiler", "serve", "--sql", str(ROOT / "samples" / RUN))
    server.wait_for_traces()
    return server


def test_a_query_its_errors_and_its_tables(page: Page, with_sql: Server) -> None:
    profiler = Profiler(page, with_sql).open(r=RUN, k="rank0", v="query")
    expect(profiler.heading("Query").first).to_be_visible()
    field = page.get_by_label("Query in SQL")
    field.fill("select count(*) as n, ms(sum(duration_ns)) as total_ms from kernels")
    field.press("Control+Enter")
    expect(page.get_by_role("status").filter(has_text="1 row in")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("gridcell").filter(has_text="881").first).to_be_visible()
    assert profiler.state["x"].startswith("select count(*)")

    field = page.get_by_label("Query in SQL")
    field.fill("select nme from kernels")
    page.get_by_role("button", name="Run (Ctrl+Enter)").click()
    expect(page.get_by_role("alert")).to_contain_text('"nme" not found')

    page.get_by_role("button", name="largest kernels").click()
    expect(page.get_by_role("status").filter(has_text="20 rows in")).to_be_visible(timeout=60_000)
    tables = page.get_by_role("group").filter(has=page.locator("summary", has_text="a kernel that ran"))
    tables.locator("summary").click()
    expect(tables.get_by_text("exposed_ns", exact=True)).to_be_visible()

    page.get_by_role("radio", name="All ranks").click()
    page.get_by_label("Query in SQL").fill("select worker, count(*) as n from all_steps group by 1 order by 1")
    page.get_by_role("button", name="Run (Ctrl+Enter)").click()
    expect(page.get_by_role("status").filter(has_text="4 rows in")).to_be_visible(timeout=60_000)


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_a_link_asks_at_once(open_page: OpenPage, with_sql: Server, scheme: str) -> None:
    page = open_page(color_scheme=scheme)
    Profiler(page, with_sql).open(r=RUN, k="rank1", v="query", x="from steps")
    expect(page.get_by_role("status").filter(has_text="5 rows in")).to_be_visible(timeout=60_000)


def test_other_servers_say_that_it_is_off_and_how_to_switch_it_on(on_its_own: Profiler) -> None:
    on_its_own.open(v="query")
    panel = on_its_own.panel("Query")
    expect(panel.get_by_text("Query is off")).to_be_visible()
    expect(panel.get_by_text("torch-tb-profiler serve --sql LOGDIR")).to_be_visible()
    expect(on_its_own.navigation.get_by_role("link", name="Query")).to_have_count(0)
