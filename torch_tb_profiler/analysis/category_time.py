"""What the time of one category consists of: intervals, each with the event that accounts for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Count, Ns, Row, TraceMeta
from torch_tb_profiler.analysis.overview import CATEGORIES, category_rows, category_spans
from torch_tb_profiler.analysis.question import Question, Subject
from torch_tb_profiler.analysis.shared.host_threads import innermost, main_lane
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.arrays.intervals import Spans, priority_intervals
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.kernel_names.short import short_name
from torch_tb_profiler.trace import Category

CategoryName = Literal["kernel", "memcpy", "memset", "communication", "runtime", "dataloader", "cpu_exec", "other"]

#: names and intervals of one answer, unless asked otherwise
PAGE = 20
LARGEST_PAGE = 1_000


class CategoryTime(msgspec.Struct, frozen=True):
    """The moments of the steps that belong to one category, cut where another event takes over; by start, in ns.

    start_ns, end_ns   shape (pieces,), disjoint; their lengths add up to the category's time in the steps
    step               shape (pieces,): which step
    row                shape (pieces,): the event, -1 where the trace has none
    """

    start_ns: Int64
    end_ns: Int64
    step: Int64
    row: Int64


def category_time(model: Model, category: str) -> CategoryTime:
    """Attribute the time of a category: where several events overlap, the first counts; on one thread, the innermost.

    Time in no category gets the innermost Python frame of the main thread when it began.
    """
    steps, spans = model.steps, category_spans(model)
    windows = Spans(steps.start, steps.end)
    earlier = intervals.union_of([spans[each] for each in CATEGORIES[: CATEGORIES.index(category)]])
    mine = windows if category == "other" else intervals.intersection(spans[category], windows)
    mine = intervals.subtraction(intervals.intersection(mine, windows), earlier)
    # spans may reach over the border of two steps
    mine = intervals.intersection(mine, windows)
    found, row = (Spans(*mine), _frames(model, mine.start)) if category == "other" else _pieces(model, category, mine)
    step = np.searchsorted(steps.start, found.start, side="right") - 1
    return CategoryTime(found.start, found.end, step, row)


def _pieces(model: Model, category: str, mine: Spans) -> tuple[Spans, Int64]:
    """Cut the given time by events, and return the event of each piece."""
    start, end, row = _innermost(model) if category == "cpu_exec" else _ranges(model, category)
    # most of them may lie where something else counts
    there = np.searchsorted(mine.end, start, side="right") < np.searchsorted(mine.start, end, side="left")
    start, end, row = start[there], end[there], row[there]
    turn = np.argsort(start, kind="stable")
    start, end, row = start[turn], end[turn], row[turn]
    rank = np.arange(len(start))
    if category == "communication":
        # a kernel before the call that launched it
        rank = rank + len(rank) * (model.trace.events.category[row] != Category.KERNEL)
    pieces = priority_intervals(start, end, rank)
    held = intervals.intersection(Spans(pieces.start, pieces.end), mine)
    of = pieces.source[np.searchsorted(pieces.start, held.start, side="right") - 1]
    rest = intervals.subtraction(mine, intervals.union(held.start, held.end))
    begin, finish = np.concatenate([held.start, rest.start]), np.concatenate([held.end, rest.end])
    every = np.concatenate([row[of], np.full(rest.size, -1, np.int64)])
    order = np.argsort(begin, kind="stable")
    return Spans(begin[order], finish[order]), every[order]


def _ranges(model: Model, category: str) -> tuple[Int64, Int64, Int64]:
    events, rows = model.trace.events, category_rows(model)[category]
    return events.start[rows], events.end[rows], rows.astype(np.int64)


def _innermost(model: Model) -> tuple[Int64, Int64, Int64]:
    """Return which operator each thread was in."""
    tree = model.tree
    wanted = np.zeros(len(model.trace.events), np.bool_)
    wanted[category_rows(model)["cpu_exec"]] = True
    start, end, node = innermost(tree, wanted[tree.row])
    return start, end, tree.row[node].astype(np.int64)


def _frames(model: Model, time: Int64) -> Int64:
    """Return the rows of the innermost Python frames of the main thread at each time, -1 for none."""
    frame = model.innermost_frame(np.full(len(time), main_lane(model), np.int32), time)
    found: Int32 = take_known(model.frames.row, frame)
    return found.astype(np.int64)


class WhichCategory(msgspec.Struct, frozen=True):
    """Of which category."""

    category: Annotated[CategoryName, Meta(description="A category of the steps, as in /api/overview.")] = "cpu_exec"
    limit: Annotated[int, Meta(description="Names, and intervals, of the answer.", ge=1, le=LARGEST_PAGE)] = PAGE


class CategoryPart(Answer, frozen=True, kw_only=True):
    """What the events of one name have of a category.

    name         of the events; null for time in which it is unknown what ran
    short_name   for a kernel, its short name; otherwise the name
    kind         what they are: an operator, a kernel, or something else
    ns           Σ of their time in the category, over all steps
    stretches    how many intervals that is
    start_ns     start of the longest of them
    duration_ns  how long that is
    row          the event of the longest; null if there is none
    """

    name: str | None
    short_name: str | None
    kind: Literal["operator", "kernel", "other"]
    ns: Ns
    stretches: Count
    start_ns: Ns
    duration_ns: Ns
    row: Row | None


class CategoryStretch(Answer, frozen=True, kw_only=True):
    """An interval of one event within one step.

    step         name of the step
    name         of the event; null if the trace does not show what ran
    short_name   for a kernel, its short name; otherwise the name
    start_ns     since the start of the trace
    duration_ns  how long it lasts
    row          the event; null if there is none
    """

    step: str
    name: str | None
    short_name: str | None
    start_ns: Ns
    duration_ns: Ns
    row: Row | None


class CategoryAnswer(Answer, frozen=True, kw_only=True):
    """What the time of a category was spent with, in all steps that are chosen.

    meta       which trace
    category   which category
    total_ns   Σ over the steps: what /api/overview says of it
    names      how many names there are
    parts      by name, the most time first
    stretches  the longest intervals, the longest first
    """

    meta: TraceMeta
    category: CategoryName
    total_ns: Ns
    names: Count
    parts: Sequence[CategoryPart]
    stretches: Sequence[CategoryStretch]


_KINDS: dict[int, Literal["operator", "kernel"]] = {Category.OPERATOR: "operator", Category.KERNEL: "kernel"}


def _category(subject: Subject, params: WhichCategory) -> CategoryAnswer:
    model = subject.model
    pieces = category_time(model, params.category)
    events, strings = model.trace.events, model.trace.strings
    length = pieces.end_ns - pieces.start_ns
    longest_first = descending(length)
    # in this order the first of a group is its longest
    row, length_of = pieces.row[longest_first], length[longest_first]
    groups = group([take_known(events.name, row)])
    total, counts = groups.sum(length_of), groups.count()
    chosen = descending(total)[: params.limit]

    def named(row: int) -> str | None:
        return strings[int(events.name[row])] if row >= 0 else None

    def short(row: int) -> str | None:
        name = named(row)
        return short_name(name) if name is not None and events.category[row] == Category.KERNEL else name

    def part(number: int) -> CategoryPart:
        first = int(groups.first[number])
        whose, piece = int(row[first]), int(longest_first[first])
        return CategoryPart(
            name=named(whose),
            short_name=short(whose),
            kind=_KINDS.get(int(events.category[whose]), "other") if whose >= 0 else "other",
            ns=int(total[number]),
            stretches=int(counts[number]),
            start_ns=int(pieces.start_ns[piece]),
            duration_ns=int(length[piece]),
            row=whose if whose >= 0 else None,
        )

    return CategoryAnswer(
        meta=TraceMeta(**subject.about("overview")),
        category=params.category,
        total_ns=int(length.sum()),
        names=len(total),
        parts=[part(number) for number in chosen.tolist()],
        stretches=[
            CategoryStretch(
                step=model.steps.names[int(pieces.step[number])],
                name=named(int(pieces.row[number])),
                short_name=short(int(pieces.row[number])),
                start_ns=int(pieces.start_ns[number]),
                duration_ns=int(length[number]),
                row=int(pieces.row[number]) if pieces.row[number] >= 0 else None,
            )
            for number in longest_first[: params.limit].tolist()
        ],
    )


CATEGORY = Question(
    name="category",
    summary="What the time of a category of the steps was spent with",
    compute=_category,
    report=tuple({"category": category} for category in CATEGORIES),
    more="The parts add up to what /api/overview says of the category, exactly.",
)
