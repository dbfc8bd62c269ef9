"""Questions about waiting: how the steps of all ranks were spent, and one communication on all its ranks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Answer, Count, Definition, InlineTable, MeanNs, Ns, plain
from torch_tb_profiler.analysis.answer import Row as RowNumber
from torch_tb_profiler.analysis.capture import DeviceProperties
from torch_tb_profiler.analysis.device_time import StepOverlap
from torch_tb_profiler.analysis.device_use import StepUse
from torch_tb_profiler.analysis.question import (
    Node,
    NoParameters,
    NotFound,
    Question,
    RunSubject,
    Subject,
    absent_of_span,
)
from torch_tb_profiler.model.communication import KINDS, Communications
from torch_tb_profiler.ranks.distributed import (
    DistributedRanks,
    GroupUse,
    StepWaits,
    distributed,
    operation_table,
)
from torch_tb_profiler.ranks.matching.match import Matching, match
from torch_tb_profiler.ranks.rank import Location, Rank, rank_of
from torch_tb_profiler.ranks.run.answers import RunMeta
from torch_tb_profiler.timeline.question import RankTimeline, Row, RunTimelines, check_row
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.words.sentences import because


class Outside(Answer, frozen=True, kw_only=True):
    """Operations outside of all steps.

    transfer_ns   time in which they moved data; null if none could be matched with another rank's
    wait_ns       time in which they waited for other ranks; null like transfer_ns
    unmatched_ns  time in which only operations ran that could not be matched
    """

    transfer_ns: Ns | None
    wait_ns: Ns | None
    unmatched_ns: Ns


class RankStepTimes(Answer, frozen=True, kw_only=True):
    """How the steps of a rank were spent, as parallel lists. `definitions` of the answer says what the times are.

    names                     of the steps
    duration_ns               length of each step
    computation_ns            of each step, computing without communicating
    overlap_ns                of each step, computing and communicating
    communication_only_ns     of each step, communicating only
    other_ns                  of each step, neither
    exposed_communication_ns  of each step, a communication kernel ran on a device and no compute kernel: mean over the
                              devices; null if communication is only known from calls on the host
    transfer_ns               of each step, operations that moved data; null if none could be matched
    wait_ns                   of each step, operations that waited for other ranks; null like transfer_ns
    unmatched_ns              of each step, only operations that could not be matched with another rank's
    outside                   operations outside of all steps
    """

    names: Sequence[str]
    duration_ns: Sequence[Ns]
    computation_ns: Sequence[Ns]
    overlap_ns: Sequence[Ns]
    communication_only_ns: Sequence[Ns]
    other_ns: Sequence[Ns]
    exposed_communication_ns: Sequence[MeanNs] | None
    transfer_ns: Sequence[Ns | None]
    wait_ns: Sequence[Ns | None]
    unmatched_ns: Sequence[Ns]
    outside: Outside


class RankAnswer(Answer, frozen=True, kw_only=True):
    """One rank; null if its trace does not contain it.

    worker         name of the process that was recorded
    rank           its number among all
    world_size     how many ranks the program had
    node, process  from the trace, otherwise from the name of the worker, otherwise counted
    backend        library of collectives, e.g. nccl
    devices        those that did some work
    steps          how they were spent
    """

    worker: str
    rank: int | None
    world_size: int | None
    node: str
    process: str
    backend: str | None
    devices: Sequence[DeviceProperties]
    steps: RankStepTimes


class GroupAnswer(Answer, frozen=True, kw_only=True):
    """A process group.

    name         of the group, unique in the program
    description  what it is for, as the program says
    ranks        number of each of its members; empty if the traces do not contain it
    size         how many it has; null if the traces do not contain it
    present      how many of them are among the traces
    """

    name: str
    description: str
    ranks: Sequence[int]
    size: int | None
    present: Count


class DistributedAnswer(Answer, frozen=True, kw_only=True):
    """All ranks of a run.

    meta         which run
    workers      one for each trace
    groups       process groups
    definitions  what the times of the steps mean
    operations   of every rank, by name, process group, element type and phase
    """

    meta: RunMeta
    workers: Sequence[RankAnswer]
    groups: Sequence[GroupAnswer]
    definitions: Sequence[Definition]
    operations: InlineTable


def _rank_of(subject: Subject) -> Rank:
    return rank_of(subject.model, subject.worker)


#: the part of each trace that questions about all ranks keep
RANK = Node(name="rank", make=_rank_of, keep="memory")


def distributed_of(subject: RunSubject[Rank]) -> DistributedRanks:
    """Compare the ranks. Raises NotFound if none of them communicated."""
    if not any(len(rank.communications) > 0 or (rank.world_size or 0) > 1 for rank in subject.parts):
        raise NotFound(because("communication_not_found", {"run": subject.run, "span": subject.span}))
    return distributed(subject.parts)


def _distributed(subject: Annotated[RunSubject[Rank], RANK], _: NoParameters) -> DistributedAnswer:
    found = distributed_of(subject)
    return DistributedAnswer(
        meta=RunMeta(run=subject.run, span=subject.span, notes=[*absent_of_span("distributed", subject), *found.notes]),
        workers=[_rank(*of) for of in zip(found.ranks, found.places, found.waits, strict=True)],
        groups=[_group(use) for use in found.groups],
        definitions=[each for kind in (StepOverlap, StepUse, StepWaits) for each in kind.columns.values()],
        operations=operation_table(found).as_columns(),
    )


def _rank(rank: Rank, place: Location, waits: StepWaits) -> RankAnswer:
    return RankAnswer(
        worker=rank.worker,
        rank=rank.rank,
        world_size=rank.world_size,
        node=place.node,
        process=place.process,
        backend=rank.backend or None,
        devices=rank.devices,
        steps=_steps(rank, waits),
    )


def _steps(rank: Rank, waits: StepWaits) -> RankStepTimes:
    """Return the times of a rank's steps; transfer and wait have one more entry, for operations outside all steps."""
    exposed = rank.exposed_communication_ns
    split = waits.as_columns().rows
    return RankStepTimes(
        names=rank.overlap.names,
        duration_ns=plain(rank.overlap.duration_ns),
        **rank.overlap.as_columns().rows,
        exposed_communication_ns=None if exposed is None else plain(exposed),
        **{name: times[:-1] for name, times in split.items()},
        outside=Outside(**{name: times[-1] for name, times in split.items()}),
    )


def _group(use: GroupUse) -> GroupAnswer:
    return GroupAnswer(
        name=use.group.name,
        description=use.group.description,
        ranks=use.group.ranks,
        size=use.group.size or None,
        present=use.present,
    )


DISTRIBUTED = Question(
    name="distributed",
    summary="All ranks of a run",
    compute=_distributed,
)


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
    communications = ranks[own].communications
    operation = _operation_at(communications, start, end)
    matching: Matching = run.remember("matching", lambda: match([rank.called for rank in ranks]))
    number = -1 if operation is None else int(matching.match[own][operation])
    if operation is None or number < 0:
        raise NotFound(because("not_shared", {"row": row}))
    members: list[tuple[int, int]] = []
    for rank in (own, *(other for other in range(len(ranks)) if other != own)):
        places = np.flatnonzero(matching.match[rank] == number)
        members.extend((rank, int(place)) for place in places)
    return SharedCollective(
        name=communications.names[communications.operations.name[operation]],
        kind=KINDS[communications.operations.kind[operation]],
        group=communications.groups[communications.operations.group[operation]].label,
        total=len(members),
        members=[_member(run.ranks[rank], ranks[rank], place) for rank, place in members[:MOST_MEMBERS]],
    )


def _times_of(row: int, timeline: Timeline) -> tuple[int, int]:
    """Return the start and end of an event, ns."""
    check_row(timeline, row)
    events = timeline.trace.events
    return int(events.start[row]), int(events.end[row])


def _operation_at(found: Communications, start: int, end: int) -> int | None:
    """Find the operation of a kernel, of a call on the host, or of a slice inside such a call."""
    of, ranges = found.operations, found.ranges
    kernels = np.flatnonzero((ranges.start == start) & (ranges.end == end))
    if len(kernels):
        return int(ranges.operation[kernels[0]])
    calls = np.flatnonzero((of.host_start >= 0) & (of.host_start <= start) & (of.host_end >= end))
    if not len(calls):
        return None
    return int(calls[np.argmin(of.host_end[calls] - of.host_start[calls])])


def _member(asked: RankTimeline, rank: Rank, operation: int) -> CollectiveMember:
    """Locate the first slice of an operation: its kernel, else its call."""
    found = rank.communications
    ranges = np.flatnonzero(found.ranges.operation == operation)
    if len(ranges):
        start, end = int(found.ranges.start[ranges[0]]), int(found.ranges.end[ranges[0]])
    else:
        start, end = int(found.operations.host_start[operation]), int(found.operations.host_end[operation])
    row, lane = asked.ask(partial(_slice_at, start, end))
    return CollectiveMember(rank.worker, row, lane, start, end - start)


def _slice_at(start: int, end: int, timeline: Timeline) -> tuple[int | None, int | None]:
    """Return the row and lane of the slice with these times."""
    row = timeline.row_at(start, end)
    return row, None if row is None else int(timeline.placed.of_row[row])


COLLECTIVE = Question(
    name="timeline/collective",
    summary="The same communication on other ranks",
    of_worker=True,
    compute=_collective,
)
