"""A recording of nothing: what /api, a report and the Python API say. The page: tests/browser/test_states.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import torch_tb_profiler
from tests.served import client_of, everything_read, get
from torch_tb_profiler.api.errors import ProfileError
from torch_tb_profiler.cli import main

EMPTY = "w.pt.trace.json holds no events: none were recorded, its traceEvents is empty"
ONLY_NAMES = "No events were recorded: none of the 1 entries of the file has a duration or a value."
NAME = {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "ts": 0, "args": {"name": "python"}}


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A run without an event, and one with nothing but the name of a process."""
    of_run: dict[str, list[dict[str, Any]]] = {"empty": [], "names": [NAME]}
    for run, events in of_run.items():
        folder = tmp_path / "logs" / run
        folder.mkdir(parents=True)
        (folder / "w.pt.trace.json").write_text(json.dumps({"traceEvents": events}))
    return tmp_path / "logs"


def test_the_routes_say_so(logs: Path, tmp_path: Path) -> None:
    with everything_read(logs, tmp_path / "cache") as workspace:
        client = client_of(workspace)
        status = {run["name"]: run["traces"][0] for run in get(client, "/api/status")["runs"]}
        assert (status["empty"]["state"], status["names"]["state"]) == ("failed", "ready")
        assert status["empty"]["why"] == {"kind": "no_events", "values": {}}
        assert get(client, "/api/overview?run=empty&worker=w", 422)["error"] == EMPTY
        notes = {note["kind"]: note for note in get(client, "/api/health?run=names&worker=w")["notes"]}
        assert notes["no_events"]["text"].startswith(ONLY_NAMES)


def test_the_python_api_says_so(logs: Path, tmp_path: Path) -> None:
    profile = torch_tb_profiler.open(logs, cache_dir=tmp_path / "cache")
    with pytest.raises(ProfileError, match=EMPTY):
        profile.trace("empty").answer("overview")
    notes = {note.kind: note.text for note in profile.trace("names").notes}
    assert notes["no_events"].startswith(ONLY_NAMES)


def test_a_report_is_not_made_of_nothing(logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "report.html"
    status = main(["report", str(logs / "empty"), "-o", str(file), "--cache-dir", str(tmp_path / "cache")])
    assert status == 2
    assert EMPTY in capsys.readouterr().err
    assert not file.exists()
