"""Which traces belong to which run, by name; and runs that no listing has."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from torch_tb_profiler.discovery import Run, Skipped, natural_key
from torch_tb_profiler.words.reasons import because
from torch_tb_profiler.workspace.status import Unknown
from torch_tb_profiler.workspace.trace_state import TraceState


class RunSize(NamedTuple):
    """How many traces, and of how many workers, memory snapshots not counted, go by the name of a run."""

    traces: int
    workers: int


class RunIndex:
    """The runs there are at one moment; it does not change.

    runs    of each its name, the addresses of its traces, and its other files
    """

    def __init__(self, runs: Sequence[Run], traces: Iterable[TraceState]) -> None:
        """`traces`: all of them; where log directories overlap, one goes by the name of another run, too."""
        self.runs = [(run.name, [trace.entry.url for trace in run.traces], run.skipped) for run in runs]
        self._by_name = {run[0]: run for run in reversed(self.runs)}
        self._traces: defaultdict[str, int] = defaultdict(int)
        self._workers: defaultdict[str, set[str]] = defaultdict(set)
        for trace in traces:
            self._traces[trace.run] += 1
            if trace.file.kind == "trace":
                self._workers[trace.run].add(trace.file.worker)

    def __contains__(self, run: str) -> bool:
        return run in self._by_name

    def named(self, run: str) -> tuple[str, list[str], tuple[Skipped, ...]]:
        """What `runs` has of it. Raises Unknown."""
        if run not in self._by_name:
            raise Unknown(because("no_such_run", {"run": run}))
        return self._by_name[run]

    def size_of(self, run: str) -> RunSize:
        """Of a run of a trace."""
        return RunSize(self._traces.get(run, 0), len(self._workers.get(run, ())))


class AddedRuns:
    """Runs of files in no log directory. Each is made when it is needed: not once for every file that joins it.

    Thread-safe.
    """

    def __init__(self) -> None:
        self._runs: dict[str, Run] = {}
        self._to_make: dict[str, Callable[[], Run]] = {}
        self._lock = threading.Lock()

    def __contains__(self, run: str) -> bool:
        with self._lock:
            return run in self._runs or run in self._to_make

    @property
    def is_any_to_make(self) -> bool:
        """Whether runs have been added since they were last made."""
        return bool(self._to_make)

    def add(self, name: str, make: Callable[[], Run]) -> None:
        with self._lock:
            self._to_make[name] = make

    def beside(self, listed: Sequence[Run]) -> Sequence[Run]:
        """The runs of a listing and these, in natural order. Called by one thread at a time."""
        with self._lock:
            to_make, self._to_make = self._to_make, {}
            made = {name: make() for name, make in to_make.items()}
            self._runs |= made
            runs = [*self._runs.values()]
        return sorted([*listed, *runs], key=lambda run: natural_key(run.name)) if runs else listed
