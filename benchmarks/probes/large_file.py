"""One file into a column file, with helper processes: large_file.py FILE COLUMNS HELPERS"""

from __future__ import annotations

import gc
import hashlib
import resource
import sys
import time
from pathlib import Path

import msgspec
from own import peak, say

from torch_tb_profiler.trace import Trace, read_to_file
from torch_tb_profiler.trace.schema import TRACE_TABLES
from torch_tb_profiler.workspace.reading.child_processes import HelperProcesses


def main(path: str, columns: str, helpers: int) -> None:
    gc.disable()  # as in a worker process
    before, began = _cpu(), time.monotonic()
    with Path(path).open("rb") as stream:
        given = HelperProcesses(helpers, lambda: True) if helpers else None
        trace = read_to_file(stream, Path(columns), helpers=given)
    wall, cpu = time.monotonic() - began, _cpu() - before
    # ru_maxrss of this process would also count what the process that started it held
    peaks = [peak(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024]
    digest = _digest(trace)  # reads the columns: not part of what is measured
    say(wall=wall, cpu=cpu, peak=sum(peaks), events=len(trace.events), columns=digest)


def _digest(trace: Trace) -> str:
    """Of all values. Not of the bytes of the file: one process in some dozens packs a block otherwise."""
    found = hashlib.sha256(msgspec.msgpack.encode([list(trace.strings), list(trace.tracks), list(trace.notes)]))
    for kind in TRACE_TABLES:
        for values in trace.table(kind).columns().values():
            found.update(values.tobytes())
    return found.hexdigest()


def _cpu() -> float:
    """Seconds of this process and of those that it has started and that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
