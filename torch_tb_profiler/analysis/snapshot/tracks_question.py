"""Questions of the Trace view about a snapshot of the same process, in the snapshot's own time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Bytes, Count, Ns, Record, TraceMeta
from torch_tb_profiler.analysis.question import NotFound, Question, Subject
from torch_tb_profiler.analysis.snapshot.frames import stack_names
from torch_tb_profiler.analysis.snapshot.history import (
    AtMoment,
    Moment,
    OfDevice,
    device_history,
    moments,
    position_of,
    time_at,
)
from torch_tb_profiler.analysis.snapshot.tracks import (
    CALLS,
    AllocatorCall,
    CurveKind,
    SnapshotTracks,
    SnapshotTracksTileAnswer,
    track_window,
    tracks,
)
from torch_tb_profiler.model import Model
from torch_tb_profiler.snapshot.schema import Action

MOST_COLUMNS = 1024
_TAG = "memory snapshots"
#: bound of times in a request, ns: up to here integers are exact in JavaScript
_FAR = 2**53


class WhichColumns(OfDevice, frozen=True, kw_only=True):
    """A window of the recording as columns of equal length."""

    start: Annotated[int, Meta(description="Where the first column begins, ns.", ge=-_FAR, le=_FAR)]
    width: Annotated[int, Meta(description="How long each of them is, ns.", ge=1, le=_FAR // MOST_COLUMNS)]
    columns: Annotated[int, Meta(description="How many there are.", ge=1, le=MOST_COLUMNS)] = 512


class WhichRecord(AtMoment, frozen=True):
    """A record, by its moment or by its time."""

    time: (
        Annotated[int, Meta(description="ns: the last record at or before it, in place of `at`.", ge=-_FAR, le=_FAR)]
        | None
    ) = None


class TrackCurve(msgspec.Struct, frozen=True, kw_only=True):
    """A curve with a value after every record.

    kind   requested: what the program asked for; allocated: blocks of it; active: and those whose release is pending;
           reserved: segments
    most   in the recording
    exact  whether it is exact, or the least that it can be
    """

    kind: CurveKind
    most: Bytes
    exact: bool


class CallCount(msgspec.Struct, frozen=True, kw_only=True):
    """Calls of one kind.

    call   what was called
    count  how often
    bytes  Σ of the segments; of an oom of what was asked for
    """

    call: AllocatorCall
    count: Count
    bytes: Bytes


class SnapshotTracksAnswer(Answer, frozen=True, kw_only=True):
    """What can be drawn of a device of a snapshot over time.

    meta            which snapshot
    device          number of the device
    start_ns        time of the first record; null without times, then nothing can be drawn
    end_ns          of the last one: nothing is known about the time before and after them
    curves          those that are known
    lines           lines of the program whose requested memory is shown separately, most bytes × time first
    calls           of the allocator, by kind
    moments         worth going to, by kind, then time
    contradictions  how often there is what cannot be in its records
    """

    meta: TraceMeta
    device: int
    start_ns: Ns | None
    end_ns: Ns | None
    curves: Sequence[TrackCurve]
    lines: Sequence[str]
    calls: Sequence[CallCount]
    moments: Sequence[Moment]
    contradictions: Count


class CurveValue(msgspec.Struct, frozen=True, kw_only=True):
    """A curve that is known, at a moment.

    kind   which curve
    bytes  in use
    exact  whether that is exact, or the least that it can be
    """

    kind: CurveKind
    bytes: Bytes
    exact: bool


class SnapshotRecordAnswer(Answer, frozen=True, kw_only=True):
    """One record, and what was in use after it.

    meta         which snapshot
    device       number of the device
    position     number of the record, -1 before the first
    last         number of the last record
    time_ns      since the start of the recording; null if unknown
    action       what the allocator did; empty before the first record
    bytes        requested, or of the segment; null before the first record
    address      hexadecimal; of an oom and of a snapshot empty
    device_free  what the device had free at an oom; null for all others
    stream       number of the stream of the record; null before the first
    frames       stack, innermost first; of a release often that of the allocation
    line         of the user's own code in it; empty without a stack
    annotation   range of the program that had begun last; empty if there is none
    compiled     region of compiled code; empty for none
    metadata     what the program recorded about itself; empty if nothing
    curves       bytes in use after it
    """

    meta: TraceMeta
    device: int
    position: Record
    last: Record
    time_ns: Ns | None
    action: str
    bytes: Bytes | None
    address: str
    device_free: Bytes | None
    stream: int | None
    frames: Sequence[str]
    line: str
    annotation: str
    compiled: str
    metadata: str
    curves: Sequence[CurveValue]


def _found(model: Model, device: int | None) -> SnapshotTracks:
    """Return the tracks of a device. Raises NotFound."""
    history = device_history(model, device)
    return next(each for each in tracks(model) if each.history is history)


def _is_exact(found: SnapshotTracks, kind: CurveKind) -> bool:
    return kind in ("requested", "reserved") or found.history.curves.allocated_exact


def _answer(subject: Subject, params: OfDevice) -> SnapshotTracksAnswer:
    tracks = _found(subject.model, params.device)
    history, known = tracks.history, tracks.known
    records = history.device.records
    calls = []
    for action, call in CALLS.items():
        chosen = history.device.is_action(action)
        if chosen.any():
            calls.append(CallCount(call=call, count=int(chosen.sum()), bytes=int(records.bytes[chosen].sum())))
    return SnapshotTracksAnswer(
        meta=TraceMeta(**subject.about("snapshot")),
        device=history.device.number,
        start_ns=None if known is None else known[0],
        end_ns=None if known is None else known[1],
        curves=[
            TrackCurve(kind=kind, most=int(tracks.values(kind).max()), exact=_is_exact(tracks, kind))
            for kind in tracks.curves
        ],
        lines=tracks.lines,
        calls=calls,
        moments=[each for each in moments(history) if each.kind not in ("start", "end")],
        contradictions=sum(history.contradictions.values()),
    )


def _tile(subject: Subject, params: WhichColumns) -> SnapshotTracksTileAnswer:
    found = _found(subject.model, params.device)
    return track_window(found, params.start, params.width, params.columns)


def _record(subject: Subject, params: WhichRecord) -> SnapshotRecordAnswer:
    model = subject.model
    tracks = _found(model, params.device)
    history = tracks.history
    if params.time is None:
        position = position_of(history, params.at)
    elif tracks.known is None or not tracks.known[0] <= params.time <= tracks.known[1]:
        raise NotFound("the recording of the snapshot does not cover this time")
    else:
        position = int(np.searchsorted(tracks.time, params.time, "right")) - 1
    records, names, strings = history.device.records, stack_names(model), model.trace.strings
    known = position >= 0
    action = Action(records.action[position]) if known else Action.OTHER
    stack = int(records.stack[position]) if known else -1
    context = int(records.context[position]) if known else -1
    contexts = history.device.contexts
    has_context = 0 <= context < len(contexts)
    time = time_at(history, position) if known else None
    code = int(history.annotations.at(np.array([time]))[0]) if time is not None else -1
    return SnapshotRecordAnswer(
        meta=TraceMeta(**subject.about("snapshot")),
        device=history.device.number,
        position=position,
        last=history.last,
        time_ns=time,
        action=action.name.lower() if known else "",
        bytes=int(records.bytes[position]) if known else None,
        address=hex(int(records.address[position])) if known and action not in (Action.OOM, Action.SNAPSHOT) else "",
        device_free=int(records.address[position]) if action is Action.OOM else None,
        stream=int(records.stream[position]) if known else None,
        frames=names.frames_of(stack),
        line=names.line_of(stack) if stack >= 0 else "",
        annotation=history.annotations.names[code] if code >= 0 else "",
        compiled=strings[int(contexts.compiled[context])] if has_context else "",
        metadata=strings[int(contexts.metadata[context])] if has_context else "",
        curves=[
            CurveValue(kind=kind, bytes=int(tracks.values(kind)[position + 1]), exact=_is_exact(tracks, kind))
            for kind in tracks.curves
        ],
    )


SNAPSHOT_TRACKS = Question(
    name="snapshot/tracks",
    summary="What can be drawn of a snapshot over time",
    tag=_TAG,
    about="snapshot",
    of_steps=False,
    compute=_answer,
)

SNAPSHOT_TRACKS_TILE = Question(
    name="snapshot/tracks/tile",
    summary="A window of a snapshot in columns: curves, the lines that hold them, calls of the allocator",
    tag=_TAG,
    about="snapshot",
    of_steps=False,
    uncached=True,
    compute=_tile,
)

SNAPSHOT_RECORD = Question(
    name="snapshot/record",
    summary="One record of a snapshot with its stack, and what was in use after it",
    tag=_TAG,
    about="snapshot",
    of_steps=False,
    uncached=True,
    compute=_record,
)
