"""The Overview shows what /api/overview answers."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser import numbers
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler, as_table, definition, rows_of

CATEGORIES = {
    "kernel": "Kernel",
    "memcpy": "Memcpy",
    "memset": "Memset",
    "communication": "Communication",
    "runtime": "Runtime",
    "dataloader": "DataLoader",
    "cpu_exec": "CPU Exec",
    "other": "Other",
}
RUNS = [(CPU_RUN, "worker0"), (GPU_RUN, "rank0")]


@pytest.fixture(params=RUNS, ids=[run for run, _ in RUNS])
def opened(request: pytest.FixtureRequest, on_its_own: Profiler) -> tuple[Profiler, dict[str, Any]]:
    """The Overview of a run, and the answer behind it."""
    run, worker = request.param
    on_its_own.open(r=run, k=worker)
    expect(on_its_own.heading("Overview")).to_be_visible()
    return on_its_own, on_its_own.server.api("overview", run=run, worker=worker)


def test_verdict(opened: tuple[Profiler, dict[str, Any]]) -> None:
    profiler, answer = opened
    verdict = answer["verdict"]
    line = profiler.ui.get_by_role("paragraph").filter(has_text="of the step").first
    if verdict["category"] != "kernel":
        line = profiler.ui.get_by_role("paragraph").filter(has_text="Largest part of the step")
        expect(line).to_contain_text(CATEGORIES[verdict["category"]])
    shares = re.findall(r"[\d.]+ %", line.inner_text())
    work = "kernel" if answer["meta"]["device_type"] == "GPU" else "cpu_exec"
    loss = CATEGORIES[verdict["largest_loss"]]
    expect(line).to_contain_text(
        f"Largest loss: {loss}" if verdict["category"] == work else f"Largest other loss: {loss}"
    )
    assert numbers.all_same(shares, [verdict["share"], verdict["largest_loss_share"]])

    line.get_by_role("button").click()
    assert (
        profiler.ui.get_by_role("listitem")
        .filter(has_text="up to")
        .first.evaluate("(item) => item.ownerDocument.activeElement === item")
    ), "the verdict leads to the finding that explains it"


def test_tiles(opened: tuple[Profiler, dict[str, Any]]) -> None:
    profiler, answer = opened
    body = profiler.ui.locator("body")
    average = answer["average"]
    expected = {"Step time": average["step_ns"]}
    if answer["meta"]["device_type"] == "GPU":
        device, devices = answer["device"], answer["devices"]
        expected |= {
            "Device busy": device["busy"],
            "Computing": device["computing"],
            "Exposed communication": device["exposed_communication"],
            "SM efficiency": sum(each["sm_efficiency"] for each in devices) / len(devices),
            "Occupancy": device["occupancy"]["mean"],
            "Tensor cores": device["tensor_cores"]["yes"],
        }
    else:
        expected["CPU Exec"] = average["category_ns"]["cpu_exec"] / average["step_ns"]
        expected["DataLoader"] = average["category_ns"]["dataloader"] / average["step_ns"]
    for tile, value in expected.items():
        shown = definition(body, tile).inner_text()
        assert numbers.same(shown, value), f"{tile}: {shown}, not {value}"


def test_steps(opened: tuple[Profiler, dict[str, Any]]) -> None:
    profiler, answer = opened
    steps = answer["steps"]
    panel = profiler.panel("Step Time Breakdown")
    picture = panel.get_by_role("img")
    expect(picture).to_have_accessible_name(re.compile(r"^Step Time Breakdown: \w"))

    shown = as_table(panel)
    assert [row[0] for row in shown] == steps["names"]
    for at, row in enumerate(shown):
        parts = [steps["category_ns"][category][at] for category in steps["categories"]]
        assert sum(parts) == steps["duration_ns"][at]
        assert row[1] == steps["labels"][at]
        assert numbers.all_same(row[2:], [steps["duration_ns"][at], *parts]), f"step {row[0]}"

    profiler.switch("Scale", "Percent")
    for at, row in enumerate(rows_of(panel.get_by_role("table"))):
        parts = [steps["category_ns"][category][at] / steps["duration_ns"][at] for category in steps["categories"]]
        assert numbers.all_same(row[3:], parts)


def test_average_step(opened: tuple[Profiler, dict[str, Any]]) -> None:
    profiler, answer = opened
    average = answer["average"]
    shown = rows_of(profiler.panel("Execution Summary").get_by_role("table"))
    assert [row[0] for row in shown] == [
        "Average step time",
        *(CATEGORIES[category] for category in answer["steps"]["categories"]),
    ]
    times = [average["step_ns"], *(average["category_ns"][category] for category in answer["steps"]["categories"])]
    assert numbers.all_same([row[1] for row in shown], times)
    assert numbers.all_same([row[2] for row in shown], [time / average["step_ns"] for time in times])


def test_findings(opened: tuple[Profiler, dict[str, Any]]) -> None:
    profiler, answer = opened
    assert answer["findings"]
    panel = profiler.panel("Performance Recommendation")
    for finding in answer["findings"]:
        item = panel.get_by_role("listitem").filter(has_text=finding["title"])
        expect(item).to_contain_text(finding["detail"])
        assert numbers.same(
            item.get_by_text("per step").first.inner_text().removeprefix("up to ").removesuffix(" per step"),
            finding["saving_ns"],
        )
        for evidence in finding["evidence"]:
            number, _, _ = definition(item, evidence["label"]).inner_text().partition(" Show in ")
            assert numbers.same(number, evidence["value"])
        for link in finding["links"]:
            shown = item.get_by_role("link", name=link["text"], exact=True)
            expect(shown).to_have_attribute("href", link["url"])
            expect(shown).to_have_attribute("rel", "noreferrer")


def test_configuration(opened: tuple[Profiler, dict[str, Any]]) -> None:
    profiler, answer = opened
    panel = profiler.panel("Configuration")
    assert definition(panel, "Number of workers").inner_text() == str(answer["workers"])
    assert definition(panel, "Device type").inner_text() == answer["meta"]["device_type"]
    assert definition(panel, "Steps").inner_text() == str(len(answer["steps"]["names"]))


def test_devices(on_its_own: Profiler) -> None:
    on_its_own.open(r=GPU_RUN, k="rank3")
    shown = rows_of(on_its_own.panel("GPU Summary").get_by_role("table"))
    devices = on_its_own.server.api("overview", run=GPU_RUN, worker="rank3")["devices"]
    assert len(shown) == len(devices) > 0
    for row, device in zip(shown, devices, strict=True):
        assert row[:2] == [str(device["id"]), device["name"]]
        assert numbers.same(row[2], device["memory_bytes"])
        assert row[3] == device["compute_capability"]
        shares = ("busy", "computing", "communicating", "exposed_communication")
        kernels = ("sm_efficiency", "achieved_occupancy", "occupancy_known_share")
        tensor_cores = [device["tensor_cores"][key] for key in ("yes", "unknown")]
        assert numbers.all_same(row[4:], [*(device[key] for key in (*shares, *kernels)), *tensor_cores])


def test_top_bars_lead_to_the_row(on_its_own: Profiler) -> None:
    on_its_own.open(r=GPU_RUN)
    top = on_its_own.server.api("overview", run=GPU_RUN, worker="rank0")
    panel = on_its_own.panel("Top operators")
    shown = as_table(panel)
    assert [row[0] for row in shown] == [row["name"] for row in top["top_operators"]]
    assert numbers.all_same([row[1] for row in shown], [row["device_self_ns"] for row in top["top_operators"]])
    panel.get_by_role("button", name=shown[1][0], exact=True).click()
    expect(on_its_own.heading("Operator")).to_be_visible()
    expect(on_its_own.inspector.get_by_role("heading", name=shown[1][0])).to_be_visible()
    expect(on_its_own.grid("Operators").row(shown[1][0])).to_have_attribute("aria-selected", "true")
