"""One communication of one rank, and the same one on the others, as they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Count, Ns
from torch_tb_profiler.analysis.answer import Row as RowNumber
from torch_tb_profiler.analysis.question import NotFound, Question
from torch_tb_profiler.model.communication import Communications
from torch_tb_profiler.model.communication_names import KINDS
from torch_tb_profiler.ranks.matching import Matching, match
from torch_tb_profiler.ranks.names import group_label
from torch_tb_profiler.ranks.question import RANK
from torch_tb_profiler.ranks.rank import Rank
from torch_tb_profiler.timeline.question import RankTimeline, Row, RunTimelines, check_row
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.words.reasons import because

MOST_MEMBERS = 64


class OneCommunication(msgspec.Struct, frozen=True):
    """Which communication: its kernel, its call on the host, or something inside of that."""

    row: Row


class CollectiveMember(msgspec.Struct, frozen=True):
    """What one rank did in a communication.

    worker       name of the rank's worker
    row, lane    number of the event and of the lane of its first kernel, otherwise of its call; null if that is not
                 a slice
    start_ns     when it begins
    duration_ns  how long it lasts
    """

    worker: str
    row: RowNumber | None
    lane: Count | None
    start_ns: Ns
    duration_ns: Ns


class SharedCollective(msgspec.Struct, frozen=True):
    """A communication on all its ranks.

    name     of the call
    kind     what it does, e.g. all_reduce
    group    its process group
    total    how many members there are
    members  at most 64, those of the asked rank first
    """

    name: str
    kind: str
    group: str
    total: Count
    members: Sequence[CollectiveMember]


def _collective(run: RunTimelines, asked: OneCommunication) -> SharedCollective:
    row = asked.row
    own = next(number for number, rank in enumerate(run.ranks) if rank.worker == run.worker)
    start, end = run.ranks[own].ask(partial(_times_of, row))
    ranks = [rank.node(RANK) for rank in run.ranks]
    found = ranks[own].communications
    operation = _operation_at(found, start, end)
    matching: Matching = run.remember("matching", lambda: match(ranks))
    number = -1 if operation is None else int(matching.match[own][operation])
    if operation is None or number < 0:
        raise NotFound(because("not_shared", {"row": row}))
    members: list[tuple[int, int]] = []
    for rank in (own, *(other for other in range(len(ranks)) if other != own)):
        places = np.flatnonzero(matching.match[rank] == number)
        members.extend((rank, int(place)) for place in places)
    return SharedCollective(
        name=found.names[found.operations.name[operation]],
        kind=KINDS[found.operations.kind[operation]],
        group=group_label(found.groups[found.operations.group[operation]]),
        total=len(members),
        members=[_member(run.ranks[rank], ranks[rank], place) for rank, place in members[:MOST_MEMBERS]],
    )


def _times_of(row: int, timeline: Timeline) -> tuple[int, int]:
    """When an event begins and ends, ns."""
    check_row(timeline, row)
    events = timeline.trace.events
    return int(events.start[row]), int(events.end[row])


def _operation_at(found: Communications, start: int, end: int) -> int | None:
    """The operation of a kernel, of a call on the host, or of something inside of such a call."""
    of, ranges = found.operations, found.ranges
    kernels = np.flatnonzero((ranges.start == start) & (ranges.end == end))
    if len(kernels):
        return int(ranges.operation[kernels[0]])
    calls = np.flatnonzero((of.host_start >= 0) & (of.host_start <= start) & (of.host_end >= end))
    if not len(calls):
        return None
    return int(calls[np.argmin(of.host_end[calls] - of.host_start[calls])])


def _member(asked: RankTimeline, rank: Rank, operation: int) -> CollectiveMember:
    """The first slice of an operation: its kernel, else its call."""
    found = rank.communications
    ranges = np.flatnonzero(found.ranges.operation == operation)
    if len(ranges):
        start, end = int(found.ranges.start[ranges[0]]), int(found.ranges.end[ranges[0]])
    else:
        start, end = int(found.operations.host_start[operation]), int(found.operations.host_end[operation])
    row, lane = asked.ask(partial(_slice_at, start, end))
    return CollectiveMember(rank.worker, row, lane, start, end - start)


def _slice_at(start: int, end: int, timeline: Timeline) -> tuple[int | None, int | None]:
    """Row and lane of the slice of these times."""
    row = timeline.row_at(start, end)
    return row, None if row is None else int(timeline.placed.of_row[row])


COLLECTIVE = Question(
    name="timeline/collective",
    summary="The same communication on other ranks",
    of_worker=True,
    compute=_collective,
)
