"""What the files of tests cost (`-p tests.cost`): a table at the end of a run, the largest first (COST=n: n lines).

CPU is what counts on a shared machine: of the worker and of all it started, servers and browsers too. What lives as
long as the session is on the account of the file that had it started or busy.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

SHOWN = 25
CPU = "cpu"
_mine = pytest.StashKey["Meter"]()
_last = pytest.StashKey[bool]()
_sums = pytest.StashKey["Sums"]()


class Meter:
    """The CPU of this process since it was last asked."""

    def __init__(self) -> None:
        self._before = cpu_seconds()

    def since(self) -> float:
        now = cpu_seconds()
        # A process that ended unheard takes what it had with it.
        spent, self._before = max(0.0, now - self._before), now
        return spent


class Sums:
    """By file: seconds on the clock, and of CPU."""

    def __init__(self) -> None:
        self.wall: dict[str, float] = defaultdict(float)
        self.cpu: dict[str, float] = defaultdict(float)


def largest(spent: dict[str, float]) -> list[tuple[str, float]]:
    return sorted(spent.items(), key=lambda each: -each[1])


def cpu_seconds() -> float:
    """Seconds of CPU of this process, of the children it waited for, and of the descendants that still run."""
    return sum(os.times()[:4]) + sum(_of(child) for child in _children(os.getpid()))


def _of(process: int) -> float:
    try:
        # The name of the program, in parentheses, may hold anything.
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    ticks = sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK") + sum(_of(child) for child in _children(process))


def _children(process: int) -> list[int]:
    """None where there is no /proc."""
    found: list[int] = []
    for thread in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            found += map(int, thread.read_text().split())
        except OSError:
            continue
    return found


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    item.config.stash.setdefault(_mine, Meter())
    # Asked once for a file: what it costs to ask grows with what runs.
    item.stash[_last] = nextitem is None or nextitem.path != item.path
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if call.when == "teardown" and item.stash.get(_last, False):
        report.user_properties.append((CPU, round(item.config.stash[_mine].since(), 2)))
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    config.stash[_sums] = Sums()
    config.pluginmanager.register(Listener(config.stash[_sums]), "cost-listener")


class Listener:
    def __init__(self, sums: Sums) -> None:
        self._sums = sums

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file = report.nodeid.partition("::")[0]
        self._sums.wall[file] += report.duration
        if report.when == "teardown":
            self._sums.cpu[file] += sum(float(str(value)) for name, value in report.user_properties if name == CPU)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    sums = config.stash[_sums]
    folders: dict[str, float] = defaultdict(float)
    for file, spent in sums.cpu.items():
        folders["/".join(file.split("/")[:2])] += spent
    terminalreporter.section("cost: CPU s, wall s")
    for folder, spent in largest(folders):
        terminalreporter.line(f"{spent:8.1f}          {folder}")
    for file, spent in largest(sums.cpu)[: int(os.environ.get("COST", SHOWN))]:
        terminalreporter.line(f"{spent:8.1f} {sums.wall[file]:8.1f} {file}")
