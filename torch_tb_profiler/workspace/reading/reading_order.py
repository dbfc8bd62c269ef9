"""Which files of a run are read first, and how many at once."""

from __future__ import annotations

import contextlib
import os
import random
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from torch_tb_profiler.discovery import TraceFile, TraceKind
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.storage import Entry
from torch_tb_profiler.workspace.process import int_from_environment

MEMORY_VARIABLE = "TORCH_TB_PROFILER_MEMORY_BYTES"

#: memory of a process that reads: its own bytes, and bytes for each packed byte of its file
PROCESS_BYTES, BYTES_OF_PACKED = 60 * 1000**2, 12
#: at most: reading takes bounded memory, answering grows with the file
MOST_BYTES = 4 * 1000**3
#: size of a plain file ÷ its packed size, about
_PLAIN = 15
#: packed bytes from which helpers pay: starting a process takes as long as reading 2 MB
LEAST_FOR_HELPERS = 10 * 1000**2
#: helpers at most: unpacking, cutting, sorting and writing, which one process does, are a fifth of the work
MOST_HELPERS = 3
#: memory of the process that reads a memory snapshot and of its parent, for each byte of the pickle (2.3 were measured
#: at 971 MB), and size of a snapshot ÷ its packed size
BYTES_OF_SNAPSHOT, _PACKED_SNAPSHOT = 2.4, 15
#: of the free memory, unless the environment says otherwise
_SHARE = 0.5

#: `node1_0`, torch's default name of a worker: host, process
_HOST = lazy_pattern(r"(.*?)[_.-]?\d+")

T = TypeVar("T")


def host_in(worker: str) -> str:
    """Return the part of a worker's name that ranks of one host share, if they go by torch's own names."""
    match = _HOST.fullmatch(worker)
    return match[1] if match else worker


def in_reading_order(files: Sequence[TraceFile], seed: int | None = None) -> list[TraceFile]:
    """Sort files: the smallest of each host first, since they say most for the least; then the others.

    seed: shuffles the others, so that two that read the same files meet rarely; None: the smallest first
    """
    by_size = sorted(files, key=lambda file: (file.entry.size, file.entry.path))
    first: dict[str, TraceFile] = {}
    for file in by_size:
        first.setdefault(host_in(file.worker), file)
    ahead = list(first.values()) if len(first) < len(files) else []
    taken = {id(file) for file in ahead}
    rest = [file for file in by_size if id(file) not in taken]
    if seed is not None:
        random.Random(seed).shuffle(rest)  # noqa: S311
    return ahead + rest


def memory_for(entry: Entry, is_answering: bool = False, kind: TraceKind = "trace") -> int:
    """Estimate the bytes that a process needs to read a file; `is_answering`: and to answer what the page will ask."""
    if kind == "snapshot":  # answers take less than the process that reads, which has ended by then
        return 2 * PROCESS_BYTES + int(entry.size * (_PACKED_SNAPSHOT if _is_packed(entry) else 1) * BYTES_OF_SNAPSHOT)
    return PROCESS_BYTES + min(packed_bytes(entry) * BYTES_OF_PACKED * (2 if is_answering else 1), MOST_BYTES)


def helpers_for(entry: Entry, kind: TraceKind, processors: int, memory: int | None) -> int:
    """Return how many processes may help to read a file.

    processors, memory: what nobody else has; memory in bytes, None for any
    """
    if kind != "trace" or packed_bytes(entry) < LEAST_FOR_HELPERS:
        return 0
    most = MOST_HELPERS if memory is None else min(MOST_HELPERS, memory // PROCESS_BYTES)
    return max(0, min(processors, most))


def packed_bytes(entry: Entry) -> int:
    """Estimate the bytes of a trace when it is packed."""
    return entry.size if _is_packed(entry) else entry.size // _PLAIN


def _is_packed(entry: Entry) -> bool:
    return entry.path.lower().endswith((".gz", ".zst"))


def memory_budget() -> int:
    """Return the memory limit of all processes together, bytes: from the environment, else half of the free memory."""
    return int_from_environment(MEMORY_VARIABLE, int(_SHARE * _free_memory()), least=1)


def processes_for(files: Sequence[TraceFile], most: int | None = None) -> int:
    """Return how many processes may read these files at once; `most`: None for the processors that may be used."""
    largest = max((memory_for(file.entry, kind=file.kind) for file in files), default=PROCESS_BYTES)
    wanted = min(most or processors(), len(files))
    return max(1, wanted if most else min(wanted, memory_budget() // largest))


def processors() -> int:
    """Return how many processors this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _free_memory() -> int:
    """Return bytes of free memory; where the system does not say, 4 GB."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text("ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return 4 * 1000**3
