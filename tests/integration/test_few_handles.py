"""A server whose process may have few files open shows more traces than that."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.tiny import write_trace

pytest.importorskip("resource", reason="takes limits of processes")

TRACES, HANDLES = 90, 64

CODE = """
import resource, sys, time
from pathlib import Path
from tests.served import client_of
from torch_tb_profiler.discovery import parse_logdir
from torch_tb_profiler.workspace import open_workspace

if __name__ == "__main__":
    logs, cache, traces, handles = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    resource.setrlimit(resource.RLIMIT_NOFILE, (handles, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    workspace = open_workspace(parse_logdir(str(logs)), cache, 2, 600.0)
    while workspace.status().loading:
        time.sleep(0.05)
    client = client_of(workspace)
    for run in range(traces):
        for path in ("overview", "timeline"):
            response = client.get(f"/api/{path}?run=run{run}&worker=w")
            assert response.status_code == 200, (run, path, response.text)
    workspace.close()
    print(len(list(cache.glob("*.columns"))))
"""


def test_more_traces_than_handles(tmp_path: Path) -> None:
    for run in range(TRACES):
        path = tmp_path / "logs" / f"run{run}" / "w.pt.trace.json"
        write_trace(path)
        path.write_text(
            path.read_text().replace("{", f'{{"number": {run},', 1)
        )  # one that is alike has the same columns
    arguments = [str(tmp_path / "logs"), str(tmp_path / "cache"), str(TRACES), str(HANDLES)]
    repository = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-c", CODE, *arguments],
        capture_output=True,
        text=True,
        cwd=repository,
        timeout=150,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split() == [str(TRACES)]
