"""What one rank costs a process that reads: python rank.py [--kept] FILE...

CPU seconds of each file, read, summarized and written as `ingest` has it done, after a first one that is not counted.
With --kept it is all that `ingest` does for a rank: the key of its content is made, too, and what was written is put
into a place.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from own import cpu, peak, say

from torch_tb_profiler.defaults import EXPANSION
from torch_tb_profiler.discovery import TraceFile
from torch_tb_profiler.ingest.reading import Children, read_rank
from torch_tb_profiler.ingest.runner import IngestTarget, RankKept, Task
from torch_tb_profiler.storage import Entry, storage_for
from torch_tb_profiler.workspace.cache.identity import answers_version
from torch_tb_profiler.workspace.cache.stores import store_at
from torch_tb_profiler.workspace.reading.protocol import Done, Failed, Job, Message
from torch_tb_profiler.workspace.reading.worker import perform


class _Here(Children):
    """Jobs are done by this process."""

    @contextmanager
    def folder(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)

    def read(self, job: Job, told: Callable[[Message], None]) -> Done | Failed:
        outcome = perform(job, told)
        assert isinstance(outcome, Done | Failed)
        return outcome


def _read(number: int, entry: Entry, folder: Path) -> None:
    job = Job.of(number, entry, folder / str(number), rank=folder / f"{number}.rank")
    assert isinstance(perform(job, lambda _: None), Done)


def _kept(number: int, entry: Entry, folder: Path) -> None:
    place = store_at(str(folder / str(number)))
    place.prepare()
    target = IngestTarget(place.url, False, "probe-", EXPANSION, answers_version())
    task = Task.of(number, TraceFile("", "", entry), target)
    outcome = read_rank(task, _Here(1))
    assert isinstance(outcome, RankKept)
    assert not outcome.was_there


def main(arguments: list[str]) -> None:
    """Says `ranks`, CPU seconds, and `peak`, bytes."""
    do = _kept if "--kept" in arguments else _read
    files = [each for each in arguments if each != "--kept"]
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        for number, file in enumerate([files[0], *files]):
            entry = storage_for(file).stat(file)
            began = cpu()
            do(number, entry, Path(folder))
            seconds.append(cpu() - began)
    say(ranks=seconds[1:], peak=peak())


main(sys.argv[1:])
