"""The longest events of a trace, filtered by name, category and time window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count, InlineTable, Ns, TraceMeta
from torch_tb_profiler.analysis.question import Question, Subject
from torch_tb_profiler.analysis.result import Result, column, fact
from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category, Trace
from torch_tb_profiler.trace.store import Track

if TYPE_CHECKING:
    CategoryName = str  # type checkers know only literals that are written out
else:
    #: a `Category` in small letters
    CategoryName = Literal[tuple(category.name.lower() for category in Category)]

#: as long as the recording and no work of anybody: only shown when asked for
_FRAMES = (Category.SPAN,)


class SliceTable(Result, group="slices"):
    """A page of slices, the longest first; of equal length the earlier first."""

    row: Int32 = column("Event", "Number of the event in the file, counted from 0.", unit=None)
    name: tuple[str, ...] = column("Name", "Name of the event, as the file has it.")
    category: tuple[str, ...] = column("Category", "What the event is, in one vocabulary for files of all versions.")
    track: tuple[str, ...] = column("Track", "Where it ran: process and thread of the host, or device and stream.")
    start_ns: Int64 = column("Start", "Time since the start of the trace.")
    duration_ns: Int64 = column("Duration", "From its start to its end, with everything that ran inside it.")

    total: int = fact("how many slices there are, on all pages")


class CategorySlices(msgspec.Struct, frozen=True):
    """How many slices a category has: in the whole trace, or in the chosen steps.

    category  name in small letters
    slices    how many slices it has
    """

    category: str
    slices: int


def slices(
    model: Model,
    name: str | None = None,
    category: str | None = None,
    start_ns: int | None = None,
    end_ns: int | None = None,
    offset: int = 0,
    limit: int = 100,
) -> SliceTable:
    """Return `limit` of the selected slices from `offset` on.

    name                part of the name, in any case of letters
    category            name of a `Category` in small letters; without it all but the recording window itself
    start_ns, end_ns    slices that overlap this window, ns; both ends belong to it

    Raises ValueError for a category that does not exist.
    """
    trace, events = model.trace, model.trace.events
    chosen = _are_slices(model)
    if category is None:
        chosen &= ~one_of(events.category, _FRAMES)
    else:
        chosen &= events.category == _category(category)
    if start_ns is not None:
        chosen &= events.end >= start_ns
    if end_ns is not None:
        chosen &= events.start <= end_ns
    if name:
        chosen &= _named(trace, name, chosen)[events.name]
    rows = np.flatnonzero(chosen)
    page = rows[longest(events.duration[rows], events.start[rows], offset + limit)[offset:]]
    labels: dict[int, str] = {}
    for track in events.track[page].tolist():
        labels.setdefault(track, track_name(trace.tracks[track]))
    return SliceTable(
        row=page.astype(np.int32),
        name=tuple(trace.strings[code] for code in events.name[page].tolist()),
        category=tuple(Category(code).name.lower() for code in events.category[page].tolist()),
        track=tuple(labels[track] for track in events.track[page].tolist()),
        start_ns=events.start[page],
        duration_ns=events.duration[page],
        total=len(rows),
    )


def slice_categories(model: Model) -> tuple[CategorySlices, ...]:
    """Return the categories that have selected slices, most slices first."""
    counts = np.bincount(model.trace.events.category[_are_slices(model)], minlength=len(Category))
    order = np.argsort(-counts, kind="stable")
    return tuple(CategorySlices(Category(code).name.lower(), int(counts[code])) for code in order if counts[code])


def _are_slices(model: Model) -> Bool:
    """Return the selected events that have a duration, shape (events,)."""
    found: Bool = model.trace.events.duration >= 0
    return found if model.selected is None else found & model.selected


def track_name(track: Track) -> str:
    """Return `CPU 4200 · thread 4260 (python)`, `GPU 0 · stream 7`: as much as the trace says."""
    process = track.process_labels or track.process_name
    number = str(track.pid)
    if number not in process.split():
        process = f"{process} {number}".strip()
    thread = track.thread_name.strip() or (str(track.tid) if isinstance(track.tid, str) else f"thread {track.tid}")
    return f"{process} · {thread}"


def _category(name: str) -> Category:
    try:
        return Category[name.upper()]
    except KeyError:
        raise ValueError(f"no category is called {name!r}") from None


def _named(trace: Trace, part: str, chosen: Bool) -> Bool:
    """Return a mask over strings: the names of the chosen events that contain a text."""
    part = part.casefold()
    return trace.strings.where(lambda name: part in name.casefold(), trace.events.name[chosen])


def longest(duration: Int64, start: Int64, count: int) -> Int64:
    """Return the positions of the `count` longest, in order, without sorting all of millions."""
    positions = np.arange(len(duration))
    if 0 < count < len(duration):
        # equal ones at the border are all kept, so that pages do not depend on how numpy parts them
        least = np.partition(duration, len(duration) - count)[len(duration) - count]
        positions = np.flatnonzero(duration >= least)
    order = np.lexsort((positions, start[positions], -duration[positions]))
    return positions[order][:count]


#: events of one answer, unless asked otherwise
PAGE = 100
LARGEST_PAGE = 10_000


class WhichSlices(msgspec.Struct, frozen=True):
    """Which events, and which of their pages."""

    name: Annotated[str | None, Meta(description="A part of the name.")] = None
    category: Annotated[CategoryName | None, Meta(description="As in meta.categories; without it all but span.")] = None
    start_ns: Annotated[int | None, Meta(description="Where the window begins; ns since the start of the trace.")] = (
        None
    )
    end_ns: Annotated[
        int | None, Meta(description="Where the window ends, included; ns since the start of the trace.")
    ] = None
    offset: Annotated[int, Meta(description="Rows to leave out.", ge=0)] = 0
    limit: Annotated[int, Meta(description="Rows of the answer.", ge=1, le=LARGEST_PAGE)] = PAGE


class SlicesMeta(TraceMeta, frozen=True, kw_only=True):
    """Beside a page of events.

    total        how many events are meant, on all pages
    group_by     always null: a row is one event
    offset       how many events are before the first of this page
    duration_ns  when the last event of the trace ends, since the start of the trace
    categories   those that have events in the trace, most events first
    """

    total: Count
    group_by: None = None
    offset: Count
    duration_ns: Ns
    categories: Sequence[CategorySlices]


class SlicesAnswer(InlineTable, frozen=True, kw_only=True):
    """A page of events, the longest first.

    meta  which trace, and which of its events
    """

    meta: SlicesMeta


def _slices(subject: Subject, params: WhichSlices) -> SlicesAnswer:
    model = subject.model
    found = slices(model, *msgspec.structs.astuple(params))
    table = found.as_columns()
    meta = SlicesMeta(
        **subject.about("trace"),
        total=found.total,
        offset=params.offset,
        duration_ns=int(model.trace.events.end.max(initial=0)),
        categories=slice_categories(model),
    )
    return SlicesAnswer(meta=meta, columns=table.columns, rows=table.rows)


TRACE_SLICES = Question(
    name="trace/slices",
    summary="The longest events",
    compute=_slices,
    report=({},),
)
