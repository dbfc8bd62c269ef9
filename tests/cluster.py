"""A Dask scheduler and its workers on loopback, dashboards too, and what is killed of them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.tiny import free_port, wait_until

ROOT = Path(__file__).parents[1]
_LOOPBACK = ["--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"]


@dataclass
class Cluster:
    """address: of the scheduler. scheduler: its process. workers: those that watch over a worker each."""

    address: str
    folder: Path
    scheduler: subprocess.Popen[bytes]
    python: str | Path = sys.executable
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def add_worker(self, package: Path | None = ROOT) -> None:
        """One that has the package of this folder; None for that which is installed."""
        local = ["--local-directory", str(self.folder / "scratch"), "--nthreads", "1"]
        log = self.folder / f"worker{len(self.workers)}.log"
        self.workers.append(
            _start(["distributed.cli.dask_worker", self.address, *_LOOPBACK, *local], log, package, self.python)
        )

    def below(self) -> list[int]:
        """Processes that workers have started: themselves under their nannies, and children that read."""
        import psutil

        found: list[int] = []
        for worker in self.workers:
            try:
                found += [each.pid for each in psutil.Process(worker.pid).children(recursive=True)]
            except psutil.NoSuchProcess:
                continue
        return sorted(found)

    def stop(self) -> None:
        below = self.below()
        for process in (*self.workers, self.scheduler):
            process.terminate()
        for process in (*self.workers, self.scheduler):
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for pid in below:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


@contextmanager
def cluster(
    folder: Path, workers: int, python: str | Path = sys.executable, package: Path | None = ROOT
) -> Iterator[Cluster]:
    """From when the scheduler listens; `ingest` waits for workers by itself."""
    port = free_port()
    scheduler = _start(
        ["distributed.cli.dask_scheduler", "--port", str(port), *_LOOPBACK], folder / "scheduler.log", package, python
    )
    started = Cluster(f"tcp://127.0.0.1:{port}", folder, scheduler, python)
    try:
        for _ in range(workers):
            started.add_worker(package)
        wait_until(lambda: scheduler.poll() is not None or _listens(port), "the scheduler listens")
        yield started
    finally:
        started.stop()


def _start(command: Sequence[str], log: Path, package: Path | None, python: str | Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "DASK_DISTRIBUTED__DIAGNOSTICS__NVML": "false"}
    environment |= {"PYTHONPATH": str(package)} if package else {}
    with log.open("wb") as out:
        return subprocess.Popen(
            [str(python), "-m", *command], stdout=out, stderr=subprocess.STDOUT, env=environment, cwd=log.parent
        )


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True
