"""Each recipe of docs/contributing.md for the backend makes a feature that works, in as few files as it says."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from tests.recipes.guide import Copy, copy_into, files_of, recipe
from tests.tiny import write_trace

MOST_FILES = 3

ASK = """
import sys, json
from pathlib import Path
from werkzeug.test import Client
from torch_tb_profiler.discovery import parse_logdir
from torch_tb_profiler.web import PREFETCHED
from torch_tb_profiler.web.app import create_app
from torch_tb_profiler.workspace import open_workspace
import time

if __name__ == "__main__":
    workspace = open_workspace(parse_logdir(sys.argv[1]), Path(sys.argv[2]), 1, questions=PREFETCHED)
    try:
        deadline = time.monotonic() + 60
        while workspace.status().loading and time.monotonic() < deadline:
            time.sleep(0.05)
        answer = Client(create_app(workspace)).get(sys.argv[3])
        print(json.dumps([answer.status_code, answer.json]))
    finally:
        workspace.close()
"""


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return copy_into(tmp_path / "copy")


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    write_trace(tmp_path / "logs" / "run" / "w.1.pt.trace.json")
    return tmp_path / "logs"


def asked(copy: Copy, logs: Path | str, request: str) -> tuple[int, dict[str, object]]:
    (copy.root / "ask.py").write_text(ASK, "utf-8")
    status, found = json.loads(copy.python("ask.py", str(logs), str(copy.root / "cache"), request))
    return status, found


def test_a_rule(copy: Copy, logs: Path) -> None:
    blocks = recipe("A rule")
    # its words are a file of each language
    assert len(files_of(blocks)) <= MOST_FILES + 1
    copy.apply(blocks)
    events = [
        {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0, "dur": 20},
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 1, "tid": 1, "ts": 5, "dur": 5,
         "args": {"correlation": 1}},
        {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0, "tid": 7, "ts": 12, "dur": 50,
         "args": {"device": 0, "stream": 7, "bytes": 1, "correlation": 1}},
    ]  # fmt: skip
    (logs / "run" / "w.1.pt.trace.json").write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
    status, answer = asked(copy, logs, "/api/overview?run=run&worker=w")
    assert status == 200
    (said,) = [finding for finding in answer["findings"] if finding["id"] == "many_copies"]  # type: ignore[attr-defined]
    assert said["detail"] == "80.6 % of the average step goes into copies."


def test_a_column(copy: Copy, logs: Path) -> None:
    blocks = recipe("A column of a table")
    assert len(files_of(blocks)) == 2
    copy.apply(blocks)
    status, answer = asked(copy, logs, "/api/api_calls?run=run&worker=w")
    assert status == 200
    keys = [column["key"] for column in answer["columns"]]  # type: ignore[attr-defined]
    assert keys.index("min_ns") == keys.index("max_ns") + 1
    rows = answer["rows"]
    assert all(0 < least <= most for least, most in zip(rows["min_ns"], rows["max_ns"], strict=True))  # type: ignore[index]


def test_a_table_for_commands_and_agents(copy: Copy, logs: Path) -> None:
    blocks = recipe("An analysis with a table, a view and Python access")
    copy.apply([block for block in blocks if not block.file.startswith("fe/")])
    printed = copy.python("-m", "torch_tb_profiler", "streams", str(logs))
    assert printed.startswith("Device ")
    assert (
        "streams" in copy.python("-c", "from torch_tb_profiler.mcp.tools.tables import TABLES; print(*TABLES)").split()
    )


def test_a_storage_scheme(copy: Copy, logs: Path, tmp_path: Path) -> None:
    blocks = recipe("A storage scheme")
    assert len(files_of(blocks)) <= MOST_FILES
    copy.apply(blocks)
    archive = tmp_path / "logs.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for path in logs.rglob("*.json"):
            packed.write(path, path.relative_to(logs))
    status, answer = asked(copy, f"zip://{archive}", "/api/overview?run=run&worker=w")
    assert status == 200
    assert answer["meta"]["worker"] == "w"  # type: ignore[index]


def test_a_route_of_the_old_plugin(copy: Copy, logs: Path) -> None:
    blocks = recipe("A route of the old plugin")
    assert len(files_of(blocks)) <= MOST_FILES
    copy.apply(blocks)
    status, answer = asked(copy, logs, "/streams?run=run&worker=w")
    assert status == 200
    assert answer
    assert sum(answer.values()) > 0  # type: ignore[call-overload]
    document = copy.python("-c", "from torch_tb_profiler.web.openapi import as_text; print(as_text())")
    assert "/streams" in json.loads(document)["paths"]


def test_a_command(copy: Copy, logs: Path) -> None:
    blocks = recipe("A command")
    assert len(files_of(blocks)) <= MOST_FILES
    copy.apply(blocks)
    assert copy.python("-m", "torch_tb_profiler", "runs", str(logs)) == "run w\n"
    assert "List the runs" in copy.python("-m", "torch_tb_profiler", "--help")
