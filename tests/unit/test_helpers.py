"""Processes that help to read a file: killed, stopped, called back, and ended with the one that they help."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from queue import SimpleQueue

import pytest

from tests.simulated_helpers import columns_of, small_pieces
from tests.tiny import wait_until, write_trace
from tests.tracegen import Config, write_run
from torch_tb_profiler.storage import Entry
from torch_tb_profiler.storage.local import LocalStorage
from torch_tb_profiler.trace import together
from torch_tb_profiler.trace.helper import Batch
from torch_tb_profiler.workspace.reading import pool as pool_module
from torch_tb_profiler.workspace.reading import worker
from torch_tb_profiler.workspace.reading.child_processes import HelperProcesses
from torch_tb_profiler.workspace.reading.pool import Pool
from torch_tb_profiler.workspace.reading.protocol import Done, Failed, Job, Message, ReleaseHelpers, encode
from torch_tb_profiler.workspace.reading.reading_order import (
    LEAST_FOR_HELPERS,
    MOST_HELPERS,
    PROCESS_BYTES,
    helpers_for,
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc"),
]

LARGE = 100 * LEAST_FOR_HELPERS


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("run")
    write_run(Config(steps=2, layers=1), folder, compress=False)
    (path,) = folder.iterdir()
    return path.read_bytes()


@pytest.fixture(autouse=True)
def small() -> Iterator[None]:
    with small_pieces():
        yield


def state(process_id: int) -> tuple[str, int]:
    """The state of a process, and its parent; Z when there is none."""
    try:
        fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return "Z", 0
    return fields[0], int(fields[1])


def children(process_id: int) -> list[int]:
    all_ids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [number for number in all_ids if state(number)[1] == process_id and state(number)[0] != "Z"]


class Watched(HelperProcesses):
    """Ready before the reading begins; something happens to each when it is given its third batch."""

    def __init__(self, count: int, then: Callable[[int], None] = lambda _: None) -> None:
        before = set(children(os.getpid()))
        super().__init__(count, lambda: self.may)
        self.may = True
        self.then = then
        self.given: dict[int, int] = {}
        wait_until(lambda: all(helper.has_room for helper in self._helpers), "all are ready")
        self.ids = sorted(set(children(os.getpid())) - before)

    def give(self, batch: Batch) -> bool:
        helper = self._next()
        taken = super().give(batch)
        if helper is None:
            return taken
        process_id = helper._process.pid
        self.given[process_id] = self.given.get(process_id, 0) + 1
        if self.given[process_id] == 3:
            self.then(process_id)
        return taken


def columns(trace: bytes, folder: Path, helpers: HelperProcesses | None = None) -> bytes:
    return columns_of(trace, folder / "columns", helpers)


@pytest.mark.parametrize("count", [1, 2])
def test_the_same_bytes_with_processes(trace: bytes, tmp_path: Path, count: int) -> None:
    helpers = Watched(count)
    assert columns(trace, tmp_path, helpers) == columns(trace, tmp_path)
    assert sum(helpers.given.values()) > 5
    assert not set(helpers.ids) & set(children(os.getpid()))


def test_what_a_killed_helper_had_is_read_without_it(
    trace: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    helpers = Watched(2, lambda process_id: os.kill(process_id, signal.SIGKILL))
    assert columns(trace, tmp_path, helpers) == columns(trace, tmp_path)
    assert len([r for r in caplog.records if r.levelno == logging.WARNING and "is gone" in r.message]) == 2


def test_a_stopped_helper_is_ended(
    trace: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(together, "PATIENCE", 0.3)
    helpers = Watched(1, lambda process_id: os.kill(process_id, signal.SIGSTOP))
    assert columns(trace, tmp_path, helpers) == columns(trace, tmp_path)
    assert "has not answered for long" in caplog.text
    assert not set(helpers.ids) & set(children(os.getpid()))


def test_helpers_are_given_nothing_once_they_are_called_back(trace: bytes, tmp_path: Path) -> None:
    helpers = Watched(1)

    def call_back(_: int) -> None:
        helpers.may = False

    helpers.then = call_back
    assert columns(trace, tmp_path, helpers) == columns(trace, tmp_path)
    assert sum(helpers.given.values()) == 3


def test_helpers_that_cannot_be_started_are_done_without(
    trace: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    assert columns(trace, tmp_path, HelperProcesses(2, lambda: True)) == columns(trace, tmp_path)
    assert "is read with 0 helpers only" in caplog.text


def test_a_helper_that_says_nonsense_is_done_without(
    trace: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(
        "torch_tb_profiler.workspace.reading.child_processes._HELPER_BOOTSTRAP",
        "import sys; out = sys.stdout.buffer; out.write(bytes(8)); out.flush(); sys.stdin.buffer.read(99);"
        "out.write(b'\\3' + bytes(7) + b'abc'); out.flush(); sys.stdin.buffer.read()",
    )
    assert columns(trace, tmp_path, Watched(1)) == columns(trace, tmp_path)
    assert "has said what cannot be read" in caplog.text


# the pool ---------------------------------------------------------------------------------------------------


def test_how_many_may_help() -> None:
    large = Entry("w.pt.trace.json.gz", "/w.pt.trace.json.gz", LARGE, 0, "")
    small = Entry("w.pt.trace.json.gz", "/w.pt.trace.json.gz", LEAST_FOR_HELPERS - 1, 0, "")
    plain = Entry("w.pt.trace.json", "/w.pt.trace.json", LEAST_FOR_HELPERS, 0, "")
    assert helpers_for(large, "trace", 64, None) == MOST_HELPERS
    assert helpers_for(large, "trace", 1, None) == 1
    assert helpers_for(large, "trace", 0, None) == helpers_for(large, "trace", -1, None) == 0
    assert helpers_for(large, "trace", 64, PROCESS_BYTES) == 1
    assert helpers_for(large, "trace", 64, -1) == 0
    assert helpers_for(large, "snapshot", 64, None) == 0
    assert helpers_for(small, "trace", 64, None) == helpers_for(plain, "trace", 64, None) == 0


@pytest.fixture
def unfinished(tmp_path: Path) -> Path:
    """A file that a worker does not come to the end of: a terabyte of zeros, which takes no room."""
    path = tmp_path / "unfinished.pt.trace.json"
    path.write_bytes(b'{"traceEvents": [\n')
    os.truncate(path, 1 << 40)
    return path


def large_job(number: int, path: Path) -> Job:
    return Job(number, Entry(path.name, str(path), LARGE, 0), f"{path}.{number}.columns")


def grandchildren(pool: Pool) -> list[int]:
    return [child for process_id in pool.process_ids() for child in children(process_id)]


@pytest.mark.parametrize(("workers", "processors", "wanted"), [(2, 8, 1), (4, 8, 3), (1, 8, 0), (4, 1, 0)])
def test_a_pool_gives_the_processors_that_are_free(
    unfinished: Path, monkeypatch: pytest.MonkeyPatch, workers: int, processors: int, wanted: int
) -> None:
    monkeypatch.setattr(pool_module, "usable_processors", lambda: processors)
    pool = Pool(workers, lambda *_: None)
    try:
        pool.submit(large_job(1, unfinished))
        wait_until(lambda: len(grandchildren(pool)) == wanted and pool.process_ids(), "the helpers start")
        ids = grandchildren(pool)
    finally:
        pool.close()
    wait_until(lambda: all(state(number)[0] == "Z" for number in ids), "they end with the worker")


def test_helpers_are_called_back_for_another_trace(
    unfinished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_module, "usable_processors", lambda: 2)
    said: list[bytes] = []
    outcomes: dict[int, Message] = {}

    def heard(job: Job, message: Message | None) -> None:
        if isinstance(message, Done | Failed):
            outcomes[job.id] = message

    pool = Pool(2, heard)
    try:
        pool.submit(large_job(1, unfinished))
        wait_until(lambda: grandchildren(pool), "a helper starts")
        (running,) = pool._running
        assert running.helpers == 1
        later = write_trace(tmp_path / "later.pt.trace.json")
        pool.submit_later(Job(2, LocalStorage().stat(str(later)), f"{later}.columns"))
        assert not pool._may_start()  # what can wait leaves the processor to the helper
        assert running.process is not None
        assert running.process.stdin is not None
        monkeypatch.setattr(running.process.stdin, "write", said.append)
        other = write_trace(tmp_path / "w.pt.trace.json")
        pool.submit(Job(3, LocalStorage().stat(str(other)), f"{other}.columns"))
        wait_until(lambda: {2, 3} <= outcomes.keys(), "the others are read")
        assert running.helpers == 0
    finally:
        pool.close()
    assert said == [encode(ReleaseHelpers(1)) + b"\n"]


def test_a_worker_hears_that_it_is_to_go_on_alone() -> None:
    jobs: SimpleQueue[Job] = SimpleQueue()
    alone: set[int] = set()
    ended: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "_exit", ended.append)
        job = Job(8, Entry("x", "/x", 1, 1), "/y")
        worker._listen(BytesIO(encode(ReleaseHelpers(7)) + b"\n" + encode(job) + b"\n"), jobs, alone, [])
    assert alone == {7}
    assert jobs.get_nowait().id == 8
    assert ended == [0]


SERVER = """
import sys, time
from torch_tb_profiler.storage import Entry
from torch_tb_profiler.workspace.reading import pool as pool_module
from torch_tb_profiler.workspace.reading.protocol import Job
pool_module.usable_processors = lambda: 2
pool = pool_module.Pool(2, lambda job, message: None)
pool.submit(Job(1, Entry(sys.argv[1], sys.argv[1], 10**9, 0), sys.argv[1] + ".columns"))
while not pool.process_ids():
    time.sleep(0.01)
print(pool.process_ids()[0], flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize("whom", ["server", "worker", "helper"])
def test_no_process_is_left_behind(unfinished: Path, whom: str) -> None:
    with subprocess.Popen([sys.executable, "-c", SERVER, str(unfinished)], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        reader = int(server.stdout.readline())
        wait_until(lambda: children(reader), "a helper starts")
        (helper,) = children(reader)
        os.kill({"server": server.pid, "worker": reader, "helper": helper}[whom], signal.SIGKILL)
        wait_until(lambda: state(helper)[0] == "Z", "the helper ends")
        if whom == "helper":
            assert state(reader)[0] != "Z"
        server.kill()
        wait_until(lambda: state(reader)[0] == "Z", "the worker ends")
