"""The long attack: `make attack MINUTES=60 SEED=1`.

All attacks in turn, each round with new seeds, until the time is over; then figures. A complaint names the seed that
shows it, and makes the exit status 1. A second argument is the first seed.
"""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tests.attack import (
    agents,
    board_damage,
    clock_jumps,
    environments,
    histories,
    outputs,
    planted_links,
    shown_names,
    slow_clients,
    tensorboard,
    test_cache,
    test_damage,
    test_hostile_columns,
    test_kills,
)
from tests.attack.answers import answers
from tests.attack.clients import crowd
from tests.attack.contents import harmed, hostile
from tests.attack.damage import DAMAGES
from tests.attack.hostile_columns import CHANGES
from tests.attack.logdir import places_to_ask, write_logs
from tests.attack.reader import PIECE_SECONDS
from tests.attack.requests import Asked, hostile_requests
from tests.served import client_of, everything_read
from tests.tracegen import Config
from tests.tracegen.writer import write_run
from torch_tb_profiler.web.openapi import document

#: seconds that one answer may take, of traces of a thousand events on a busy machine
SLOW = 20.0


@dataclass
class Figures:
    """How much of what was tried, and what was wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    complaints: list[str] = field(default_factory=list)

    def complain(self, text: str) -> None:
        self.complaints.append(text)
        print(f"COMPLAINT {text}", flush=True)


def contents(figures: Figures, seed: int, _: Path) -> None:
    for each in range(seed * 100, seed * 100 + 100):
        figures.counts["files with hostile values"] += 1
        for event in harmed(hostile(each))[:1]:
            figures.complain(f"hostile({each}) harms {event}")


def damage(figures: Figures, seed: int, _: Path) -> None:
    for packing in test_damage.PACKED:
        for kind in DAMAGES:
            for each in range(seed * 10, seed * 10 + 10):
                figures.counts["damaged trace files"] += 1
                found = test_damage.complaint(packing, kind, each)
                if found:
                    figures.complain(found)


def requests(figures: Figures, seed: int, folder: Path) -> None:
    traces = write_logs(folder / "logs", range(seed * 10, seed * 10 + 8))
    with everything_read(folder / "logs", folder / "cache") as workspace:
        client = client_of(workspace)
        for url in hostile_requests(document(), places_to_ask(client), traces, 2000, seed):
            asked = Asked()
            began = time.monotonic()
            asked.ask(client, url)
            figures.counts["hostile requests"] += 1
            for text in asked.complaints:
                figures.complain(f"{text} (seed {seed})")
            if time.monotonic() - began > SLOW:
                figures.complain(f"{time.monotonic() - began:.0f} s: {url[:500]} (seed {seed})")


def cache(figures: Figures, seed: int, folder: Path) -> None:
    write_run(Config(steps=2, layers=1), folder / "logs" / "run")
    dice = random.Random(seed)
    with everything_read(folder / "logs", folder / "cache", 1) as workspace:
        good = answers(test_cache.getter(workspace), test_cache.TRACES)
    for kind in DAMAGES:
        figures.counts["damaged files of a cache"] += sum(test_cache.spoil(folder / "cache", kind, dice).values())
        with everything_read(folder / "logs", folder / "cache", 1) as workspace:
            found = answers(test_cache.getter(workspace), test_cache.TRACES)
        if found != good:
            figures.complain(
                f"cache damaged by {kind} (seed {seed}): {[url for url in good if found[url] != good[url]]}"
            )


def kills(figures: Figures, seed: int, folder: Path) -> None:
    figures.counts["killed servers"] += 12
    try:
        test_kills.killed(folder, seed, 6)
    except AssertionError as error:
        figures.complain(f"kills (seed {seed}): {error}")


def links(figures: Figures, seed: int, folder: Path) -> None:
    for each in range(seed * 20, seed * 20 + 20):
        figures.counts["caches with planted links"] += 1
        for name in planted_links.harmed(folder / str(each), each):
            figures.complain(f"planted links (seed {each}) harm {name}")


def columns(figures: Figures, seed: int, folder: Path) -> None:
    given = test_hostile_columns.prepared(folder)
    for what, kind in itertools.product(test_hostile_columns.SUFFIXES, CHANGES):
        figures.counts[f"made-up places ({what})"] += 1
        for text in test_hostile_columns.wrong_of(given, folder / what / kind, what, kind, seed, 40):
            figures.complain(text)


def clocks(figures: Figures, seed: int, folder: Path) -> None:
    figures.counts["jumps of the clock"] += 1
    for text in clock_jumps.wrong_of(folder, seed):
        figures.complain(f"{text} (clocks, seed {seed})")


def names(figures: Figures, seed: int, folder: Path) -> None:
    for each in range(seed * 5, seed * 5 + 5):
        figures.counts["commands, reports and cards of hostile names"] += 1
        for text in shown_names.wrong_of(folder / str(each), each):
            figures.complain(f"{text} (names, seed {each})")


def in_tensorboard(figures: Figures, seed: int, folder: Path) -> None:
    asked = tensorboard.attack(folder, seed, 1000, time.monotonic() + 120)
    figures.counts["hostile requests to TensorBoard"] += asked.asked
    for text in asked.complaints:
        figures.complain(f"{text} (seed {seed})")


def damaged_tensorboard(figures: Figures, seed: int, folder: Path) -> None:
    outcome = board_damage.attack(folder, seed, 4, time.monotonic() + 120)
    figures.counts += Counter({f"{what} (TensorBoard)": count for what, count in outcome.done.items()})
    for text in outcome.complaints:
        figures.complain(f"damaged TensorBoard (seed {seed}): {text}")


def slow(figures: Figures, seed: int, folder: Path) -> None:
    outcome = slow_clients.attack(folder, 60)
    figures.counts["slow connections"] += outcome.clients
    for text in outcome.complaints:
        figures.complain(f"slow clients (seed {seed}): {text}")


def commands(figures: Figures, seed: int, folder: Path) -> None:
    tried = (
        (outputs.wrong_of, "commands that write", 300),
        (histories.wrong_of, "rounds of appending to a history", 12),
        (environments.wrong_of, "commands in odd environments", 60),
        (agents.wrong_of, "requests of hostile agents", 300),
    )
    for wrong_of, what, times in tried:
        figures.counts[what] += times
        for text in wrong_of(folder / wrong_of.__module__, seed, times):
            figures.complain(text)


ATTACKS: tuple[Callable[[Figures, int, Path], None], ...] = (
    contents,
    damage,
    requests,
    cache,
    kills,
    links,
    columns,
    clocks,
    names,
    in_tensorboard,
    damaged_tensorboard,
    slow,
    commands,
)


def main() -> int:
    minutes, first = float(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    began = time.monotonic()
    until = began + minutes * 60
    figures = Figures()
    search = subprocess.Popen(
        [sys.executable, "-m", "tests.attack.reader", str(minutes * 60 * 0.9), str(first)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        with tempfile.TemporaryDirectory() as folder:
            many = crowd(Path(folder), began + minutes * 60 * 0.4)
        figures.counts["requests of 200 clients"] += many.statuses.total()
        for text in many.complaints:
            figures.complain(text)
        print(f"200 clients: statuses {dict(many.statuses)}, bytes held {many.held}", flush=True)
        seed = first
        while time.monotonic() < until:
            for attack in ATTACKS:
                if time.monotonic() < until:
                    with tempfile.TemporaryDirectory() as folder:
                        try:
                            attack(figures, seed, Path(folder))
                        except Exception:  # noqa: BLE001 - what an attack did not expect is a find, too
                            figures.complain(f"{attack.__name__} (seed {seed}): {traceback.format_exc()}")
            seed += 1
        said = search.communicate(timeout=5 * PIECE_SECONDS)[0].strip().splitlines()
    finally:
        search.kill()
    print(f"search in the reader: {said[-1] if said else 'nothing was said'}")
    if search.returncode:
        figures.complain("the search in the reader found bytes, see .attack: " + " | ".join(said[-5:]))
    for what, count in figures.counts.items():
        print(f"{count:>9,}  {what}")
    took = (time.monotonic() - began) / 60
    print(f"{len(figures.complaints):>9,}  complaints in {took:.0f} minutes, seeds {first} to {seed - 1}")
    return 1 if figures.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
