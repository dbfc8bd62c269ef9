"""What the system does not give: no answer of 500, no page that hangs, and all is well when it gives it again."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from tests.attack.answers import answers
from tests.attack.servers import getter, start, wait_for_all
from tests.integration.conftest import Server
from tests.tiny import wait_until
from tests.tracegen import Config
from tests.tracegen.writer import write_run

pytestmark = pytest.mark.long

pytest.importorskip("resource", reason="takes limits of processes")

TRACES = [{"run": "run", "worker": "worker0"}]
PATHS = ("api/overview", "api/operators", "api/stacks", "api/timeline", "trace")
MB = 1 << 20


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scarce") / "logs"
    write_run(Config(steps=2, layers=1), folder / "run")
    return folder


@pytest.fixture(scope="module")
def good(logs: Path) -> dict[str, tuple[int, str]]:
    return asked(start(logs, logs.parent / "cache", logs.parent / "log"))


def refuses(server: Server) -> bool:
    """Whether it has no thread to answer with, however often it is asked; it says so each time."""
    return all(server.get("runs").status == 503 for _ in range(20))


def asked(server: Server) -> dict[str, tuple[int, str]]:
    """All answers, when everything has been read or given up."""
    try:
        if not refuses(server):
            wait_until(lambda: server.get("api/status").status == 200, "a status")
            wait_for_all(server)
        return answers(getter(server), TRACES, PATHS)
    finally:
        server.stop(signal.SIGTERM)


@pytest.mark.parametrize(
    "limits",
    [
        {"RLIMIT_FSIZE": 4096},
        {"RLIMIT_FSIZE": 30_000},
        {"RLIMIT_NOFILE": 24},
        {"RLIMIT_AS": 500 * MB},
    ],
    ids=str,
)
def test_limits(limits: dict[str, int], logs: Path, tmp_path: Path, good: dict[str, tuple[int, str]]) -> None:
    """Every answer is the right one, or says why there is none; and then, without the limit, all are right."""
    try:
        limited = start(logs, tmp_path / "cache", tmp_path / "limited.log", limits=limits)
    except AssertionError:  # it cannot even start, and says so in a sentence
        assert "Traceback" not in (tmp_path / "limited.log").read_text()
        return
    found = asked(limited)
    assert "Traceback" not in (tmp_path / "limited.log").read_text()
    assert [url for url in good if found[url] != good[url] and found[url][0] not in (422, 503)] == []
    assert asked(start(logs, tmp_path / "cache", tmp_path / "log")) == good


def test_no_place_for_a_cache(logs: Path, tmp_path: Path, good: dict[str, tuple[int, str]]) -> None:
    (tmp_path / "file").touch()
    assert asked(start(logs, tmp_path / "file" / "cache", tmp_path / "log")) == good


@pytest.mark.parametrize("at", [0.0, time.time() + 10 * 365 * 86400], ids=["1970", "in ten years"])
def test_clocks_that_went_wrong(at: float, logs: Path, tmp_path: Path, good: dict[str, tuple[int, str]]) -> None:
    """Files of the log directory, and of the cache, come from another time."""
    for _ in range(2):
        found = asked(start(logs, tmp_path / "cache", tmp_path / "log"))
        # the version of a timeline is that of its file, which now has another time
        assert {url: found[url] for url in found if "timeline" not in url} == {
            url: good[url] for url in good if "timeline" not in url
        }
        for path in [*logs.rglob("*.gz"), *(tmp_path / "cache").rglob("*")]:
            os.utime(path, (at, at))
