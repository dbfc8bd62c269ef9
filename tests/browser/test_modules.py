"""The Module and Lightning views, with the numbers of /api/modules."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests import events
from tests.browser import numbers
from tests.browser.axe import Axe
from tests.browser.conftest import Appearances, Keep
from tests.browser.history import back
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler, definition, rows_of, saved_whole
from tests.browser.servers import Server
from tests.tiny import wait_until
from tests.unit.test_modules import lightning

WHERE = {"run": GPU_RUN, "worker": "rank0"}
NO_MODULES_RUN = "ddp_gloo_2ranks"
METRICS = {
    "device_total_ns": "Device total",
    "device_self_ns": "Device self",
    "backward_device_ns": "Device backward",
    "host_total_ns": "Host total",
    "host_self_ns": "Host self",
    "backward_host_ns": "Host backward",
}


def answer_of(profiler: Profiler, **query: str) -> dict[str, Any]:
    answer: dict[str, Any] = profiler.server.api("modules", **{**WHERE, **query})
    return answer


def paths_of(rows: dict[str, Any]) -> list[str]:
    paths: list[str] = []
    for name, parent in zip(rows["name"], rows["parent"], strict=True):
        paths.append(f"{paths[parent]}/{name}" if parent >= 0 else name)
    return paths


def grid(profiler: Profiler) -> Locator:
    return profiler.ui.get_by_role("treegrid", name="Modules")


def row(profiler: Profiler, name: str) -> Locator:
    return (
        grid(profiler).get_by_role("row").filter(has=profiler.page.get_by_role("gridcell", name=name, exact=True)).first
    )


def names(profiler: Profiler) -> list[str]:
    rows = grid(profiler).locator("[data-row]")
    return [each.get_by_role("gridcell").first.inner_text().strip() for each in rows.all()]


def flame(profiler: Profiler) -> Locator:
    return profiler.ui.get_by_role("application", name="Flame graph")


def crumbs(profiler: Profiler) -> Locator:
    return profiler.ui.get_by_role("navigation", name="Zoom")


@pytest.fixture
def opened(on_its_own: Profiler) -> Profiler:
    on_its_own.open(v="modules", r=GPU_RUN, k="rank0")
    expect(grid(on_its_own)).to_be_visible()
    return on_its_own


def test_the_numbers(opened: Profiler) -> None:
    rows = answer_of(opened)["rows"]
    panel = opened.panel("Modules")
    expect(panel.get_by_text(f"{len(rows['id'])} rows")).to_be_visible()
    saved = saved_whole(panel)
    for key in rows:
        expected = ["" if key == "module_id" and value == -1 else str(value) for value in rows[key]]
        found = [each[key] for each in saved]
        assert [float(x) if "mean" in key else x.removeprefix("'") for x in found] == [
            float(x) if "mean" in key else x for x in expected
        ], key


def test_the_metric_decides_the_bars(opened: Profiler) -> None:
    rows = answer_of(opened)["rows"]
    for metric, label in METRICS.items():
        opened.switch("Metric", label)
        assert_metric(opened, rows, metric, label)
    opened.switch("Metric", METRICS["device_total_ns"])
    wait_until(lambda: "m" not in opened.state, "the usual metric, which the address does not name")


def assert_metric(opened: Profiler, rows: dict[str, Any], metric: str, label: str) -> None:
    nested = metric not in ("device_self_ns", "host_self_ns")
    whole = sum(ns for ns, parent in zip(rows[metric], rows["parent"], strict=True) if parent < 0 or not nested)
    total = opened.panel("Flame graph").get_by_text(f"{label} of all modules").inner_text()
    assert numbers.same(total.split("modules ")[1], whole)
    header = grid(opened).get_by_role("columnheader", name=f"% {label.lower()}")
    at = int(header.get_attribute("aria-colindex") or 0) - 1
    cell = row(opened, "Block_0").get_by_role("gridcell").nth(at)
    share = rows[metric][rows["name"].index("Block_0")] / whole
    assert numbers.same(cell.inner_text() + " %", share) or cell.inner_text() == "<0.1"
    width = cell.evaluate("(cell) => parseFloat(getComputedStyle(cell).getPropertyValue('--share'))")
    assert width == pytest.approx(100 * share)
    if metric != "device_total_ns":
        wait_until(lambda: opened.state.get("m") == metric, "the address has the metric")


def test_open_and_close(opened: Profiler) -> None:
    rows = answer_of(opened)["rows"]
    top = [name for name, parent in zip(rows["name"], rows["parent"], strict=True) if parent < 0]
    children = [name for name, parent in zip(rows["name"], rows["parent"], strict=True) if parent == 0]
    assert names(opened) == [top[0], *children, *top[1:]]
    row(opened, "Block_1").locator(".tree-expander").click()
    expect(row(opened, "Block_1")).to_have_attribute("aria-expanded", "true")
    expect(row(opened, "Attention_1")).to_have_attribute("aria-level", "3")
    wait_until(lambda: "x" in opened.state, "the address has what is open")
    state = opened.state
    opened.open(**state)
    expect(row(opened, "Attention_1")).to_be_visible()
    opened.ui.get_by_role("button", name="Expand all").click()
    expect(grid(opened)).to_have_attribute("aria-rowcount", str(len(rows["id"]) + 1))
    opened.ui.get_by_role("button", name="Collapse all").click()
    expect(grid(opened)).to_have_attribute("aria-rowcount", str(len(top) + 1))


def test_by_keys_alone(opened: Profiler) -> None:
    keyboard = opened.page.keyboard
    keyboard.press("/")
    keyboard.type("Attention_2")
    expect(opened.panel("Modules").get_by_text("1 of 64 rows")).to_be_visible()
    assert names(opened) == ["Transformer_0", "Block_2", "Attention_2"]
    keyboard.press("Control+A")
    keyboard.press("Delete")
    # the rows follow the filter when there is time for it: keys act on those that are there
    expect(opened.panel("Modules").get_by_text("64 rows", exact=True)).to_be_visible()
    grid(opened).focus()
    keyboard.press("Home")
    for key in ("ArrowRight", "ArrowDown", "ArrowRight"):
        keyboard.press(key)
    expect(row(opened, "Block_0")).to_have_attribute("aria-expanded", "true")
    keyboard.press("ArrowRight")
    keyboard.press("ArrowDown")
    keyboard.press("Enter")
    expect(row(opened, "Attention_0")).to_have_attribute("aria-selected", "true")
    path = "Transformer_0/Block_0/Attention_0"
    expect(opened.inspector.get_by_role("heading", name=path)).to_be_visible()
    keyboard.press("ArrowLeft")
    keyboard.press("ArrowLeft")
    expect(row(opened, "Block_0")).to_have_attribute("aria-expanded", "false")
    keyboard.press("Escape")
    expect(opened.inspector).to_have_count(0)


def test_sorting_stays_within_a_module(opened: Profiler) -> None:
    rows = answer_of(opened)["rows"]
    grid(opened).get_by_role("columnheader", name="Host self").get_by_role("button").click()
    children = [i for i, parent in enumerate(rows["parent"]) if parent == 0]
    expected = [rows["name"][i] for i in sorted(children, key=lambda i: -rows["host_self_ns"][i])]
    expect(row(opened, expected[0])).to_have_attribute("aria-rowindex", "3")
    assert names(opened)[1 : 1 + len(children)] == expected


def test_inspector_and_its_ways(opened: Profiler) -> None:
    rows = answer_of(opened)["rows"]
    paths = paths_of(rows)
    row(opened, "Block_3").click()
    inspector = opened.inspector
    at = paths.index("Transformer_0/Block_3")
    for term, key in (
        ("Calls", "calls"),
        ("Device total", "device_total_ns"),
        ("Host self", "host_self_ns"),
        ("Backward device", "backward_device_ns"),
        ("Device per call", "mean_device_ns"),
    ):
        assert numbers.same(definition(inspector, term).inner_text(), rows[key][at]), term
    inside = rows_of(inspector.get_by_role("table", name="Modules directly inside"))
    children = sorted((i for i, p in enumerate(rows["parent"]) if p == at), key=lambda i: -rows["device_total_ns"][i])
    assert [each[0] for each in inside] == [rows["name"][i] for i in children]
    inspector.get_by_role("button", name=rows["name"][children[0]], exact=True).click()
    expect(inspector.get_by_role("heading", name=paths[children[0]])).to_be_visible()
    expect(row(opened, rows["name"][children[0]])).to_have_attribute("aria-selected", "true")
    inspector.get_by_role("button", name="Block_3", exact=True).click()
    expect(inspector.get_by_role("heading", name="Transformer_0/Block_3")).to_be_visible()
    inspector.get_by_role("button", name="Show in Stacks").click()
    expect(opened.heading("Stacks")).to_be_visible()
    expect(opened.ui.locator(".stacks-found")).to_contain_text("1 found")
    inspector.get_by_role("button", name="Show in Module").click()
    expect(row(opened, "Block_3")).to_have_attribute("aria-selected", "true")


def test_flame_graph(opened: Profiler) -> None:
    rows = answer_of(opened)["rows"]
    flame(opened).scroll_into_view_if_needed()
    box = flame(opened).bounding_box()
    assert box
    at = rows["name"].index("Block_0")
    before = sum(rows["device_total_ns"][i] for i in range(at) if rows["parent"][i] == 0)
    middle = (before + rows["device_total_ns"][at] / 2) / rows["device_total_ns"][0]
    place = {"x": middle * box["width"], "y": 30.0}
    flame(opened).hover(position=place)
    tip = opened.page.locator(".pointer-tip")
    expect(tip.get_by_text("Transformer_0/Block_0", exact=True)).to_be_visible()
    value, share = (tip.locator(f".chart-tooltip-{part}").first.inner_text() for part in ("value", "share"))
    assert numbers.same(value, rows["device_total_ns"][at])
    assert numbers.same(share, rows["device_total_ns"][at] / rows["device_total_ns"][0])
    flame(opened).click(position=place)
    expect(crumbs(opened).get_by_text("Block_0")).to_have_attribute("aria-current", "location")
    expect(opened.inspector.get_by_role("heading", name="Transformer_0/Block_0")).to_be_visible()
    expect(row(opened, "Block_0")).to_have_attribute("aria-selected", "true")
    wait_until(lambda: opened.state.get("f") == "Transformer_0/Block_0", "the address has the zoom")
    opened.open(**opened.state)
    expect(crumbs(opened).get_by_text("Block_0")).to_have_attribute("aria-current", "location")
    flame(opened).focus()
    opened.page.keyboard.press("Escape")
    expect(crumbs(opened).get_by_text("Transformer_0")).to_have_attribute("aria-current", "location")
    crumbs(opened).get_by_role("button", name="Everything").click()
    expect(crumbs(opened).get_by_text("Everything")).to_have_attribute("aria-current", "location")


def test_back(opened: Profiler) -> None:
    opened.switch("Metric", "Host self")
    opened.go_to("operators")
    back(opened.page)
    expect(opened.heading("Module")).to_be_visible()
    expect(opened.ui.get_by_role("radio", name="Host self", exact=True)).to_be_checked()


def test_without_modules(on_its_own: Profiler) -> None:
    on_its_own.open(v="modules", r=NO_MODULES_RUN)
    panel = on_its_own.panel("Modules")
    expect(panel.get_by_text("No modules in this trace")).to_be_visible()
    expect(panel.get_by_text("with_modules=True")).to_be_visible()
    expect(flame(on_its_own)).to_have_count(0)


def test_lightning_explains_itself(on_its_own: Profiler) -> None:
    on_its_own.open(v="lightning", r=CPU_RUN)
    panel = on_its_own.panel("Modules")
    expect(panel.get_by_text("No Lightning modules in this trace")).to_be_visible()
    expect(panel.get_by_text("record_module_names=True")).to_be_visible()
    panel.get_by_role("button", name="Show nn.Module").click()
    expect(row(on_its_own, "SmallCNN_0")).to_be_visible()
    on_its_own.switch("Source", "Lightning")
    expect(panel.get_by_text("No Lightning modules in this trace")).to_be_visible()


def write(folder: Path, run: str, found: list[events.Event]) -> None:
    (folder / run).mkdir()
    (folder / run / "w.1.pt.trace.json").write_text(json.dumps({"traceEvents": found}))


def test_lightning(tmp_path: Path, serve_logs: Callable[[Path], Server], page: Page, keep: Keep) -> None:
    write(tmp_path, "pl", lightning("user_annotation"))
    server = serve_logs(tmp_path)
    server.wait_for_traces()
    answer = server.api("modules", run="pl", worker="w")
    profiler = Profiler(page, server).open(v="lightning")
    expect(row(profiler, "net.blocks.0.l1")).to_have_attribute("aria-level", "2")
    hooks = rows_of(profiler.panel("Lightning hooks").get_by_role("table"))
    assert [each[0] for each in hooks] == answer["hooks"]["rows"]["name"]
    for key, column in (("calls", 1), ("host_total_ns", 2), ("host_self_ns", 3)):
        for each, value in zip(hooks, answer["hooks"]["rows"][key], strict=True):
            assert numbers.same(each[column], value if key == "calls" else value / 1000)
    keep("lightning-hooks")
    row(profiler, "net.blocks.0.l1").click()
    expect(profiler.inspector.get_by_role("heading", name="net.blocks.0.l1")).to_be_visible()
    assert numbers.same(definition(profiler.inspector, "Host total").inner_text(), 60_000)
    # the Module view shows what there is
    profiler.go_to("modules")
    expect(row(profiler, "net.blocks.0.l1")).to_have_attribute("aria-selected", "true")
    profiler.switch("Source", "nn.Module")
    expect(profiler.ui.get_by_text("No modules in this trace")).to_be_visible()
    profiler.ui.get_by_role("button", name="Show Lightning").click()
    expect(row(profiler, "net")).to_be_visible()


ROWS = 100_000


def many(answer: dict[str, Any]) -> dict[str, Any]:
    """A tree of 100,000 modules: 1,000 layers of 99 each, and the model."""
    first = {key: values[0] for key, values in answer["rows"].items()}
    numeric = {column["key"] for column in answer["columns"] if column["type"] == "number"}
    answer["rows"] = {key: [ROWS - i if key in numeric else first[key] for i in range(ROWS)] for key in first}
    answer["rows"] |= {
        "id": list(range(ROWS)),
        "parent": [-1, *(0 if i % 100 == 1 else i - (i - 1) % 100 for i in range(1, ROWS))],
        "name": [f"Layer_{i}" for i in range(ROWS)],
        "module_id": list(range(ROWS)),
    }
    answer["meta"]["total"] = ROWS
    return answer


def test_a_hundred_thousand(on_its_own: Profiler) -> None:
    answer = json.dumps(many(answer_of(on_its_own)))
    page = on_its_own.page
    page.route("**/api/modules?*", lambda route: route.fulfill(body=answer, content_type="application/json"))
    on_its_own.open(v="modules", r=GPU_RUN)
    expect(grid(on_its_own)).to_be_visible(timeout=30_000)
    on_its_own.ui.get_by_role("button", name="Expand all").click()
    expect(grid(on_its_own)).to_have_attribute("aria-rowcount", str(ROWS + 1))
    assert grid(on_its_own).get_by_role("row").count() < 200
    grid(on_its_own).press("End")
    expect(row(on_its_own, f"Layer_{ROWS - 1}")).to_be_visible()
    on_its_own.ui.get_by_role("searchbox").fill("name~_9999.$")
    expect(on_its_own.ui.get_by_text("10 of 100,000 rows")).to_be_visible()
    assert grid(on_its_own).get_by_role("row").count() < 20


def test_accessible(axe: Axe) -> None:
    profiler = axe.profiler
    profiler.open(v="modules", r=GPU_RUN, x="all")
    expect(row(profiler, "Block_0")).to_be_visible()
    axe.look("table and flame graph")
    row(profiler, "Block_0").click()
    expect(profiler.inspector.get_by_role("table")).to_be_visible()
    profiler.ui.get_by_role("searchbox").fill("Linear")
    expect(profiler.panel("Modules").get_by_text("25 of 64 rows")).to_be_visible()
    axe.look("selected and filtered")
    profiler.go_to("lightning")
    expect(profiler.ui.get_by_text("No Lightning modules")).to_be_visible()
    axe.look("without Lightning")
    axe.check()


@pytest.mark.long
def test_pictures(on_its_own: Profiler, appearances: Appearances, keep: Keep) -> None:
    for width, theme in appearances:
        on_its_own.open(v="modules", r=GPU_RUN, x="all", q="Linear", sel="mod:Transformer_0/Block_1")
        expect(flame(on_its_own)).to_be_visible()
        expect(on_its_own.inspector.get_by_role("table")).to_be_visible()
        keep(f"modules-selected-{width}-{theme}")
