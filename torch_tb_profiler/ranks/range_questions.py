"""The questions about the ranges of all ranks."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Count, InlineTable
from torch_tb_profiler.analysis.question import Question
from torch_tb_profiler.ranks.ranges import range_of_ranks, ranges_of_ranks
from torch_tb_profiler.ranks.run_questions import Summaries


class OfStep(msgspec.Struct, frozen=True):
    """Which step."""

    step: Annotated[str | None, Meta(description="Name of a step; without it the median of each rank's steps.")] = None


class OneRange(OfStep, frozen=True):
    """Which range, in which step."""

    name: Annotated[str, Meta(description="Name of a range, as `ranks/ranges` has it.")] = ""


class RangesOfRanks(Answer, frozen=True, kw_only=True):
    """The ranges that the program names, over the ranks.

    names     one row each, the longest first
    left_out  how many names are not in it: of each rank the longest are kept
    """

    names: InlineTable
    left_out: Count


class RangeOfRanks(Answer, frozen=True, kw_only=True):
    """One range, over the ranks.

    ranks  a row for each rank that calls it, in order of rank; none of a name that no rank has kept
    """

    ranks: InlineTable


def _ranges(subject: Summaries, asked: OfStep) -> RangesOfRanks:
    found = ranges_of_ranks(subject.parts, asked.step)
    return RangesOfRanks(names=found.as_columns(), left_out=found.left_out)


def _range(subject: Summaries, asked: OneRange) -> RangeOfRanks:
    found = range_of_ranks(subject.parts, asked.name, asked.step)
    return RangeOfRanks(ranks=found.as_columns())


RUN_RANGES = Question(
    name="ranks/ranges",
    summary="The ranges that the program names, over all ranks",
    compute=_ranges,
)
RUN_RANGE = Question(
    name="ranks/range",
    summary="One range of the program on each rank",
    compute=_range,
)
