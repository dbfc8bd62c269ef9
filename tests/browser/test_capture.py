"""The Capture page shows what /api/health and /api/status answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests import tiny
from tests.browser import numbers
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler, as_table, definition, rows_of
from tests.browser.servers import Server

ServeLogs = Callable[[Path], Server]
RUNS = [(CPU_RUN, "worker0"), (GPU_RUN, "rank0")]


@pytest.fixture(params=RUNS, ids=[run for run, _ in RUNS])
def opened(request: pytest.FixtureRequest, on_its_own: Profiler) -> tuple[Profiler, dict[str, Any]]:
    """The page of a run, and the answer behind it."""
    run, worker = request.param
    on_its_own.open(v="health", r=run, k=worker)
    expect(on_its_own.heading("Trace health")).to_be_visible()
    return on_its_own, on_its_own.server.api("health", run=run, worker=worker)


def test_recording(opened: tuple[Profiler, dict[str, Any]]) -> None:
    profiler, answer = opened
    panel, capture = profiler.panel("Recording"), answer["capture"]
    for term, value in (
        ("Size of the file", capture["bytes"]),
        ("Uncompressed", capture["text_bytes"]),
        ("Events", capture["events"]),
        ("Time range", capture["duration_ns"]),
        ("Tracks", capture["tracks"]),
    ):
        assert numbers.same(definition(panel, term).inner_text(), value), term
    trace = next(trace for trace in profiler.server.traces() if trace["size"] == capture["bytes"])
    assert definition(panel, "File").inner_text() == trace["file"]
    assert definition(panel, "Steps").inner_text() == f"{capture['steps']}, found by ProfilerStep marks"
    assert definition(panel, "Host").inner_text() == capture["host_name"]


def test_events_by_category(opened: tuple[Profiler, dict[str, Any]]) -> None:
    profiler, answer = opened
    shown = as_table(profiler.panel("Events by category"))
    assert numbers.all_same([row[1] for row in shown], [each["events"] for each in answer["capture"]["categories"]])
    assert sum(numbers.read(row[1]) for row in shown) == answer["capture"]["events"]


def test_options(opened: tuple[Profiler, dict[str, Any]]) -> None:
    profiler, answer = opened
    shown = {row[0]: row for row in rows_of(profiler.panel("Profiler options").get_by_role("table"))}
    for option, events in answer["capture"]["found"].items():
        assert shown[option][1].startswith("found") == (events > 0)
        assert (f"{option}=True" in shown[option][3]) == (events == 0)
    gpu = answer["meta"]["device_type"] == "GPU"
    assert shown["Device activity"][1].startswith("found" if gpu else "not found")
    assert ("ProfilerActivity.CUDA" in shown["Device activity"][3]) == (not gpu)


def test_health(opened: tuple[Profiler, dict[str, Any]]) -> None:
    profiler, answer = opened
    panel = profiler.panel("Notes")
    for note in answer["notes"]:
        item = panel.get_by_role("listitem").filter(has=profiler.page.get_by_text(note["kind"], exact=True))
        expect(item).to_contain_text(note["text"])
        if note["remedy"]:
            expect(item).to_contain_text(note["remedy"])
            expect(item.get_by_role("button", name="Copy")).to_be_visible()
    if not answer["notes"]:
        expect(panel).to_contain_text("Nothing unusual was noticed in this trace.")


def test_versions_devices_and_ranks(on_its_own: Profiler) -> None:
    on_its_own.open(v="health", r=GPU_RUN, k="rank3")
    capture = on_its_own.server.api("health", run=GPU_RUN, worker="rank3")["capture"]
    assert capture["versions"]["cuda_runtime_version"] == 13000
    assert definition(on_its_own.panel("Versions"), "CUDA runtime").inner_text() == "13.0"
    ranks = on_its_own.panel("Distributed")
    assert definition(ranks, "Rank").inner_text() == "3"
    assert definition(ranks, "World size").inner_text() == "4"
    assert definition(ranks, "Backend").inner_text() == "nccl"
    rows = rows_of(on_its_own.panel("Devices").get_by_role("table"))
    assert [row[0] for row in rows] == [str(device["id"]) for device in capture["devices"]]
    assert [row[4] for row in rows] == ["yes" if device["used"] else "no" for device in capture["devices"]]
    used = next(device["id"] for device in capture["devices"] if device["used"])
    on_its_own.panel("Devices").get_by_role("button", name="yes").first.click()
    expect(on_its_own.ui.get_by_role("textbox", name="Filter tracks")).to_have_value(f"GPU {used}")


def test_the_overview_leads_here_and_keys_too(on_its_own: Profiler) -> None:
    on_its_own.open(x="all")
    on_its_own.panel("Configuration").get_by_role("button", name="How it was recorded").click()
    expect(on_its_own.heading("Trace health")).to_be_visible()
    on_its_own.page.keyboard.press("1")
    expect(on_its_own.heading("Overview")).to_be_visible()
    link = on_its_own.navigation.get_by_role("link", name="Trace health")
    # "Trace health g c"
    on_its_own.page.keyboard.type("".join(link.inner_text().split()[2:]))
    expect(on_its_own.heading("Trace health")).to_be_visible()


def test_damage_is_told_with_its_place_and_leads_to_what_it_touches(
    tmp_path: Path, serve_logs: ServeLogs, page: Page
) -> None:
    run = tmp_path / "run"
    run.mkdir()
    text = json.dumps({"traceEvents": tiny.events(steps=30)})
    (run / "cut.1.pt.trace.json").write_text(text[: len(text) * 2 // 3])
    (run / "bad.1.pt.trace.json").write_text("this is not a trace")
    server = serve_logs(tmp_path)
    server.wait_for_traces()
    note = next(note for note in server.api("health", run="run", worker="cut")["notes"] if note["kind"] == "truncated")
    assert note["first_offset"]
    profiler = Profiler(page, server).open(v="health", k="cut")
    item = profiler.panel("Notes").get_by_role("listitem").filter(has_text=note["text"])
    expect(item).to_contain_text(f"first at byte {note['first_offset']:,}")
    expect(item.get_by_text("Error", exact=True)).to_be_visible()

    reason = next(trace["reason"] for trace in server.traces() if trace["state"] == "failed")
    row = profiler.panel("Files").get_by_role("row").filter(has_text="bad.1.pt.trace.json")
    expect(row).to_contain_text(reason)

    item.get_by_role("button", name="Operator").click()
    expect(profiler.heading("Operator")).to_be_visible()


def test_an_answer_that_does_not_come(on_its_own: Profiler) -> None:
    page = on_its_own.page
    page.route("**/api/health*", lambda route: route.fulfill(status=500, json={"error": "no luck"}))
    on_its_own.open(v="health")
    alert = on_its_own.ui.get_by_role("main").get_by_role("alert")
    expect(alert).to_contain_text("no luck")
    expect(on_its_own.panel("Files")).to_be_visible()
    page.unroute("**/api/health*")
    alert.get_by_role("button", name="Retry").click()
    expect(on_its_own.panel("Recording")).to_be_visible()


def test_nothing_of_the_file_is_markup(tmp_path: Path, serve_logs: ServeLogs, page: Page) -> None:
    nasty = "<img src=x onerror=alert(1)>"
    document = {
        "schemaVersion": 1,
        f"{nasty}_version": nasty,
        nasty: nasty,
        "ERROR": [nasty],
        "host_name": nasty,
        "deviceProperties": [{"id": 0, "name": nasty}],
        "distributedInfo": {"backend": nasty, "rank": 0},
        "traceEvents": tiny.events(),
    }
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "w.1.pt.trace.json").write_text(json.dumps(document))
    server = serve_logs(tmp_path)
    server.wait_for_traces()
    profiler = Profiler(page, server).open(v="health")
    for panel in (
        "Recording",
        "Devices",
        "Versions",
        "Distributed",
        "Other entries of the header",
        "Log of the profiler",
    ):
        expect(profiler.panel(panel)).to_contain_text(nasty)
    expect(profiler.ui.locator("main img")).to_have_count(0)
