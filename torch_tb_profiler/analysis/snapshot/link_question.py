"""Whether a snapshot and a trace are of one process, and what the snapshot says in the time of the trace."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.answer import Answer, Bytes, Ns, TraceMeta, plain
from torch_tb_profiler.analysis.question import NoParameters, NotFound, Question, Subject
from torch_tb_profiler.analysis.snapshot.link import SnapshotLink, link
from torch_tb_profiler.analysis.snapshot.moments import device_history
from torch_tb_profiler.analysis.snapshot.timeline import columns_of
from torch_tb_profiler.analysis.snapshot.tracks import CALLS, AllocatorCall
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.snapshot.schema import NO_TIME, Action
from torch_tb_profiler.snapshot.state import is_snapshot
from torch_tb_profiler.words.reasons import because

MOST_CALLS = 2000
MOST_COLUMNS = 1000


class AllocatorCalls(msgspec.Struct, frozen=True, kw_only=True):
    """Calls of the allocator by time: parallel lists, the largest ones of them.

    time_ns   since the start of the trace
    call      what was called
    bytes     of the segment, or what was asked for
    position  number of the record of the snapshot
    """

    time_ns: Sequence[Ns]
    call: Sequence[AllocatorCall]
    bytes: Sequence[Bytes]
    position: Sequence[int]


class LinkedCurve(msgspec.Struct, frozen=True, kw_only=True):
    """What the snapshot says was in use: parallel lists.

    time_ns    since the start of the trace
    requested  bytes in use at the highest record of each column
    reserved   most bytes of segments in it
    """

    time_ns: Sequence[Ns]
    requested: Sequence[Bytes]
    reserved: Sequence[Bytes]


class SnapshotLinkAnswer(Answer, frozen=True, kw_only=True):
    """A trace and a memory snapshot.

    meta      of the trace
    link      whether they are of one process
    shift_ns  to be added to times since the start of the recording of the snapshot to have those since the start of the
              trace; null if they are not linked
    begin_ns  where the first slice of the trace begins, null without slices
    end_ns    where its last one ends
    calls     of the allocator; empty if they are not linked
    left_out  how many calls are not in the answer
    curve     of the snapshot, in the time of the trace; empty if they are not linked
    """

    meta: TraceMeta
    link: SnapshotLink
    shift_ns: Ns | None
    begin_ns: Ns | None
    end_ns: Ns | None
    calls: AllocatorCalls
    left_out: int
    curve: LinkedCurve


def _link(trace: Subject, snapshot: Subject, _: NoParameters) -> SnapshotLinkAnswer:
    if is_snapshot(trace.model.trace) or not is_snapshot(snapshot.model.trace):
        raise NotFound(because("no_pair"))
    found = link(trace.model, snapshot.model)
    events = trace.model.trace.events
    slices = np.flatnonzero(events.duration >= 0)
    empty = SnapshotLinkAnswer(
        meta=TraceMeta(**trace.about("memory")),
        link=found,
        shift_ns=None,
        begin_ns=int(events.start[slices].min()) if len(slices) else None,
        end_ns=int(events.end[slices].max()) if len(slices) else None,
        calls=AllocatorCalls(time_ns=[], call=[], bytes=[], position=[]),
        left_out=0,
        curve=LinkedCurve(time_ns=[], requested=[], reserved=[]),
    )
    if found.offset_ns is None:
        return empty
    shift = snapshot.model.trace.origin_ns + found.offset_ns - trace.model.trace.origin_ns
    history = device_history(snapshot.model, found.device)
    records = history.device.records
    places = np.flatnonzero(history.device.is_action(*CALLS) & (records.time != NO_TIME))
    chosen = np.sort(places[np.argsort(-records.bytes[places], kind="stable")[:MOST_CALLS]])
    columns = columns_of(history, "time", None, None, MOST_COLUMNS)
    known = columns.axis == "time"
    return replace(
        empty,
        shift_ns=shift,
        calls=AllocatorCalls(
            time_ns=_shifted(records.time[chosen], shift),
            call=[CALLS[Action(action)] for action in records.action[chosen].tolist()],
            bytes=plain(records.bytes[chosen]),
            position=plain(chosen),
        ),
        left_out=len(places) - len(chosen),
        curve=LinkedCurve(
            time_ns=_shifted(columns.x, shift) if known else [],
            requested=plain(columns.requested) if known else [],
            reserved=plain(columns.reserved) if known else [],
        ),
    )


def _shifted(time: Int64, by: int) -> list[int]:
    return plain(time + by)


SNAPSHOT_LINK = Question(
    name="snapshot/link",
    summary="Whether a trace and a memory snapshot are of one process, and the snapshot in the time of the trace",
    compute=_link,
)
