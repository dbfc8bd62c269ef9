"""Who asks how far things are is told at once, whatever is under way."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.served import client_of, everything_read
from tests.tiny import DEADLINE_SECONDS, wait_until, write_trace
from torch_tb_profiler.discovery import parse_logdir
from torch_tb_profiler.workspace import Key, Workspace, open_workspace, pack
from torch_tb_profiler.workspace.answering.answerer import ModelOf
from torch_tb_profiler.workspace.cache.answer_store import AnswerFolder
from torch_tb_profiler.workspace.cache.trace_cache import TraceCache


class Gate:
    """Holds whoever comes until it is opened."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self._open = threading.Event()

    def wait(self, *_: object) -> None:
        self.reached.set()
        assert self._open.wait(DEADLINE_SECONDS)

    def open(self) -> None:
        self._open.set()

    def before(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def held(*arguments: Any) -> Any:
            self.wait()
            return function(*arguments)

        return held


@contextmanager
def gates(*names: str) -> Iterator[tuple[Gate, ...]]:
    made = tuple(Gate() for _ in names)
    try:
        yield made
    finally:
        for gate in made:
            gate.open()


def status_of(workspace: Workspace) -> dict[str, Any]:
    """What /api/status answers within a time that nothing slow would keep."""
    found: list[Any] = []
    asking = threading.Thread(target=lambda: found.append(client_of(workspace).get("/api/status").json), daemon=True)
    asking.start()
    asking.join(DEADLINE_SECONDS / 10)
    assert found, "it waits for something else"
    status: dict[str, Any] = found[0]
    return status


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    write_trace(tmp_path / "logs" / "run" / "a.pt.trace.json")
    return tmp_path / "logs"


@pytest.mark.slow
def test_while_a_disk_is_slow_an_answer_is_computed_and_the_cache_is_swept(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        everything_read(logs, tmp_path / "cache") as workspace,
        gates("written", "read", "computed", "swept") as (written, read, computed, swept),
    ):
        wait_until(lambda: not workspace._pending, "the answers are prepared")
        trace = workspace.find("run", "a")
        monkeypatch.setattr(AnswerFolder, "get", read.before(AnswerFolder.get))
        monkeypatch.setattr(TraceCache, "add", written.before(TraceCache.add))
        monkeypatch.setattr(TraceCache, "sweep", swept.before(TraceCache.sweep))
        workspace._cache.limit = 0
        asked: list[Callable[[], object]] = [
            lambda: workspace.ask(computed.wait, ModelOf(trace)),
            lambda: workspace.remember(Key((trace,), "any"), lambda: pack(b"answer"), "disk"),
        ]
        threads = [threading.Thread(target=each, daemon=True) for each in asked]
        for thread in threads:
            thread.start()
        write_trace(logs / "run" / "b.pt.trace.json")
        for gate in (computed, read, written):
            assert gate.reached.wait(DEADLINE_SECONDS)
        assert {t["worker"]: t["state"] for t in status_of(workspace)["runs"][0]["traces"]}["a"] == "ready"
        written.open()
        assert swept.reached.wait(DEADLINE_SECONDS)
        assert {t["worker"]: t["state"] for t in status_of(workspace)["runs"][0]["traces"]}["b"] == "ready"
        for gate in (computed, read, swept):
            gate.open()
        for thread in threads:
            thread.join(DEADLINE_SECONDS)


def test_while_the_cache_is_swept_at_the_start(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with gates("swept") as (swept,):
        monkeypatch.setattr(TraceCache, "sweep", swept.before(TraceCache.sweep))
        opened: list[Workspace] = []
        opening = threading.Thread(
            target=lambda: opened.append(open_workspace(parse_logdir(str(logs)), tmp_path / "cache", 1)), daemon=True
        )
        opening.start()
        opening.join(DEADLINE_SECONDS / 10)
        assert opened, "opening waits for the sweep"
        (workspace,) = opened
        try:
            assert swept.reached.wait(DEADLINE_SECONDS)
            assert status_of(workspace)["scanning"]
            swept.open()
            wait_until(lambda: not workspace.status().loading, "it is read")
        finally:
            workspace.close()
