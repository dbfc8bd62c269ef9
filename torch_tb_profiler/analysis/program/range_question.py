"""The questions about the ranges that a program names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.program.ranges import NO_CALLS, calls_of_range, ranges
from torch_tb_profiler.analysis.question import NoParameters, NotFound, Question, Subject
from torch_tb_profiler.analysis.result import Result
from torch_tb_profiler.analysis.table import Table, TableMeta


def _ranges(subject: Subject, _: NoParameters) -> Table[TableMeta]:
    model = subject.model
    totals = {"exposed_ns": int((model.steps.end - model.steps.start).sum())}
    return _table(ranges(model), subject, totals)


def _table(found: Result, subject: Subject, totals: Mapping[str, int] | None = None) -> Table[TableMeta]:
    without = () if subject.model.has_device_work else ("device_ns",)
    return found.table(TableMeta(**subject.about("overview")), without=without, totals=totals)


class WhichRange(msgspec.Struct, frozen=True):
    """Whose calls."""

    range: Annotated[int, Meta(description="`id` of a row of /api/ranges, with the same steps.", ge=0)] = 0


def _calls(subject: Subject, asked: WhichRange) -> Table[TableMeta]:
    found = calls_of_range(subject.model, asked.range)
    if found is None and asked.range:
        raise NotFound(f"there is no range {asked.range}")
    return _table(NO_CALLS if found is None else found, subject)


PROGRAM_RANGES = Question(
    name="ranges",
    summary="The ranges that the program, its frameworks and torch name, as a tree in a table",
    compute=_ranges,
    precompute=(NoParameters(),),
    more="`parent` is an `id`, null at the top. How names are folded: docs/views/program.md.",
    report=({},),
)

PROGRAM_RANGE_CALLS = Question(
    name="range_calls",
    summary="The calls of one range",
    compute=_calls,
)
