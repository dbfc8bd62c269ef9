"""The question about all ranks of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec

from torch_tb_profiler.analysis.absent import absent_of_span
from torch_tb_profiler.analysis.answer import Answer, Columns, Count, MeanNs, Ns, plain
from torch_tb_profiler.analysis.capture import DeviceProperties
from torch_tb_profiler.analysis.definition import Definition
from torch_tb_profiler.analysis.device_use import StepUse
from torch_tb_profiler.analysis.overlap import StepOverlap
from torch_tb_profiler.analysis.question import Node, NoParameters, NotFound, Question, RunSubject, Subject
from torch_tb_profiler.ranks.distributed import (
    Distributed,
    GroupUse,
    Waits,
    distributed,
    operation_table,
)
from torch_tb_profiler.ranks.locations import Location
from torch_tb_profiler.ranks.rank import Rank, rank_of
from torch_tb_profiler.trace import Note
from torch_tb_profiler.words.reasons import because


class RunMeta(msgspec.Struct, frozen=True, kw_only=True):
    """Which traces an answer is about.

    run    name of the run, as in `/api/status`
    span   which recording of the workers it is
    notes  what a person should know about this answer
    """

    run: str
    span: str
    notes: Sequence[Note]


class Outside(Answer, frozen=True, kw_only=True):
    """Operations outside of all steps.

    transfer_ns   time in which they moved data; null if none could be matched with another rank's
    wait_ns       time in which they waited for other ranks; null like transfer_ns
    unmatched_ns  time in which only operations ran that could not be matched
    """

    transfer_ns: Ns | None
    wait_ns: Ns | None
    unmatched_ns: Ns


class RankSteps(Answer, frozen=True, kw_only=True):
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
    steps: RankSteps


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
    operations: Columns


def _rank_of(subject: Subject) -> Rank:
    return rank_of(subject.model, subject.worker)


#: what questions about all ranks keep of each trace
RANK = Node(name="rank", make=_rank_of, keep="memory")


def distributed_of(subject: RunSubject[Rank]) -> Distributed:
    """What the ranks say together. Raises NotFound: none of them communicated."""
    if not any(len(rank.communications) > 0 or (rank.world_size or 0) > 1 for rank in subject.parts):
        raise NotFound(because("communication_not_found", {"run": subject.run, "span": subject.span}))
    return distributed(subject.parts)


def _distributed(subject: Annotated[RunSubject[Rank], RANK], _: NoParameters) -> DistributedAnswer:
    found = distributed_of(subject)
    return DistributedAnswer(
        meta=RunMeta(run=subject.run, span=subject.span, notes=[*absent_of_span("distributed", subject), *found.notes]),
        workers=[_rank(*of) for of in zip(found.ranks, found.places, found.waits, strict=True)],
        groups=[_group(use) for use in found.groups],
        definitions=[each for kind in (StepOverlap, StepUse, Waits) for each in kind.columns.values()],
        operations=operation_table(found).as_columns(),
    )


def _rank(rank: Rank, place: Location, waits: Waits) -> RankAnswer:
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


def _steps(rank: Rank, waits: Waits) -> RankSteps:
    """Transfer and wait have one entry more, for operations outside of all steps."""
    exposed = rank.exposed_communication_ns
    split = waits.as_columns().rows
    return RankSteps(
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
