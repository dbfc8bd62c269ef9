"""A log directory that is listed again and again: unchanged parts cost next to nothing, changes are seen at once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from torch_tb_profiler.discovery import Root, RunListing
from torch_tb_profiler.storage import Entry, ListingProblem, local
from torch_tb_profiler.storage.local import LocalTree
from torch_tb_profiler.workspace.listing import scanner
from torch_tb_profiler.workspace.listing.scanner import Scanner


class Clock:
    """In place of `time` in the module that lists."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.cpu = 0.0
        #: CPU seconds that pass whenever somebody asks for them
        self.cost = 0.0

    def monotonic(self) -> float:
        return self.now

    def thread_time(self) -> float:
        self.cpu += self.cost
        return self.cpu


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(local, "time", clock)
    return clock


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The directories that are read."""
    found: list[str] = []
    scandir = os.scandir

    def noted(path: str) -> object:
        found.append(Path(path).name)
        return scandir(path)

    monkeypatch.setattr(local.os, "scandir", noted)
    return found


def write(path: Path, text: str = "{}") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def listed(tree: LocalTree) -> list[Entry]:
    return tree.list(lambda _: None)


def names(entries: list[Entry]) -> list[str]:
    return sorted(entry.path for entry in entries)


def test_quiet_directories_are_not_read(tmp_path: Path, clock: Clock, read: list[str]) -> None:
    for run in ("a", "b"):
        write(tmp_path / run / "w.json")
    tree = LocalTree(str(tmp_path))
    first = listed(tree)
    clock.now += local.QUIET_SECONDS
    assert listed(tree) is first  # read once more: it was read longer ago than quiet ones are
    read.clear()
    clock.now += local.READ_AGAIN_SECONDS / 2
    assert listed(tree) is first
    assert read == []
    # what is new is seen at once, and nothing else is read
    write(tmp_path / "b" / "new.json")
    write(tmp_path / "c" / "w.json")
    assert names(listed(tree)) == ["a/w.json", "b/new.json", "b/w.json", "c/w.json"]
    assert "a" not in read
    (tmp_path / "b" / "w.json").unlink()
    (tmp_path / "a" / "w.json").rename(tmp_path / "a" / "v.json")
    assert names(listed(tree)) == ["a/v.json", "b/new.json", "c/w.json"]


def test_a_file_that_grows_is_seen(tmp_path: Path, clock: Clock) -> None:
    """Which its directory does not tell: at once where something has changed lately, otherwise a little later."""
    path = write(tmp_path / "w.json")
    tree = LocalTree(str(tmp_path))
    listed(tree)
    write(path, "{   }")
    assert listed(tree)[0].size == 5
    clock.now += local.QUIET_SECONDS
    listed(tree)
    write(path, "{      }")
    clock.now += local.READ_AGAIN_SECONDS
    assert listed(tree)[0].size == 8


def test_what_cannot_be_read_is_told_each_time(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    write(tmp_path / "w.json")
    tree = LocalTree(str(tmp_path))
    for _ in range(3):
        problems: list[ListingProblem] = []
        assert names(tree.list(problems.append)) == ["w.json"]
        clock.now += local.QUIET_SECONDS
        assert len(problems) <= 1


def test_only_files_that_something_is_said_of(tmp_path: Path) -> None:
    for name in ("w.json", "oom.pickle", "model.pt", "events.out.tfevents.1", "w.pt.trace.json.part"):
        write(tmp_path / name)
    found = scanner.list_files([Root(str(tmp_path))]).entries()
    assert names(found) == ["oom.pickle", "w.json", "w.pt.trace.json.part"]


def test_an_unchanged_listing_is_not_gone_through_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "run" / "w.json", '{"traceEvents": []}')
    calls: list[int] = []
    discover = scanner.discover
    monkeypatch.setattr(scanner, "discover", lambda *given: calls.append(1) or discover(*given))
    scans = Scanner([Root(str(tmp_path))], 1.0, lambda _: None, lambda _: None)
    first = scans._step()
    assert all(scans._step() is first for _ in range(3))
    assert len(calls) == 1
    write(tmp_path / "later" / "w.json", '{"traceEvents": []}')
    assert [run.name for run in scans._step().runs] == ["later", "run"]
    (tmp_path / "run" / "w.json").write_text('{"a": 1}')
    assert [run.name for run in scans._step().runs] == ["later"]
    assert len(calls) == 3


def test_traces_are_shown_before_other_files_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "run" / "w.pt.trace.json")
    write(tmp_path / "run" / "other.json")
    shown: list[RunListing] = []
    scans = Scanner([Root(str(tmp_path))], 1.0, shown.append, lambda _: None)
    look, before = scans._sniffer.look, list[RunListing]()

    def noted(*given: object, **named: object) -> int:
        before.extend(shown)
        return look(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(scans._sniffer, "look", noted)
    assert scans._step().complete
    assert [([run.name for run in found.runs], found.complete) for found in before] == [(["run"], False)]


def test_an_unchanged_listing_is_gone_through_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many steps it takes to look at its files."""
    for number in range(20):
        write(tmp_path / f"{number}.json")
    scans = Scanner([Root(str(tmp_path))], 1.0, lambda _: None, lambda _: None)
    calls: list[int] = []
    waiting, look = scans._sniffer.waiting, scans._sniffer.look
    monkeypatch.setattr(scans._sniffer, "waiting", lambda entries: calls.append(1) or waiting(entries))
    monkeypatch.setattr(scans._sniffer, "look", lambda entries, seconds: look(entries, most=1, seconds=seconds))
    steps = 1
    while not scans._step().complete:
        steps += 1
    assert (steps, len(calls)) == (20, 1)


def test_listing_takes_a_bounded_share_of_the_processor(tmp_path: Path, clock: Clock, read: list[str]) -> None:
    write(tmp_path / "w.json")
    clock.cost = 2.0
    tree = LocalTree(str(tmp_path))
    listed(tree)
    for _ in range(60):
        clock.now += 5.0
        listed(tree)
    assert len(read) <= 1 + 300 / (clock.cost * local.PAUSE_PER_CPU_SECOND)
    write(tmp_path / "new.json")
    assert names(listed(tree)) == ["new.json", "w.json"]


def test_what_is_gone_before_it_is_read_is_no_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a/w.json", "b/v.json", "b/w.json"):
        write(tmp_path / name)
    scandir = os.scandir

    @contextmanager
    def slow(path: str) -> Iterator[list[os.DirEntry[str]]]:
        with scandir(path) as children:
            every = list(children)
        if Path(path) == tmp_path:
            (tmp_path / "a").rename(tmp_path / "c")
        elif Path(path).name == "b":
            (tmp_path / "b" / "w.json").rename(tmp_path / "b" / "x.json")
        yield every

    problems: list[ListingProblem] = []
    tree = LocalTree(str(tmp_path))
    monkeypatch.setattr(local.os, "scandir", slow)
    assert names(tree.list(problems.append)) == ["b/v.json"]
    assert problems == []
    monkeypatch.setattr(local.os, "scandir", scandir)
    assert names(listed(tree)) == ["b/v.json", "b/x.json", "c/w.json"]
