"""Progress of reading a trace: a line redrawn on a terminal. Silent elsewhere, and for what is read quickly."""

from __future__ import annotations

import time
from typing import TextIO

#: seconds before anything is said, and between two changes
_PATIENCE, _PAUSE = 0.5, 0.2
_MB = 1000**2


class ReadingLine:
    """Shows the progress of one file after another."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._is_terminal = out.isatty()
        self._began = time.monotonic()
        self._shown = 0.0
        self._width = 0

    def show(self, file: str, size: int, bytes_done: int, events: int) -> None:
        """`bytes_done` of `size` bytes of the file have been read."""
        now = time.monotonic()
        if not self._is_terminal or now - self._began < _PATIENCE or now - self._shown < _PAUSE:
            return
        self._shown = now
        text = as_text(file, size, bytes_done, events, now - self._began)
        self._out.write(f"\r{text.ljust(self._width)}")
        self._out.flush()
        self._width = len(text)

    def end(self) -> None:
        """Erase the line when reading has ended."""
        if self._width:
            self._out.write("\r" + " " * self._width + "\r")
            self._out.flush()
        self._width, self._began = 0, time.monotonic()


def as_text(file: str, size: int, bytes_done: int, events: int, seconds: float) -> str:
    """The line: file, bytes, events, time left.

    >>> as_text("w.pt.trace.json.gz", 40_000_000, 10_000_000, 500_000, 2.0)
    'reading w.pt.trace.json.gz: 10.0 of 40.0 MB, 500,000 events, 6 s left'
    """
    name = "".join(sign if sign.isprintable() else "\ufffd" for sign in file.rpartition("/")[2][-40:])
    left = f", {seconds * (size / bytes_done - 1):.0f} s left" if 0 < bytes_done <= size else ""
    return f"reading {name}: {bytes_done / _MB:,.1f} of {size / _MB:,.1f} MB, {events:,} events{left}"
