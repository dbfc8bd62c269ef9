"""The questions about the ranges that a program names."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.program.columns import CALLS_OF_RANGE, RANGES
from torch_tb_profiler.analysis.program.ranges import NO_CALLS, calls_of_range, ranges
from torch_tb_profiler.analysis.question import NoParameters, NotFound, Subject, TraceQuestion
from torch_tb_profiler.analysis.table import Table, TableMeta, table_of
from torch_tb_profiler.model import Model


def _keys(model: Model, keys: list[str]) -> list[str]:
    return keys if model.has_device_work else [key for key in keys if key != "device_ns"]


def _ranges(subject: Subject, _: NoParameters) -> Table[TableMeta]:
    model = subject.model
    steps = model.steps
    totals = {"exposed_ns": int((steps.end - steps.start).sum())}
    return table_of(TableMeta(**subject.about("overview")), ranges(model), _keys(model, list(RANGES)), RANGES, totals)


class WhichRange(msgspec.Struct, frozen=True):
    """Whose calls."""

    range: Annotated[int, Meta(description="`id` of a row of /api/ranges, with the same steps.", ge=0)] = 0


def _calls(subject: Subject, asked: WhichRange) -> Table[TableMeta]:
    found = calls_of_range(subject.model, asked.range)
    if found is None and asked.range:
        raise NotFound(f"there is no range {asked.range}")
    found = found or NO_CALLS
    keys = _keys(subject.model, list(CALLS_OF_RANGE))
    return table_of(TableMeta(**subject.about("overview")), found, keys, CALLS_OF_RANGE)


PROGRAM_RANGES = TraceQuestion(
    name="ranges",
    summary="The ranges that the program, its frameworks and torch name, as a tree in a table",
    answer=Table[TableMeta],
    compute=_ranges,
    first=(NoParameters(),),
    more="`parent` is an `id`, null at the top. How names are folded: docs/views/program.md.",
    report=({},),
)

PROGRAM_RANGE_CALLS = TraceQuestion(
    name="range_calls",
    summary="The calls of one range",
    answer=Table[TableMeta],
    parameters=WhichRange,
    compute=_calls,
)
