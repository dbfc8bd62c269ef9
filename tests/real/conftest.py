"""Tests on recorded traces that lie beside the repository; without them they are skipped."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared_traces(repository: Path) -> Path:
    folder = repository.parent / "shared" / "data" / "traces"
    if not folder.is_dir():
        pytest.skip("recorded traces are not here: ../shared/data/traces does not exist")
    return folder
