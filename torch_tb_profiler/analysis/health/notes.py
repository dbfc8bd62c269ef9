"""The notes of a trace by all rules of health, those about the profiler itself, and the question about them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from msgspec.structs import asdict

from torch_tb_profiler.analysis.answer import Answer, Bytes, TraceMeta
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.capture import Capture, capture
from torch_tb_profiler.analysis.device_use import profiler_window
from torch_tb_profiler.analysis.health.rules import (
    DEVICE_RULES,
    NOT_RECORDED,
    TIME_RULES,
    foreign,
    no_kernels,
    nothing_shown,
)
from torch_tb_profiler.analysis.question import NoParameters, Question, Subject
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.snapshot.state import is_snapshot
from torch_tb_profiler.trace import Category, Note, Notes, Severity, note

#: of the recording
OVERHEAD_SHARE = 0.03

LOG_LEVELS = ("ERROR", "WARNING", "INFO")
MOST_LINES = 3
LONGEST_LINE = 200

_OUT_OF_RANGE = lazy_pattern(r"out-of-range\s*=\s*([0-9]{1,12})", re.IGNORECASE)


def log_lines(model: Model, level: str) -> list[str]:
    """Return what the profiler logged while it recorded, as far as the file has it."""
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


PROFILER_RULES: tuple[Callable[[Model], Iterator[Note]], ...] = (_overhead, _python_frames, _log, _out_of_range)


@cached(for_good=True)
def health(model: Model) -> tuple[Note, ...]:
    """Return all notes: what was repaired, what the structure shows, what looks wrong, and what was not recorded."""
    if is_snapshot(model.trace) or model.foreign_program is not None:
        return troubles(model)
    not_recorded = (note for rule in NOT_RECORDED for note in rule(model))
    return tuple(Notes([*troubles(model), *not_recorded]))


@cached(for_good=True)
def troubles(model: Model) -> tuple[Note, ...]:
    """Return all notes but those about what was not recorded."""
    if is_snapshot(model.trace):
        return tuple(model.trace.notes)
    if model.foreign_program is not None:
        return tuple(Notes([foreign(model.foreign_program), *model.trace.notes, *_of_rules(model, TIME_RULES)]))
    # without the device that the program used nothing else says much
    kernels = no_kernels(model)
    first = [] if kernels is None or kernels is nothing_shown() else [kernels]
    rules = (*DEVICE_RULES, *TIME_RULES, *PROFILER_RULES)
    return tuple(Notes([*first, *model.notes, *_of_rules(model, rules)]))


def _of_rules(model: Model, rules: Sequence[Callable[[Model], Iterator[Note]]]) -> Iterator[Note]:
    """Yield the notes of some rules."""
    return (note for rule in rules for note in rule(model))


#: of what the profiler logged; it may have done so for every step
MOST_LOG_LINES = 100
LONGEST_LOG_LINE = 1000


class RecordedCapture(Capture, frozen=True, kw_only=True):
    """One recording and its file.

    bytes  of the file as stored
    """

    bytes: Bytes


class HealthAnswer(Answer, frozen=True, kw_only=True):
    """What was recorded, and what problems it has.

    meta     which trace
    notes    all there are, also of what was not recorded
    log      lines of the profiler's own log, by level
    capture  the recording and its file
    """

    meta: TraceMeta
    notes: Sequence[Note]
    log: Mapping[str, Sequence[str]]
    capture: RecordedCapture


def _health(subject: Subject, _: NoParameters) -> HealthAnswer:
    model = subject.model
    return HealthAnswer(
        meta=TraceMeta(**subject.about(None)),
        notes=health(model),
        log={
            level.lower(): [line[:LONGEST_LOG_LINE] for line in log_lines(model, level)[:MOST_LOG_LINES]]
            for level in LOG_LEVELS
        },
        capture=RecordedCapture(bytes=subject.file_bytes, **asdict(capture(model))),
    )


HEALTH = Question(
    name="health",
    summary="What was recorded, and what problems it has",
    compute=_health,
    about="any",
    aliases=("/health",),
    of_steps=False,
    precompute=(NoParameters(),),
    report=({},),
)
