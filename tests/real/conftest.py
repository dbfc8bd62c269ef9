"""Tests on recorded traces that lie beside the repository; without them they are skipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recorded import recorded


@pytest.fixture(scope="session")
def shared_traces() -> Path:
    return recorded()
