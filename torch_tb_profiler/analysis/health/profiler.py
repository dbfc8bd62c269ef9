"""What the profiler did to the program, and what it said about itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np

from torch_tb_profiler.analysis.counters import window
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.late_pattern import late_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category, Note, Severity

#: of the recording
OVERHEAD_SHARE = 0.03

LOG_LEVELS = ("ERROR", "WARNING", "INFO")
MOST_LINES = 3
LONGEST_LINE = 200

_OUT_OF_RANGE = late_pattern(r"out-of-range\s*=\s*([0-9]{1,12})", re.IGNORECASE)


def log_lines(model: Model, level: str) -> list[str]:
    """What the profiler wrote to its log while it recorded, as far as the file has it."""
    lines = model.trace.header.raw.get(level)
    return [line for line in lines if isinstance(line, str)] if isinstance(lines, list) else []


def _overhead(model: Model) -> Iterator[Note]:
    events = model.trace.events
    rows = model.rows_of(Category.OVERHEAD)
    begin, end = window(model)
    if not len(rows) or end <= begin:
        return
    spent = intervals.clip(intervals.union(events.start[rows], events.end[rows]), begin, end)
    share = intervals.total(spent) / (end - begin)
    if share >= OVERHEAD_SHARE:
        yield Note(
            "profiler_overhead",
            "warning",
            f"The profiler itself was at work during {100 * share:.0f} % of the recording: the program is faster "
            "without it.",
            count=len(rows),
            touches=("overview", "operators"),
            remedy="profile(with_stack=False, profile_memory=False)  # or record fewer steps",
            values={"share": share},
        )


def _python_frames(model: Model) -> Iterator[Note]:
    frames = int(np.count_nonzero(model.are_selected(model.trace.python_frames.row)))
    if frames:
        yield Note(
            "frames_cost_time",
            "info",
            "Python calls are recorded, which makes each of them slower: host times are too long, device times are "
            "not affected.",
            count=frames,
            touches=("operators",),
            remedy="profile(with_stack=False)  # when stacks are not needed",
        )


def _log(model: Model) -> Iterator[Note]:
    levels: tuple[tuple[str, str, Severity, str], ...] = (
        ("ERROR", "profiler_errors", "warning", "errors"),
        ("WARNING", "profiler_warnings", "info", "warnings"),
    )
    for level, kind, severity, what in levels:
        lines = log_lines(model, level)
        if lines:
            shown = "; ".join(line[:LONGEST_LINE] for line in lines[:MOST_LINES])
            more = f" and {len(lines) - MOST_LINES} more" if len(lines) > MOST_LINES else ""
            yield Note(
                kind,
                severity,
                f"The profiler logged {what} while it recorded: {shown}{more}",
                count=len(lines),
                touches=("overview", "kernels"),
                values={"lines": shown, "more": max(len(lines) - MOST_LINES, 0)},
            )


def _out_of_range(model: Model) -> Iterator[Note]:
    lines = [line for level in LOG_LEVELS for line in log_lines(model, level)]
    dropped = sum(int(found[1]) for line in lines if (found := _OUT_OF_RANGE.search(line)))
    if dropped:
        yield Note(
            "out_of_range",
            "info",
            "The profiler dropped records whose time lies outside the recording. Those of warm-up steps always are "
            "among them; where kernels are missing, this is where they went.",
            count=dropped,
        )


RULES: tuple[Callable[[Model], Iterator[Note]], ...] = (_overhead, _python_frames, _log, _out_of_range)
