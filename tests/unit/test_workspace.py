"""The workspace: what is found is read, what changes is read again, and trouble stays where it is."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from tests.tiny import DEADLINE_SECONDS, wait_until, write_trace
from torch_tb_profiler.discovery import Root, parse_logdir
from torch_tb_profiler.model import Model, StepChoice
from torch_tb_profiler.model.step_range import StepRange
from torch_tb_profiler.storage import StorageError
from torch_tb_profiler.workspace import (
    Key,
    Loading,
    TraceStatus,
    Unknown,
    Unreadable,
    Workspace,
    cache,
    open_workspace,
    pack,
    worker,
)
from torch_tb_profiler.workspace.lru import Lru
from torch_tb_profiler.workspace.pool import Pool
from torch_tb_profiler.workspace.protocol import Done, Failed, Job, Message

Opener = Callable[..., Workspace]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opener]:
    """Opens workspaces over tmp_path/logs with a quick reload and a cache of the test's own."""
    workspaces: list[Workspace] = []

    def open_one(reload_interval: float = 0.05, *roots: Root) -> Workspace:
        workspace = open_workspace(
            roots or parse_logdir(str(tmp_path / "logs")), tmp_path / "cache", 2, reload_interval
        )
        workspaces.append(workspace)
        return workspace

    yield open_one
    for workspace in workspaces:
        workspace.close()


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs"


def traces(workspace: Workspace) -> dict[str, TraceStatus]:
    """By run/file."""
    return {f"{run.name}/{t.file}": t for run in workspace.status().runs for t in run.traces}


def states(workspace: Workspace) -> dict[str, str]:
    return {name: trace.state for name, trace in traces(workspace).items()}


def settled(workspace: Workspace) -> dict[str, str]:
    wait_until(lambda: not workspace.status().loading, "everything is read")
    return states(workspace)


def count_events(model: Model) -> bytes:
    return str(len(model.trace.events)).encode()


def count_of(workspace: Workspace, run: str, worker: str, span: str | None = None) -> int:
    trace = workspace.find(run, worker, span)
    counted = workspace.remember(Key((trace,), "count"), lambda: pack(workspace.ask(trace, count_events)), "disk")
    return int(counted.body)


def test_reads_what_is_there_and_fails_only_what_is_damaged(logs: Path, opened: Opener) -> None:
    write_trace(logs / "good" / "w.1.pt.trace.json")
    write_trace(logs / "good" / "w.2.pt.trace.json.gz", gpu=False)
    (logs / "good" / "foreign.pt.trace.json").write_text('{"a": 1}')
    (logs / "good" / "empty.pt.trace.json.gz").touch()
    (logs / "bad").mkdir()
    (logs / "bad" / "w.pt.trace.json").write_bytes(b"\x00\xff nothing")
    (logs / "bad" / "other_trace.json").touch()
    workspace = opened()
    assert settled(workspace) == {
        "good/w.1.pt.trace.json": "ready",
        "good/w.2.pt.trace.json.gz": "ready",
        "good/foreign.pt.trace.json": "failed",
        "good/empty.pt.trace.json.gz": "failed",
        "bad/w.pt.trace.json": "failed",
    }
    found = traces(workspace)
    assert found["good/w.1.pt.trace.json"].views == ("overview", "operators", "kernels", "stacks")
    assert found["good/w.2.pt.trace.json.gz"].views == ("overview", "operators", "stacks")
    assert found["good/w.1.pt.trace.json"].events == 8
    assert found["good/w.1.pt.trace.json"].bytes_done == found["good/w.1.pt.trace.json"].size
    assert str(found["good/foreign.pt.trace.json"].reason) == "is not a PyTorch trace: it has no traceEvents"
    assert {run.name: run.state for run in workspace.status().runs} == {"bad": "failed", "good": "ready"}
    assert [s.file for s in workspace.run("bad").skipped] == ["other_trace.json"]
    assert count_of(workspace, "good", "w", "1") == 8
    with pytest.raises(Unreadable, match=r"foreign\.pt\.trace\.json is not a PyTorch trace"):
        workspace.find("good", "foreign")


def test_traces_of_other_names_are_read_and_say_where_they_ran(logs: Path, opened: Opener) -> None:
    for rank in (0, 1):
        path = write_trace(logs / "run" / f"179516471{rank}.5-TP-{rank}.trace.json")
        header = {"distributedInfo": {"rank": rank, "world_size": 2}, "host_name": "node7"}
        path.write_text(json.dumps({**header, **json.loads(path.read_text())}))
    write_trace(logs / "run" / "rank4.pt.trace.json")
    write_trace(logs / "run" / "w.pt.trace.json")
    (logs / "run" / "config.json").write_text("{}")
    workspace = opened()
    assert set(settled(workspace).values()) == {"ready"}
    assert {t.worker: (t.span, t.rank, t.world_size, t.host_name) for t in workspace.run("run").traces} == {
        "rank0": ("1", 0, 2, "node7"),
        "rank1": ("1", 1, 2, "node7"),
        "rank4": ("default", 4, None, ""),
        "w": ("default", None, None, ""),
    }
    assert [s.file for s in workspace.run("run").skipped] == ["config.json"]
    assert count_of(workspace, "run", "rank1") == 8


def test_a_file_becomes_a_trace_when_it_is_one(logs: Path, opened: Opener) -> None:
    (logs / "trace.json").write_text("{")
    workspace = opened()
    settled(workspace)
    assert [s.file for s in workspace.status().skipped] == ["trace.json"]
    write_trace(logs / "trace.json")
    wait_until(lambda: states(workspace) == {"logs/trace.json": "ready"}, "it is read")
    assert workspace.status().skipped == ()


def test_names_that_are_not_there(logs: Path, opened: Opener) -> None:
    write_trace(logs / "run" / "w.1.pt.trace.json")
    write_trace(logs / "run" / "w.2.pt.trace.json")
    workspace = opened()
    settled(workspace)
    for names in (("no", "w", "1"), ("run", "no", "1"), ("run", "w", "3"), ("run", "w", None)):
        with pytest.raises(Unknown):
            workspace.find(*names)
    with pytest.raises(Unknown):
        workspace.run("no")


def test_a_new_file_in_a_known_run_and_a_new_run_appear(logs: Path, opened: Opener) -> None:
    write_trace(logs / "run" / "w.20.pt.trace.json", steps=1)
    workspace = opened()
    settled(workspace)
    assert count_of(workspace, "run", "w", "1") == 4
    write_trace(logs / "run" / "w.3.pt.trace.json", steps=3)
    write_trace(logs / "new" / "w.pt.trace.json")
    wait_until(lambda: list(states(workspace).values()) == ["ready"] * 3, "the new files are read")
    # The earlier number takes the first place, and the answers go with the files.
    assert count_of(workspace, "run", "w", "1") == 12
    assert count_of(workspace, "run", "w", "2") == 4


def test_a_changed_file_is_read_again(logs: Path, opened: Opener) -> None:
    path = write_trace(logs / "run" / "w.pt.trace.json", steps=1)
    workspace = opened()
    settled(workspace)
    assert count_of(workspace, "run", "w") == 4
    write_trace(path, steps=5)
    wait_until(lambda: traces(workspace)["run/w.pt.trace.json"].events == 20, "the change is seen")
    settled(workspace)
    assert count_of(workspace, "run", "w") == 20


def test_a_file_that_grows_is_read_again_once_complete(logs: Path, opened: Opener) -> None:
    whole = write_trace(logs.parent / "w.pt.trace.json.gz", steps=50).read_bytes()
    path = logs / "run" / "w.pt.trace.json.gz"
    path.parent.mkdir()
    path.write_bytes(whole[:8])
    workspace = opened()
    assert settled(workspace) == {"run/w.pt.trace.json.gz": "failed"}
    path.write_bytes(whole)
    wait_until(lambda: states(workspace) == {"run/w.pt.trace.json.gz": "ready"}, "the whole file is read")
    assert count_of(workspace, "run", "w") == 200


def test_removed_files_and_runs_disappear_and_may_come_back(logs: Path, opened: Opener) -> None:
    write_trace(logs / "a" / "w.pt.trace.json")
    write_trace(logs / "b" / "w.1.pt.trace.json")
    second = write_trace(logs / "b" / "w.2.pt.trace.json")
    workspace = opened()
    settled(workspace)
    shutil.rmtree(logs / "a")
    second.unlink()
    wait_until(lambda: set(states(workspace)) == {"b/w.1.pt.trace.json"}, "they disappear")
    with pytest.raises(Unknown):
        workspace.find("a", "w")
    write_trace(logs / "a" / "w.pt.trace.json")
    wait_until(lambda: states(workspace).get("a/w.pt.trace.json") == "ready", "it comes back")


def test_what_is_in_memory_of_a_trace_goes_with_its_file(logs: Path, opened: Opener) -> None:
    path = write_trace(logs / "run" / "w.pt.trace.json")
    write_trace(logs / "run" / "other.pt.trace.json")
    workspace = opened()
    settled(workspace)
    for name in ("w", "other"):
        trace = workspace.find("run", name)
        count_of(workspace, "run", name)
        workspace.remember(Key((trace,), "in memory"), lambda: pack(b"value"))
        workspace.timeline(trace)
        workspace.rank_summary(trace)
    held = (
        workspace._models,
        workspace._timelines,
        workspace._timelines._summaries,
        workspace._on_disk,
        workspace._in_memory,
    )
    assert [len(memory) for memory in held] == [2] * 5  # type: ignore[arg-type]
    path.unlink()
    wait_until(lambda: list(states(workspace)) == ["run/other.pt.trace.json"], "it disappears")
    wait_until(lambda: [len(memory) for memory in held] == [1] * 5, "memory is freed")  # type: ignore[arg-type]


def test_nothing_stays_of_a_timeline_that_could_not_be_opened(logs: Path, tmp_path: Path, opened: Opener) -> None:
    write_trace(logs / "run" / "w.pt.trace.json")
    workspace = opened()
    settled(workspace)
    trace = workspace.find("run", "w")
    (tmp_path / "cache" / f"{trace.key}.columns").unlink()
    with pytest.raises(Loading):
        workspace.timeline(trace)
    assert workspace._timelines._timelines._making == {}


def test_models_of_some_steps_count_as_much_as_the_whole(logs: Path, opened: Opener) -> None:
    write_trace(logs / "run" / "w.pt.trace.json", steps=4)
    workspace = opened()
    settled(workspace)
    trace = workspace.find("run", "w")

    def steps_of(choice: StepChoice | None, steps: StepRange | None) -> tuple[str, ...]:
        return workspace.ask(trace, lambda model: model.steps.names, choice, steps)

    assert steps_of(None, None) == ("0", "1", "2", "3")
    assert workspace._models.events == 16
    assert steps_of(None, StepRange("1", "2")) == ("1", "2")
    assert steps_of(StepChoice(rule="whole_trace"), None) == ("0",)
    assert steps_of(None, StepRange("1", "2")) == ("1", "2")
    assert workspace._models.events == 3 * 16
    workspace._models.drop(trace.key)
    assert workspace._models.events == 0


def test_a_missing_log_directory_is_named_and_shown_once_it_exists(logs: Path, opened: Opener) -> None:
    logs.rmdir()
    workspace = opened()
    wait_until(lambda: not workspace.status().scanning, "the first listing")
    assert "logs cannot be listed: No such file or directory" in str(workspace.status().error)
    write_trace(logs / "run" / "w.pt.trace.json")
    wait_until(lambda: states(workspace) == {"run/w.pt.trace.json": "ready"}, "it is shown")
    assert workspace.status().error is None


def test_interval_zero_lists_once(logs: Path, opened: Opener) -> None:
    write_trace(logs / "run" / "w.pt.trace.json")
    workspace = opened(0)
    settled(workspace)
    assert not workspace._runs._scanner._thread.is_alive()


def test_overlapping_roots_share_their_traces(logs: Path, opened: Opener) -> None:
    write_trace(logs / "run" / "w.pt.trace.json")
    workspace = opened(0.05, Root(str(logs), "a"), Root(str(logs / "run"), "b"))
    assert settled(workspace) == {"a/run/w.pt.trace.json": "ready", "b/w.pt.trace.json": "ready"}
    before = workspace.find("b", "w")
    time.sleep(0.2)  # some listings later
    assert workspace.find("b", "w") == before


def test_one_missing_root_of_several_does_not_hide_the_others(logs: Path, opened: Opener) -> None:
    write_trace(logs / "run" / "w.pt.trace.json")
    workspace = opened(0.05, Root(str(logs / "nowhere"), "a"), Root(str(logs), "b"))
    assert settled(workspace) == {"b/run/w.pt.trace.json": "ready"}
    assert [skipped.file for skipped in workspace.status().skipped] == ["a"]


def test_a_second_start_takes_the_traces_from_the_cache(
    logs: Path, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_trace(logs / "run" / "w.pt.trace.json")
    first = opened()
    settled(first)
    first.close()
    monkeypatch.setattr(Pool, "submit", lambda self, job: pytest.fail("it is read again"))
    second = opened()
    assert settled(second) == {"run/w.pt.trace.json": "ready"}
    assert traces(second)["run/w.pt.trace.json"].events == 8
    assert count_of(second, "run", "w") == 8
    assert path.exists()


def test_a_change_of_an_analysis_keeps_the_columns(
    logs: Path, tmp_path: Path, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_trace(logs / "run" / "w.pt.trace.json")
    first = opened()
    settled(first)
    first.close()
    monkeypatch.setattr(cache, "answers_version", lambda: "another")
    (columns,) = (tmp_path / "cache").glob("*.columns")
    before = columns.stat().st_ino
    second = opened()
    assert settled(second) == {"run/w.pt.trace.json": "ready"}
    assert traces(second)["run/w.pt.trace.json"].events == 8
    assert [path.stat().st_ino for path in (tmp_path / "cache").glob("*.columns")] == [before]


def test_unusable_columns_of_other_code_are_made_anew(
    logs: Path, tmp_path: Path, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_trace(logs / "run" / "w.pt.trace.json")
    first = opened()
    settled(first)
    first.close()
    monkeypatch.setattr(cache, "answers_version", lambda: "another")
    (columns,) = (tmp_path / "cache").glob("*.columns")
    columns.write_bytes(b"nonsense")
    second = opened()
    assert settled(second) == {"run/w.pt.trace.json": "ready"}
    assert count_of(second, "run", "w") == 8


def test_broken_columns_are_made_anew(logs: Path, tmp_path: Path, opened: Opener) -> None:
    write_trace(logs / "run" / "w.pt.trace.json")
    first = opened()
    settled(first)
    first.close()
    (columns,) = (tmp_path / "cache").glob("*.columns")
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
        return workspace.remember(Key((trace,), question), lambda: pack(workspace.ask(trace, compute)), "disk").body

    assert [ask(workspace, question) for question in ("a", "a", "b")] == [b"answer"] * 3
    assert len(asked) == 2
    assert asked[0] is asked[1]
    workspace.close()
    again = opened()
    settled(again)
    assert ask(again, "a") == b"answer"
    assert len(asked) == 2


def test_an_error_of_a_question_is_not_taken_for_broken_columns(logs: Path, tmp_path: Path, opened: Opener) -> None:
    write_trace(logs / "run" / "w.pt.trace.json")
    workspace = opened()
    settled(workspace)
    trace = workspace.find("run", "w")
    kept = sorted((tmp_path / "cache").iterdir())
    with pytest.raises(FileNotFoundError, match="nowhere"):
        workspace.ask(trace, lambda _: (tmp_path / "nowhere").read_bytes())
    with pytest.raises(FileNotFoundError, match="nowhere"):
        workspace.ask_two((trace, trace), lambda *_: (tmp_path / "nowhere").read_bytes())
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
            workspace.ask_two(pair, lambda *models: [len(model.trace.events) for model in models])
        assert raised.value.trace.worker == "b"
        settled(workspace)
        broken.write_bytes(b"nonsense")
        workspace._models.drop(b.key)
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
        make = partial(workspace.ask, trace, lambda model: pack(compute(model)))
        asked = [askers.submit(workspace.remember, key, make, "disk") for _ in range(4)]
        assert {each.result().body for each in asked} == {b"answer"}
    assert len(computed) == 1


def test_an_address_that_cannot_be_right_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="only Azure Blob Storage can be read"):
        open_workspace(parse_logdir("https://example.com/logs"), tmp_path)


# the pool --------------------------------------------------------------------------------------------------


class Listener:
    """Remembers what became of each job."""

    def __init__(self) -> None:
        self.started: list[int] = []
        self.outcomes: dict[int, Message] = {}

    def __call__(self, job: Job, message: Message | None) -> None:
        if message is None:
            self.started.append(job.id)
        elif isinstance(message, Done | Failed):
            self.outcomes[job.id] = message


def job(number: int, path: Path) -> Job:
    status = path.stat()
    return Job(number, str(path), status.st_size, status.st_mtime_ns, str(path) + ".columns")


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """A file that a worker never comes to the end of."""
    os.mkfifo(tmp_path / "endless.pt.trace.json")
    return tmp_path / "endless.pt.trace.json"


def alive(process_id: int) -> bool:
    try:
        state = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_killed_worker_fails_its_trace_and_the_next_is_read(tmp_path: Path, endless: Path) -> None:
    listener = Listener()
    pool = Pool(1, listener)
    try:
        pool.submit(job(1, endless))
        pool.submit(job(2, write_trace(tmp_path / "w.pt.trace.json")))
        wait_until(pool.process_ids, "a worker starts")
        (process_id,) = pool.process_ids()
        os.kill(process_id, signal.SIGKILL)
        wait_until(lambda: len(listener.outcomes) == 2, "both have an outcome")
    finally:
        pool.close()
    failed = listener.outcomes[1]
    assert isinstance(failed, Failed)
    assert "was killed, probably because memory ran out" in str(failed.reason)
    assert isinstance(listener.outcomes[2], Done)


def test_waiting_jobs_can_be_hurried_and_withdrawn(tmp_path: Path, endless: Path) -> None:
    listener = Listener()
    pool = Pool(1, listener)
    trace = write_trace(tmp_path / "w.pt.trace.json")
    try:
        pool.submit(job(1, endless))
        wait_until(pool.process_ids, "a worker starts")
        for number in (2, 3, 4):
            pool.submit(job(number, trace))
        pool.withdraw(2)
        pool.hurry(4)
        os.kill(pool.process_ids()[0], signal.SIGKILL)
        wait_until(lambda: len(listener.outcomes) == 3, "the others are read")
    finally:
        pool.close()
    assert listener.started == [1, 4, 3]


def test_a_worker_that_says_nothing_is_ended_and_the_next_trace_is_read(tmp_path: Path, endless: Path) -> None:
    listener = Listener()
    pool = Pool(1, listener, patience=0.5)
    try:
        pool.submit(job(1, endless))
        wait_until(lambda: 1 in listener.outcomes, "it is given up")
        failed = listener.outcomes[1]
        assert isinstance(failed, Failed)
        assert failed.reason.kind == "hung"
        pool._patience = DEADLINE_SECONDS
        pool.submit(job(2, write_trace(tmp_path / "w.pt.trace.json")))
        wait_until(lambda: 2 in listener.outcomes, "the next is read")
    finally:
        pool.close()
    assert isinstance(listener.outcomes[2], Done)


def test_a_job_that_is_withdrawn_while_it_runs_is_ended(tmp_path: Path, endless: Path) -> None:
    listener = Listener()
    pool = Pool(1, listener)
    try:
        pool.submit(job(1, endless))
        wait_until(pool.process_ids, "a worker starts")
        (process_id,) = pool.process_ids()
        pool.withdraw(1)
        wait_until(lambda: 1 in listener.outcomes, "it is told")
        failed = listener.outcomes[1]
        assert isinstance(failed, Failed)
        assert failed.reason.kind == "withdrawn"
        assert not alive(process_id)
    finally:
        pool.close()


def test_two_jobs_about_one_trace_may_run_at_once(tmp_path: Path, endless: Path) -> None:
    """As when columns are made again while answers are still prepared."""
    listener = Listener()
    pool = Pool(2, listener)
    try:
        pool.submit(job(1, endless))
        pool.submit(job(1, write_trace(tmp_path / "w.pt.trace.json")))
        wait_until(lambda: 1 in listener.outcomes, "the one that can be is read")
        pool.submit(job(2, tmp_path / "w.pt.trace.json"))
        wait_until(lambda: 2 in listener.outcomes, "the next is read")
        pool.withdraw(1)
        wait_until(lambda: isinstance(listener.outcomes[1], Failed), "the other is ended")
    finally:
        pool.close()
    assert isinstance(listener.outcomes[2], Done)


def test_a_listener_that_fails_does_not_stop_the_pool(tmp_path: Path) -> None:
    listener = Listener()

    def hear(job: Job, message: Message | None) -> None:
        if job.id == 1:
            raise PermissionError("not here")
        listener(job, message)

    pool = Pool(1, hear)
    try:
        for number in (1, 2):
            pool.submit(job(number, write_trace(tmp_path / f"{number}.pt.trace.json")))
        wait_until(lambda: 2 in listener.outcomes, "the other is read")
    finally:
        pool.close()


def test_closing_ends_the_workers(endless: Path) -> None:
    pool = Pool(2, Listener())
    pool.submit(job(1, endless))
    pool.submit(job(2, endless))
    wait_until(lambda: len(pool.process_ids()) == 2, "both workers start")
    ids = pool.process_ids()
    pool.close()
    assert not any(alive(i) for i in ids)


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
def test_workers_add_to_what_the_user_wants_of_the_allocator(endless: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.arena_max=2")
    pool = Pool(1, Listener())
    pool.submit(job(1, endless))
    try:
        wait_until(pool.process_ids, "a worker starts")
        # some versions of glibc end each tunable with a zero byte in place
        variables = Path(f"/proc/{pool.process_ids()[0]}/environ").read_bytes().replace(b"\0", b":")
    finally:
        pool.close()
    assert b"GLIBC_TUNABLES=glibc.malloc.arena_max=2:glibc.malloc.hugetlb=1" in variables
    assert b":MALLOC_TRIM_THRESHOLD_=" in variables


def test_workers_end_with_a_server_that_was_killed(endless: Path) -> None:
    script = """
import sys, time
from torch_tb_profiler.workspace.protocol import Job
from torch_tb_profiler.workspace.pool import Pool
pool = Pool(1, lambda job, message: None)
pool.submit(Job(1, sys.argv[1], 0, 0, "/nowhere"))
while not pool.process_ids():
    time.sleep(0.01)
print(pool.process_ids()[0], flush=True)
time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", script, str(endless)], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        worker = int(server.stdout.readline())
        assert alive(worker)
        server.kill()
    wait_until(lambda: not alive(worker), "the worker ends")


def test_workers_import_neither_tensorboard_nor_a_web_server() -> None:
    script = """
import sys
import torch_tb_profiler.workspace.worker
print([m for m in ("tensorboard", "werkzeug", "http.server", "multiprocessing") if m in sys.modules])
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_a_file_that_changes_while_it_is_read_fails_for_now(tmp_path: Path) -> None:
    from torch_tb_profiler.workspace.worker import perform

    path = write_trace(tmp_path / "w.pt.trace.json")
    stale = Job(1, str(path), 1, 1, str(tmp_path / "columns"))
    outcome = perform(stale, lambda message: None)
    assert isinstance(outcome, Failed)
    assert str(outcome.reason) == "is still being written; it is read again once it is complete"
    assert not (tmp_path / "columns").exists()


def test_our_own_mistakes_stay_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    path = write_trace(tmp_path / "w.pt.trace.json")
    monkeypatch.setattr(worker, "summarize", lambda model: 1 // 0)
    outcome = worker.perform(job(1, path), lambda message: None)
    assert isinstance(outcome, Failed)
    assert outcome.reason.text.startswith("could not be read: ZeroDivisionError")
    assert "Traceback" in outcome.details


def test_a_truncated_gzip_gives_what_it_holds(logs: Path, opened: Opener) -> None:
    whole = gzip.decompress(write_trace(logs.parent / "w.pt.trace.json.gz", steps=200).read_bytes())
    path = logs / "run" / "w.pt.trace.json.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress(whole)[:-2000])
    workspace = opened()
    assert settled(workspace) == {"run/w.pt.trace.json.gz": "ready"}
    assert traces(workspace)["run/w.pt.trace.json.gz"].notes > 0
