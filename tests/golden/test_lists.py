"""/runs, /views, /workers and /spans over whole log directories, against the old plugin's recorded lists."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from werkzeug.test import Client

from tests.golden.peer import GOLDENS, LOGDIRS, TRACES
from tests.tiny import wait_until
from torch_tb_profiler.discovery import parse_logdir
from torch_tb_profiler.web.app import create_app
from torch_tb_profiler.workspace import open_workspace

pytestmark = pytest.mark.skipif(
    not GOLDENS.is_dir(), reason=f"the recorded answers of the old plugin are not at {GOLDENS}"
)

LISTS = ("/runs", "/views", "/workers", "/spans")

#: (recording, run): the mark in docs/differences.md of why the lists of that run differ
EXPLAINED = {
    ("units", "runtime_launch_multipe_kernels"): "communication-by-kernel",
    ("torch213", "export_names"): "files-by-content",
}


@pytest.fixture(scope="module", params=LOGDIRS)
def recorded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Client]]:
    recording = request.param
    cache = tmp_path_factory.mktemp("cache")
    workspace = open_workspace(parse_logdir(str(TRACES / LOGDIRS[recording])), cache, 2, reload_interval=0)
    wait_until(lambda: not workspace.status().loading, "everything is read")
    yield recording, Client(create_app(workspace))
    workspace.close()


def test_lists_are_those_of_the_old_plugin(recorded: tuple[str, Client], repository: Path) -> None:
    recording, client = recorded
    folder = GOLDENS / recording
    differing: set[tuple[str, str]] = set()
    compared = 0
    for entry in json.loads((folder / "index.json").read_text())["entries"]:
        if entry["route"] not in LISTS:
            continue
        answer = client.get(entry["route"], query_string=entry["params"])
        compared += 1
        if entry["status"] >= 400:
            assert answer.status_code == entry["status"], entry
            continue
        assert answer.status_code == 200, entry
        expected = json.loads((folder / entry["file"]).read_text())["body"]
        if answer.json != expected:
            differing.add((recording, entry["params"].get("run", "")))
    assert compared > 10
    assert differing == {key for key in EXPLAINED if key[0] == recording}
    text = (repository / "docs" / "differences.md").read_text()
    assert all(f"`{mark}`" in text for mark in EXPLAINED.values())
