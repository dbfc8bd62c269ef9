"""The question what was alive in a snapshot, by what the trace of the same process says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Bytes, Count, Fraction, TraceMeta, plain
from torch_tb_profiler.analysis.question import NotFound, Question, Subject
from torch_tb_profiler.analysis.snapshot.link import SnapshotLink, link
from torch_tb_profiler.analysis.snapshot.linked_alive import LinkedBy, linked_alive
from torch_tb_profiler.analysis.snapshot.moments import Moment, device_history, moment_of
from torch_tb_profiler.snapshot.state import is_snapshot
from torch_tb_profiler.words.reasons import because

MOST_ROWS = 2000


class WhichLinked(msgspec.Struct, frozen=True):
    """A moment of the snapshot, and what makes a row."""

    at: Annotated[str, Meta(description="A moment, as `at` of what is alive.", max_length=40)] = "peak"
    by: Annotated[LinkedBy, Meta(description="What of the trace makes a row.")] = "module"


class LinkedRows(msgspec.Struct, frozen=True, kw_only=True):
    """Parallel lists, the most bytes first.

    group   the module, annotation or operator of the trace
    blocks  how many allocations
    bytes   requested
    """

    group: Sequence[str]
    blocks: Sequence[Count]
    bytes: Sequence[Bytes]


class LinkedAliveAnswer(Answer, frozen=True, kw_only=True):
    """What was alive in a snapshot, by module, annotation or operator of the trace.

    meta      of the trace
    link      whether they are of one process; without it there are no rows
    moment    the moment, null if they are not linked
    linked    which part of the bytes was found in the trace, null if they are not linked or nothing was alive
    rows      Σ bytes over all rows = the bytes requested at that moment
    left_out  how many more rows there are
    """

    meta: TraceMeta
    link: SnapshotLink
    moment: Moment | None
    linked: Fraction | None
    rows: LinkedRows
    left_out: Count


def _linked(trace: Subject, snapshot: Subject, asked: WhichLinked) -> LinkedAliveAnswer:
    if is_snapshot(trace.model.trace) or not is_snapshot(snapshot.model.trace):
        raise NotFound(because("no_pair"))
    found = link(trace.model, snapshot.model)
    meta = TraceMeta(**trace.about("memory"))
    if found.offset_ns is None:
        nothing = LinkedRows(group=[], blocks=[], bytes=[])
        return LinkedAliveAnswer(meta=meta, link=found, moment=None, linked=None, rows=nothing, left_out=0)
    history = device_history(snapshot.model, found.device)
    at = moment_of(history, asked.at)
    rows = linked_alive(trace.model, snapshot.model, history, found, at.position, asked.by)
    total = int(rows.bytes.sum())
    return LinkedAliveAnswer(
        meta=meta,
        link=found,
        moment=at,
        linked=rows.linked_bytes / total if total else None,
        rows=LinkedRows(
            group=list(rows.group[:MOST_ROWS]),
            blocks=plain(rows.blocks[:MOST_ROWS]),
            bytes=plain(rows.bytes[:MOST_ROWS]),
        ),
        left_out=max(len(rows) - MOST_ROWS, 0),
    )


SNAPSHOT_LINKED_ALIVE = Question(
    name="snapshot/alive_in_trace",
    summary="What is in use in a memory snapshot, by module, annotation or operator of the trace of the same process",
    compute=_linked,
)
