"""Worker processes that serve one workspace after the other: to start one takes five times what a tiny trace takes."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from torch_tb_profiler import storage
from torch_tb_profiler.ingest import reading
from torch_tb_profiler.workspace import local_workspace
from torch_tb_profiler.workspace.listing import runs
from torch_tb_profiler.workspace.reading import pool

_Process = subprocess.Popen[bytes]

#: that are kept
MOST_IDLE = 4
#: variables that mean nothing to a worker, which gets absolute paths with each job
_OF_THE_PARENT = ("PYTEST_CURRENT_TEST", "TORCH_TB_PROFILER_CACHE_DIR")

#: what each process was started with, and those that are idle
_started_with: dict[_Process, object] = {}
_idle: list[_Process] = []
_lock = threading.Lock()


class _WarmPool(pool.Pool):
    """Leaves its idle processes, alive, to the pools that come later in the same environment."""

    _spared: frozenset[_Process] = frozenset()

    def close(self) -> None:
        with self._changed:
            self._spared = frozenset(self._processes - {running.process for running in self._running})
            self._processes -= self._spared
        super().close()

    def _start(self) -> _Process:
        environment = _environment()
        with _lock:
            process = next((idle for idle in _idle if _started_with[idle] == environment), None)
            if process:
                _idle.remove(process)
        if process and process.poll() is None:
            with self._changed:
                self._processes.add(process)
            return process
        process = super()._start()
        _started_with[process] = environment
        return process

    def _bury(self, process: _Process) -> None:
        if process.poll() is not None or (self._closed and process not in self._spared):
            super()._bury(process)
            return
        with self._changed:
            self._processes.discard(process)
        with _lock:
            _idle.append(process)
            last = _idle.pop(0) if len(_idle) > MOST_IDLE else None
        if last:
            super()._bury(last)


def _environment() -> object:
    variables = {**os.environ, **pool.variables(), **storage.environment()}
    return (*sys.path, *sorted(item for item in variables.items() if item[0] not in _OF_THE_PARENT))


@contextmanager
def warm_processes() -> Iterator[None]:
    """All workspaces share worker processes, which end at the end."""
    with (
        mock.patch.object(runs, "Pool", _WarmPool),
        mock.patch.object(local_workspace, "Pool", _WarmPool),
        mock.patch.object(reading, "Pool", _WarmPool),
    ):
        yield
    for process in _idle:
        process.kill()
        process.wait()
