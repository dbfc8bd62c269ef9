"""All ranks of a run at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count, Ns
from torch_tb_profiler.timeline.overview import RankDensity, overview
from torch_tb_profiler.timeline.question import AbsentTrace, RankTimeline, RunTimelines, RunTimelinesQuestion
from torch_tb_profiler.timeline.summary import Summary

#: part of a bin, 255 is all
Share = Annotated[int, Meta(ge=0, le=255)]


class Bins(msgspec.Struct, frozen=True):
    """How fine."""

    bins: Annotated[int, Meta(ge=16, le=1024, description="Bins of density.")] = 400


@dataclass(frozen=True)
class RankOverview:
    """One rank.

    rank              of its process, null when neither the trace nor its name says
    version           of its timeline
    offset_ns         to be added to a time of this worker for one of the overview
    begin_ns, end_ns  in the worker's time
    device            part of each bin in which device work ran, 255 is all
    host              the same of operators
    communication     the same of communication kernels
    step_ns           starts of steps, in the worker's time
    """

    worker: str
    rank: int | None
    host_name: str
    state: Literal["ready"]
    version: str
    events: Count
    slices: Count
    offset_ns: Ns
    begin_ns: Ns
    end_ns: Ns
    device: list[Share]
    host: list[Share]
    communication: list[Share]
    step_ns: list[Ns]


@dataclass(frozen=True)
class RunOverview:
    """All ranks of a run.

    aligned  whether offsets come from the clocks of the files; else every rank begins at 0
    workers  of those that can be asked
    """

    run: str
    span: str
    begin_ns: Ns
    end_ns: Ns
    aligned: bool
    workers: Sequence[RankOverview]
    absent: Sequence[AbsentTrace]


def _overview(run: RunTimelines, asked: Bins) -> RunOverview:
    summaries = [rank.summary() for rank in run.ranks]
    found = overview(summaries, asked.bins)
    return RunOverview(
        run=run.run,
        span=run.span,
        begin_ns=found.begin,
        end_ns=found.end,
        aligned=found.aligned,
        workers=[_rank(*each) for each in zip(run.ranks, summaries, found.ranks, strict=True)],
        absent=run.absent,
    )


def _rank(rank: RankTimeline, summary: Summary, density: RankDensity) -> RankOverview:
    return RankOverview(
        worker=rank.worker,
        rank=rank.rank,
        host_name=rank.host_name,
        state="ready",
        version=rank.version,
        events=summary.events,
        slices=summary.slices,
        offset_ns=density.offset,
        begin_ns=summary.begin_ns,
        end_ns=summary.end_ns,
        device=density.device,
        host=density.host,
        communication=density.communication,
        step_ns=summary.step_ns,
    )


TIMELINE_OVERVIEW = RunTimelinesQuestion(
    name="timeline/overview",
    summary="All ranks of a run",
    answer=RunOverview,
    parameters=Bins,
    compute=_overview,
)
