"""The longest events of a trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count, InlineTable, Ns, TraceMeta
from torch_tb_profiler.analysis.question import Question, Subject
from torch_tb_profiler.analysis.slices.table import CategoryName, CategorySlices, slice_categories, slices

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


def _slices(subject: Subject, asked: WhichSlices) -> SlicesAnswer:
    model = subject.model
    found = slices(model, *msgspec.structs.astuple(asked))
    table = found.as_columns()
    meta = SlicesMeta(
        **subject.about("trace"),
        total=found.total,
        offset=asked.offset,
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
