"""What the profiler did to the program, and what it said about itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np

from torch_tb_profiler.analysis.device_use import profiler_window
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category, Note, Severity, note

#: of the recording
OVERHEAD_SHARE = 0.03

LOG_LEVELS = ("ERROR", "WARNING", "INFO")
MOST_LINES = 3
LONGEST_LINE = 200

_OUT_OF_RANGE = lazy_pattern(r"out-of-range\s*=\s*([0-9]{1,12})", re.IGNORECASE)


def log_lines(model: Model, level: str) -> list[str]:
    """What the profiler wrote to its log while it recorded, as far as the file has it."""
    lines = model.trace.header.raw.get(level)
    return [line for line in lines if isinstance(line, str)] if isinstance(lines, list) else []


def _overhead(model: Model) -> Iterator[Note]:
    events = model.trace.events
    rows = model.rows_of(Category.OVERHEAD)
    begin, end = profiler_window(model)
    if not len(rows) or end <= begin:
        return
    spent = intervals.clip(intervals.union(events.start[rows], events.end[rows]), begin, end)
    share = intervals.total(spent) / (end - begin)
    if share >= OVERHEAD_SHARE:
        yield note("profiler_overhead", "warning", len(rows), ("overview", "operators"), values={"share": share})


def _python_frames(model: Model) -> Iterator[Note]:
    frames = int(np.count_nonzero(model.are_selected(model.trace.python_frames.row)))
    if frames:
        yield note("frames_cost_time", "info", frames, ("operators",))


def _log(model: Model) -> Iterator[Note]:
    levels: tuple[tuple[str, str, Severity], ...] = (
        ("ERROR", "profiler_errors", "warning"),
        ("WARNING", "profiler_warnings", "info"),
    )
    for level, kind, severity in levels:
        lines = log_lines(model, level)
        if lines:
            shown = "; ".join(line[:LONGEST_LINE] for line in lines[:MOST_LINES])
            more = max(len(lines) - MOST_LINES, 0)
            yield note(kind, severity, len(lines), ("overview", "kernels"), values={"lines": shown, "more": more})


def _out_of_range(model: Model) -> Iterator[Note]:
    lines = [line for level in LOG_LEVELS for line in log_lines(model, level)]
    dropped = sum(int(found[1]) for line in lines if (found := _OUT_OF_RANGE.search(line)))
    if dropped:
        yield note("out_of_range", "info", dropped)


RULES: tuple[Callable[[Model], Iterator[Note]], ...] = (_overhead, _python_frames, _log, _out_of_range)
