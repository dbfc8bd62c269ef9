"""Running a command and knowing what it and its descendants cost. Linux: everything comes from /proc."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

PROC = Path("/proc")
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Stat:
    """/proc/PID/stat: seconds of the process itself, and of the children it has waited for."""

    parent: int
    own: float
    waited: float


def parse_stat(text: str, ticks: int = TICKS) -> Stat:
    """The name of a process may hold blanks and parentheses; the last one ends it."""
    fields = text.rpartition(")")[2].split()
    user, system, children_user, children_system = (int(value) for value in fields[11:15])
    return Stat(int(fields[1]), (user + system) / ticks, (children_user + children_system) / ticks)


def parse_kilobytes(text: str, key: str) -> int:
    """Bytes of a line `Key:   123 kB` of smaps_rollup or status; 0 without that line."""
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name == key:
            return int(value.split()[0]) * 1024
    return 0


def descendants(parents: dict[int, int], root: int) -> list[int]:
    """`root` and all below it; `parents` by process."""
    children: dict[int, list[int]] = {}
    for process, parent in parents.items():
        children.setdefault(parent, []).append(process)
    found, todo = [], [root]
    while todo:
        process = todo.pop()
        found.append(process)
        todo.extend(children.get(process, ()))
    return found


def read(process: int, name: str) -> str:
    """A file of /proc, empty when the process is gone."""
    try:
        return (PROC / str(process) / name).read_text()
    except OSError:
        return ""


def resident(process: int) -> int:
    return parse_kilobytes(read(process, "smaps_rollup"), "Rss")


@dataclass
class Tree:
    """A process and its descendants, sampled. Memory is the sum of proportional set sizes, in bytes.

    peak_one: the largest resident memory that one of the processes ever had
    """

    root: int
    peak: int = 0
    peak_one: int = 0

    def sample(self) -> int:
        """What all hold together now, bytes."""
        memory = 0
        for process, _ in self._live():
            memory += parse_kilobytes(read(process, "smaps_rollup"), "Pss")
            self.peak_one = max(self.peak_one, parse_kilobytes(read(process, "status"), "VmHWM"))
        self.peak = max(self.peak, memory)
        return memory

    def cpu(self) -> float:
        """Seconds so far, ended processes included as long as somebody in the tree has waited for them."""
        return sum(stat.own + stat.waited for _, stat in self._live())

    def kill(self) -> None:
        for process, _ in reversed(self._live()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def _live(self) -> list[tuple[int, Stat]]:
        stats = {int(p.name): text for p in PROC.iterdir() if p.name.isdigit() and (text := read(int(p.name), "stat"))}
        parsed = {process: parse_stat(text) for process, text in stats.items()}
        tree = descendants({process: stat.parent for process, stat in parsed.items()}, self.root)
        return [(process, parsed[process]) for process in tree if process in parsed]


class Failed(Exception):
    """A command ended badly or took too long; the message says how."""


class Running:
    """A command under measurement.

    sampled  whether the memory of its processes is looked at all the time, for `tree.peak`. That takes up to a quarter
             of a processor, which two busy processes on two processors do not have to give
    """

    def __init__(
        self, command: Sequence[str | Path], environment: dict[str, str], seconds: float, sampled: bool = True
    ) -> None:
        self.began = time.monotonic()
        self._deadline = self.began + seconds
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        self.process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
            cwd=tempfile.gettempdir(),  # no module and no metadata of this checkout by accident
            start_new_session=True,
        )
        self.tree = Tree(self.process.pid)
        self._sampled = sampled
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def said(self) -> Iterator[dict[str, Any]]:
        """The JSON lines of its output; ends with the output."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(b"{"):
                yield json.loads(line)

    def lines(self) -> Iterator[str]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            yield line.decode(errors="replace")

    def errors(self, most: int = 400) -> str:
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace").strip()[-most:]

    def in_time(self) -> bool:
        return time.monotonic() < self._deadline

    def end(self) -> None:
        """Kill what is left of the tree."""
        self._stopped.set()
        self._thread.join()
        self._kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self._errors):
            if stream:
                with contextlib.suppress(OSError):
                    stream.close()

    def _watch(self) -> None:
        while not self._stopped.wait(0.02 if time.monotonic() - self.began < 5 else 0.1):
            if self._sampled:
                self.tree.sample()
            if not self.in_time():
                self._kill()

    def _kill(self) -> None:
        self.tree.kill()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)  # whom an ended process has left behind


@contextlib.contextmanager
def running(
    command: Sequence[str | Path], environment: dict[str, str], seconds: float, sampled: bool = True
) -> Iterator[Running]:
    """A command until the end of the block; never longer than `seconds`."""
    process = Running(command, environment, seconds, sampled)
    try:
        yield process
    finally:
        process.end()


def probe(command: Sequence[str | Path], environment: dict[str, str], seconds: float = 600) -> list[dict[str, Any]]:
    """All a probe says, of its memory, too. Raises Failed."""
    with running(command, environment, seconds, sampled=False) as process:
        said = list(process.said())
        if process.process.wait() != 0:
            raise Failed(process.errors() if process.in_time() else f"not ready in {seconds:.0f} s")
    return said
