"""Two servers share a cache and are killed at any moment: those that come after them answer as if nothing had been."""

from __future__ import annotations

import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.attack.answers import answers, difference
from tests.attack.servers import getter, start, wait_for_all
from tests.integration.conftest import Server
from tests.tracegen import Config
from tests.tracegen.writer import write_run

SIGNALS = [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT]
#: of the generated traces; few, as each round asks them of two servers
PATHS = ("api/overview", "api/operators", "api/waterfall", "api/timeline", "trace")


def end(server: Server, with_signal: int) -> None:
    if server.process.poll() is None:
        server.process.send_signal(with_signal)
    try:
        server.process.wait(30)
    except subprocess.TimeoutExpired:
        # with PYTHONFAULTHANDLER it says where each of its threads is
        server.process.send_signal(signal.SIGABRT)
        server.process.wait(30)
        raise AssertionError(f"signal {with_signal} did not end it:\n{server.printed()}") from None


@pytest.mark.parametrize(("seed", "rounds"), [(1, 1), pytest.param(1, 3, marks=pytest.mark.long)])
def test_what_killed_servers_leave_harms_nobody(tmp_path: Path, seed: int, rounds: int) -> None:
    killed(tmp_path, seed, rounds)


def killed(tmp_path: Path, seed: int, rounds: int) -> None:
    dice = random.Random(seed)
    for run in range(2):
        write_run(Config(steps=2, layers=1, seed=run), tmp_path / "logs" / f"run{run}")
    traces = [{"run": f"run{run}", "worker": "worker0"} for run in range(2)]
    alone = start(tmp_path / "logs", tmp_path / "alone", tmp_path / "alone.log")
    before: dict[str, bytes] = {}
    after: dict[str, bytes] = {}
    good = answers(getter(alone), traces, PATHS, before)
    end(alone, signal.SIGTERM)
    for number in range(rounds):
        logs = [tmp_path / f"{number}{each}.log" for each in "ab"]
        servers = [start(tmp_path / "logs", tmp_path / "cache", log) for log in logs]
        time.sleep(dice.random() * 1.5)
        for server in servers:
            end(server, dice.choice(SIGNALS) if number else signal.SIGKILL)
        told = [log.read_text() for log in logs]
        assert not [text for text in told if "Traceback" in text], told
    last = start(tmp_path / "logs", tmp_path / "cache", tmp_path / "last.log")
    try:
        wait_for_all(last)
        found = answers(getter(last), traces, PATHS, after)
        assert found == good, {url: difference(before[url], after[url]) for url in good if found[url] != good[url]}
    finally:
        end(last, signal.SIGTERM)
    assert last.process.returncode == 0, last.printed()
