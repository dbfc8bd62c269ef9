"""What tests of routes may use."""

from __future__ import annotations

import pytest
from werkzeug.test import Client

from tests.served import client_of
from torch_tb_profiler.workspace import Workspace


@pytest.fixture
def client(workspace: Workspace) -> Client:
    """Asks the `workspace` of the test module."""
    return client_of(workspace)
