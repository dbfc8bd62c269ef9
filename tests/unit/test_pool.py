"""Worker processes: killed, silent, withdrawn, and ended with their server."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tiny import DEADLINE_SECONDS, wait_until, write_trace
from torch_tb_profiler.storage import Entry
from torch_tb_profiler.storage.local import LocalStorage
from torch_tb_profiler.workspace.reading import worker
from torch_tb_profiler.workspace.reading.pool import Pool
from torch_tb_profiler.workspace.reading.protocol import Done, Failed, Job, Message

pytestmark = pytest.mark.slow


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
    return Job(number, LocalStorage().stat(str(path)), f"{path}.columns")


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """A file that a worker does not come to the end of: a hole of a terabyte follows its first event."""
    path = tmp_path / "endless.pt.trace.json"
    path.write_text(
        '{"traceEvents": [\n  {"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1},\n'
    )
    os.truncate(path, 1 << 40)
    return path


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
        pool.prioritize(4)
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
        wait_until(pool.process_ids, "a worker starts")
        os.kill(pool.process_ids()[0], signal.SIGSTOP)
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
from torch_tb_profiler.storage import Entry
from torch_tb_profiler.workspace.reading.protocol import Job
from torch_tb_profiler.workspace.reading.pool import Pool
pool = Pool(1, lambda job, message: None)
pool.submit(Job(1, Entry(sys.argv[1], sys.argv[1], 0, 0), "/nowhere"))
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
import torch_tb_profiler.workspace.reading.worker
print([m for m in ("tensorboard", "werkzeug", "http.server", "multiprocessing") if m in sys.modules])
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_a_file_that_changes_while_it_is_read_fails_for_now(tmp_path: Path) -> None:
    from torch_tb_profiler.workspace.reading.worker import perform

    path = write_trace(tmp_path / "w.pt.trace.json")
    stale = Job(1, Entry(path.name, str(path), 1, 1), str(tmp_path / "columns"))
    outcome = perform(stale, lambda message: None)
    assert isinstance(outcome, Failed)
    assert str(outcome.reason) == "is still being written; it is read again once it is complete"
    assert not (tmp_path / "columns").exists()


def test_our_own_mistakes_stay_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    path = write_trace(tmp_path / "w.pt.trace.json")
    monkeypatch.setattr(worker, "summary_of", lambda model: 1 // 0)
    outcome = worker.perform(job(1, path), lambda message: None)
    assert isinstance(outcome, Failed)
    assert outcome.reason.text.startswith("could not be read: ZeroDivisionError")
    assert "Traceback" in outcome.details


@pytest.mark.parametrize(("size", "comes", "given"), [(1000, True, 0), (1000, False, 1), (1 << 30, True, 1)])
def test_memory_is_kept_for_a_job_that_comes_at_once(
    size: int, comes: bool, given: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a small file: what a large one leaves goes back, and what nobody takes."""
    back: list[None] = []
    jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
    after = Job(2, Entry("", "", 0, 0), "")

    def gives() -> None:
        back.append(None)
        if not comes:
            jobs.put(after)

    monkeypatch.setattr(worker, "trim_memory", gives)
    monkeypatch.setattr(worker, "AT_ONCE_SECONDS", 0.05)
    if comes:
        jobs.put(after)
    assert worker._after(Job(1, Entry("", "", size, 0), ""), jobs) is after
    assert len(back) == given
