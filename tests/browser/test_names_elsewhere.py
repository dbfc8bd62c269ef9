"""Hostile names beyond tables: reports, notebooks, the timeline, queries, snapshots, the frame of TensorBoard."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import torch_tb_profiler
from tests.attack.names import LONG, write_names
from tests.browser.conftest import Keep, OpenPage, StartServer
from tests.browser.profiler import GPU_RUN, VIEWS, Profiler
from tests.browser.servers import Server
from tests.browser.test_names import FAULTS
from tests.browser.test_report import Opened, write_report
from tests.browser.timeline import Timeline

SPY = """
window.drawn = new Set();
window.slow = 0;
const fillText = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
  drawn.add(String(text));
  return fillText.call(this, text, ...place);
};
new PerformanceObserver((list) => {
  for (const task of list.getEntries()) slow = Math.max(slow, task.duration);
}).observe({ type: "longtask" });
"""
HIDDEN_ON_CANVAS = r"""() => [...drawn].filter((text) => /[^\P{C}\n\t\u200d]|[\u2028\u2029]/u.test(text))"""
SLOW_MS = 1500
"""One piece of work of the page, on a busy machine; with a name of 100,000 letters in it."""


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("names") / "logs"
    write_names(folder)
    return folder


@pytest.fixture(scope="module")
def hostile(start_for_all: StartServer, logs: Path) -> Server:
    server = start_for_all("names-sql", "torch_tb_profiler", "serve", "--sql", str(logs))
    server.wait_for_traces()
    server.run = "names"
    return server


@pytest.mark.long
def test_the_report_of_two_ranks(logs: Path, tmp_path: Path, page: Page) -> None:
    opened = Opened(page, write_report(logs / "names", tmp_path / "report.html")).open()
    assert len(opened.file.read_bytes()) < 4_000_000
    expect(opened.picker("Worker")).to_be_visible()
    # Those of the report itself have done their work; any other would be a name that became one.
    page.evaluate("for (const own of document.querySelectorAll('script')) own.remove()")
    for worker in ("rank0", "rank1"):
        for view in VIEWS if worker == "rank0" else ("overview", "operators"):
            opened.turn_to(v=view, k=worker)
            expect(opened.heading(VIEWS[view])).to_be_visible()
            opened.loaded()
            expect(opened.ui.get_by_role("alert")).to_have_count(0)
            assert page.evaluate(FAULTS) == [], view
    opened.turn_to(v="kernels", k="rank0", q='name="abc\\u202e321cba"')
    opened.turn_to(v="kernels", k="rank0", sel="kernel:abc%E2%80%AE321cba")
    expect(opened.inspector.get_by_role("heading", level=2)).to_have_text("abc{U+202E}321cba")
    assert page.evaluate("document.querySelectorAll('script:not([src])').length") == 0
    assert set(opened.requests) == {opened.file.as_uri()}


@pytest.mark.long
def test_the_timeline(page: Page, hostile: Server, keep: Keep) -> None:
    page.add_init_script(SPY)
    profiler = Profiler(page, hostile).open(v="trace", k="rank0")
    timeline = Timeline(profiler).settle()
    assert {"abc{U+202E}321cba", "שלום 12 עולם"} <= set(timeline.names())
    start, end = timeline.window()
    for part in (0.0, 0.5, 0.95):
        begin = start + (end - start) * part
        profiler.turn_to(v="trace", k="rank0", t=f"{begin:.0f}-{begin + (end - start) / 20:.0f}")
        timeline.settle()
    assert page.evaluate(HIDDEN_ON_CANVAS) == []
    assert page.evaluate("drawn.size") > 20
    field = profiler.ui.get_by_role("searchbox", name="Search names")
    for name, seen in {
        "__proto__": "__proto__",
        "\x9b31mc1": "{U+009B}31mc1",
        "trailing ": "trailing␣",
        "tab\there": "tab⇥here",
        "long_xxxx": LONG,
    }.items():
        field.fill(name)
        expect(profiler.ui.locator(".trace-search [role=status]")).to_contain_text("hits")
        field.press("Enter")
        expect(page.locator(".trace-details-name")).to_have_text(seen)
        assert page.evaluate(FAULTS) == [], name
    timeline.settle()
    assert page.evaluate("slow") < SLOW_MS
    keep("names-timeline")


def test_queries(page: Page, hostile: Server, keep: Keep) -> None:
    statement = (
        "SELECT name AS \"<img src=stolen>\u202e\", {'name': name} AS inside, [name] AS list "
        "FROM kernels WHERE name LIKE 'abc%' OR name LIKE 'trailing%'"
    )
    profiler = Profiler(page, hostile).open(k="rank0", v="query", x=statement)
    expect(page.get_by_role("status").filter(has_text="rows in")).to_be_visible(timeout=60_000)
    expect(page.get_by_role("gridcell", name="abc{U+202E}321cba", exact=True).first).to_be_visible()
    assert page.evaluate(FAULTS) == []
    keep("names-query")
    for wrong in ("SELECT error(name) FROM kernels", "SELECT \u202e<b>no\x00", 'SELECT "</script>" FROM kernels'):
        profiler.turn_to(k="rank0", v="query", x=wrong)
        expect(page.get_by_role("alert")).to_be_visible(timeout=60_000)
        assert page.evaluate(FAULTS) == [], wrong


def test_a_memory_snapshot(page: Page, hostile: Server, keep: Keep) -> None:
    profiler = Profiler(page, hostile).open(v="snapshot", r="snapshot", k="rank0 (memory)")
    expect(profiler.heading("Memory snapshot")).to_be_visible()
    profiler.panel("Segments").scroll_into_view_if_needed()
    profiler.loaded()
    assert page.evaluate(FAULTS) == []
    page.mouse.wheel(0, 5000)
    profiler.loaded()
    assert page.evaluate(FAULTS) == []
    keep("names-snapshot")


def test_cards_in_a_notebook(open_page: OpenPage, logs: Path, tmp_path: Path) -> None:
    trace = torch_tb_profiler.open(logs / "names", cache_dir=tmp_path / "cache").trace(worker="rank0")
    shown = (trace, trace.operators(), trace.kernels(), trace.show(static=True, height=600))
    file = tmp_path / "notebook.html"
    head = '<!doctype html><meta charset="utf-8"><title>Notebook</title>'
    file.write_text(head + "".join(f"<section>{each._repr_html_()}</section>" for each in shown), "utf-8")
    page = open_page()
    page.goto(file.as_uri())
    inside = page.frame_locator("iframe")
    expect(inside.get_by_role("heading", name="Overview", level=1)).to_be_visible()
    assert page.locator("section :is(img, script, b b, object, embed, a)").count() == 0
    assert page.evaluate(r"/[^\P{C}\n\t\u200d]/u.exec(document.body.innerText)?.[0] ?? ''") == ""


def test_forged_messages_in_the_frame_of_tensorboard(page: Page, tensorboard: Server) -> None:
    profiler = Profiler(page, tensorboard).open(r=GPU_RUN, k="rank0", v="operators")
    count = profiler.grid("Operators").count
    expect(count).to_have_text("63 rows")
    frame = page.frames[-1]
    # TensorBoard's own script has done its work.
    frame.evaluate("for (const own of document.querySelectorAll('script')) own.remove()")
    before = frame.evaluate("document.querySelector('.main').innerText")
    forged = json.dumps({"type": "experimental.DataReloaded", "id": 1, "payload": {"run": "none"}, "isReply": False})
    page.evaluate(
        """(forged) => {
          const plugin = document.querySelector("iframe").contentWindow;
          for (const data of [forged, JSON.parse(forged), "PONG", { perfetto: {} }, null, 7, "{"]) {
            plugin.postMessage(data, "*");
            const channel = new MessageChannel();
            plugin.postMessage("experimental.bootstrap", "*", [channel.port2]);
            channel.port1.postMessage(data);
            plugin.dispatchEvent(new MessageEvent("message", { data, origin: "https://ui.perfetto.dev" }));
          }
        }""",
        forged,
    )
    expect(count).to_have_text("63 rows")
    assert frame.evaluate("document.querySelector('.main').innerText") == before
    # An address may choose what is shown, and what there is not is named as missing.
    profiler.turn_to(r="<img src=stolen>\u202e", k="__proto__", v="constructor", sel="op:\u202e")
    expect(profiler.ui.get_by_text("{U+202E}").first).to_be_visible()
    assert frame.evaluate(FAULTS) == []
