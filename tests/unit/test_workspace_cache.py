"""What a workspace keeps: columns and answers, and what becomes of them when they are broken or gone."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.tiny import write_trace
from tests.workspaces import Opener, count_of, settled, traces
from torch_tb_profiler.discovery import parse_logdir
from torch_tb_profiler.model import Model
from torch_tb_profiler.storage import StorageError
from torch_tb_profiler.workspace import Key, Loading, OpenRun, Packed, Tier, Workspace, open_workspace, pack
from torch_tb_profiler.workspace.answering.answerer import ModelOf
from torch_tb_profiler.workspace.answering.value_cache import Lru
from torch_tb_profiler.workspace.cache import identity
from torch_tb_profiler.workspace.cache.answer_store import as_file, packed_of


@pytest.fixture
def columns(logs: Path, tmp_path: Path, opened: Opener) -> Path:
    """What a workspace that is closed has kept of one trace."""
    write_trace(logs / "run" / "w.pt.trace.json")
    workspace = opened()
    settled(workspace)
    workspace.close()
    (columns,) = (tmp_path / "cache").glob("*.columns")
    return columns


def test_a_change_of_an_analysis_keeps_the_columns(
    columns: Path, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "answers_version", lambda: "another")
    before = columns.stat().st_ino
    second = opened()
    assert settled(second) == {"run/w.pt.trace.json": "ready"}
    assert traces(second)["run/w.pt.trace.json"].events == 8
    assert [path.stat().st_ino for path in columns.parent.glob("*.columns")] == [before]


def test_unusable_columns_of_other_code_are_made_anew(
    columns: Path, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(identity, "answers_version", lambda: "another")
    columns.write_bytes(b"nonsense")
    second = opened()
    assert settled(second) == {"run/w.pt.trace.json": "ready"}
    assert count_of(second, "run", "w") == 8


def test_broken_columns_are_made_anew(columns: Path, opened: Opener) -> None:
    columns.write_bytes(b"nonsense")
    second = opened()
    settled(second)
    with pytest.raises(Loading):
        count_of(second, "run", "w")
    settled(second)
    assert count_of(second, "run", "w") == 8


def test_columns_that_were_cleaned_away_are_made_anew(logs: Path, tmp_path: Path, opened: Opener) -> None:
    write_trace(logs / "run" / "w.pt.trace.json")
    workspace = opened()
    settled(workspace)
    for file in (tmp_path / "cache").iterdir():
        file.unlink()
    with pytest.raises(Loading):
        count_of(workspace, "run", "w")
    settled(workspace)
    assert count_of(workspace, "run", "w") == 8


def test_answers_are_computed_once(logs: Path, opened: Opener) -> None:
    write_trace(logs / "run" / "w.pt.trace.json")
    workspace = opened()
    settled(workspace)
    asked: list[Model] = []

    def compute(model: Model) -> bytes:
        asked.append(model)
        return b"answer"

    def ask(workspace: Workspace, question: str) -> bytes:
        trace = workspace.find("run", "w")
        return workspace.remember(
            Key((trace,), question), lambda: pack(workspace.ask(compute, ModelOf(trace))), "disk"
        ).body

    assert [ask(workspace, question) for question in ("a", "a", "b")] == [b"answer"] * 3
    assert len(asked) == 2
    assert asked[0] is asked[1]
    workspace.close()
    again = opened()
    settled(again)
    assert ask(again, "a") == b"answer"
    assert len(asked) == 2


def answer_of_run(
    workspace: Workspace, run: OpenRun, question: Hashable, make: Callable[[], Packed], tier: Tier = "disk"
) -> Packed:
    if tier == "disk":
        make = partial(workspace.kept_of_run, run, make, (as_file, packed_of), question)
    return workspace.remember(Key.of_run(run, question), make)


def test_an_answer_about_a_run_is_computed_once(
    logs: Path, tmp_path: Path, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    for worker in ("a", "b"):
        write_trace(logs / "run" / f"{worker}.pt.trace.json")
    made: list[str] = []

    def ask(workspace: Workspace, question: str = "what", tier: Tier = "disk") -> bytes:
        def make() -> Packed:
            made.append(question)
            return pack(question.encode() * 2000)

        settled(workspace)
        run = workspace.find_span("run", None)
        return answer_of_run(workspace, run, (question, 1), make, tier).plain()

    def asked_again(*, question: str = "what", tier: Tier = "disk") -> bool:
        """By a workspace that was opened later; whether it was computed again."""
        before = len(made)
        workspace = opened()
        assert {ask(workspace, question, tier) for _ in range(2)} == {question.encode() * 2000}
        workspace.close()
        assert len(made) - before <= 1
        return len(made) > before

    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "read-only file system")

    assert asked_again()
    assert not asked_again()
    assert asked_again(question="another")
    # of parameters there are too many to keep it
    assert asked_again(question="passing", tier="memory")
    assert asked_again(question="passing", tier="memory")
    # what is damaged is made again
    for path in (tmp_path / "cache").glob("*.run"):
        path.write_bytes(path.read_bytes()[:-1] + b"?")
    assert asked_again()
    assert not asked_again()
    with monkeypatch.context() as read_only:
        read_only.setattr(os, "utime", refused)
        assert not asked_again()
    # of other ranks, and by other code
    write_trace(logs / "run" / "c.pt.trace.json")
    assert asked_again()
    assert not asked_again()
    monkeypatch.setattr(identity, "answers_version", lambda: "another")
    assert asked_again()


def test_an_answer_about_a_run_is_not_kept_while_a_trace_is_read(logs: Path, tmp_path: Path, opened: Opener) -> None:
    write_trace(logs / "run" / "a.pt.trace.json")
    workspace = opened()
    settled(workspace)
    run = workspace.find_span("run", None)
    (known,) = (trace for of in workspace.status().runs for trace in of.traces)
    for state, kept in (("loading", 0), ("failed", 1)):
        others = (replace(known, worker="b", file="run/b.pt.trace.json", state=state),)
        answer_of_run(workspace, replace(run, others=others), ("what",), lambda: pack(b"{}"))
        assert len([*(tmp_path / "cache").glob("*.run")]) == kept


def test_an_error_of_a_question_is_not_taken_for_broken_columns(logs: Path, tmp_path: Path, opened: Opener) -> None:
    write_trace(logs / "run" / "w.pt.trace.json")
    workspace = opened()
    settled(workspace)
    trace = workspace.find("run", "w")
    kept = sorted((tmp_path / "cache").iterdir())
    with pytest.raises(FileNotFoundError, match="nowhere"):
        workspace.ask(lambda _: (tmp_path / "nowhere").read_bytes(), ModelOf(trace))
    with pytest.raises(FileNotFoundError, match="nowhere"):
        workspace.ask(lambda *_: (tmp_path / "nowhere").read_bytes(), ModelOf(trace), ModelOf(trace))
    assert workspace.find("run", "w") == trace
    assert sorted((tmp_path / "cache").iterdir()) == kept


def test_of_two_traces_only_the_one_with_broken_columns_is_read_again(
    logs: Path, tmp_path: Path, opened: Opener
) -> None:
    write_trace(logs / "run" / "a.pt.trace.json")
    write_trace(logs / "run" / "b.pt.trace.json", steps=3)
    workspace = opened()
    settled(workspace)
    a, b = workspace.find("run", "a"), workspace.find("run", "b")
    broken, whole = (tmp_path / "cache" / f"{trace.key}.columns" for trace in (b, a))
    before = whole.stat().st_ino
    broken.write_bytes(b"nonsense")
    for pair in ((a, b), (b, a)):
        with pytest.raises(Loading) as raised:
            workspace.ask(lambda *models: [len(model.trace.events) for model in models], *map(ModelOf, pair))
        assert raised.value.trace.worker == "b"
        settled(workspace)
        broken.write_bytes(b"nonsense")
        workspace._here.models.drop(b.key)
    assert whole.stat().st_ino == before


def test_who_asks_while_it_is_computed_waits_for_it(
    logs: Path, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_trace(logs / "run" / "w.pt.trace.json")
    workspace = opened()
    settled(workspace)
    trace = workspace.find("run", "w")
    computed: list[Model] = []

    def compute(model: Model) -> bytes:
        computed.append(model)
        time.sleep(0.2)  # the others come meanwhile
        return b"answer"

    # the memory of answers is slow: what is put there late is not found by those who waited
    put = Lru.put

    def slowly(lru: Lru[object, object], key: object, value: object) -> None:
        time.sleep(0.1)
        put(lru, key, value)

    monkeypatch.setattr(Lru, "put", slowly)
    with ThreadPoolExecutor(4) as askers:
        key = Key((trace,), "slow")
        make = partial(workspace.ask, lambda model: pack(compute(model)), ModelOf(trace))
        asked = [askers.submit(workspace.remember, key, make, "disk") for _ in range(4)]
        assert {each.result().body for each in asked} == {b"answer"}
    assert len(computed) == 1


def test_an_address_that_cannot_be_right_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="only Azure Blob Storage can be read"):
        open_workspace(parse_logdir("https://example.com/logs"), tmp_path)
