"""Answers about large traces: of a process of their own, the same, whatever happens to it."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from werkzeug.test import Client, TestResponse

from tests.openapi_requests import CNN, H100, fill, places_in, requests_to
from tests.served import client_of, everything_read, get
from tests.tiny import wait_until, write_trace
from tests.workspaces import count_events
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.selection import StepRange, UnknownStep
from torch_tb_profiler.questions import QUESTIONS, TIMELINE_QUESTIONS
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.web.old_plugin.questions import QUESTIONS as OLD
from torch_tb_profiler.workspace import OpenTrace, Unanswered, Workspace
from torch_tb_profiler.workspace import workspace as workspace_module
from torch_tb_profiler.workspace.answering.answerer import ModelOf, TimelineOf
from torch_tb_profiler.workspace.answering.answering_process import AnsweringProcess

pytestmark = pytest.mark.slow

PATHS = sorted(question.path for question in (*QUESTIONS, *OLD, *TIMELINE_QUESTIONS))


@pytest.fixture(scope="module")
def large() -> Iterator[None]:
    """Every trace is."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(workspace_module, "LARGE_EVENTS", 0)
        yield


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    logs = tmp_path_factory.mktemp("tiny") / "logs"
    write_trace(logs / "run" / "w.1.pt.trace.json")
    return logs


@pytest.fixture(scope="module")
def tiny(logs: Path, large: None) -> Iterator[Workspace]:
    with everything_read(logs, logs.parent / "cache") as workspace:
        wait_until(lambda: not workspace._pending, "the answers are prepared")
        yield workspace


def answers(client: Client) -> dict[str, TestResponse]:
    """Of every path, all that is asked of it about traces of the samples; by the address."""
    table = get(client, f"/operation/table?{urlencode(CNN)}&group_by=OperationAndInputShape")["data"]
    places = places_in(client, **H100, shape=table[0]["input_shape"])
    urls = [
        f"{path}?{urlencode(fill(query, places))}"
        for path in PATHS
        for query in requests_to(path)
        if {query.get("run"), query.get("exp_run", H100["run"])} <= {H100["run"], CNN["run"], "out_of_memory"}
    ]
    return {url: client.get(url) for url in urls}


def open_models(workspace: Workspace) -> int:
    return len(workspace._here.models)


def test_every_answer_is_that_of_the_server(
    samples: Path, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with everything_read(samples, cache) as workspace:
        here = answers(client_of(workspace))
        assert workspace._elsewhere.process_ids() == []
    monkeypatch.setattr(workspace_module, "LARGE_EVENTS", 0)
    with everything_read(samples, tmp_path / "another") as workspace:
        elsewhere = answers(client_of(workspace))
        assert (open_models(workspace), len(workspace._here.timelines), len(workspace._here.values)) == (0, 0, 0)
    assert len(here) > len(PATHS)
    assert {url: response.status_code for url, response in elsewhere.items()} == {
        url: response.status_code for url, response in here.items()
    }
    assert [url for url, response in elsewhere.items() if response.data != here[url].data] == []


def test_small_traces_are_answered_here(samples: Path, cache: Path) -> None:
    with everything_read(samples, cache) as workspace:
        get(client_of(workspace), f"/api/trace/slices?{urlencode(H100 | {'name': 'aten::mm'})}")
        assert (workspace._elsewhere.process_ids(), open_models(workspace)) == ([], 1)


def of_tiny(workspace: Workspace) -> OpenTrace:
    return workspace.find("run", "w")


def process_of(model: Model) -> int:
    return os.getpid()


def slowly(seconds: float, model: Model) -> int:
    time.sleep(seconds)
    return os.getpid()


def process_of_timeline(timeline: Timeline) -> int:
    return os.getpid()


def waiting(workspace: Workspace) -> dict[int, Future[Any]]:
    """What was asked of the process and not answered yet."""
    running = workspace._elsewhere._running
    return {} if running is None else running.waiting


def _ask_long(workspace: Workspace, trace: OpenTrace, raised: list[BaseException]) -> None:
    try:
        workspace.ask(partial(slowly, 60.0), ModelOf(trace))
    except Unanswered as error:
        raised.append(error)


def fails(error: Exception, model: Model) -> None:
    raise error


class Odd(Exception):
    def __init__(self, one: str, other: str) -> None:
        super().__init__(f"{one} and {other}")


def raises_odd(model: Model) -> None:
    raise Odd("this", "that")


def test_one_process_answers_until_nobody_asks(tiny: Workspace) -> None:
    trace = of_tiny(tiny)
    (first, second) = (tiny.ask(process_of, ModelOf(trace)) for _ in range(2))
    assert first == second != os.getpid()
    assert first in tiny.process_ids()
    tiny._unused.look(60.0)
    assert tiny.ask(process_of, ModelOf(trace)) == first
    tiny._unused.look(0.0)
    assert tiny.ask(process_of, ModelOf(trace)) != first


def test_functions_of_functions_are_asked_here(tiny: Workspace) -> None:
    assert tiny.ask(lambda _: os.getpid(), ModelOf(of_tiny(tiny))) == os.getpid()


def test_steps_and_two_traces(tiny: Workspace) -> None:
    trace = of_tiny(tiny)
    assert tiny.ask(count_events, ModelOf(trace)) == tiny._here.ask(count_events, ModelOf(trace))
    with pytest.raises(UnknownStep, match="no step 'x'"):
        tiny.ask(process_of, ModelOf(trace, steps=StepRange("x", "x")))
    assert tiny.ask(same, ModelOf(trace), ModelOf(trace)) is True


def same(left: Model, right: Model) -> bool:
    return left is right


@pytest.mark.parametrize("error", [ValueError("a word"), MemoryError(), OSError(24, "too many"), UnknownStep("no")])
def test_errors_are_raised_here(tiny: Workspace, error: Exception) -> None:
    with pytest.raises(type(error)) as raised:
        tiny.ask(partial(fails, error), ModelOf(of_tiny(tiny)))
    assert str(raised.value) == str(error)
    assert "in fails" in str(raised.value.__cause__)


def test_an_error_that_cannot_be_sent_is_told(tiny: Workspace) -> None:
    with pytest.raises(RuntimeError, match="this and that") as raised:
        tiny.ask(raises_odd, ModelOf(of_tiny(tiny)))
    assert "in raises_odd" in str(raised.value.__cause__)
    assert tiny.ask(process_of, ModelOf(of_tiny(tiny))) != os.getpid()


def test_whoever_waits_for_a_process_that_is_killed_is_told(tiny: Workspace) -> None:
    trace = of_tiny(tiny)
    process = tiny.ask(process_of, ModelOf(trace))
    raised: list[BaseException] = []
    threads = [threading.Thread(target=_ask_long, args=(tiny, trace, raised)) for _ in range(3)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(waiting(tiny)) == 3, "all are asked")
    os.kill(process, signal.SIGKILL)
    for thread in threads:
        thread.join(10)
    assert [str(error) for error in raised] == [
        "the process that computes this was killed, probably because memory ran out; ask again later"
    ] * 3
    assert tiny.ask(process_of, ModelOf(trace)) not in (process, os.getpid())


def test_a_reply_that_cannot_be_taken_keeps_nobody_waiting(tiny: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_large(_: bytes) -> None:
        raise MemoryError

    trace = of_tiny(tiny)
    first = tiny.ask(process_of, ModelOf(trace))
    with monkeypatch.context() as patched:
        patched.setattr(pickle, "loads", too_large)
        with pytest.raises(Unanswered, match="ask again later"):
            tiny.ask(process_of, ModelOf(trace))
    assert tiny.ask(process_of, ModelOf(trace)) not in (first, os.getpid())


def test_a_request_is_told_so(tiny: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(self: AnsweringProcess, order: bytes) -> None:
        raise Unanswered("the process that computes this was killed; ask again later")

    client = client_of(tiny)
    url = "/api/trace/slices?run=run&worker=w&name=aten::mm"
    with monkeypatch.context() as patched:
        patched.setattr(AnsweringProcess, "ask", killed)
        assert get(client, url, 503)["error"] == "the process that computes this was killed; ask again later"
    get(client, url)


def test_an_answer_that_takes_long_keeps_nobody_else_waiting(tiny: Workspace) -> None:
    trace = of_tiny(tiny)
    raised: list[BaseException] = []
    long = threading.Thread(target=_ask_long, args=(tiny, trace, raised))
    long.start()
    wait_until(lambda: len(waiting(tiny)) == 1, "it is asked")
    assert tiny.ask(process_of_timeline, TimelineOf(trace)) in tiny.process_ids()
    assert len(waiting(tiny)) == 1
    os.kill(tiny._elsewhere.process_ids()[0], signal.SIGKILL)
    long.join(10)
    assert len(raised) == 1


def test_no_process_outlives_the_server(logs: Path, tmp_path: Path, large: None) -> None:
    with everything_read(logs, tmp_path) as workspace:
        workspace.ask(process_of, ModelOf(of_tiny(workspace)))
        processes = workspace._elsewhere.process_ids()
        assert len(processes) == 1
    wait_until(lambda: not Path(f"/proc/{processes[0]}").exists(), "it has ended")
    with pytest.raises(OSError, match="the server is ending"):
        workspace._elsewhere.ask(b"")


def test_a_timeline_that_was_not_kept_is_built_there(tiny: Workspace) -> None:
    trace = of_tiny(tiny)
    tiny._cache.timeline(trace.key).unlink()
    tiny._here.timelines.drop(trace.key)
    assert len(tiny.rank_summary(trace).device) > 0
    assert len(tiny._here.timelines) == 0


def test_what_the_kind_of_file_says_is_not_asked(tiny: Workspace) -> None:
    tiny._unused.look(0.0)
    said = get(client_of(tiny), "/api/snapshot?run=run&worker=w", 404)
    assert said["error"] == "this is not a memory snapshot"
    assert tiny._elsewhere.process_ids() == []


def test_damaged_columns_are_read_again(tiny: Workspace) -> None:
    """What the process finds out the server mends."""
    trace = of_tiny(tiny)
    tiny.ask(process_of, ModelOf(trace))
    path = tiny.columns(trace)
    path.write_bytes(b"\0" * path.stat().st_size)
    damaged = path.read_bytes()
    tiny._unused.look(0.0)
    url = "/api/trace/slices?run=run&worker=w&name=damaged"
    client = client_of(tiny)
    assert client.get(url).status_code == 409
    wait_until(lambda: client.get(url).status_code == 200, "it is read again")
    assert path.read_bytes() != damaged
