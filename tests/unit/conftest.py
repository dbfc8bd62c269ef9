"""What tests of workspaces and of routes may use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

from tests.served import client_of, everything_read, get
from tests.tiny import write_trace
from tests.tracegen import Config, write_run
from tests.unit.timeline_routes import OF_TRACE
from tests.workspaces import Opener
from torch_tb_profiler.discovery import Root, parse_logdir
from torch_tb_profiler.workspace import Workspace, open_workspace


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """Over `whole`, a run without the timeline of its second rank, and one of a tiny trace, unless the test module has
    one of its own. No test changes it.
    """
    folder = tmp_path_factory.mktemp("timelines")
    logs = folder / "logs"
    write_run(Config(ranks=2, steps=2, layers=1, memory=True), logs / "whole")
    write_run(Config(ranks=2, steps=2, layers=1), logs / "broken")
    sorted((logs / "broken").iterdir())[1].write_bytes(b"")
    write_trace(logs / "alone" / "w.pt.trace.json")
    with everything_read(logs, folder / "cache") as workspace:
        yield workspace


@pytest.fixture
def client(workspace: Workspace) -> Client:
    """Asks the `workspace` of the test module."""
    return client_of(workspace)


@pytest.fixture
def tree(client: Client) -> Any:
    """What the timeline of `timeline_routes.OF_TRACE` consists of."""
    return get(client, f"/api/timeline?{OF_TRACE}")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all workspaces of a test module keep what they have read."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """An empty log directory, unless the test module has one of its own."""
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs"


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
