"""Questions about a memory snapshot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import TraceMeta, plain
from torch_tb_profiler.analysis.question import NoParameters, NotFound, Question, Subject
from torch_tb_profiler.analysis.result import Result, column
from torch_tb_profiler.analysis.snapshot.alive import AliveBy, FramesShown, alive_rows, alive_stacks, line_named
from torch_tb_profiler.analysis.snapshot.answers import (
    AliveMeta,
    AtMoment,
    BandColumn,
    Mark,
    OfDevice,
    SegmentColumns,
    SegmentsAnswer,
    ShapeColumns,
    SnapshotAnswer,
    SnapshotStacksAnswer,
    SnapshotTimelineAnswer,
    StacksOfSnapshotMeta,
)
from torch_tb_profiler.analysis.snapshot.curves import History
from torch_tb_profiler.analysis.snapshot.device import about
from torch_tb_profiler.analysis.snapshot.frames import stack_names
from torch_tb_profiler.analysis.snapshot.layout import fragmentation, layout, pool_name, pools
from torch_tb_profiler.analysis.snapshot.lifetimes import lifetime_rows
from torch_tb_profiler.analysis.snapshot.lives import NEVER
from torch_tb_profiler.analysis.snapshot.map_pieces import drawn_pieces
from torch_tb_profiler.analysis.snapshot.moments import device_history, moment_of, moments, time_at
from torch_tb_profiler.analysis.snapshot.summary import memory_snapshot
from torch_tb_profiler.analysis.snapshot.timeline import Axis, BandBy, columns_of, drawing
from torch_tb_profiler.analysis.stacks.flame_graph import SMALLEST_SHARE
from torch_tb_profiler.analysis.stacks.stack_table import Direction
from torch_tb_profiler.analysis.table import Table, TableMeta
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.snapshot.schema import NO_TIME, Action, Annotations
from torch_tb_profiler.words.memory import memory_text
from torch_tb_profiler.words.reasons import because

TAG = "memory snapshots"
MOST_COLUMNS = 2000
#: of annotations and of segments that are taken or given back
MOST_MARKS = 400
_SHOWN = lazy_pattern(r"ProfilerStep|Optimizer\.(?:step|zero_grad)")


class WhichWindow(OfDevice, frozen=True):
    """A window of the recording, and how exactly it is drawn."""

    axis: Annotated[Axis, Meta(description="What x is; without times always records.")] = "time"
    start: Annotated[int | None, Meta(description="Where the window begins, on the axis.")] = None
    end: Annotated[int | None, Meta(description="Where it ends, included.")] = None
    columns: Annotated[int, Meta(description="Columns at most.", ge=1, le=MOST_COLUMNS)] = 1000
    by: Annotated[BandBy, Meta(description="What is drawn together where it is not drawn one by one.")] = "line"


class WhichAlive(AtMoment, frozen=True):
    """A moment, one to compare with, and what makes a row."""

    by: Annotated[AliveBy, Meta(description="What makes a row.")] = "line"
    since: Annotated[str | None, Meta(description="The moment to compare with, as `at`; without it none.")] = None


class WhichTree(AtMoment, frozen=True):
    """A moment, and how stacks are seen."""

    direction: Annotated[Direction, Meta(description="From callers to called, or the other way.")] = "top_down"
    frames: Annotated[
        FramesShown,
        Meta(description="python leaves out frames of C++ where a stack has others; own those of libraries, too."),
    ] = "python"
    root: Annotated[int, Meta(description="The id of the only entry that is asked about.", ge=0, le=2**53)] = 0


def _snapshot(subject: Subject, _: NoParameters) -> SnapshotAnswer:
    found = memory_snapshot(subject.model)
    return SnapshotAnswer(
        meta=_meta(subject),
        said=found.text,
        devices=found.devices,
        device_texts=[device.text for device in found.devices],
        inferred_texts=[
            memory_text("inferred_oom", device.inferred_oom) if device.inferred_oom else "" for device in found.devices
        ],
        ooms=found.ooms,
        oom_sentences=[memory_text("oom", oom) for oom in found.ooms],
        findings=found.findings,
        finding_texts=[memory_text(finding.id, finding) for finding in found.findings],
        contradictions=found.contradictions,
        cut_off=found.cut_off,
        overflowed=found.overflowed,
        settings=about(subject.model).get("settings") or {},
    )


def _meta(subject: Subject) -> TraceMeta:
    return TraceMeta(**subject.about("snapshot"))


def _timeline(subject: Subject, asked: WhichWindow) -> SnapshotTimelineAnswer:
    model = subject.model
    history, names = device_history(model, asked.device), stack_names(model)
    columns = columns_of(history, asked.axis, asked.start, asked.end, asked.columns)
    shapes, bands = drawing(history, names, columns, asked.by)
    lives = history.lives
    ends = zip(lives.stack[shapes.life].tolist(), lives.born[shapes.life].tolist(), strict=True)
    texts = [line_named(names, stack, born) for stack, born in ends]
    lines = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    time = history.device.records.time
    last = max(history.last, 0)
    whole = (int(time[0]), int(time[-1])) if columns.axis == "time" and len(time) else (0, last)
    released = lives.released[shapes.life].tolist()
    return SnapshotTimelineAnswer(
        meta=_meta(subject),
        device=history.device.number,
        axis=columns.axis,
        start=whole[0] if asked.start is None else asked.start,
        end=whole[1] if asked.end is None else asked.end,
        whole_start=whole[0],
        whole_end=whole[1],
        position=plain(columns.position),
        x=plain(columns.x),
        requested=plain(columns.requested),
        lowest=plain(columns.lowest),
        reserved=plain(columns.reserved),
        lines=list(lines),
        shapes=ShapeColumns(
            begin=plain(shapes.begin),
            end=plain(shapes.end),
            bytes=plain(lives.requested[shapes.life]),
            line=[lines[text] for text in texts],
            born=plain(lives.born[shapes.life]),
            released=[None if each == NEVER else each for each in released],
        ),
        bands=[BandColumn(name=band.name, blocks=band.blocks, bytes=plain(band.bytes)) for band in bands],
        marks=_marks(subject, history),
    )


def _marks(subject: Subject, history: History) -> list[Mark]:
    """Moments, annotations of steps and optimizers, and when segments were taken or given back."""
    found = [
        Mark(kind=each.kind, name="", position=each.position, time_ns=each.time_ns, count=1)
        for each in moments(history)
        if each.kind not in ("start", "end")
    ]
    records, trace = history.device.records, subject.model.trace
    table = trace.table(Annotations)
    known = len(records.time) > 0 and bool((records.time != NO_TIME).all())
    names = trace.strings.texts(table.name)
    shown = [row for row, name in enumerate(names) if _SHOWN.match(name)] or list(range(len(names)))
    for row in shown[:MOST_MARKS] if known else ():
        start = int(table.start[row])
        if start != NO_TIME:
            place = int(np.searchsorted(records.time, start, "right")) - 1
            found.append(Mark(kind="annotation", name=names[row], position=place, time_ns=start, count=1))
    segments = (Action.SEGMENT_ALLOC, Action.SEGMENT_FREE, Action.SEGMENT_MAP, Action.SEGMENT_UNMAP)
    places = np.flatnonzero(history.device.is_action(*segments))
    every = -(-len(places) // MOST_MARKS) or 1
    for place in places[::every].tolist():
        count = min(every, len(places))
        found.append(Mark(kind="segment", name="", position=place, time_ns=time_at(history, place), count=count))
    return found


def _alive(subject: Subject, asked: WhichAlive) -> Table[AliveMeta]:
    model = subject.model
    history = device_history(model, asked.device)
    at = moment_of(history, asked.at)
    since = None if asked.since is None else moment_of(history, asked.since)
    rows = alive_rows(history, stack_names(model), at.position, asked.by, None if since is None else since.position)
    meta = AliveMeta(
        **subject.about("snapshot"),
        moment=at,
        since=since,
        group_by=asked.by,
    )
    without = ("line", "size") if asked.by in ("module", "annotation") else ("group",)
    return rows.table(meta, without=without if since else (*without, "difference"))


def _lifetimes(subject: Subject, asked: OfDevice) -> Table[TableMeta]:
    model = subject.model
    found = lifetime_rows(device_history(model, asked.device), stack_names(model))
    return found.table(TableMeta(**subject.about("snapshot")))


class SnapshotStacks(Result, group="snapshot.stacks"):
    """A tree of call stacks in preorder, by what they hold."""

    id: Int64 = column("Id", "Identifies the frames from the outermost down to it.", unit=None)
    parent: Int64 = column("Parent", "Row of its caller; -1 at the top.", unit=None)
    name: Sequence[str] = column("Name", "file(line): function of a frame.")
    self_bytes: Int64 = column("Self", "Requested bytes in use that it allocated itself.")
    total_bytes: Int64 = column("Total", "Self + Σ total of the entries directly below.")
    blocks: Int64 = column("Allocations", "How many it allocated itself.")
    folded: Int64 = column("Folded", "How many entries were folded into this one; 0 for all others.")


def _stacks(subject: Subject, asked: WhichTree) -> SnapshotStacksAnswer:
    model = subject.model
    history = device_history(model, asked.device)
    at = moment_of(history, asked.at)
    names = stack_names(model)
    found = alive_stacks(history, names, at.position, asked.direction, asked.frames, asked.root, SMALLEST_SHARE)
    if found is None:
        raise NotFound(because("no_such_stack", {"root": asked.root}))
    tree = SnapshotStacks(
        id=found.id,
        parent=found.parent,
        name=found.name,
        self_bytes=found.self_ns,
        total_bytes=found.total_ns,
        blocks=found.calls,
        folded=found.folded,
    ).as_columns()
    meta = StacksOfSnapshotMeta(
        **subject.about("snapshot"),
        moment=at,
        root=asked.root,
        whole_bytes=found.whole_ns,
        all_bytes=found.all_ns,
        limit_bytes=found.limit_ns,
    )
    return SnapshotStacksAnswer(meta=meta, columns=tree.columns, rows=tree.rows)


def _segments(subject: Subject, asked: AtMoment) -> SegmentsAnswer:
    model = subject.model
    history, names = device_history(model, asked.device), stack_names(model)
    at = moment_of(history, asked.at)
    found = layout(history, at.position)
    chosen, pieces, lines = drawn_pieces(found, history.lives, names)
    return SegmentsAnswer(
        meta=_meta(subject),
        moment=at,
        exact=found.exact,
        fragmentation=fragmentation(found),
        pools=pools(found),
        lines=lines,
        segments=SegmentColumns(
            address=plain(found.address[chosen]),
            bytes=plain(found.bytes[chosen]),
            stream=plain(found.stream[chosen]),
            is_small=plain(found.is_small[chosen]),
            pool=[
                pool_name(a, b)
                for a, b in zip(found.pool_a[chosen].tolist(), found.pool_b[chosen].tolist(), strict=True)
            ],
            free=plain(found.free_bytes[chosen]),
        ),
        pieces=pieces,
        left_out=len(found.address) - len(chosen),
    )


def _question(**declared: Any) -> Question:
    """What all questions about a snapshot have in common: there are no steps to choose."""
    return Question(tag=TAG, about="snapshot", of_steps=False, **declared)


MEMORY_SNAPSHOT = _question(
    name="snapshot",
    summary="A memory snapshot in a few numbers, and why memory ran out",
    answer=SnapshotAnswer,
    compute=_snapshot,
    precompute=(NoParameters(),),
    report=({},),
)

SNAPSHOT_TIMELINE = _question(
    name="snapshot/timeline",
    summary="Allocations stacked over time",
    answer=SnapshotTimelineAnswer,
    parameters=WhichWindow,
    compute=_timeline,
    precompute=(WhichWindow(),),
    report=({},),
)

SNAPSHOT_ALIVE = _question(
    name="snapshot/alive",
    summary="What is in use at a moment, by line, stack, size, stream, module or annotation",
    answer=Table[AliveMeta],
    parameters=WhichAlive,
    compute=_alive,
    precompute=(WhichAlive(),),
    report=({}, {"by": "size"}, {"by": "module"}),
)

SNAPSHOT_TREE = _question(
    name="snapshot/stacks",
    summary="Bytes in use at a moment by call stack, as a tree in a table",
    answer=SnapshotStacksAnswer,
    parameters=WhichTree,
    compute=_stacks,
    precompute=(WhichTree(),),
    report=({},),
)

SNAPSHOT_SEGMENTS = _question(
    name="snapshot/segments",
    summary="The segments at a moment, and what is in them",
    answer=SegmentsAnswer,
    parameters=AtMoment,
    compute=_segments,
    precompute=(AtMoment(),),
    report=({},),
)

LIFETIMES = _question(
    name="snapshot/lifetimes",
    summary="How long the allocations of each stack live",
    answer=Table[TableMeta],
    parameters=OfDevice,
    compute=_lifetimes,
    precompute=(OfDevice(),),
    report=({},),
)

#: in the order in which the page asks them
QUESTIONS: Sequence[Question] = (
    MEMORY_SNAPSHOT,
    SNAPSHOT_TIMELINE,
    SNAPSHOT_ALIVE,
    SNAPSHOT_SEGMENTS,
    SNAPSHOT_TREE,
    LIFETIMES,
)
