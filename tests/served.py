"""A workspace that has read everything, and what its routes answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client

from tests.tiny import wait_until
from torch_tb_profiler.discovery import parse_logdir
from torch_tb_profiler.web import PREFETCHED
from torch_tb_profiler.web.app import create_app
from torch_tb_profiler.workspace import Workspace, open_workspace


@contextmanager
def everything_read(logs: Path, cache: Path, processes: int = 2, questions: str = PREFETCHED) -> Iterator[Workspace]:
    """Over a log directory that does not change."""
    workspace = open_workspace(parse_logdir(str(logs)), cache, processes, questions=questions)
    try:
        wait_until(lambda: not workspace.status().loading, "everything is read")
        yield workspace
    finally:
        workspace.close()


def client_of(workspace: Workspace) -> Client:
    return Client(create_app(workspace))


def get(client: Client, url: str, status: int = 200) -> Any:
    """What a route answers: strict JSON, with an error unless the status is 200."""
    response = client.get(url)
    assert response.status_code == status, response.text
    assert response.content_type == "application/json"
    body = json.loads(response.data, parse_constant=lambda constant: pytest.fail(f"{constant} in {url}"))
    assert status == 200 or body["error"]
    return body
