"""Ten tasks of those who train, infer and run on many ranks: each answered in three clicks at most."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import OpenPage
from tests.browser.profiler import CPU_RUN, GPU_RUN, VIEWS, Profiler
from tests.browser.servers import Server
from tests.events import Event, annotation, kernel, launch, op

MOST_CLICKS = 3
PREFILL = "execute_context_1(512)_generation_0(0)"
DECODE = "execute_context_0(0)_generation_8(8)"


class Hand:
    """Counts its clicks."""

    def __init__(self, profiler: Profiler) -> None:
        self.profiler = profiler
        self.clicks = 0

    def click(self, what: Locator) -> None:
        what.wait_for()
        self.profiler.loaded()
        what.click()
        self.clicks += 1

    def go_to(self, view: str) -> None:
        self.click(self.profiler.navigation.get_by_role("link", name=VIEWS.get(view, view)))

    def panel(self, title: str | re.Pattern[str]) -> Locator:
        return self.profiler.ui.get_by_role("region", name=title, exact=isinstance(title, str) or None)


@pytest.fixture
def hand(on_its_own: Profiler) -> Iterator[Hand]:
    """On the Overview of nothing yet; at the end it has not clicked too often."""
    made = Hand(on_its_own)
    yield made
    assert made.clicks <= MOST_CLICKS


def answer(hand: Hand, route: str, run: str, worker: str, **more: str) -> dict[str, Any]:
    found: dict[str, Any] = hand.profiler.server.api(route, run=run, worker=worker, span="1", **more)
    return found


def test_the_line_of_the_slow_step(hand: Hand) -> None:
    hand.profiler.open(r=CPU_RUN)
    hand.click(hand.profiler.ui.get_by_role("button", name=re.compile("^Data loading: ")))
    longest = answer(hand, "waterfall", CPU_RUN, "worker0", cause="host.data")["pieces"]["largest"][0]
    row = hand.panel("Where: Data loading").get_by_role("row").nth(1)
    expect(row.get_by_role("cell").first).to_have_text(longest["step"])
    expect(row).to_contain_text(longest["frame"])
    assert re.search(r"\.py\(\d+\)", longest["frame"])


def test_which_collective(hand: Hand) -> None:
    hand.profiler.open(r=GPU_RUN)
    hand.go_to("distributed")
    hand.click(hand.profiler.ui.get_by_role("button", name=re.compile("^Exposed wait: ")))
    rows = hand.profiler.server.api("ranks/collectives", run=GPU_RUN, span="1")["rows"]
    most = max(rows, key=lambda row: row["wait_ns"] or 0)
    first = hand.profiler.grid("Collectives").first_row
    expect(first).to_contain_text(most["name"])
    expect(first).to_be_in_viewport()


def test_prefill_against_decode(tmp_path: Path, serve_logs: Callable[[Path], Server], open_page: OpenPage) -> None:
    events: list[Event] = []
    for step, (name, length) in enumerate([(PREFILL, 900), (DECODE, 200), (DECODE, 210), (DECODE, 190)]):
        at = 1000.0 * step
        events += [annotation(name, at, length), op("aten::mm", at + 20, 100), launch(at + 30, step + 1)]
        events.append(kernel(at + 50, length - 100, step + 1))
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "server.1.pt.trace.json").write_text(json.dumps({"traceEvents": events}))
    server = serve_logs(tmp_path)
    server.wait_for_traces()
    for theme in ("light", "dark"):
        hand = Hand(Profiler(open_page(color_scheme=theme), server))
        hand.profiler.open()
        hand.go_to("program")
        panel = hand.panel("Inference")
        for phase, steps in (("Prefill", "1 step"), ("Decode", "3 steps")):
            tile = panel.locator(".tile").filter(has_text=re.compile(f"^{phase}"))
            expect(tile).to_contain_text(steps)
        assert hand.clicks <= MOST_CLICKS


def test_who_is_the_straggler_and_why(hand: Hand) -> None:
    hand.profiler.open(r=GPU_RUN)
    hand.go_to("distributed")
    expect(hand.panel("Who is slow")).to_contain_text("Rank 2 on node0 is slow: the host launches work late")
    row = hand.panel("Slow ranks").get_by_role("row", name=re.compile("^Rank 2"))
    expect(row).to_contain_text("aten::nonzero")
    hand.click(row.get_by_role("button", name="Show both in Trace"))
    expect(hand.profiler.heading("Trace")).to_be_visible()
    expect(hand.profiler.picker("Worker")).to_have_accessible_name("Worker rank2")


def test_what_changed_between_two_runs(hand: Hand) -> None:
    hand.profiler.open(r="cnn_workers2")
    hand.go_to("compare")
    expect(hand.panel("What is compared")).to_contain_text(CPU_RUN)
    expect(hand.panel("What changed")).to_contain_text("Data loading")


def test_why_there_was_no_memory(hand: Hand) -> None:
    hand.profiler.open(r=CPU_RUN)
    hand.click(hand.profiler.picker("Run"))
    hand.click(hand.profiler.ui.get_by_role("option", name="out_of_memory"))
    hand.go_to("Memory snapshot")
    panel = hand.panel("Out of memory")
    expect(panel).to_contain_text("Requested")
    expect(panel.get_by_role("table")).to_be_visible()


def test_which_kernel_is_far_from_its_roof(hand: Hand) -> None:
    hand.profiler.open(r=GPU_RUN)
    hand.go_to("roofline")
    hand.click(hand.profiler.ui.get_by_role("radiogroup", name="Group by").get_by_role("radio", name="Kernel"))
    found = answer(hand, "roofline", GPU_RUN, "rank0", group_by="kernel")["rows"]
    most = max(range(len(found["name"])), key=lambda row: found["lost_ns"][row] or 0)
    expect(hand.profiler.grid("Lost time").first_row).to_contain_text(found["name"][most][:12])


def test_which_operator_blocks_in_the_api(hand: Hand) -> None:
    hand.profiler.open(r=GPU_RUN)
    hand.go_to("operators")
    rows = answer(hand, "api_calls", GPU_RUN, "rank0")["rows"]
    panel = hand.panel("Device API calls")
    expect(panel).to_contain_text(f"{rows['name'][0]} called by {rows['caller'][0]}")
    hand.click(hand.profiler.grid("Device API calls").first_row)
    expect(hand.profiler.heading("Trace")).to_be_visible()
    assert hand.profiler.state["e"].endswith(str(rows["longest_row"][0]))


def test_what_the_data_loader_costs(hand: Hand) -> None:
    hand.profiler.open(r=CPU_RUN)
    hand.click(hand.profiler.ui.get_by_role("button", name="All numbers"))
    hand.click(hand.panel("Execution Summary").get_by_role("button", name="DataLoader"))
    found = answer(hand, "category", CPU_RUN, "worker0", category="dataloader")
    times = answer(hand, "overview", CPU_RUN, "worker0")["steps"]["category_ns"]["dataloader"]
    assert found["total_ns"] == sum(times) == sum(part["ns"] for part in found["parts"])
    panel = hand.panel("What it is made of: DataLoader")
    expect(panel).to_be_in_viewport()
    expect(panel).to_contain_text(found["parts"][0]["name"])


def test_which_module_takes_most(hand: Hand) -> None:
    hand.profiler.open(r=GPU_RUN)
    hand.go_to("modules")
    rows = answer(hand, "modules", GPU_RUN, "rank0")["rows"]
    most = max(range(len(rows["name"])), key=lambda row: rows["device_self_ns"][row])
    sentence = hand.panel("Flame graph").get_by_text("has the most self time")
    expect(sentence).to_contain_text(rows["name"][most])
    hand.click(sentence.get_by_role("button"))
    expect(hand.profiler.inspector).to_contain_text(rows["name"][most])
