"""The same page in Firefox: every view appears, with the server's numbers, and the keys, links and languages work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.browser import bidi
from tests.browser.profiler import GPU_RUN, VIEWS
from tests.browser.servers import Server

pytestmark = pytest.mark.skipif(bidi.executable() is None, reason="no Firefox on this machine; FIREFOX names one")


def link(server: Server, **state: str) -> str:
    prefix = "p.pytorch_profiler." if server.is_tensorboard else ""
    parts = [f"{prefix}{key}={value}" for key, value in state.items()]
    return f"{server.address}#{'&'.join([*(['pytorch_profiler'] if prefix else []), *parts])}"


def settle(firefox: bidi.Firefox) -> None:
    """Until nothing loads and all pictures are drawn."""
    come = '() => !document.querySelector(".skeleton, .timeline[aria-busy=true]")'
    firefox.until(lambda: firefox.ask(come), "everything has come")


def address(firefox: bidi.Firefox) -> str:
    found: str = firefox.ask("() => location.href", context=firefox.tab)
    return found


@pytest.mark.parametrize("host", ["tensorboard", "alone"])
def test_every_view(host: str, firefox: bidi.Firefox, request: pytest.FixtureRequest, output: Path) -> None:
    server: Server = request.getfixturevalue(host)
    firefox.open(link(server, r=GPU_RUN))
    firefox.see("h1", "Overview")
    for view, title in VIEWS.items():
        firefox.ask("(id) => document.querySelector(`.rail a[href*='v=${id}']`)?.click()", view)
        firefox.see("h1", title)
        settle(firefox)
        assert firefox.ask("() => [...document.querySelectorAll('[role=alert]')].map((e) => e.textContent)") == []
        firefox.screenshot(output / "screenshots" / f"firefox-{host}-{view}.png")


def test_the_table_has_the_servers_numbers(firefox: bidi.Firefox, alone: Server) -> None:
    firefox.open(link(alone, r=GPU_RUN, v="operators", sel="op:aten::mm"))
    firefox.see("h1", "Operator")
    settle(firefox)
    rows: dict[str, Any] = alone.api("operators", run=GPU_RUN, worker="rank0")["rows"]
    names = firefox.ask(
        """() => [...document.querySelectorAll("[role=row][aria-rowindex] [role=gridcell]:first-child")]
            .map((cell) => cell.textContent.trim())"""
    )
    assert names[:8] == rows["name"][:8]
    calls = firefox.ask("() => document.querySelector('.inspector dd').textContent")
    assert calls == str(rows["calls"][rows["name"].index("aten::mm")])


def test_keys_and_back(firefox: bidi.Firefox, alone: Server) -> None:
    firefox.open(link(alone, r=GPU_RUN))
    firefox.see("h1", "Overview")
    settle(firefox)
    firefox.press("g", "k")
    firefox.see("h1", "GPU Kernel")
    firefox.press("3")
    firefox.see("h1", "Operator")

    firefox.press("Control+k")
    firefox.until(lambda: firefox.ask("() => document.activeElement?.role === 'combobox'"), "the palette has the focus")
    firefox.press(*"capture", "Enter")
    firefox.see("h1", "Trace health")
    assert firefox.ask("() => document.querySelector('dialog') === null")

    firefox.back()
    firefox.see("h1", "Operator")
    firefox.back()
    firefox.see("h1", "GPU Kernel")
    assert "v=kernels" in address(firefox)


def test_choosing_steps(firefox: bidi.Firefox, alone: Server) -> None:
    names = alone.api("overview", run=GPU_RUN, worker="rank0")["steps"]["names"]
    firefox.open(link(alone, r=GPU_RUN, v="kernels"))
    firefox.see("h1", "GPU Kernel")
    settle(firefox)
    firefox.ask("() => document.querySelector('[role=slider][aria-label=\"First step\"]').focus()")
    firefox.press("ArrowRight", "ArrowRight")
    firefox.see(".range-chip", f"Steps {names[2]}–{names[-1]} of {len(names)}")
    assert f"st={names[2]}~{names[-1]}" in address(firefox)
    settle(firefox)
    assert any(f"from_step={names[2]}" in url for url in firefox.requests if "/api/kernels" in url)


def test_the_other_language(firefox: bidi.Firefox, tensorboard: Server) -> None:
    firefox.open(link(tensorboard, r=GPU_RUN, v="operators", q="mm"))
    firefox.see("h1", "Operator")
    settle(firefox)
    firefox.ask("() => document.querySelector('button[lang=zh-CN]').click()")
    firefox.see("h1", "算子")
    settle(firefox)
    assert firefox.ask("() => document.querySelector('input[type=search]').value") == "mm"
