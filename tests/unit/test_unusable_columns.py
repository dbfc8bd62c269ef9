"""Columns with right checksums that cannot be used: the trace is read again, once, and then it says why."""

from __future__ import annotations

import contextlib
import random
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.attack.hostile_columns import hostile, opened_whole, rewritten
from tests.served import client_of, get
from tests.tiny import write_trace
from tests.workspaces import Opener, settled, traces
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Trace, column_file
from torch_tb_profiler.trace.column_file import ColumnFileError
from torch_tb_profiler.workspace.answering.answerer import ModelOf
from torch_tb_profiler.workspace.cache.answer_store import AnswerFolder
from torch_tb_profiler.workspace.local_workspace import LocalTrace, LocalWorkspace, find_traces
from torch_tb_profiler.workspace.reading import worker

URL = "/api/operators?run=run&worker=w"


@pytest.fixture
def columns(logs: Path, tmp_path: Path, opened: Opener) -> Path:
    """Those that a server before has made."""
    write_trace(logs / "run" / "w.pt.trace.json", steps=5)
    workspace = opened()
    settled(workspace)
    workspace.close()
    (path,) = (tmp_path / "cache").glob("*.columns")
    return path


def change(columns: Path, how: Callable[[dict[str, Any]], object]) -> None:
    columns.write_bytes(rewritten(columns.read_bytes(), lambda _, index, __: how(index), random.Random(1)))


#: all values of a block are 9999
FAR = [20, 0, 0, 9999]
CHANGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "counts of different columns": lambda index: index["tables"]["events"]["name"].append([5, 20, 0, 0, 0, 0]),
    "a count below zero": lambda index: index["tables"]["events"]["name"][0].__setitem__(0, -1),
    "a block behind the end": lambda index: index["tables"]["operators"]["row"][0].__setitem__(1, 2**40),
    "texts that are not there": lambda index: index["tables"]["events"]["name"][0].__setitem__(slice(1, 5), FAR),
    "rows that are not there": lambda index: index["tables"]["operators"]["row"][0].__setitem__(slice(1, 5), FAR),
    "no tracks": lambda index: index.update(tracks=[]),
    "a time that no clock shows": lambda index: index.update(origin_ns=2**64 - 1),
    "another width": lambda index: index["tables"]["events"]["start"][0].__setitem__(3, 3),
}


@pytest.mark.parametrize("how", CHANGES)
def test_a_trace_is_read_again_whose_columns_are_of_no_trace(how: str, columns: Path, opened: Opener) -> None:
    workspace = opened()
    settled(workspace)
    client = client_of(workspace)
    expected = get(client, URL)
    workspace.close()
    change(columns, CHANGES[how])
    for answers in columns.parent.glob("*.answers/*"):
        answers.unlink()
    workspace = opened()
    settled(workspace)
    client = client_of(workspace)
    if client.get(URL).status_code == 409:
        settled(workspace)
    assert get(client, URL) == expected


def test_columns_that_are_no_better_when_they_are_read_again_say_why(
    columns: Path, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    for answers in columns.parent.glob("*.answers/*"):
        answers.unlink()
    asked = []

    def unusable(path: Path) -> Trace:
        asked.append(path)
        raise ColumnFileError("is of no trace", path)

    monkeypatch.setattr(column_file, "open_trace", unusable)
    workspace = opened()
    settled(workspace)
    client = client_of(workspace)
    get(client, "/api/memory/curve?run=run&worker=w&device=cpu:0", 409)
    settled(workspace)
    said = get(client, "/api/memory/curve?run=run&worker=w&device=cpu:0", 422)
    assert "could be read, but its columns cannot be used: is of no trace" in said["error"]
    (trace,) = traces(workspace).values()
    assert (trace.state, trace.why and trace.why.kind) == ("failed", "columns_unusable")
    assert len(asked) == 2
    assert get(client, URL, 422)


@pytest.mark.parametrize("is_found", [True, False])
def test_an_error_of_an_analysis_is_the_columns_only_if_they_were_found(
    is_found: bool, columns: Path, opened: Opener
) -> None:
    if not is_found:
        columns.unlink()
    workspace = opened()
    settled(workspace)
    trace = workspace.find("run", "w")
    asked = []

    def question(model: Model) -> bytes:
        asked.append(model)
        if len(asked) == 1:
            raise IndexError("row 5 is not there")
        return b"answer"

    with pytest.raises(Exception, match="still waiting" if is_found else "row 5") as raised:
        workspace.ask(question, ModelOf(trace))
    assert type(raised.value).__name__ == ("Loading" if is_found else "IndexError")
    settled(workspace)
    assert workspace.ask(question, ModelOf(workspace.find("run", "w"))) == b"answer"


def test_a_program_reads_a_trace_again_whose_columns_an_analysis_cannot_use(columns: Path, logs: Path) -> None:
    (run,) = find_traces(str(logs)).runs
    trace = LocalTrace(LocalWorkspace(columns.parent), run.traces[0])
    asked: list[int] = []

    def question(model: Model) -> int:
        asked.append(len(model.trace.events))
        return 7 // (len(asked) - 1)

    assert trace.ask(question) == 7
    asked.clear()
    with pytest.raises(ZeroDivisionError):  # this process has read them: it is the fault of the question
        trace.ask(question)


@pytest.mark.slow
def test_what_is_small_takes_little_memory_whatever_it_says(columns: Path) -> None:
    good = columns.read_bytes()
    for kind in ("counts", "bomb", "texts"):
        for seed in range(3):
            columns.write_bytes(hostile(good, kind, seed))

            tracemalloc.start()
            with contextlib.suppress(ColumnFileError):
                opened_whole(columns)
            assert tracemalloc.get_traced_memory()[1] < 64 << 20, (kind, seed)
            tracemalloc.stop()


def test_damage_is_logged_without_a_traceback(
    columns: Path, opened: Opener, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Which would look like a fault of the program; also of answers that are being prepared."""
    workspace = opened()
    settled(workspace)
    columns.unlink()
    client_of(workspace).get(URL)
    assert [record.exc_info for record in caplog.records if "cannot be used" in record.message] == [None]

    def make() -> bytes:
        raise ColumnFileError("has a damaged block")

    assert worker._put(AnswerFolder(tmp_path), "name", make) == "the columns cannot be used: has a damaged block"
