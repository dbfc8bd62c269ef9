"""What was not asked for a while leaves the memory of the server, and comes again when it is asked for."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests import tiny
from tests.workspaces import Opener, settled
from torch_tb_profiler.model import Model
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.workspace import Key, Packed, process
from torch_tb_profiler.workspace.answering import value_cache
from torch_tb_profiler.workspace.answering.answerer import ModelOf, TimelineOf
from torch_tb_profiler.workspace.answering.value_cache import Lru
from torch_tb_profiler.workspace.process import IdleTrimmer
from torch_tb_profiler.workspace.workspace import LARGE_VALUE


def test_only_what_was_not_used_for_so_long_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(value_cache.time, "monotonic", lambda: now)
    memory: Lru[str, bytes] = Lru(100, len)
    memory.put("old", b"12345")
    memory.put("asked", b"123")
    now = 150.0
    assert memory.get("asked") == b"123"
    memory.put("new", b"1")
    now = 170.0
    assert memory.drop_unused(60) == 1
    assert (memory.get("old"), memory.get("asked"), memory.get("new"), memory.weight) == (None, b"123", b"1", 4)
    assert memory.drop_unused(0) == 2
    assert (len(memory), memory.weight) == (0, 0)


def test_memory_is_given_back_when_something_was_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []
    monkeypatch.setattr(process, "trim_memory", lambda: given.append("back"))
    dropped = iter([0, 2])
    found = IdleTrimmer([lambda _: next(dropped)])
    found.look()
    assert not given
    found.look()
    assert given == ["back"]


def test_models_and_timelines_come_again(opened: Opener, logs: Path) -> None:
    tiny.write_trace(logs / "run" / "w.1.pt.trace.json")
    workspace = opened()
    settled(workspace)
    run = workspace.status().runs[0]
    trace = workspace.find(run.name, run.traces[0].worker)

    def slices(timeline: Timeline) -> int:
        return len(timeline.slices.items)

    def events(model: Model) -> int:
        return len(model.trace.events)

    before = workspace.ask(events, ModelOf(trace)), workspace.ask(slices, TimelineOf(trace))
    assert (len(workspace._here.models), len(workspace._here.timelines)) == (1, 1)
    workspace._unused.look(seconds=0)
    assert (len(workspace._here.models), len(workspace._here.timelines)) == (0, 0)
    assert (workspace.ask(events, ModelOf(trace)), workspace.ask(slices, TimelineOf(trace))) == before


def test_large_values_go_when_nobody_asks_and_small_ones_stay(opened: Opener, logs: Path) -> None:
    tiny.write_trace(logs / "run" / "w.1.pt.trace.json")
    workspace = opened()
    settled(workspace)
    trace = workspace.find("run", "w")
    sizes = {"large": LARGE_VALUE, "small": LARGE_VALUE - 1}
    for name, size in sizes.items():
        workspace.remember(Key((trace,), name), partial(Packed, bytes(size), False, name))
    workspace._unused.look(seconds=60)
    assert len(workspace._in_memory) == 2
    workspace._unused.look(seconds=0)
    assert workspace._in_memory.get(Key((trace,), "large")) is None
    assert workspace._in_memory.get(Key((trace,), "small")) is not None
