"""What a probe knows of itself. Standard library only: every environment runs it."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import sys
import time
from collections.abc import Iterable
from pathlib import Path


def cpu() -> float:
    """User and system seconds of this process, all threads."""
    return time.process_time()


def cpu_with(started: Iterable[int]) -> float:
    """The same with that of processes that this one started: those that have ended, and some that run."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = cpu() + ended.ru_utime + ended.ru_stime
    for process in started:
        with contextlib.suppress(OSError):  # it has just ended
            # behind the name, which may hold spaces, the first is field 3: fields 14 and 15 are user and system time
            fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            seconds += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return seconds


def peak() -> int:
    """Bytes; the largest resident memory of this process so far."""
    return _status("VmHWM")


def resident() -> int:
    return _status("VmRSS")


def say(**what: object) -> None:
    """One line of JSON for the runner. Libraries that print cannot get in between: the runner skips what is no JSON."""
    sys.stdout.write("\n" + json.dumps(what) + "\n")
    sys.stdout.flush()


def _status(key: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        name, _, value = line.partition(":")
        if name == key:
            return int(value.split()[0]) * 1024
    raise LookupError(key)
