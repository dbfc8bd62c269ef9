"""Traces for a program: an error of a question is the program's own, and any number of threads may ask at once."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.tiny import DEADLINE_SECONDS, write_trace
from torch_tb_profiler import api
from torch_tb_profiler.api.trace import TraceProfile
from torch_tb_profiler.model import Model
from torch_tb_profiler.workspace.cache.trace_cache import TraceCache


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for worker in ("a", "b"):
        write_trace(tmp_path / "logs" / "run" / f"{worker}.pt.trace.json")
    return tmp_path / "logs"


def profiles(logs: Path, cache: Path) -> tuple[TraceProfile, TraceProfile]:
    """The two traces, each opened by itself."""
    found = [api.open(logs / "run" / f"{worker}.pt.trace.json", cache_dir=cache).trace() for worker in "ab"]
    return found[0], found[1]


def test_an_error_of_a_question_is_not_taken_for_broken_columns(logs: Path, tmp_path: Path) -> None:
    trace, _ = profiles(logs, tmp_path / "cache")
    assert len(trace.model.trace.events) == 8
    before = sorted((tmp_path / "cache").iterdir())
    asked = []

    def question(model: Model) -> bytes:
        asked.append(model)
        return (tmp_path / "nowhere").read_bytes()

    with pytest.raises(FileNotFoundError, match="nowhere"):
        trace.ask(question)
    assert len(asked) == 1
    assert sorted((tmp_path / "cache").iterdir()) == before


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_bytes(b"nonsense")])
def test_columns_that_are_gone_or_broken_are_made_again(logs: Path, tmp_path: Path, damage: object) -> None:
    trace, _ = profiles(logs, tmp_path / "cache")
    assert len(trace.model.trace.events) == 8
    for path in (tmp_path / "cache").glob("*.columns"):
        damage(path)  # type: ignore[operator]
    again, _ = profiles(logs, tmp_path / "cache")
    assert len(again.model.trace.events) == 8


def test_reading_ahead_ends_when_the_cache_fails(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def add(*_: object) -> None:
        raise PermissionError("not here")

    with monkeypatch.context() as patched:
        patched.setattr(TraceCache, "add", add)
        opened: list[api.Profile] = []
        opening = threading.Thread(
            target=lambda: opened.append(api.open(logs, workers=1, cache_dir=tmp_path / "cache")), daemon=True
        )
        opening.start()
        opening.join(DEADLINE_SECONDS / 5)
    assert [len(trace.model.trace.events) for profile in opened for trace in profile] == [8, 8]


def test_crosswise_comparisons_in_two_threads(logs: Path, tmp_path: Path) -> None:
    left, right = profiles(logs, tmp_path / "cache")
    names = left.compare(right).operators.name
    together = threading.Barrier(2)

    def compare(one: TraceProfile, other: TraceProfile) -> None:
        together.wait(DEADLINE_SECONDS)
        for _ in range(50):
            assert one.compare(other).operators.name == names
        finished.release()

    finished = threading.Semaphore(0)
    for pair in ((left, right), (right, left)):
        threading.Thread(target=compare, args=pair, daemon=True).start()
    for _ in range(2):
        assert finished.acquire(timeout=DEADLINE_SECONDS / 5)


def test_a_trace_with_chosen_steps_is_compared_with_itself(logs: Path, tmp_path: Path) -> None:
    trace, _ = profiles(logs, tmp_path / "cache")
    whole = trace.with_steps(rule="whole_trace")
    assert whole.compare(trace).operators.name == trace.compare(whole).operators.name != ()
