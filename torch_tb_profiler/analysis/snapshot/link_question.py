"""Whether a snapshot and a trace are of one process, and what the snapshot says in the time of the trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Answer, Bytes, Ns, TraceMeta, plain
from torch_tb_profiler.analysis.question import NoParameters, NotFound, PairQuestion, Subject
from torch_tb_profiler.analysis.snapshot.link import SnapshotLink, link
from torch_tb_profiler.analysis.snapshot.moments import device_history
from torch_tb_profiler.analysis.snapshot.timeline import columns_of
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.snapshot.schema import NO_TIME, Action
from torch_tb_profiler.snapshot.state import is_snapshot

MOST_CALLS = 2000
MOST_COLUMNS = 1000

AllocatorCall = Literal["segment_alloc", "segment_free", "segment_map", "segment_unmap", "oom", "snapshot"]
"""What the allocator did besides handing out blocks: each but the last is a call of the driver, and costs time."""

_CALLS: dict[Action, AllocatorCall] = {
    Action.SEGMENT_ALLOC: "segment_alloc",
    Action.SEGMENT_FREE: "segment_free",
    Action.SEGMENT_MAP: "segment_map",
    Action.SEGMENT_UNMAP: "segment_unmap",
    Action.OOM: "oom",
    Action.SNAPSHOT: "snapshot",
}


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
    calls     of the allocator; empty where they are not linked
    left_out  how many calls are not in the answer
    curve     of the snapshot, in the time of the trace; empty where they are not linked
    """

    meta: TraceMeta
    link: SnapshotLink
    calls: AllocatorCalls
    left_out: int
    curve: LinkedCurve


def _link(trace: Subject, snapshot: Subject, _: NoParameters) -> SnapshotLinkAnswer:
    if is_snapshot(trace.model.trace) or not is_snapshot(snapshot.model.trace):
        raise NotFound(Reason("no_pair", "the first of the two must be a trace, the second a memory snapshot"))
    found = link(trace.model, snapshot.model)
    meta = TraceMeta(**trace.about("memory"))
    if found.offset_ns is None:
        calls = AllocatorCalls(time_ns=[], call=[], bytes=[], position=[])
        curve = LinkedCurve(time_ns=[], requested=[], reserved=[])
        return SnapshotLinkAnswer(meta=meta, link=found, calls=calls, left_out=0, curve=curve)
    shift = snapshot.model.trace.origin_ns + found.offset_ns - trace.model.trace.origin_ns
    history = device_history(snapshot.model, found.device)
    records = history.device.records
    places = np.flatnonzero(history.device.is_action(*_CALLS) & (records.time != NO_TIME))
    chosen = np.sort(places[np.argsort(-records.bytes[places], kind="stable")[:MOST_CALLS]])
    columns = columns_of(history, "time", None, None, MOST_COLUMNS)
    known = columns.axis == "time"
    return SnapshotLinkAnswer(
        meta=meta,
        link=found,
        calls=AllocatorCalls(
            time_ns=_shifted(records.time[chosen], shift),
            call=[_CALLS[Action(action)] for action in records.action[chosen].tolist()],
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


SNAPSHOT_LINK = PairQuestion(
    name="snapshot/link",
    summary="Whether a trace and a memory snapshot are of one process, and the snapshot in the time of the trace",
    answer=SnapshotLinkAnswer,
    compute=_link,
)
