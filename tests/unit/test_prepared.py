"""Answers that are made before somebody asks, and those that were made earlier."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest

from tests.events import memory, model_of, op
from tests.served import client_of, everything_read, get
from tests.tiny import wait_until, write_trace, write_trace_with_memory
from torch_tb_profiler.analysis.health.notes import troubles
from torch_tb_profiler.discovery import parse_logdir
from torch_tb_profiler.model import Model
from torch_tb_profiler.questions import QUESTIONS as DECLARED
from torch_tb_profiler.trace import Trace, column_file, read_trace
from torch_tb_profiler.web import PREFETCHED
from torch_tb_profiler.web.answers.trace import is_about
from torch_tb_profiler.web.old_plugin.questions import QUESTIONS as OLD
from torch_tb_profiler.web.prefetch import questions
from torch_tb_profiler.workspace import Key, OpenTrace, RefusedAnswer, Workspace, open_workspace
from torch_tb_profiler.workspace.answering.answerer import ModelOf
from torch_tb_profiler.workspace.answering.open_traces import open_model
from torch_tb_profiler.workspace.cache.answer_store import AnswerFolder, answer_name, pack, stored
from torch_tb_profiler.workspace.listing.runs import RunRegistry
from torch_tb_profiler.workspace.reading.protocol import TIMELINE, Done, Job, Message, Prepared
from torch_tb_profiler.workspace.reading.worker import summary_of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
OF_TRACE = "run=run&worker=w&span=1"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    write_trace_with_memory(tmp_path / "logs" / "run" / "w.1.pt.trace.json")
    return tmp_path / "logs"


def url_of(route: str, parameters: dict[str, str]) -> str:
    return "&".join([f"{route}?{OF_TRACE}", *(f"{key}={value}" for key, value in parameters.items())])


def prepared(workspace: Workspace) -> bool:
    return not workspace.status().loading and not workspace._pending


def asked_first(logs: Path) -> list[tuple[str, dict[str, str]]]:
    """Routes and parameters."""
    (path,) = (logs / "run").iterdir()
    with path.open("rb") as stream:
        model = Model(read_trace(stream))
    found: list[tuple[str, dict[str, str]]] = []
    for question in DECLARED:
        if question.scope == "trace" and question.node is None and is_about(question, model):
            found += [(question.path, texts_of(own)) for own in question.precomputed(model)]
    return found


def texts_of(own: msgspec.Struct) -> dict[str, str]:
    """As a query has them; none for what is not given."""
    return {name: str(value) for name, value in msgspec.structs.asdict(own).items() if value is not None}


def test_what_the_pages_ask_first_is_answered_without_the_columns(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with everything_read(logs, tmp_path / "cache") as workspace:
        wait_until(lambda: prepared(workspace), "the answers are prepared")
        requests = asked_first(logs)
        # of the first device, whether it is named or not
        assert {"device" in parameters for route, parameters in requests if route == "/api/memory/alive"} == {
            True,
            False,
        }
        monkeypatch.setattr(column_file, "open_trace", lambda _: pytest.fail("the columns are opened"))
        client = client_of(workspace)
        answered = [client.get(url_of(route, parameters)) for route, parameters in requests]
        assert len(answered) > 20
        assert {answer.status_code for answer in answered} == {200}


def test_what_only_the_old_plugin_asked_is_answered_once_when_it_is_asked(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    routes = sorted(question.path for question in OLD if question.scope == "trace" and question.node is None)
    opened: list[Path] = []
    open_trace = column_file.open_trace

    def noted(path: Path) -> Trace:
        opened.append(path)
        return open_trace(path)

    monkeypatch.setattr(column_file, "open_trace", noted)
    asked, times = [], []
    for _ in range(2):  # the second server finds them in the cache
        with everything_read(logs, tmp_path / "cache") as workspace:
            wait_until(lambda: prepared(workspace), "the answers are prepared")
            opened.clear()
            client = client_of(workspace)
            answers = [client.get(url_of(route, {})) for route in routes]
            asked.append([(answer.status_code, answer.data) for answer in answers])
            times.append(len(opened))
            assert [client.get(url_of(route, {})).data for route in routes] == [data for _, data in asked[-1]]
            assert len(opened) == times[-1]
    assert times == [1, 0]
    assert asked[0] == asked[1]
    assert [route for route, (status, _) in zip(routes, asked[0], strict=True) if status != 200] == ["/module"]


def test_findings_are_looked_for_once(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    routes = ("/api/summary", "/overview")
    with everything_read(logs, tmp_path / "cache") as workspace:
        wait_until(lambda: prepared(workspace), "the answers are prepared")
        client = client_of(workspace)
        with monkeypatch.context() as patched:
            patched.setattr(Model, "fork", lambda _: pytest.fail("rules are applied again"))
            answers = [client.get(url_of(route, {})) for route in routes]
    assert [answer.status_code for answer in answers] == [200, 200]
    monkeypatch.setattr(AnswerFolder, "get", lambda *_: None)
    with everything_read(logs, tmp_path / "cache") as workspace:
        client = client_of(workspace)
        assert [client.get(url_of(route, {})).data for route in routes] == [answer.data for answer in answers]


def test_a_table_of_many_pages_is_prepared_as_well() -> None:
    model = model_of([op("a", 0, 5000), *(memory(1 + n, 512, address=n, total=512 * n) for n in range(1200))])
    bundles = questions(OpenTrace("run", "w", "1", "key", 1, 1), model)
    answers = [stored(compute(model)) for bundle in bundles for _, compute in bundle]
    bodies = [answer.plain() for answer in answers if not isinstance(answer, RefusedAnswer)]
    metas = [json.loads(body).get("meta", {}) for body in bodies if body.startswith(b"{")]
    assert 1200 in [meta.get("total") for meta in metas]


def test_one_operator_is_asked_about_without_the_columns(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with everything_read(logs, tmp_path / "cache") as workspace:
        wait_until(lambda: prepared(workspace), "the answers are prepared")
        client = client_of(workspace)
        names = get(client, f"/api/operators?{OF_TRACE}")["rows"]["name"]
        asked = [url_of("/api/operators/kernels", {"name": name}) for name in names]
        asked += [url_of("/api/operators/stacks", {"name": name, "filter": "calls>0"}) for name in names]
        asked += [url_of("/operation/stack", {"op_name": name}) for name in names]
        with monkeypatch.context() as patched:
            patched.setattr(column_file, "open_trace", lambda _: pytest.fail("the columns are opened"))
            answers = [(client.get(url).status_code, client.get(url).json) for url in asked]
    monkeypatch.setattr(AnswerFolder, "get", lambda *_: None)
    with everything_read(logs, tmp_path / "cache") as workspace:
        client = client_of(workspace)
        assert [(client.get(url).status_code, client.get(url).json) for url in asked] == answers
    assert names
    assert sum(status == 200 for status, _ in answers) >= 2 * len(names)


def test_prepared_answers_are_those_that_would_be_computed(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask_all() -> list[tuple[int, object]]:
        with everything_read(logs, tmp_path / "cache") as workspace:
            client = client_of(workspace)
            answers = [client.get(url_of(route, parameters)) for route, parameters in asked_first(logs)]
            return [(answer.status_code, answer.json) for answer in answers]

    before = ask_all()
    monkeypatch.setattr(AnswerFolder, "get", lambda *_: None)
    assert ask_all() == before


def test_a_request_waits_for_the_process_that_is_about_to_answer(logs: Path, tmp_path: Path) -> None:
    """A server that is asked at once does not compute the same beside its worker process."""
    workspace = open_workspace(parse_logdir(str(logs)), tmp_path / "cache", 1, questions=PREFETCHED)
    try:
        wait_until(lambda: not workspace.status().loading, "the trace is read")
        assert get(client_of(workspace), f"/api/overview?{OF_TRACE}")["steps"]["rule"]
        assert not len(workspace._here.models)
    finally:
        workspace.close()


def test_closing_frees_who_waits(logs: Path, tmp_path: Path) -> None:
    workspace = open_workspace(parse_logdir(str(logs)), tmp_path / "cache", 1)
    wait_until(lambda: not workspace.status().loading, "the trace is read")
    trace = workspace.find("run", "w")
    workspace._pending.promise(trace.key, {answer_name(trace, "never")})
    answers: list[bytes] = []
    waiting = threading.Thread(
        target=lambda: answers.append(
            workspace.remember(Key((trace,), "never"), lambda: pack(b"computed"), "disk").body
        )
    )
    waiting.start()
    time.sleep(0.1)
    assert not answers
    workspace.close()
    waiting.join(10)
    assert answers == [b"computed"]


def test_many_traces_are_read_before_answers_are_prepared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[type[object]] = []
    hear = RunRegistry._on_message

    def listen(runs: RunRegistry, job: Job, message: Message | None) -> None:
        heard.append(type(message))
        hear(runs, job, message)

    monkeypatch.setattr(RunRegistry, "_on_message", listen)
    for rank in range(6):
        write_trace(tmp_path / "logs" / "run" / f"rank{rank}.pt.trace.json")
    workspace = open_workspace(parse_logdir(str(tmp_path / "logs")), tmp_path / "cache", 1, questions=PREFETCHED)
    try:
        wait_until(lambda: heard.count(Prepared) == 6, "all are answered")
    finally:
        workspace.close()
    read = [i for i, kind in enumerate(heard) if kind is Done]
    prepared = [i for i, kind in enumerate(heard) if kind is Prepared]
    # the first may come alone, before the listing has handed over the others
    assert len(read) == 6
    assert read[-1] < prepared[1]


def test_questions_that_cannot_be_answered_cost_nothing_else(logs: Path, tmp_path: Path) -> None:
    workspace = open_workspace(parse_logdir(str(logs)), tmp_path / "cache", 1, questions="no.such.module:questions")
    try:
        wait_until(lambda: prepared(workspace), "it has been tried")
        assert get(client_of(workspace), f"/api/overview?{OF_TRACE}")["steps"]["rule"]
    finally:
        workspace.close()


def test_an_answer_that_fails_in_a_worker_is_logged(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "bad_questions.py").write_text(
        "def questions(trace, model):\n    return [[('a' * 24, lambda _: 1 // 0), ('b' * 24, lambda _: b'b')]]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    workspace = open_workspace(parse_logdir(str(logs)), tmp_path / "cache", 1, questions="bad_questions:questions")
    try:
        wait_until(lambda: prepared(workspace), "it has been tried")
        folder = AnswerFolder(workspace._cache.answers(workspace.find("run", "w").key))
        assert folder.get("a" * 24) is None
        assert folder.get("b" * 24) == pack(b"b")
    finally:
        workspace.close()
    assert "an answer could not be prepared" in caplog.text
    assert "ZeroDivisionError" in caplog.text


def test_a_worker_that_is_killed_while_it_answers_costs_its_answers_only(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow_questions.py").write_text(
        "import time\ndef questions(trace, model):\n    return [[('a' * 24, lambda model: time.sleep(600) or b'')]]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    workspace = open_workspace(parse_logdir(str(logs)), tmp_path / "cache", 1, questions="slow_questions:questions")
    try:
        wait_until(lambda: not workspace.status().loading, "the trace is read")
        key = workspace.find("run", "w").key
        wait_until(lambda: workspace._pending.names(key) == {"a" * 24, TIMELINE}, "an answer is promised")
        (process,) = workspace.process_ids()
        os.kill(process, signal.SIGKILL)
        wait_until(lambda: prepared(workspace), "it is noticed")
        assert workspace.status().runs[0].traces[0].state == "ready"
        assert get(client_of(workspace), f"/api/overview?{OF_TRACE}")["steps"]["rule"]
    finally:
        workspace.close()


def test_names_of_answers_hold_in_every_process() -> None:
    trace = OpenTrace("run", "w", "1", "key", 1, 1)
    here = [[name for name, _ in bundle] for bundle in questions(trace, model_of([]))]
    assert len({name for bundle in here for name in bundle}) == sum(map(len, here)) > 20
    code = (
        "import json\nfrom tests.events import model_of\nfrom torch_tb_profiler.web.prefetch import questions\n"
        "from torch_tb_profiler.workspace import OpenTrace\n"
        "asked = questions(OpenTrace('run', 'w', '1', 'key', 1, 1), model_of([]))\n"
        "print(json.dumps([[name for name, _ in bundle] for bundle in asked]))"
    )
    there = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT).stdout
    assert json.loads(there) == here


def test_names_tell_who_is_asked() -> None:
    """The same file may be a run of another name in another log directory."""
    traces = [OpenTrace(run, worker, "1", "key", 1, 1) for run in "ab" for worker in "ab"]
    assert len({answer_name(trace, "question") for trace in traces}) == 4


def test_troubles_are_not_looked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    events = [memory(101, 4096, total=4096), op("aten::mm", 100, -5)]
    first = model_of(events)
    summary = summary_of(first)
    assert summary.warnings == troubles(first) != ()
    again = open_model(first.trace, summary)
    monkeypatch.setattr(Model, "notes", property(lambda _: pytest.fail("looked for again")))
    first.answers.clear()
    assert troubles(again) == troubles(first) == summary.warnings


def test_a_server_does_not_load_rules() -> None:
    code = "import sys, torch_tb_profiler.plugin; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    held = set(found.stdout.split())
    assert "torch_tb_profiler.insights.question" in held
    assert not {name for name in held if name.startswith("torch_tb_profiler.insights.rules")}


def test_a_process_that_answers_does_not_hold_what_is_seldom_needed() -> None:
    code = "import sys, torch_tb_profiler.web.prefetch, torch_tb_profiler.workspace.reading.worker; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    held = set(found.stdout.split())
    assert "torch_tb_profiler.web.answers.trace" in held
    assert not held & {"torch_tb_profiler.web.openapi", "torch_tb_profiler.web.old_plugin", "regex", "email.utils"}


def test_two_servers_share_a_cache(logs: Path, tmp_path: Path) -> None:
    """Both at once: the same answers, and nothing half-written is left."""
    first, second = (
        open_workspace(parse_logdir(str(logs)), tmp_path / "cache", 1, questions=PREFETCHED) for _ in range(2)
    )
    try:
        for workspace in (first, second):
            wait_until(lambda each=workspace: prepared(each), "it is prepared")  # type: ignore[misc]
        answers = [get(client_of(each), f"/api/operators?{OF_TRACE}") for each in (first, second)]
        assert answers[0] == answers[1]
        assert not list((tmp_path / "cache").rglob("*.part"))
    finally:
        first.close()
        second.close()


def test_a_model_is_opened_for_what_was_not_prepared(logs: Path, tmp_path: Path) -> None:
    def events(model: Model) -> bytes:
        return b"%d" % len(model.trace.events)

    with everything_read(logs, tmp_path / "cache") as workspace:
        wait_until(lambda: prepared(workspace), "the answers are prepared")
        assert workspace.ask(events, ModelOf(workspace.find("run", "w"))) == b"10"
