"""TensorBoard while its files are damaged: those of the cache, those of the log directory, and its process."""

from __future__ import annotations

import contextlib
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from tests.attack.answers import Get, answers
from tests.attack.damage import DAMAGES, damaged
from tests.attack.tensorboard import start_tensorboard, wrong_with_board
from tests.attack.test_cache import spoil
from tests.integration.conftest import PLUGIN, Server, wait_for_all
from tests.tracegen import Config
from tests.tracegen.writer import write_run

#: of the trace that nothing happens to
TRACES = [{"run": "still", "worker": "worker0"}]
#: what is asked of the runs that change
ASKED = ("api/overview", "api/operators", "api/timeline", "api/stacks", "trace")
#: kinds of damage that a server meets in files that it has open
IN_USE = ("flip", "cut", "hole")


@dataclass
class Outcome:
    """What was done, and what was wrong."""

    done: Counter[str] = field(default_factory=Counter)
    complaints: list[str] = field(default_factory=list)


def _files(logs: Path) -> list[Path]:
    """Those that may be changed."""
    return sorted(path for path in logs.rglob("*") if path.is_file() and path.relative_to(logs).parts[0] != "still")


def _appear(dice: random.Random, logs: Path, trace: bytes) -> None:
    name = dice.choice(("w.pt.trace.json", "w.1.pt.trace.json", "w.2.pt.trace.json.gz", "other.json", "x.txt"))
    path = logs / f"run{dice.randrange(4)}" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(dice.choice((trace, b"", damaged(dice.choice(list(DAMAGES)), dice, trace))))


def _damage(dice: random.Random, logs: Path, _: bytes) -> None:
    path = dice.choice(_files(logs))
    path.write_bytes(damaged(dice.choice(list(DAMAGES)), dice, path.read_bytes()))


def _replace(dice: random.Random, logs: Path, trace: bytes) -> None:
    path = dice.choice(_files(logs))
    beside = path.with_name("beside.part")
    beside.write_bytes(trace)
    beside.replace(path)


def _remove(dice: random.Random, logs: Path, _: bytes) -> None:
    dice.choice(_files(logs)).unlink()


def _rename(dice: random.Random, logs: Path, _: bytes) -> None:
    path = dice.choice(_files(logs))
    path.rename(path.with_name(f"renamed{dice.randrange(9)}.pt.trace.json"))


def _move(dice: random.Random, logs: Path, _: bytes) -> None:
    run, to = dice.choice(_files(logs)).parent, logs / f"moved{dice.randrange(4)}"
    if run != to:
        shutil.rmtree(to, ignore_errors=True)
        run.rename(to)


def _folder(dice: random.Random, logs: Path, _: bytes) -> None:
    """A directory in the place of a file."""
    path = dice.choice(_files(logs))
    path.unlink()
    path.mkdir()


CHANGES: tuple[Callable[[random.Random, Path, bytes], None], ...] = (
    _appear,
    _damage,
    _replace,
    _remove,
    _rename,
    _move,
    _folder,
)


def _getter(board: Server) -> Get:
    def get(url: str) -> tuple[int, bytes]:
        reply = board.get(PLUGIN + url)
        return reply.status, reply.body

    return get


class _Attack:
    def __init__(self, folder: Path, seed: int) -> None:
        self.outcome = Outcome()
        self._dice = random.Random(seed)
        self._folder, self._logs, self._cache = folder, folder / "logs", folder / "cache"
        write_run(Config(steps=2, layers=1), self._logs / "still")
        (written,) = (self._logs / "still").iterdir()
        self._trace = written.read_bytes()
        self._starts = 0
        self.board = self._start()
        self._good = answers(_getter(self.board), TRACES)

    def _start(self) -> Server:
        self._starts += 1
        log = self._folder / f"{self._starts}.log"
        arguments = ("--logdir", str(self._logs), "--reload_interval", "1", "--load_fast", "false")
        return start_tensorboard(self._cache, log, *arguments)

    def damage_cache(self, kinds: tuple[str, ...]) -> None:
        kind = self._dice.choice(kinds)
        self.outcome.done["damaged files of the cache"] += sum(spoil(self._cache, kind, self._dice).values())

    def change_logs(self, count: int) -> None:
        """And ask meanwhile about whatever is there by then, or no longer."""
        for _ in range(count):
            change = self._dice.choice(CHANGES) if _files(self._logs) else _appear
            with contextlib.suppress(IsADirectoryError):  # a directory is in the place of the file
                change(self._dice, self._logs, self._trace)
            self.outcome.done["changes of the log directory"] += 1
            self._ask_any()
            time.sleep(self._dice.choice((0, 0.05, 0.4)))

    def _ask_any(self) -> None:
        status = self.board.get(f"{PLUGIN}api/status")
        self._check(status.status, "api/status")
        places = [
            {"run": run["name"], "worker": t["worker"], "span": t["span"]}
            for run in status.json()["runs"]
            for t in run["traces"]
        ]
        if not places:
            self.outcome.complaints.append("the run that nothing happens to is not shown")
            return
        for path in self._dice.sample(ASKED, 2):
            url = f"{path}?{urlencode(self._dice.choice(places))}"
            self._check(self.board.get(PLUGIN + url).status, url)

    def _check(self, status: int, what: str) -> None:
        self.outcome.done["requests"] += 1
        if status >= 500:
            self.outcome.complaints.append(f"{status} at {what}")

    def kill(self) -> None:
        """At once, and start it again with a damaged cache, half of the time."""
        self._look_at_board()
        self.board.stop(signal.SIGKILL)
        self.outcome.done["killed"] += 1
        if self._dice.random() < 0.5:
            self.damage_cache(tuple(DAMAGES))
        self.board = self._start()

    def compare(self, after: str) -> None:
        wait_for_all(self.board, PLUGIN)
        found = answers(_getter(self.board), TRACES)
        different = [f"{url}: {found[url][0]}" for url in self._good if found[url] != self._good[url]]
        if different:
            self.outcome.complaints.append(f"answers are different {after}: {different}")
        self._look_at_board()

    def _look_at_board(self) -> None:
        self.outcome.complaints += wrong_with_board(self.board)


def attack(folder: Path, seed: int, rounds: int, until: float = float("inf")) -> Outcome:
    """So many rounds, or until a time (of `time.monotonic`)."""
    attacked = _Attack(folder, seed)
    try:
        for number in range(rounds):
            attacked.damage_cache(IN_USE)
            attacked.compare(f"the cache was damaged in use (round {number})")
            attacked.change_logs(15)
            attacked.compare(f"the log directory has changed (round {number})")
            attacked.change_logs(2)
            attacked.kill()
            attacked.compare(f"it was killed (round {number})")
            if time.monotonic() > until:
                break
    finally:
        attacked.board.stop()
    return attacked.outcome
