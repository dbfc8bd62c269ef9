"""Ten tasks that a stranger to the page may have, each in three clicks at most; themes take turns."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler
from tests.browser.servers import Server
from tests.browser.test_tasks import MOST_CLICKS, Hand, answer
from tests.events import Event, annotation, kernel, launch, op

pytestmark = pytest.mark.long

PREFILL = "execute_context_1(512)_generation_0(0)"
DECODE = "execute_context_0(0)_generation_8(8)"


@pytest.fixture
def look(open_page: OpenPage) -> Iterator[Callable[..., Hand]]:
    """`look(server, theme, **options of the page)`: a hand that in the end has not clicked too often."""
    made: list[Hand] = []

    def begin(server: Server, theme: str, **options: Any) -> Hand:
        made.append(Hand(Profiler(open_page(color_scheme=theme, **options), server)))
        return made[-1]

    yield begin
    assert made
    assert all(hand.clicks <= MOST_CLICKS for hand in made)


Look = Callable[..., Hand]


def served(folder: Path, serve_logs: Callable[[Path], Server], runs: dict[str, list[Event]]) -> Server:
    for run, events in runs.items():
        (folder / run).mkdir()
        (folder / run / "worker.1.pt.trace.json").write_text(json.dumps({"traceEvents": events}))
    server = serve_logs(folder)
    server.wait_for_traces()
    return server


def test_what_the_host_did_while_the_device_was_idle_in_a_step(look: Look, alone: Server) -> None:
    hand = look(alone, "light")
    hand.profiler.open(r=GPU_RUN, k="rank2")
    hand.click(hand.profiler.ui.get_by_role("button", name=re.compile("^Device busy: ")).first)
    where = hand.panel(re.compile("^Where: "))
    longest = answer(hand, "waterfall", GPU_RUN, "rank2", cause="idle")["pieces"]["largest"][0]
    row = where.get_by_role("row").nth(1)
    expect(row).to_contain_text(longest["host"])
    hand.click(row.get_by_role("button").first)
    expect(hand.profiler.heading("Trace")).to_be_visible()
    assert hand.profiler.state["e"] == str(longest["host_row"])


def test_which_kernel_became_slower(tmp_path: Path, serve_logs: Callable[[Path], Server], look: Look) -> None:
    def program(slow: float) -> list[Event]:
        events: list[Event] = []
        for step in range(6):
            at = 1000.0 * step
            events += [annotation(f"ProfilerStep#{step}", at, 950), op("aten::mm", at + 10, 40)]
            events += [launch(at + 20, 10 * step + 1), kernel(at + 60, 200 * slow, 10 * step + 1, "gemm_nt")]
            events += [op("aten::add", at + 60, 20), launch(at + 65, 10 * step + 2)]
            events += [kernel(at + 500, 100, 10 * step + 2, "add_kernel")]
        return events

    server = served(tmp_path, serve_logs, {"before": program(1.0), "then": program(2.0)})
    hand = look(server, "dark")
    hand.profiler.open(r="then")
    hand.go_to("compare")
    grid = hand.profiler.grid("What the change is made of")
    expect(grid.first_row).to_contain_text("gemm_nt")
    expect(grid.first_row).to_contain_text("slower")


def test_how_long_the_third_prefill_takes(tmp_path: Path, serve_logs: Callable[[Path], Server], look: Look) -> None:
    events: list[Event] = []
    at, lengths = 0.0, iter((300.0, 310.0, 420.0))
    for name in (PREFILL, DECODE, DECODE, PREFILL, DECODE, PREFILL, DECODE):
        length = next(lengths) if name == PREFILL else 100.0
        events += [annotation(name, at, length), op("aten::mm", at + 10, 50)]
        at += length + 20
    hand = look(served(tmp_path, serve_logs, {"run": events}), "light")
    hand.profiler.open()
    hand.go_to("program")
    table = hand.profiler.ui.get_by_role("table", name=re.compile("Steps of inference"))
    third = table.get_by_role("row").filter(has_text="Prefill").nth(2)
    expect(third).to_contain_text("420")
    hand.click(third.get_by_role("button"))
    expect(hand.panel("Selection")).to_contain_text("420 µs")


def test_where_a_rank_waits(look: Look, alone: Server) -> None:
    hand = look(alone, "dark")
    hand.profiler.open(r=GPU_RUN, k="rank3")
    hand.click(hand.profiler.ui.get_by_role("button", name=re.compile("^Exposed communication: ")).first)
    where = hand.panel("Where: Exposed communication")
    hand.click(where.get_by_role("row").nth(1).get_by_role("button").first)
    expect(hand.panel("Selection")).to_contain_text("nccl")


def test_where_a_kernel_is_launched_in_the_program(look: Look, alone: Server) -> None:
    hand = look(alone, "light")
    hand.profiler.open(r=GPU_RUN)
    hand.go_to("kernels")
    hand.click(hand.profiler.grid("Kernels").root.locator("[aria-rowindex='3']"))
    hand.click(hand.profiler.inspector.get_by_role("button", name="Show in Trace"))
    expect(hand.panel("Selection")).to_contain_text(re.compile(r"\w+\.py:\d+"))


def test_how_much_memory_is_left(look: Look, alone: Server) -> None:
    hand = look(alone, "dark")
    hand.profiler.open(r=GPU_RUN)
    hand.go_to("memory")
    expect(hand.panel("Memory in use")).to_contain_text("7.0 % of the 79.18 GiB of the device")


def test_sharing_a_view(look: Look, alone: Server, open_page: OpenPage) -> None:
    hand = look(alone, "light", permissions=["clipboard-read", "clipboard-write"])
    hand.profiler.open(r=GPU_RUN)
    hand.go_to("roofline")
    hand.click(hand.profiler.ui.get_by_role("button", name="Copy link"))
    hand.profiler.ui.get_by_text("Link copied").wait_for()
    address = hand.profiler.page.evaluate("navigator.clipboard.readText()")
    colleague = Profiler(open_page(), alone)
    colleague.page.goto(address)
    expect(colleague.heading("Roofline")).to_be_visible()
    assert (colleague.state["r"], colleague.state["k"]) == (GPU_RUN, "rank0")


def test_which_layer_has_the_slowest_backward(look: Look, alone: Server) -> None:
    hand = look(alone, "dark")
    hand.profiler.open(r=GPU_RUN)
    hand.go_to("modules")
    hand.click(hand.profiler.ui.get_by_role("radio", name="Device backward"))
    expect(hand.panel("Flame graph")).to_contain_text("has the most self time (device backward)")


def test_which_copy_takes_most(look: Look, alone: Server) -> None:
    hand = look(alone, "light")
    hand.profiler.open(r=GPU_RUN)
    hand.go_to("kernels")
    panel = hand.panel("Copies, memsets and waits")
    hand.click(panel.get_by_role("button", name=re.compile("HtoD")))
    expect(hand.panel("Selection")).to_contain_text("Memcpy HtoD")


def test_which_function_takes_the_time_of_the_host(look: Look, alone: Server) -> None:
    hand = look(alone, "dark")
    hand.profiler.open(r=CPU_RUN)
    hand.go_to("stacks")
    panel = hand.panel("Call stacks")
    hand.click(panel.get_by_role("radio", name="Bottom-up"))
    hand.click(panel.get_by_role("radio", name="Table"))
    tree = panel.get_by_role("treegrid", name="Call stacks")
    expect(tree.locator("[aria-rowindex='2']")).to_contain_text("aten::normal_")
