"""The traces that are measured: made once by tests.tracegen, kept in benchmarks/.work/data."""

from __future__ import annotations

import gzip
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.environments import WORK
from benchmarks.wide import write_wide
from tests.tracegen import Config, write_run

DATA = WORK / "data"


@dataclass(frozen=True)
class Size:
    """How large a trace is, and how often what is measured on it.

    events: of each rank
    """

    name: str
    events: int
    ranks: int = 1
    repetitions: int = 3
    host_repetitions: int = 3
    peer_repetitions: int = 3
    floor_repetitions: int = 5
    hta_repetitions: int = 2
    loads: bool = True  # json.loads of everything fits in memory

    @property
    def directory(self) -> Path:
        return DATA / f"t{self.name}"

    @property
    def seconds(self) -> float:
        """How long one program may take; the slowest peer needs about a minute of CPU for a million events."""
        return 120 + 400e-6 * self.events * self.ranks

    def files(self) -> list[Path]:
        return sorted(self.directory.iterdir(), key=lambda path: (len(path.name), path.name))

    def workers(self) -> list[str]:
        return [path.name.partition(".")[0] for path in self.files()]

    def make(self) -> None:
        """Write the files unless they are there."""

        def write(directory: Path) -> None:
            write_run(Config(ranks=self.ranks, events=self.events), directory)

        _once(self.directory, write)


#: the smallest trace: what a program costs before it has read anything
TINY = Size("3k", 3_000)
SIZES = {
    size.name: size
    for size in (
        Size("10k", 10_000),
        # J varies by a third from run to run, L and ours by a quarter: the least of few decides nothing
        Size("100k", 100_000, repetitions=15, floor_repetitions=15),
        Size("1M", 1_000_000, repetitions=5, peer_repetitions=1, hta_repetitions=1),
        Size("5M", 5_000_000, peer_repetitions=0, hta_repetitions=0, loads=False),
        Size("10M", 10_000_000, peer_repetitions=0, hta_repetitions=0, loads=False),
        Size("8x100k", 100_000, ranks=8, peer_repetitions=1, hta_repetitions=1),
    )
}
DEFAULT = ("10k", "100k", "1M", "8x100k")
HUGE = "10GB"
TIMELINE = "timeline"
ENGINE = "engine"
SHAPES = "shapes"
MANY_RANKS = "ranks"
FLOPS = "flops"
PROGRAM = "program"
MEMORY = "memory"
SQL = "sql"
COMMAND_LINE = "cli"
LARGE_FILE = "large"
#: of the traces that are drawn
TIMELINE_SLICES = 10_000_000
FEWER_SLICES = 1_000_000
#: for a timeline of many ranks
RANKS = Size("64x100k", 100_000, ranks=64)


#: ranks and events of each, of what `ingest` and `serve` are measured on
JOB, MANY = (64, 100_000), (1024, 10_000)
#: ranks that are generated; the others repeat them under numbers of their own
_DIFFERENT = 8


def make_ranks(ranks: int, events: int) -> list[Path]:
    """A job of so many ranks in groups of eight, which are the same eight programs again and again."""
    source = Size(f"{_DIFFERENT}x{events}", events, ranks=_DIFFERENT)

    def write(directory: Path) -> None:
        directory.mkdir()
        texts = [gzip.decompress(path.read_bytes()).decode() for path in source.files()]
        for rank in range(ranks):
            text = _as_rank(texts[rank % _DIFFERENT], rank, ranks)
            name = f"node{rank // _DIFFERENT}_{rank}.{10**18 + rank}.pt.trace.json.gz"
            (directory / name).write_bytes(gzip.compress(text.encode(), 1, mtime=0))

    directory = DATA / f"r{ranks}x{events}"
    if not directory.exists():
        source.make()
    _once(directory, write)
    return sorted(directory.iterdir())


def _as_rank(text: str, rank: int, ranks: int) -> str:
    """A trace of one of eight ranks, which becomes one of many: its group has another name and other members."""
    block, first = rank // _DIFFERENT, rank - rank % _DIFFERENT
    members = list(range(first, first + _DIFFERENT))
    head, mark, rest = text.partition('"traceEvents"')
    head = re.sub(r'"rank": \d+', f'"rank": {rank}', head, count=1)
    head = re.sub(r'"world_size": \d+', f'"world_size": {ranks}', head, count=1)
    head = head.replace('"pg_name": "0"', f'"pg_name": "{block}"').replace('"node0"', f'"node{block}"')
    head = re.sub(r'"ranks": \[[^]]*\]', f'"ranks": {members}', head)
    rest = rest.replace('"Process Group Name": "0"', f'"Process Group Name": "{block}"')
    rest = rest.replace(f'"{list(range(_DIFFERENT))}"', f'"{members}"')
    rest = rest.replace('"Global rank start": 0', f'"Global rank start": {first}')
    return head + mark + rest


def make_huge(size: int = 10 * 1000**3) -> Path:
    """One .json.gz of at least `size` bytes of JSON: the events of 1M again and again, in gzip members."""
    source = SIZES["1M"]
    source.make()

    def write(directory: Path) -> None:
        directory.mkdir()
        text = gzip.decompress(source.files()[0].read_bytes())
        head, mark, rest = text.partition(b'"traceEvents": [\n')
        events, end, tail = rest.rpartition(b"\n  ]")
        again = gzip.compress(events + b",\n", 6, mtime=0)
        with (directory / "worker0.1.pt.trace.json.gz").open("wb") as output:
            output.write(gzip.compress(head + mark, 6, mtime=0))
            for _ in range(size // len(events)):
                output.write(again)
            output.write(gzip.compress(events + end + tail, 6, mtime=0))

    _once(DATA / f"t{HUGE}", write)
    return next((DATA / f"t{HUGE}").iterdir())


def make_wide(slices: int = TIMELINE_SLICES) -> Path:
    """A trace of so many slices on 60 lanes."""

    def write(directory: Path) -> None:
        write_wide(slices, directory)

    _once(DATA / f"wide{slices}", write)
    return next((DATA / f"wide{slices}").iterdir())


def make_pages() -> tuple[Path, list[tuple[str, list[str]]]]:
    """A log directory of what is looked at in a browser, and its runs with their workers."""
    for slices in (FEWER_SLICES, TIMELINE_SLICES):
        make_wide(slices)
    RANKS.make()
    directory = DATA / "pages"
    directory.mkdir(exist_ok=True)
    runs = [(DATA / f"wide{slices}", ["worker0"]) for slices in (FEWER_SLICES, TIMELINE_SLICES)]
    for run, _ in [*runs, (RANKS.directory, [])]:
        (directory / run.name).mkdir(exist_ok=True)
        for file in run.iterdir():
            if not (directory / run.name / file.name).exists():
                (directory / run.name / file.name).hardlink_to(file)
    return directory, [*((run.name, workers) for run, workers in runs), (RANKS.directory.name, RANKS.workers())]


def _once(directory: Path, write: Callable[[Path], None]) -> None:
    if directory.exists():
        return
    part = directory.with_suffix(".part")
    shutil.rmtree(part, ignore_errors=True)
    part.parent.mkdir(parents=True, exist_ok=True)
    write(part)
    part.rename(directory)
