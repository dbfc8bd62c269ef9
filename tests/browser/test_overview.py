"""The Overview shows what /api/overview answers."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser import numbers
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler, as_table, definition, rows_of
from tests.tiny import wait_until

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
WATERFALL = "Where does the step time go?"
FINDINGS = "What costs time, and what to do?"
RUNS = [(CPU_RUN, "worker0"), (GPU_RUN, "rank0")]


@pytest.fixture(params=RUNS, ids=[run for run, _ in RUNS])
def opened(request: pytest.FixtureRequest, on_its_own: Profiler) -> tuple[Profiler, dict[str, Any]]:
    """The Overview of a run, and the answer behind it."""
    run, worker = request.param
    on_its_own.open(r=run, k=worker, x="all")
    expect(on_its_own.heading("Overview")).to_be_visible()
    return on_its_own, on_its_own.server.api("overview", run=run, worker=worker)


def look_at_the_answer(profiler: Profiler, answer: dict[str, Any]) -> None:
    """One sentence on top, how much of the time has a cause, and what all findings save."""
    bound = answer["bound"]
    subject = "rank" if answer["workers"] > 1 else "run"
    region = profiler.ui.get_by_role("region", name=f"What bounds this {subject}")
    expect(region.get_by_role("strong")).to_have_text(bound["sentence"])
    expect(region).to_contain_text("of the step time explained")
    told = [finding for finding in answer["findings"] if finding["saving"] and finding["saving"]["after_others_ns"]]
    together = sum(finding["saving"]["after_others_ns"] for finding in told)
    assert answer["together_ns"] == pytest.approx(together)
    times = re.findall(r"save (.*?) per step", region.inner_text())
    assert numbers.all_same(times, [together] if len(told) > 1 else [])


def look_at_the_waterfall(profiler: Profiler, answer: dict[str, Any]) -> None:
    table = profiler.panel(WATERFALL).get_by_role("table")
    rows = [*rows_of(table), table.locator("tfoot tr").locator("th, td").all_inner_texts()]
    assert sum(part["ns"] for part in answer["waterfall"]) == pytest.approx(answer["average"]["step_ns"])
    *parts, total = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    assert numbers.same(total[1], answer["average"]["step_ns"])
    assert sum(float(part[2].removesuffix(" %")) for part in parts) == pytest.approx(100, abs=0.1 * len(parts))


def test_a_part_lists_its_places(on_its_own: Profiler) -> None:
    """And a place leads to the event in the Trace view."""
    on_its_own.open(r=GPU_RUN, k="rank0", x="all")
    on_its_own.panel(WATERFALL).get_by_role("button", name="Exposed communication", exact=True).click()
    cause = "exposed_communication"
    wait_until(lambda: on_its_own.state.get("f") == cause, "the part in the address")
    found = on_its_own.server.api("waterfall", run=GPU_RUN, worker="rank0", cause=cause, limit="20")["pieces"]
    shown = rows_of(on_its_own.panel("Where: Exposed communication").get_by_role("table"))
    assert numbers.all_same([row[0] for row in shown], [piece["duration_ns"] for piece in found["largest"]])
    on_its_own.panel("Where: Exposed communication").get_by_role("button", name=shown[0][0], exact=True).first.click()
    expect(on_its_own.heading("Trace")).to_be_visible()
    first = found["largest"][0]
    name = first["work"] if first["host_row"] is None else first["host"]
    expect(on_its_own.panel("Selection").get_by_role("heading", name=name, exact=True)).to_be_visible()


def test_a_finding_leads_to_the_trace(on_its_own: Profiler) -> None:
    """To one of its places, selected, and to all of them, marked."""
    on_its_own.open(r=GPU_RUN, k="rank0", x="all")
    (finding,) = (
        each
        for each in on_its_own.server.api("overview", run=GPU_RUN, worker="rank0")["findings"]
        if each["id"] == "sync_points"
    )
    longest = finding["instances"][0]
    places = on_its_own.panel(FINDINGS).get_by_role("listitem").filter(has_text=finding["title"])
    places.get_by_title(longest["name"]).first.click()
    expect(on_its_own.heading("Trace")).to_be_visible()
    expect(on_its_own.panel("Selection").get_by_role("heading", name=longest["name"], exact=True)).to_be_visible()

    on_its_own.go_to("overview")
    places.get_by_role("button", name="Mark all in Trace").click()
    expect(on_its_own.heading("Trace")).to_be_visible()
    wait_until(lambda: on_its_own.state.get("mark") == finding["key"], "the finding in the address")
    panel = on_its_own.ui.get_by_role("region").filter(has_text=finding["title"]).last
    expect(panel.get_by_role("row")).to_have_count(1 + len(finding["instances"]))


def test_hidden_findings_stand_in_the_address(opened: tuple[Profiler, dict[str, Any]]) -> None:
    profiler, answer = opened
    panel = profiler.panel(FINDINGS)
    items = panel.locator("li.finding")
    expect(items).to_have_count(len(answer["findings"]))
    first = answer["findings"][0]
    items.first.get_by_role("button", name="Hide").click()
    expect(items.filter(has_text=first["title"])).to_have_count(0)
    wait_until(lambda: profiler.state.get("u") == first["id"], "the rule in the address")
    profiler.page.reload()
    expect(panel).to_contain_text(f"Hidden: {first['id']}.")
    expect(items.filter(has_text=first["title"])).to_have_count(0)
    panel.get_by_role("button", name="Show all").click()
    expect(items).to_have_count(len(answer["findings"]))
    wait_until(lambda: "u" not in profiler.state, "nothing hidden in the address")


def look_at_the_tiles(profiler: Profiler, answer: dict[str, Any]) -> None:
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
        parts = {part["cause"]: part["ns"] / average["step_ns"] for part in answer["waterfall"]}
        expected["Operators on the host"] = parts["host.operator"]
        expected["Data loading"] = parts["host.data"]
    for tile, value in expected.items():
        shown = definition(body.locator(".tiles"), tile).inner_text()
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


def look_at_the_average_step(profiler: Profiler, answer: dict[str, Any]) -> None:
    average = answer["average"]
    shown = rows_of(profiler.panel("Execution Summary").get_by_role("table"))
    assert [row[0] for row in shown] == [
        "Average step time",
        *(CATEGORIES[category] for category in answer["steps"]["categories"]),
    ]
    times = [average["step_ns"], *(average["category_ns"][category] for category in answer["steps"]["categories"])]
    assert numbers.all_same([row[1] for row in shown], times)
    assert numbers.all_same([row[2] for row in shown], [time / average["step_ns"] for time in times])


def look_at_the_findings(profiler: Profiler, answer: dict[str, Any]) -> None:
    assert answer["findings"]
    panel = profiler.panel(FINDINGS)
    for at, finding in enumerate(answer["findings"]):
        item = panel.locator("li.finding").nth(at)
        expect(item.get_by_role("heading")).to_contain_text(finding["title"])
        for said in (finding["detail"], finding["advice"]):
            expect(item).to_contain_text(said.replace("`", ""))
        saving = finding["saving"]
        if saving is not None and saving["refused"] is None:
            time = re.search(r"(?:at most|about) (.*?) per step", item.inner_text())
            assert time is not None
            assert numbers.same(time[1], saving["after_others_ns"])
        for evidence in finding["evidence"]:
            number, _, _ = definition(item, evidence["label"]).inner_text().partition(" Show in ")
            assert numbers.same(number, evidence["value"])
        for link in finding["links"]:
            shown = item.get_by_role("link", name=link["text"], exact=True)
            expect(shown).to_have_attribute("href", link["url"])
            expect(shown).to_have_attribute("rel", "noreferrer")


def look_at_the_configuration(profiler: Profiler, answer: dict[str, Any]) -> None:
    panel = profiler.panel("Configuration")
    assert definition(panel, "Traces").inner_text() == str(answer["workers"])
    assert definition(panel, "Device type").inner_text() == answer["meta"]["device_type"]
    assert definition(panel, "Steps").inner_text() == str(len(answer["steps"]["names"]))


def test_what_it_shows(opened: tuple[Profiler, dict[str, Any]]) -> None:
    look_at_the_answer(*opened)
    look_at_the_waterfall(*opened)
    look_at_the_tiles(*opened)
    look_at_the_average_step(*opened)
    look_at_the_findings(*opened)
    look_at_the_configuration(*opened)


def test_devices(on_its_own: Profiler) -> None:
    on_its_own.open(r=GPU_RUN, k="rank3", x="all")
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
    on_its_own.open(r=GPU_RUN, x="all")
    top = on_its_own.server.api("overview", run=GPU_RUN, worker="rank0")
    panel = on_its_own.panel("Top operators")
    shown = as_table(panel)
    assert [row[0] for row in shown] == [row["name"] for row in top["top_operators"]]
    assert numbers.all_same([row[1] for row in shown], [row["device_self_ns"] for row in top["top_operators"]])
    panel.get_by_role("button", name=shown[1][0], exact=True).click()
    expect(on_its_own.heading("Operator")).to_be_visible()
    expect(on_its_own.inspector.get_by_role("heading", name=shown[1][0])).to_be_visible()
    expect(on_its_own.grid("Operators").row(shown[1][0])).to_have_attribute("aria-selected", "true")


def test_the_median_step(on_its_own: Profiler) -> None:
    """Its lanes as the answer has them; a mark leads to the Trace view, a pin to the details of its finding."""
    on_its_own.open(r=GPU_RUN, k="rank0")
    answer = on_its_own.server.api("step_picture", run=GPU_RUN, worker="rank0")
    panel = on_its_own.panel("The median step")
    expect(panel).to_contain_text(f"Step {answer['step']}:")
    shown = as_table(panel)
    assert len(shown) == sum(len(lane["part"]) for lane in answer["lanes"])
    assert [row[0] for row in shown[:1]] == ["Phases"]
    assert numbers.all_same([row[3] for row in shown[:9]], answer["lanes"][0]["duration_ns"][:9])
    panel.get_by_role("button", name="Show as chart").click()

    marks = panel.get_by_role("slider")
    marks.focus()
    pins = re.compile(r"^(\d)\. ")
    expect(marks).to_have_attribute("aria-valuetext", pins)
    number = pins.match(marks.get_attribute("aria-valuetext") or "")
    assert number is not None
    on_its_own.page.keyboard.press("Enter")
    finding = on_its_own.panel("Most important findings").get_by_role("listitem").nth(int(number[1]) - 1)
    expect(finding.get_by_role("button", name="Details")).to_have_attribute("aria-expanded", "true")
    expect(finding.locator(".finding-advice")).to_be_in_viewport()
    # one lane down after the other: phases, main thread, the device
    for _ in range(3):
        on_its_own.page.keyboard.press("ArrowDown")
    expect(marks).to_have_attribute("aria-valuetext", re.compile("GPU 0"))
    on_its_own.page.keyboard.press("Enter")
    expect(on_its_own.heading("Trace")).to_be_visible()
    assert on_its_own.state["e"]


def test_addresses_from_before_there_was_a_fold(on_its_own: Profiler) -> None:
    for state, panel in (
        ({"f": "host.data"}, "Where: Data loading"),
        ({"y": "dataloader"}, "What it is made of: DataLoader"),
        ({"m": "percent"}, "Step Time Breakdown"),
    ):
        on_its_own.open(r=CPU_RUN, **state)
        expect(on_its_own.panel(panel)).to_be_visible()
    on_its_own.ui.get_by_role("button", name="All numbers").click()
    expect(on_its_own.panel("Step Time Breakdown")).to_have_count(0)
    wait_until(lambda: not {"f", "y", "m", "x"} & set(on_its_own.state), "nothing open in the address")
    on_its_own.ui.get_by_role("button", name="All numbers").click()
    wait_until(lambda: on_its_own.state.get("x") == "all", "the fold in the address")
