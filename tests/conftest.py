"""What every test may use. Fixtures of the browser tests are in browser/conftest.py."""

from __future__ import annotations

from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parent.parent

# The machines of CI are shared: an example that is slow once is no failure.
hypothesis.settings.register_profile("project", deadline=None)
hypothesis.settings.load_profile("project")


@pytest.fixture(scope="session")
def repository() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def samples() -> Path:
    """The sample log directory."""
    return ROOT / "samples"


@pytest.fixture(scope="session")
def output() -> Path:
    """Where logs and screenshots are kept: not in git, read by people after a run."""
    folder = ROOT / ".ci" / "output"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
