"""What else may lie in a log directory: pipes, devices, loops, names that are no text. The good ones are read."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.served import client_of, get
from tests.tiny import write_trace
from tests.workspaces import settled
from torch_tb_profiler.discovery import parse_logdir
from torch_tb_profiler.workspace import open_workspace

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="names of files are any bytes on Linux alone")


def test_odd_files_beside_good_ones(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    good = write_trace(logs / "run" / "w.pt.trace.json").read_bytes()
    for name in ("pipe.pt.trace.json", "pipe.json", "pipe.pickle"):
        os.mkfifo(logs / "run" / name)
    (logs / "run" / "folder.pt.trace.json").mkdir()
    (logs / "loop").symlink_to(logs)
    (logs / "run" / "self.pt.trace.json").symlink_to("self.pt.trace.json")
    (logs / "run" / "zero.pt.trace.json").symlink_to("/dev/zero")
    write_trace(logs / "new\nline" / "a\nb.pt.trace.json")
    write_trace(logs / ("x" * 200) / ("y" * 230 + ".pt.trace.json"))
    other = os.fsencode(logs) + b"/caf\xe9"
    Path(os.fsdecode(other)).mkdir()
    Path(os.fsdecode(other + b"/\xff.pt.trace.json")).write_bytes(good)
    workspace = open_workspace(parse_logdir(str(logs)), tmp_path / "cache", 1)
    assert set(settled(workspace).values()) == {"ready"}
    client = client_of(workspace)
    status = get(client, "/api/status")
    runs = {run["name"]: run["traces"][0]["worker"] for run in status["runs"]}
    assert len(runs) == 4
    for run, worker in runs.items():
        response = client.get("/api/overview", query_string={"run": run, "worker": worker})
        assert response.status_code == 200, (run, response.text)
        assert client.get("/trace", query_string={"run": run, "worker": worker}).status_code == 200
    workspace.close()
