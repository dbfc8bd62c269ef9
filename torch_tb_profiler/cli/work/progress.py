"""Progress on stderr: of `ingest`, and of reading one trace. On a terminal it is one line that is redrawn."""

from __future__ import annotations

import contextlib
import time
from threading import Lock
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from torch_tb_profiler.ingest.runner import IngestProgress

#: seconds between two lines
_ON_TERMINAL, _ELSEWHERE = 0.2, 10.0
_BAR = 24
#: the time left is estimated only after this many seconds and this part of the bytes
_TELLING, _LEAST_SHARE = 1.0, 0.01
_MB = 1000**2


class IngestMeter:
    """Thread-safe."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._is_terminal = out.isatty()
        self._lock = Lock()
        self._shown = 0.0
        self._width = 0

    def show(self, progress: IngestProgress) -> None:
        """Print the progress, at most once per interval."""
        now = time.monotonic()
        with self._lock:
            pause = _ON_TERMINAL if self._is_terminal else _ELSEWHERE
            if now - self._shown < pause and progress.ranks < progress.of:
                return
            self._shown = now
            self._write(ranks_text(progress, self._is_terminal))

    def say(self, text: str) -> None:
        """Print a line that stays visible."""
        with self._lock:
            self._clear()
            self._put(f"{text}\n")

    def end(self) -> None:
        """End the line: nothing more comes."""
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
        with contextlib.suppress(OSError):  # the reader is gone or the disk is full: the work goes on
            self._out.write(text)
            self._out.flush()


def ranks_text(progress: IngestProgress, with_bar: bool = False) -> str:
    """Describe ranks, bytes, rate and time left."""
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


#: seconds before the line appears, and between two updates
_PATIENCE, _PAUSE = 0.5, 0.2


class ReadingLine:
    """Shows the progress of one file after another."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._is_terminal = out.isatty()
        self._began = time.monotonic()
        self._shown = 0.0
        self._width = 0

    def show(self, file: str, size: int, bytes_done: int, events: int) -> None:
        """Show that `bytes_done` of `size` bytes of the file have been read."""
        now = time.monotonic()
        if not self._is_terminal or now - self._began < _PATIENCE or now - self._shown < _PAUSE:
            return
        self._shown = now
        text = reading_text(file, size, bytes_done, events, now - self._began)
        self._out.write(f"\r{text.ljust(self._width)}")
        self._out.flush()
        self._width = len(text)

    def end(self) -> None:
        """End the line: nothing more comes."""
        if self._width:
            self._out.write("\r" + " " * self._width + "\r")
            self._out.flush()
        self._width, self._began = 0, time.monotonic()


def reading_text(file: str, size: int, bytes_done: int, events: int, seconds: float) -> str:
    """Return the line: file, bytes, events, time left.

    >>> reading_text("w.pt.trace.json.gz", 40_000_000, 10_000_000, 500_000, 2.0)
    'reading w.pt.trace.json.gz: 10.0 of 40.0 MB, 500,000 events, 6 s left'
    """
    name = "".join(sign if sign.isprintable() else "\ufffd" for sign in file.rpartition("/")[2][-40:])
    left = f", {seconds * (size / bytes_done - 1):.0f} s left" if 0 < bytes_done <= size else ""
    return f"reading {name}: {bytes_done / _MB:,.1f} of {size / _MB:,.1f} MB, {events:,} events{left}"
