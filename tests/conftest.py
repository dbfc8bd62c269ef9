"""What every test may use. Fixtures of the browser tests are in browser/conftest.py."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from tests.properties import examples
from tests.recorded import MANY_RANKS, ROOT
from tests.spread import pytest_collection_finish, pytest_collection_modifyitems, pytest_xdist_make_scheduler
from tests.warm import warm_processes

__all__ = ["pytest_collection_finish", "pytest_collection_modifyitems", "pytest_xdist_make_scheduler"]

hypothesis.settings.register_profile("project", examples(100))
hypothesis.settings.load_profile("project")

# A job in the background of a script ignores Ctrl-C, and so would every server that is started here.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def processes() -> Iterator[None]:
    """What reads traces for the workspaces of a worker's tests."""
    with warm_processes():
        yield


@pytest.fixture(scope="session")
def repository() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample log directory, without the run of many ranks, whose reading would take most of the time."""
    folder = tmp_path_factory.mktemp("logs") / "samples"
    shutil.copytree(ROOT / "samples", folder, ignore=shutil.ignore_patterns(MANY_RANKS))
    return folder


@pytest.fixture(scope="session")
def samples_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What tests that read all samples share: whoever is the first reads them."""
    return tmp_path_factory.mktemp("samples-cache")


@pytest.fixture(scope="session")
def many_ranks() -> Path:
    """The sample of 64 ranks: a run's folder."""
    return ROOT / "samples" / MANY_RANKS


@pytest.fixture(scope="session")
def output() -> Path:
    """Where logs and screenshots are kept: not in git, read by people after a run."""
    folder = ROOT / ".ci" / "output"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
