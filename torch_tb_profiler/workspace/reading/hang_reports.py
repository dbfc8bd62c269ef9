"""The hang report of a folder of flight-recorder dumps: finding them, and reading them in a process with limits."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from threading import Timer

import msgspec

from torch_tb_profiler.codec import from_msgpack
from torch_tb_profiler.discovery.dumps import DumpFile, dump_file
from torch_tb_profiler.hangs.child import DumpOutcome, receive, send
from torch_tb_profiler.hangs.diagnose import ExplainedReport, HangReport, explained, several_jobs
from torch_tb_profiler.hangs.dump import Dump
from torch_tb_profiler.hangs.job import HungJob
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.storage import StorageError, storage_for
from torch_tb_profiler.words.sentences import because
from torch_tb_profiler.workspace.reading.pool import variables

_BOOTSTRAP = "import sys; sys.path[:] = sys.argv[2:]; from torch_tb_profiler.hangs.child import main; main()"
#: bytes of the largest dump that is read: some hundred times that of a full buffer of 2,000 calls with stacks
LARGEST = 256 << 20
#: seconds for one dump, and bytes of one that get a second more
SECONDS, BYTES_PER_SECOND = 20, 2_000_000


def hang_report(directory: str) -> HangReport:
    """Read the dumps in a folder, or below it where it has none itself. Raises StorageError."""
    storage = storage_for(directory)
    root = storage.resolve(directory)
    files = [file for entry in storage.list(root, lambda _: None) if (file := dump_file(entry)) is not None]
    here = [file for file in files if "/" not in file.entry.path]
    return report_of(here or files).report


def report_of(files: Sequence[DumpFile]) -> ExplainedReport:
    """Read the dumps among files."""
    families: dict[tuple[str, str], list[DumpFile]] = defaultdict(list)
    for file in sorted(files, key=lambda each: (each.rank, each.entry.path)):
        families[file.family].append(file)
    left_out: list[tuple[str, Reason]] = []
    by_size = sorted(families.values(), key=lambda family: (-len(family), family[0].family))
    for at, family in enumerate(by_size):
        if (twice := _same_rank(family)) is not None:
            return several_jobs([_folder(file) for file in twice], left_out)
        if dumps := _read(family, left_out):
            for others in by_size[at + 1 :]:
                pattern = "*".join(others[0].family)
                left_out.append((others[0].entry.path, because("other_dumps", {"pattern": pattern})))
            return explained(HungJob(dumps), left_out)
    return explained(HungJob({}), left_out)


def _same_rank(files: Sequence[DumpFile]) -> tuple[DumpFile, DumpFile] | None:
    """Two files of one rank: nodes of one job write theirs into folders of their own, and so do several jobs."""
    return next(((one, other) for one, other in pairwise(files) if one.rank == other.rank), None)


def _folder(file: DumpFile) -> str:
    return file.entry.path.rpartition("/")[0]


def _read(files: Sequence[DumpFile], left_out: list[tuple[str, Reason]]) -> dict[int, Dump]:
    """Return the dumps of files by rank; report files that cannot be read to `left_out`."""
    dumps: dict[int, Dump] = {}
    members: dict[tuple[int, ...], tuple[int, ...]] = {}
    for file, outcome in _outcomes(files):
        if outcome.dump is not None:
            # a thousand ranks list the same groups of a thousand ranks
            groups = [
                msgspec.structs.replace(group, ranks=members.setdefault(group.ranks, group.ranks))
                for group in outcome.dump.groups
            ]
            dumps[file.rank] = msgspec.structs.replace(outcome.dump, groups=groups)
        elif outcome.reason is not None:
            left_out.append((file.entry.path, outcome.reason))
    return dumps


def _outcomes(files: Sequence[DumpFile]) -> Iterator[tuple[DumpFile, DumpOutcome]]:
    """Read files one after the other in another process, in a new one after each that has ended it."""
    reader: _Reader | None = None
    try:
        for file in files:
            if file.entry.size > LARGEST:
                yield file, DumpOutcome(reason=because("dump_limits", {"limit": "size", "most": LARGEST}))
                continue
            try:
                with storage_for(file.entry.url).open(file.entry) as stream:
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
