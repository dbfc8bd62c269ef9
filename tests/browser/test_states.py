"""Loading, failing, empty, partial: the page says what is the matter, and recovers by itself or on request."""

from __future__ import annotations

import gzip
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, Route, expect

from tests import tiny
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler
from tests.browser.servers import Server

ServeLogs = Callable[[Path], Server]
LATER = 20_000
"""Milliseconds after which an idle page has asked for the status again."""
LOST = 15_000
"""Milliseconds within which a page that lost its server goes on by itself when that is back."""


def answer_status(page: Page, server: Server, change: Callable[[dict[str, Any]], None]) -> None:
    """Let the page see another status than the server's: `change` may alter the first trace of CPU_RUN."""
    status = server.api("status")
    change(next(run for run in status["runs"] if run["name"] == CPU_RUN)["traces"][0])
    page.route("**/api/status*", lambda route: route.fulfill(json=status))


# ---- loading


def test_choices_are_there_when_it_is_known_which(on_its_own: Profiler) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    on_its_own.page.route(re.compile(r"/api/flops\?"), hold)
    on_its_own.open(v="roofline", r=GPU_RUN)
    expect(on_its_own.grid("Lost time").count).to_be_visible()
    choices = on_its_own.ui.get_by_role("radiogroup", name="Group by")
    expect(choices).to_have_count(0)
    assert held
    for route in held:
        route.continue_()
    expect(choices.get_by_role("radio", name="Phase")).to_be_visible()


def test_shows_how_far_loading_is_and_then_the_view(on_its_own: Profiler) -> None:
    page, server = on_its_own.page, on_its_own.server
    page.clock.install()

    def loading(trace: dict[str, Any]) -> None:
        trace.update(state="loading", bytes_done=trace["bytes_total"] * 42 // 100, events=None)

    answer_status(page, server, loading)
    on_its_own.open(r=CPU_RUN, v="operators")
    trace = next(trace for trace in server.traces() if trace["worker"] == "worker0")
    expect(on_its_own.heading(f"Loading {trace['file']}")).to_be_visible()
    bar = on_its_own.ui.get_by_role("main").get_by_role("progressbar").first
    expect(bar).to_have_attribute("aria-valuenow", "42")
    expect(on_its_own.ui.get_by_role("status").filter(has_text="Loading 1 trace: 42 %")).to_be_visible()
    expect(on_its_own.ui.get_by_role("button", name=f"{GPU_RUN} · rank0")).to_be_visible()

    page.unroute("**/api/status*")
    page.clock.fast_forward(2_500)
    expect(on_its_own.heading("Operator")).to_be_visible()
    expect(on_its_own.grid("Operators").count).to_be_visible()


def test_other_traces_can_be_looked_at_meanwhile(on_its_own: Profiler) -> None:
    answer_status(on_its_own.page, on_its_own.server, lambda trace: trace.update(state="queued", bytes_done=0))
    on_its_own.open(r=CPU_RUN)
    expect(on_its_own.ui.get_by_text("Waiting in the queue.")).to_be_visible()
    on_its_own.ui.get_by_role("button", name=f"{GPU_RUN} · rank1").click()
    expect(on_its_own.panel("The median step")).to_be_visible()
    assert on_its_own.state["k"] == "rank1"


def test_a_panel_waits_for_its_trace(on_its_own: Profiler) -> None:
    waiting = {"error": "is still loading", "state": "loading", "progress": {"bytes_done": 3, "bytes_total": 10}}
    asked: list[str] = []

    def late(route: Route) -> None:
        asked.append(route.request.url)
        # The strip of steps asks first; the view, which comes a moment later, asks again.
        if len(asked) <= 2:
            route.fulfill(status=409, json=waiting)
        else:
            route.continue_()

    on_its_own.page.route("**/api/overview*", late)
    on_its_own.open()
    expect(on_its_own.ui.get_by_text("The trace is still being read: 30 %")).to_be_visible()
    expect(on_its_own.panel("The median step")).to_be_visible()
    expect(on_its_own.ui.get_by_role("alert")).to_have_count(0)


# ---- errors


def test_an_error_says_what_was_asked_and_retry_works(on_its_own: Profiler) -> None:
    page = on_its_own.page
    page.route("**/api/kernels*", lambda route: route.fulfill(status=500, json={"error": "see the log: mark 4711"}))
    on_its_own.open(v="kernels", r=GPU_RUN)
    alerts = on_its_own.panel("Kernels").get_by_role("alert")
    expect(alerts).to_contain_text("see the log: mark 4711")
    expect(alerts).to_contain_text(f"api/kernels?run={GPU_RUN}")
    expect(alerts).to_contain_text("(500)")
    page.unroute("**/api/kernels*")
    alerts.get_by_role("button", name="Retry").click()
    expect(on_its_own.grid("Kernels").count).to_be_visible()
    expect(on_its_own.ui.get_by_role("alert")).to_have_count(0)


def test_an_answer_that_is_no_json(on_its_own: Profiler) -> None:
    on_its_own.page.route("**/api/overview*", lambda route: route.fulfill(body="<h1>Proxy</h1>"))
    on_its_own.open()
    expect(on_its_own.ui.get_by_role("alert")).to_contain_text("The answer is not JSON")


def test_the_server_goes_away_and_the_page_goes_on_when_it_is_back(
    tmp_path: Path, serve_logs: ServeLogs, page: Page
) -> None:
    tiny.write_trace(tmp_path / "run" / "w.1.pt.trace.json")
    server = serve_logs(tmp_path)
    server.wait_for_traces()
    page.clock.install()
    profiler = Profiler(page, server).open()
    breakdown = profiler.panel("The median step")
    expect(breakdown).to_be_visible()

    server.stop()
    lost = profiler.ui.get_by_role("alert").filter(has_text="The server is not reachable")
    for _ in range(3):
        page.clock.fast_forward(LATER)
        page.wait_for_timeout(200)
    expect(lost).to_be_visible()
    expect(breakdown).to_be_visible()

    # Its code has not been fetched yet.
    profiler.in_rail("operators").click()
    view = profiler.ui.get_by_role("main").get_by_role("alert").filter(has_text="This part of the page")
    expect(view).to_be_visible()
    said = profiler.ui.get_by_role("main").inner_text()
    assert not re.search(r"http:|import|preload|fetch|\.js|\.css", said)

    server.start()
    page.clock.fast_forward(LOST)
    expect(profiler.grid("Operators").count).to_have_text("1 row")
    expect(profiler.ui.get_by_role("alert")).to_have_count(0)


def test_no_status_from_the_start(on_its_own: Profiler) -> None:
    page = on_its_own.page
    page.clock.install()
    page.route("**/api/status*", lambda route: route.abort())
    on_its_own.open()
    expect(on_its_own.ui.get_by_text("Connecting…")).to_be_visible()
    for _ in range(3):
        page.clock.fast_forward(LATER)
        page.wait_for_timeout(200)
    expect(on_its_own.heading("The server is not reachable")).to_be_visible()
    page.unroute("**/api/status*")
    on_its_own.ui.get_by_role("button", name="Retry").click()
    expect(on_its_own.heading("Overview")).to_be_visible()


# ---- nothing to show


def test_an_empty_directory_explains_recording_and_fills_by_itself(
    tmp_path: Path, serve_logs: ServeLogs, page: Page, samples: Path
) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    server = serve_logs(logs)
    page.clock.install()
    profiler = Profiler(page, server).open()
    expect(profiler.heading("No traces found")).to_be_visible()
    main = profiler.ui.get_by_role("main")
    expect(main).to_contain_text(str(logs))
    expect(main).to_contain_text(f'on_trace_ready=tensorboard_trace_handler("{logs}")')
    expect(main.get_by_role("button", name="Copy")).to_be_visible()

    shutil.copytree(samples / "cnn_workers2", logs / "first")
    server.wait_for_traces()
    page.clock.fast_forward(LATER)
    expect(profiler.heading("Overview")).to_be_visible()
    expect(profiler.picker("Run")).to_have_accessible_name("Run first")

    # Another run appears while the page is open, and the page stays where it is.
    tiny.write_trace(logs / "a second" / "w.1.pt.trace.json.gz")
    tiny.wait_until(lambda: len(server.traces()) == 2, "the second run is listed")
    server.wait_for_traces()
    page.clock.fast_forward(LATER)
    profiler.picker("Run").click()
    expect(profiler.ui.get_by_role("listbox", name="Run").get_by_role("option")).to_have_text(["a second", "first"])
    page.keyboard.press("Escape")
    expect(profiler.picker("Run")).to_have_accessible_name("Run first")


# ---- not the whole story


def test_damage_is_shown_as_notes_next_to_what_could_be_read(tmp_path: Path, serve_logs: ServeLogs, page: Page) -> None:
    run = tmp_path / "run"
    run.mkdir()
    good = [json.dumps(event) for event in tiny.events(steps=3)]
    broken = [*good[:2], '{"ph": "X", "cat": "cpu_op", "name": "aten::broken" "ts": 1}', *good[2:]]
    (run / "oneBadEvent.pt.trace.json").write_text('{"traceEvents": [' + ",\n".join(broken) + "]}")
    whole = gzip.compress(json.dumps({"traceEvents": tiny.events(steps=4000)}).encode())
    (run / "cut.pt.trace.json.gz").write_bytes(whole[: len(whole) // 2])
    (run / "foreign.pt.trace.json").write_text('{"hello": "world"}')

    server = serve_logs(tmp_path)
    server.wait_for_traces()
    profiler = Profiler(page, server)
    for worker in ("oneBadEvent", "cut"):
        notes = server.api("health", run="run", worker=worker)["notes"]
        touching = [note for note in notes if "overview" in note["touches"]]
        assert touching
        profiler.open(r="run", k=worker)
        expect(profiler.panel("The median step").get_by_role("img")).to_be_visible()
        profiler.ui.get_by_text("about this data").click()
        for note in touching:
            expect(profiler.ui.get_by_role("main").get_by_text(note["text"])).to_be_visible()

        # The same is behind the number in the status line.
        profiler.ui.get_by_role("contentinfo").get_by_role("button", name="note").click()
        dialog = profiler.ui.get_by_role("dialog")
        for note in notes:
            expect(dialog.get_by_text(note["text"])).to_be_visible()
        dialog.get_by_role("button", name="Close").click()

    reason = next(trace["reason"] for trace in server.traces() if trace["state"] == "failed")
    profiler.choose("Worker", "foreign")
    expect(profiler.heading("foreign.pt.trace.json could not be read")).to_be_visible()
    expect(profiler.ui.get_by_role("main").get_by_text(reason)).to_be_visible()


def test_a_recording_of_nothing_says_so(tmp_path: Path, serve_logs: ServeLogs, page: Page) -> None:
    names = {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "ts": 0, "args": {"name": "python"}}
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "empty.1.pt.trace.json").write_text('{"traceEvents": []}')
    (tmp_path / "run" / "names.1.pt.trace.json").write_text(json.dumps({"traceEvents": [names]}))
    server = serve_logs(tmp_path)
    server.wait_for_traces()
    profiler = Profiler(page, server).open(r="run", k="empty")
    main = profiler.ui.get_by_role("main")
    expect(profiler.heading("No events were recorded")).to_be_visible()
    expect(main).to_contain_text("empty.1.pt.trace.json holds no events: none were recorded, its traceEvents is empty")
    for view in ("overview", "steps", "operators", "kernels", "trace", "stacks", "memory", "distributed", "modules"):
        profiler.open(r="run", k="names", v=view)
        expect(main).to_contain_text("none of the 1 entries of the file has a duration or a value")
        expect(main.get_by_text("No events were recorded", exact=True)).to_be_visible()


def test_files_are_listed_with_what_became_of_them(tmp_path: Path, serve_logs: ServeLogs, page: Page) -> None:
    tiny.write_trace(tmp_path / "run" / "good.1.pt.trace.json")
    (tmp_path / "run" / "bad.1.pt.trace.json").write_text("this is not a trace")
    (tmp_path / "run" / "config.json").write_text('{"hello": "world"}')
    server = serve_logs(tmp_path)
    server.wait_for_traces()
    profiler = Profiler(page, server).open()
    expect(profiler.panel("The median step")).to_be_visible()
    profiler.ui.get_by_role("button", name="1 file could not be read").click()
    table = profiler.ui.get_by_role("dialog").get_by_role("table")
    run = server.api("status")["runs"][0]
    reasons = {trace["file"]: trace["reason"] for trace in run["traces"]}
    skipped = {file["file"]: file["reason"] for file in run["skipped"]}
    assert reasons["bad.1.pt.trace.json"]
    assert skipped["config.json"]
    for file, state, reason in (
        ("bad.1.pt.trace.json", "failed", reasons["bad.1.pt.trace.json"]),
        ("config.json", "skipped", skipped["config.json"]),
        ("good.1.pt.trace.json", "ready", ""),
    ):
        row = table.get_by_role("row").filter(has=page.get_by_text(file, exact=True))
        expect(row).to_contain_text(state)
        expect(row).to_contain_text(reason)
