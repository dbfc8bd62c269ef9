"""The hang report of a folder of flight-recorder dumps: finding them, and reading them in a process with limits."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from threading import Timer

import msgspec

from torch_tb_profiler.codec import from_msgpack
from torch_tb_profiler.hangs.child import DumpOutcome, receive, send
from torch_tb_profiler.hangs.diagnose import HangReport, LeftOut, diagnose, several_jobs
from torch_tb_profiler.hangs.dump import Dump
from torch_tb_profiler.hangs.job import HungJob
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.storage import Entry, Storage, StorageError, storage_for
from torch_tb_profiler.words.sentences import because
from torch_tb_profiler.workspace.reading.pool import variables

_BOOTSTRAP = "import sys; sys.path[:] = sys.argv[2:]; from torch_tb_profiler.hangs.child import main; main()"
#: `nccl_trace_rank_3`, `_dump_3`, `trace_rank_3.json`: the number is the rank
_NAME = lazy_pattern(r"(?P<prefix>.*?)(?P<rank>[0-9]{1,7})(?P<ending>\.(?:json|pkl|pickle|dump|bin))?\Z", re.DOTALL)
#: bytes of the largest dump that is read: some hundred times that of a full buffer of 2,000 calls with stacks
LARGEST = 256 << 20
#: seconds for one dump, and bytes of one that get a second more
SECONDS, BYTES_PER_SECOND = 20, 2_000_000


class _File(msgspec.Struct, frozen=True):
    entry: Entry
    rank: int
    family: tuple[str, str]


def hang_report(directory: str) -> HangReport:
    """Read the dumps in a folder, or below it where it has none itself. Raises StorageError."""
    storage = storage_for(directory)
    root = storage.resolve(directory)
    files = [file for entry in storage.list(root, lambda _: None) if (file := _file(entry)) is not None]
    here = [file for file in files if "/" not in file.entry.path]
    families: dict[tuple[str, str], list[_File]] = defaultdict(list)
    for file in sorted(here or files, key=lambda each: (each.rank, each.entry.path)):
        families[file.family].append(file)
    left_out: list[LeftOut] = []
    by_size = sorted(families.values(), key=lambda family: (-len(family), family[0].family))
    for at, family in enumerate(by_size):
        if (twice := _same_rank(family)) is not None:
            return several_jobs([_folder(file) for file in twice], left_out)
        if dumps := _read(storage, family, left_out):
            for others in by_size[at + 1 :]:
                pattern = "*".join(others[0].family)
                left_out.append(_left_out(others[0].entry, because("other_dumps", {"pattern": pattern})))
            return diagnose(HungJob(dumps), left_out)
    return diagnose(HungJob({}), left_out)


def _same_rank(files: Sequence[_File]) -> tuple[_File, _File] | None:
    """Two files of one rank: nodes of one job write theirs into folders of their own, and so do several jobs."""
    return next(((one, other) for one, other in pairwise(files) if one.rank == other.rank), None)


def _folder(file: _File) -> str:
    return file.entry.path.rpartition("/")[0]


def _file(entry: Entry) -> _File | None:
    """Return a file as its name describes it; None for one that is not named like a dump."""
    match = _NAME.fullmatch(entry.path.rpartition("/")[2])
    return match and _File(entry, int(match["rank"]), (match["prefix"], match["ending"] or ""))


def _left_out(entry: Entry, reason: Reason) -> LeftOut:
    return LeftOut(entry.path, reason.text)


def _read(storage: Storage, files: Sequence[_File], left_out: list[LeftOut]) -> dict[int, Dump]:
    """Return the dumps of files by rank; report files that cannot be read to `left_out`."""
    dumps: dict[int, Dump] = {}
    members: dict[tuple[int, ...], tuple[int, ...]] = {}
    for file, outcome in _outcomes(storage, files):
        if outcome.dump is not None:
            # a thousand ranks list the same groups of a thousand ranks
            groups = [
                msgspec.structs.replace(group, ranks=members.setdefault(group.ranks, group.ranks))
                for group in outcome.dump.groups
            ]
            dumps[file.rank] = msgspec.structs.replace(outcome.dump, groups=groups)
        elif outcome.reason is not None:
            left_out.append(_left_out(file.entry, outcome.reason))
    return dumps


def _outcomes(storage: Storage, files: Sequence[_File]) -> Iterator[tuple[_File, DumpOutcome]]:
    """Read files one after the other in another process, in a new one after each that has ended it."""
    reader: _Reader | None = None
    try:
        for file in files:
            if file.entry.size > LARGEST:
                yield file, DumpOutcome(reason=because("dump_limits", {"limit": "size", "most": LARGEST}))
                continue
            try:
                with storage.open(file.entry) as stream:
                    content = stream.read(LARGEST)
            except StorageError as error:
                yield file, DumpOutcome(reason=error.reason)
                continue
            reader = reader or _Reader(sum(each.entry.size for each in files))
            outcome = reader.read(content)
            if not reader.is_alive:
                reader.end()
                reader = None
            yield file, outcome
    finally:
        if reader is not None:
            reader.end()


class _Reader:
    """A process that reads dumps. size: bytes of all that it may be given."""

    def __init__(self, size: int) -> None:
        self._seconds = SECONDS + size // BYTES_PER_SECOND
        self._process = subprocess.Popen(
            [sys.executable, "-c", _BOOTSTRAP, str(self._seconds), *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **variables()},
        )
        self.is_alive = True

    def read(self, content: bytes) -> DumpOutcome:
        """Return what became of a file."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        watch = Timer(SECONDS * 8 + len(content) // BYTES_PER_SECOND * 8, self._process.kill)
        watch.daemon = True
        watch.start()
        try:
            send(stdin, content)
            message = receive(stdout)
        except OSError:
            message = None
        finally:
            watch.cancel()
        if message is not None:
            return from_msgpack(message, DumpOutcome)
        self.is_alive = False
        self._process.kill()
        status = self._process.wait()
        if status in (-9, -24):  # SIGKILL by the watch or the system, SIGXCPU by its limit
            return DumpOutcome(reason=because("dump_limits", {"limit": "time", "seconds": self._seconds}))
        return DumpOutcome(reason=because("dump_limits", {"limit": "", "status": status}))

    def end(self) -> None:
        """Let the process go."""
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                pipe and pipe.close()
        self._process.kill()
        self._process.wait()
