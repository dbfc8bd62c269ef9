"""Commands and servers that are told to end while a file is read: the usual end, and nothing is left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tiny import wait_until, write_trace

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="no such signals there")]

SIGNALS = [signal.SIGTERM, signal.SIGHUP]
COMMANDS = {
    "summary": ["summary", "LOGS"],
    "stdin": ["summary", "-"],
    "serve": ["serve", "LOGS", "--port", "0"],
    "ingest": ["ingest", "LOGS"],
    "mcp": ["mcp", "LOGS"],
}
#: of the server of an agent's program
ASK = [
    {
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
    },
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/call", "params": {"name": "summary", "arguments": {"trace": "run~w~default"}}},
]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trace that takes some seconds to read."""
    path = tmp_path_factory.mktemp("end") / "logs" / "run" / "w.pt.trace.json"
    path.parent.mkdir(parents=True)
    event = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "dur": 8}
    events = (json.dumps({**event, "ts": 10 * at}) for at in range(300_000))
    path.write_text('{"traceEvents": [\n' + ",\n".join(events) + "\n]}")
    return path.parents[1]


def reading(name: str, logs: Path, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The process, as soon as it has begun a file in its cache."""
    cache, temporary = folder / "cache", folder / "tmp"
    temporary.mkdir()
    words = [str(logs) if word == "LOGS" else word for word in COMMANDS[name]]
    environment = {**os.environ, "TORCH_TB_PROFILER_CACHE_DIR": str(cache), "TMPDIR": str(temporary)}
    with (folder / "log").open("wb") as log, next(logs.rglob("*.json")).open("rb") as trace:
        process = subprocess.Popen(
            [sys.executable, "-m", "torch_tb_profiler", *words],
            stdin=trace if name == "stdin" else subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=log,
            env=environment,
        )
    try:
        if name == "mcp":
            assert process.stdin is not None
            for message in ASK:
                process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            process.stdin.flush()
        wait_until(lambda: any(folder.rglob("*.part")), "a file that is begun")
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("number", SIGNALS)
def test_nothing_is_left(name: str, number: signal.Signals, logs: Path, tmp_path: Path) -> None:
    for process in reading(name, logs, tmp_path):
        process.send_signal(number)
        assert process.wait(timeout=10) == (0 if name == "serve" else 128 + number)
        assert "Traceback" not in (tmp_path / "log").read_text()
        assert list((tmp_path / "tmp").iterdir()) == []
        assert list(tmp_path.rglob("*.part")) == []


def test_a_worker_of_a_killed_server_removes_what_it_began(logs: Path, tmp_path: Path) -> None:
    """A file that the server itself had begun when it was killed stays, until the next one sweeps the cache."""

    def begun() -> bool:
        return any(tmp_path.rglob("*.columns*.part"))

    for process in reading("serve", logs, tmp_path):
        wait_until(begun, "columns that a worker has begun")
        process.kill()
        wait_until(lambda: not begun(), "the worker to end")


def test_ctrl_c_ends_the_server_of_agents(logs: Path, tmp_path: Path) -> None:
    """Its stdin stays open, and a thread waits for what comes there."""
    for process in reading("mcp", logs, tmp_path):
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=10) == 130
        assert list(tmp_path.rglob("*.part")) == []


def test_what_is_ignored_stays_ignored(logs: Path, tmp_path: Path) -> None:
    """As `nohup` has it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        for process in reading("summary", logs, tmp_path):
            process.send_signal(signal.SIGHUP)
            assert process.wait(timeout=60) == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_server_without_stdout(logs: Path, tmp_path: Path) -> None:
    script = 'exec "$@" >&-'
    command = ["sh", "-c", script, "sh", sys.executable, "-m", "torch_tb_profiler", "serve", str(logs), "--port", "0"]
    environment = {**os.environ, "TORCH_TB_PROFILER_CACHE_DIR": str(tmp_path / "cache")}
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, stderr=log, env=environment)
    try:
        wait_until(lambda: any(tmp_path.rglob("*.columns")), "a trace that is read")
        process.terminate()
        assert process.wait(timeout=20) == 0
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("redirected", ["1>&-", "1>/dev/full"])
def test_agents_cannot_be_answered(redirected: str, logs: Path) -> None:
    script = f'exec "$@" {redirected}'
    command = [sys.executable, "-m", "torch_tb_profiler", "mcp", str(logs)]
    ping = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}) + "\n"
    done = subprocess.run(["sh", "-c", script, "sh", *command], input=ping, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("torch-tb-profiler: the output cannot be written: ")


@pytest.mark.parametrize("number", [*SIGNALS, signal.SIGINT])
def test_a_query_ends(number: signal.Signals, tmp_path: Path) -> None:
    """DuckDB makes its own error of what a handler raises."""
    pytest.importorskip("duckdb", reason="the extra `sql` is not installed")
    endless = "with recursive r(n) as (select 1 union all select n + 1 from r) select max(n) from r"
    program = (
        "import os, sys; from torch_tb_profiler.tables.sql.database import Database; find = Database.find\n"
        "def begun(self, statement): return find(self, statement, lambda: os.write(1, b'begun'))\n"
        "Database.find = begun; from torch_tb_profiler.cli import main; sys.exit(main())"
    )
    words = ["sql", str(write_trace(tmp_path / "w.pt.trace.json")), endless]
    process = subprocess.Popen([sys.executable, "-c", program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.read(5) == b"begun"
        time.sleep(1)  # for DuckDB to be in the query
        process.send_signal(number)
        _, said = process.communicate(timeout=20)
    finally:
        process.kill()
    assert (process.returncode, said) == (128 + number, b"")
