"""Ten more tasks of those who train, infer and run on many ranks, each in three clicks at most; themes take turns."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler
from tests.browser.servers import Server
from tests.browser.test_tasks import MOST_CLICKS, Hand, answer
from tests.events import Event, annotation, frame, op

pytestmark = pytest.mark.long

DECODE = "execute_context_0(0)_generation_8(8)"
TIME = re.compile(r"^[\d.]+ (ns|µs|ms|s)( \(step \d+\))?$")


@pytest.fixture
def look(open_page: OpenPage) -> Iterator[Callable[[Server, str], Hand]]:
    """`look(server, theme)`: somebody who has opened nothing yet, and in the end has not clicked too often."""
    made: list[Hand] = []

    def begin(server: Server, theme: str) -> Hand:
        made.append(Hand(Profiler(open_page(color_scheme=theme), server)))
        return made[-1]

    yield begin
    assert made
    assert all(hand.clicks <= MOST_CLICKS for hand in made)


Look = Callable[[Server, str], Hand]


def selected_row(hand: Hand) -> str:
    """The event that the Trace view has selected."""
    expect(hand.profiler.heading("Trace")).to_be_visible()
    return hand.profiler.state["e"]


def served(tmp_path: Path, serve_logs: Callable[[Path], Server], events: list[Event]) -> Server:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "worker.1.pt.trace.json").write_text(json.dumps({"traceEvents": events}))
    server = serve_logs(tmp_path)
    server.wait_for_traces()
    return server


def test_which_line_makes_the_device_wait(look: Look, alone: Server) -> None:
    hand = look(alone, "light")
    hand.profiler.open(r=GPU_RUN)
    panel = hand.panel("Most important findings")
    finding = next(
        each for each in answer(hand, "overview", GPU_RUN, "rank0")["findings"] if each["id"] == "sync_points"
    )
    hand.click(panel.get_by_role("listitem").filter(has_text=finding["title"]).get_by_role("button", name="Details"))
    expect(panel).to_contain_text("train.py:61 (main)")
    hand.click(panel.get_by_role("button", name=TIME).first)
    assert selected_row(hand) == str(finding["instances"][0]["row"])


def test_why_attention_is_slow(look: Look, alone: Server) -> None:
    hand = look(alone, "dark")
    hand.profiler.open(r=GPU_RUN)
    hand.go_to("roofline")
    hand.click(hand.profiler.ui.get_by_role("radiogroup", name="Group by").get_by_role("radio", name="Kernel"))
    grid = hand.profiler.grid("Lost time")
    expect(grid.first_row).to_contain_text("flash_bwd")
    expect(grid.first_row).to_contain_text("memory")
    hand.click(grid.first_row.get_by_role("button", name="Show details"))
    expect(grid.root.get_by_role("button", name="Show the worst call in the trace")).to_be_visible()


def test_why_one_step_is_the_longest(look: Look, alone: Server) -> None:
    hand = look(alone, "light")
    hand.profiler.open(r=CPU_RUN)
    steps = answer(hand, "overview", CPU_RUN, "worker0")["steps"]
    longest = steps["names"][max(range(len(steps["names"])), key=lambda at: steps["duration_ns"][at])]
    hand.go_to("steps")
    hand.click(hand.profiler.ui.get_by_role("button", name=re.compile("^Max: ")))
    expect(hand.profiler.inspector).to_contain_text(f"ProfilerStep#{longest}")
    hand.click(hand.profiler.inspector.get_by_role("button", name="CPU Exec"))
    expect(hand.panel(f"What it is made of: CPU Exec of step {longest}")).to_be_in_viewport()


def test_whether_the_data_loader_is_the_problem(look: Look, alone: Server) -> None:
    hand = look(alone, "dark")
    hand.profiler.open(r=CPU_RUN)
    expect(hand.profiler.ui.get_by_text("This run is input-bound")).to_be_visible()
    panel = hand.panel("Most important findings")
    hand.click(panel.get_by_role("button", name="Details"))
    expect(panel).to_contain_text("cnn_dataloader.py:39 (__getitem__)")
    hand.click(panel.get_by_role("button", name=TIME).first)
    assert selected_row(hand)


def test_which_layer_holds_the_memory_at_the_peak(look: Look, alone: Server) -> None:
    hand = look(alone, "light")
    hand.profiler.open(r=GPU_RUN)
    hand.go_to("memory")
    tabs = hand.profiler.ui.get_by_role("radiogroup", name="Table")
    hand.click(tabs.get_by_role("radio", name="Modules at the peak"))
    rows = answer(hand, "memory/modules", GPU_RUN, "rank0", device="GPU0")["rows"]
    most = max(zip(rows["bytes"], rows["module"], strict=True))
    expect(hand.panel("What memory is for, by module")).to_contain_text(most[1] or "(outside modules)")


def test_whom_collectives_wait_for(look: Look, alone: Server) -> None:
    hand = look(alone, "dark")
    hand.profiler.open(r=GPU_RUN)
    hand.go_to("distributed")
    grid = hand.profiler.grid("Collectives")
    assert grid.first_rows("Last rank", 1) == ["Rank 2"]
    hand.click(grid.first_row)
    selected_row(hand)
    expect(hand.panel("Selection")).to_contain_text("nccl")


def test_where_compiled_code_breaks(
    tmp_path: Path, serve_logs: Callable[[Path], Server], look: Look, keep: Callable[[str], None]
) -> None:
    events: list[Event] = []
    for step in range(3):
        at = 1000.0 * step
        events += [annotation(f"ProfilerStep#{step}", at, 900), frame("train.py(3): main", at + 5, 800)]
        events += [op("Torch-Compiled Region: 0/0", at + 10, 700), op("aten::mm", at + 20, 100)]
        events += [frame("model.py(7): forward", at + 150, 500)]
        events += [op("Torch-Compiled Region: 1/0", at + 200, 300), op("aten::mm", at + 220, 200)]
    hand = look(served(tmp_path, serve_logs, events), "light")
    hand.profiler.open()
    hand.go_to("program")
    keep("compiled_code")
    hand.click(hand.panel("Compiled code").get_by_role("button", name="Graph breaks: 3"))
    selected_row(hand)
    expect(hand.panel("Selection")).to_contain_text("Torch-Compiled Region: 1/0")


def test_where_the_change_comes_from(look: Look, alone: Server) -> None:
    hand = look(alone, "dark")
    hand.profiler.open(r="cnn_workers2")
    hand.go_to("compare")
    panel = hand.panel("What changed")
    expect(panel).to_contain_text("significantly shorter")
    hand.click(panel.get_by_role("button", name="Data loading"))
    hand.click(hand.profiler.ui.get_by_role("button", name="Show the intervals of Data loading in the experiment"))
    where = hand.panel("Where: Data loading")
    expect(where).to_be_visible()
    longest = answer(hand, "waterfall", "cnn_workers2", "worker0", cause="host.data")["pieces"]["largest"][0]
    expect(where.get_by_role("row").nth(1)).to_contain_text(longest["frame"])


def test_taking_a_table_along(look: Look, alone: Server) -> None:
    hand = look(alone, "light")
    hand.profiler.open(r=GPU_RUN)
    hand.go_to("operators")
    panel = hand.panel("Operators")
    hand.click(panel.get_by_role("button", name="Export"))
    with hand.profiler.page.expect_download() as download:
        hand.click(panel.get_by_role("button", name="Save as CSV"))
    lines = download.value.path().read_text().splitlines()
    assert lines[0].casefold().startswith("name,calls")
    assert len(lines) - 1 == len(answer(hand, "operators", GPU_RUN, "rank0")["rows"]["name"])


def test_where_decoding_has_gaps(tmp_path: Path, serve_logs: Callable[[Path], Server], look: Look) -> None:
    starts = [0.0, 300.0, 900.0, 1200.0]  # the second waits longest for the next
    events: list[Event] = []
    for at in starts:
        events += [annotation(DECODE, at, 200), op("aten::mm", at + 20, 100)]
    hand = look(served(tmp_path, serve_logs, events), "dark")
    hand.profiler.open()
    hand.go_to("program")
    hand.click(hand.panel("Inference").get_by_role("button", name="Between steps: 600 µs"))
    selected_row(hand)
    panel = hand.panel("Selection")
    expect(panel).to_contain_text(DECODE)
    expect(panel).to_contain_text("Start0.3 ms")
