"""Pictures that are looked at instead of read: boxes of modules and of memory, and what each change would save."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser import numbers
from tests.browser.axe import Axe
from tests.browser.conftest import Keep
from tests.browser.profiler import CPU_RUN, GPU_RUN, Profiler, as_table
from tests.tiny import wait_until


def shares(rows: list[list[str]]) -> float:
    return sum(float(row[-1].removesuffix("%").replace("<", "")) for row in rows)


def test_modules_by_class(on_its_own: Profiler, keep: Keep) -> None:
    on_its_own.open(v="modules", r=GPU_RUN, k="rank0")
    panel = on_its_own.panel("Flame graph")
    keep("modules-by-class")
    rows = as_table(panel)
    assert rows[0][:2] == ["FeedForward ×6", "Linear ×12"]
    assert shares(rows) == pytest.approx(100, abs=0.1 * len(rows))
    panel.get_by_role("button", name="FeedForward ×6").first.click()
    wait_until(lambda: "FeedForward" in on_its_own.state.get("sel", ""), "a module of the class")


def test_memory_by_what_asked_for_it(on_its_own: Profiler, keep: Keep) -> None:
    on_its_own.open(v="memory", r=CPU_RUN)
    panel = on_its_own.panel("Live memory blocks")
    keep("memory-boxes")
    assert shares(as_table(panel)) == pytest.approx(100, abs=2)


def test_the_what_if_opens_with_what_each_change_would_save(on_its_own: Profiler, keep: Keep) -> None:
    on_its_own.open(v="criticalpath", r=GPU_RUN, k="rank0")
    panel = on_its_own.panel("What if")
    keep("what-if-scenarios")
    rows = as_table(panel)
    assert [row[0] for row in rows[:2]] == ["Compute kernels", "Communication"]
    panel.get_by_role("button", name="Compute kernels", exact=True).click()
    wait_until(lambda: on_its_own.state.get("w") == "kernels:0", "the change in the address")
    answer = on_its_own.server.api("what_if", run=GPU_RUN, worker="rank0", changes="kernels:0")
    saved = answer["saved"]["saved_ns"] / len(answer["names"]) / 1e6
    assert rows[0][1] == f"{saved:.3f} ms"
    expect(panel.get_by_text(rows[0][1], exact=True)).to_be_visible()
    panel.get_by_role("button", name="Reset all", exact=True).click()
    expect(panel.get_by_text("Each alone, largest saving first")).to_be_visible()


def test_ranks_by_node(on_its_own: Profiler, keep: Keep) -> None:
    on_its_own.open(v="distributed", r=GPU_RUN, k="rank0")
    panel = on_its_own.panel("Own time by node, from the median")
    keep("ranks-by-node")
    rows = as_table(panel)
    assert [row[:2] for row in rows] == [["node0", f"Rank {rank}"] for rank in range(4)]
    own = on_its_own.server.api("ranks", run=GPU_RUN)["ranks"]["own_ns"]
    low, high = sorted(own)[1:3]
    assert numbers.same(rows[2][-1].removeprefix("+"), own[2] - (low + high) / 2)
    panel.get_by_role("button", name="node0").nth(2).click()
    wait_until(lambda: on_its_own.state.get("k") == "rank2", "the rank is chosen")


def test_usable_by_everybody(axe: Axe) -> None:
    for view in ("modules", "memory", "criticalpath"):
        axe.profiler.open(v=view, r=GPU_RUN, k="rank0")
        expect(axe.profiler.ui.locator("figure.chart").first).to_be_visible()
        axe.look(view)
    axe.check()
