"""How far it is, on a terminal in one line that changes, elsewhere a line now and then."""

from __future__ import annotations

import contextlib
import time
from threading import Lock
from typing import TextIO

from torch_tb_profiler.ingest.runner import Progress

#: seconds between two lines
_TERMINAL, _ELSEWHERE = 0.2, 10.0
_BAR = 24
#: the time left is estimated only after this many seconds and this part of the bytes
_TELLING, _LEAST_SHARE = 1.0, 0.01
_MB = 1000**2


class Meter:
    """Thread-safe."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._is_terminal = out.isatty()
        self._lock = Lock()
        self._shown = 0.0
        self._width = 0

    def show(self, progress: Progress) -> None:
        """Say how far it is, unless that was said just before."""
        now = time.monotonic()
        with self._lock:
            pause = _TERMINAL if self._is_terminal else _ELSEWHERE
            if now - self._shown < pause and progress.ranks < progress.of:
                return
            self._shown = now
            self._write(as_text(progress, self._is_terminal))

    def say(self, text: str) -> None:
        """Something that stays in sight."""
        with self._lock:
            self._clear()
            self._put(f"{text}\n")

    def end(self) -> None:
        """Nothing more comes."""
        with self._lock:
            if self._width:
                self._put("\n")
            self._width = 0

    def _write(self, text: str) -> None:
        if not self._is_terminal:
            self._put(f"{text}\n")
        else:
            self._put(f"\r{text.ljust(self._width)}")
            self._width = len(text)

    def _clear(self) -> None:
        if self._width:
            self._put("\r" + " " * self._width + "\r")
            self._width = 0

    def _put(self, text: str) -> None:
        with contextlib.suppress(OSError):  # whoever reads this is gone, or has no room: the work goes on
            self._out.write(text)
            self._out.flush()


def as_text(progress: Progress, with_bar: bool = False) -> str:
    """Ranks, bytes, rate, time left."""
    share = progress.bytes_done / progress.bytes_of if progress.bytes_of else 1.0
    parts = [
        f"{progress.ranks:,} of {progress.of:,} ranks",
        f"{progress.bytes_done / _MB:,.1f} of {progress.bytes_of / _MB:,.1f} MB",
    ]
    if progress.seconds >= _TELLING and _LEAST_SHARE <= share < 1:
        parts.append(f"{progress.bytes_done / _MB / progress.seconds:,.1f} MB/s")
        parts.append(f"{_time(progress.seconds * (1 / share - 1))} left")
    if progress.lost:
        parts.append(f"{progress.lost} could not be read")
    bar = f"[{'#' * int(_BAR * share):{_BAR}}] " if with_bar else ""
    return bar + " · ".join(parts)


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
