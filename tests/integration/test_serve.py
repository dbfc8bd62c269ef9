"""`torch-tb-profiler serve`: the same application without TensorBoard."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

import pytest

from tests.integration.conftest import Server, Starter, wait_for_all
from tests.snapshots import dumped, fragmented
from tests.tiny import wait_until
from torch_tb_profiler import __version__
from torch_tb_profiler.cli import main

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command, in this process."""

    def run_one(*arguments: str) -> subprocess.CompletedProcess[str]:
        try:
            code = main(arguments)
        except SystemExit as end:
            code = int(end.code or 0)
        return subprocess.CompletedProcess(arguments, code, *capsys.readouterr())

    return run_one


def test_serves_the_interface_and_the_page(start: Starter, logs: Path) -> None:
    server = start("serve", str(logs), "--port", "0", tensorboard=False)
    wait_for_all(server)
    assert server.get("runs").json() == {"runs": ["run"], "loading": False}
    assert server.get("api/overview?run=run&worker=w&span=1").json()["workers"] == 3
    page = server.get("")
    assert page.status == 200
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "default-src 'self'" in page.headers["Content-Security-Policy"]
    assert server.get("nonsense").json() == {"error": "there is no /nonsense"}
    printed = server.printed().splitlines()
    assert [line for line in printed if "events" in line] == [], "the address stays in sight"


def test_on_request_there_is_a_line_for_each_trace(start: Starter, logs: Path) -> None:
    server = start("serve", str(logs), "--port", "0", "-v", tensorboard=False)
    wait_for_all(server)
    assert len([line for line in server.printed().splitlines() if "events" in line]) == 3


def test_answers_to_its_own_names_only(start: Starter, logs: Path) -> None:
    server = start("serve", str(logs), "--port", "0", "--allow-host", "proxy.example", tensorboard=False)
    for path in ("", "index.js", "api/status"):
        refused = server.get(path, headers={"Host": "rebound.example:6007"})
        assert refused.status == 421
        assert "--allow-host" in refused.json()["error"]
        for host in ("localhost:6007", "127.0.0.1", "[::1]:80", "proxy.example"):
            assert server.get(path, headers={"Host": host}).status == 200
    assert server.get("").headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_serves_all_that_is_in_a_shared_place(start: Starter, run: Run, logs: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    assert run("ingest", str(logs), "--cache-dir", str(place)).returncode == 0
    shutil.rmtree(logs)
    server = start("serve", "--port", "0", tensorboard=False, environment={"TORCH_TB_PROFILER_CACHE_DIR": str(place)})
    wait_for_all(server)
    assert server.get("api/overview?run=run&worker=w&span=1").json()["workers"] == 3
    (found,) = server.get("api/status").json()["runs"]
    failed = [trace["file"] for trace in found["traces"] if trace["state"] == "failed"]
    assert (found["ready"], found["total"], failed) == (3, 4, ["bad.pt.trace.json"])
    refused = run("serve", "--cache-dir", str(tmp_path))
    assert refused.returncode == 2
    assert "PATH is missing" in refused.stderr


def test_serves_files_and_directories_side_by_side(start: Starter, logs: Path, tmp_path: Path) -> None:
    odd = tmp_path / "elsewhere" / "recording.txt"
    odd.parent.mkdir()
    odd.write_bytes((logs / "run" / "v.pt.trace.json").read_bytes())
    files = [str(logs / "run" / name) for name in ("w.1.pt.trace.json", "v.pt.trace.json")]

    def runs(*paths: str) -> dict[str, list[str]]:
        server = start("serve", *paths, "--port", "0", tensorboard=False)
        wait_for_all(server)
        found = {
            each["name"]: [trace["file"] for trace in each["traces"]]
            for each in server.get("api/status").json()["runs"]
        }
        server.stop()
        return found

    assert runs(*files) == {"run": ["v.pt.trace.json", "w.1.pt.trace.json"]}
    assert runs(files[0], str(odd)) == {"run": ["w.1.pt.trace.json"], "elsewhere": ["recording.txt"]}
    whole = ["v.pt.trace.json", "w.1.pt.trace.json", "w.2.pt.trace.json.gz", "bad.pt.trace.json"]
    both = runs(str(logs), str(odd))
    assert sorted(both["logs/run"]) == sorted(whole)
    assert both["elsewhere"] == ["recording.txt"]


def test_serves_a_memory_snapshot(start: Starter, tmp_path: Path) -> None:
    file = tmp_path / "job" / "oom_rank3.pickle"
    file.parent.mkdir()
    file.write_bytes(dumped(fragmented().snapshot()))
    server = start("serve", str(file), "--port", "0", tensorboard=False)
    wait_for_all(server)
    ((found,),) = [run["traces"] for run in server.get("api/status").json()["runs"]]
    assert (found["kind"], found["rank"], found["views"]) == ("snapshot", 3, ["snapshot"])
    query = urlencode({"run": "job", "worker": found["worker"], "span": found["span"]})
    answer = server.get(f"api/snapshot?{query}").json()
    assert answer["said"].startswith("Fragmented: 256 MiB was requested")
    assert server.get(f"api/overview?{query}").status == 404


def test_opens_a_browser_when_asked(start: Starter, logs: Path, tmp_path: Path) -> None:
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {opened}.new && mv {opened}.new {opened}\n')
    browser.chmod(0o755)
    server = start(
        "serve", str(logs), "--port", "0", "--open", tensorboard=False, environment={"BROWSER": f"{browser} %s"}
    )
    wait_until(opened.exists, "a browser")
    assert opened.read_text() == server.url


def test_imports_no_tensorboard() -> None:
    script = "import sys, torch_tb_profiler.cli; print('tensorboard' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout == "False\n"


@pytest.mark.parametrize("with_signal", [signal.SIGTERM, signal.SIGINT])
def test_ends_without_a_traceback(start: Starter, logs: Path, with_signal: int) -> None:
    server = start("serve", str(logs), "--port", "0", tensorboard=False)
    wait_for_all(server)
    assert server.stop(with_signal) == 0
    assert "Traceback" not in server.printed()


def test_says_where_it_was_when_a_library_ends_it(start: Starter, logs: Path) -> None:
    server = start("serve", str(logs), "--port", "0", tensorboard=False, environment={"PYTHONFAULTHANDLER": ""})
    assert server.stop(signal.SIGSEGV) == -signal.SIGSEGV
    assert "Fatal Python error: Segmentation fault" in server.printed()
    assert "most recent call first" in server.printed()


#: what ends a server never returns
HELD = """
import sys, threading
from torch_tb_profiler.cli import main
from torch_tb_profiler.cli import serve
from torch_tb_profiler.workspace import Workspace
serve.END_SECONDS = 0.5
Workspace.close = lambda _: threading.Event().wait()
main(["serve", *sys.argv[1:]])
"""


def test_ends_whatever_holds_it_and_says_where_that_is(logs: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", HELD, str(logs), "--port", "0", "--cache-dir", str(tmp_path / "cache")]
    server = Server(command, tmp_path / "server.log", r"PyTorch profiles at (http://\S+)", {})
    assert server.stop() == 1
    assert "Timeout" in server.printed()
    assert "in wait" in server.printed()


def test_a_port_in_use_is_said_in_words(logs: Path, run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = run("serve", str(logs), "--port", str(taken.getsockname()[1]))
    assert result.returncode == 2
    assert "torch-tb-profiler: cannot listen on 127.0.0.1:" in result.stderr
    assert result.stderr.endswith("--port 0 takes any free port\n")
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["serve", "s3://"], "an S3 address looks like s3://bucket/folder"),
        (["serve", ".", "--port", "99999"], "cannot listen on"),
        (["serve", ".", "--host", "no.such.host.invalid"], "cannot listen on"),
        (["serve", "x", "--workers", "0"], "must be 1 or more"),
        (["serve", "x", "--max-expansion", "0"], "must be 1 or more"),
        (["serve"], "PATH"),
        ([], "COMMAND"),
    ],
)
def test_mistakes_of_users_are_said_in_words(
    arguments: list[str], words: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.returncode == 2
    assert words in result.stderr
    assert "Traceback" not in result.stderr


def test_a_missing_path_ends_it_at_once(logs: Path, run: Run) -> None:
    refused = run("serve", str(logs), str(logs / "not-there"))
    assert refused.returncode == 2
    assert refused.stderr.endswith("not-there: there is no such file or directory\n")


def test_help_and_version(run: Run) -> None:
    assert run("--version").stdout == f"torch-tb-profiler {__version__}\n"
    assert "serve" in run("--help").stdout
    assert "without TensorBoard" in run("serve", "--help").stdout
