"""What every test may use. Fixtures of the browser tests are in browser/conftest.py."""

from __future__ import annotations

import signal
from pathlib import Path

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parent.parent

# The machines of CI are shared: an example that is slow once is no failure.
hypothesis.settings.register_profile("project", deadline=None)
hypothesis.settings.load_profile("project")

# A job in the background of a script ignores Ctrl-C, and so would every server that is started here.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


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
