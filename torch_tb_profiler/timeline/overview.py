"""All ranks of a run at a glance, from what is kept of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count, Ns
from torch_tb_profiler.analysis.question import Question
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.timeline.question import AbsentTrace, RankTimeline, RunTimelines
from torch_tb_profiler.timeline.summary import TimelineSummary, edges

FULL = 255


class RankDensity(msgspec.Struct, frozen=True):
    """offset: add it to a time of the rank to have one of the overview; the others 0 … FULL in each bin."""

    offset: int
    device: list[int]
    host: list[int]
    communication: list[int]


class RunDensity(msgspec.Struct, frozen=True):
    """Times in ns. aligned: by the clocks of the files; else every rank begins at 0. ranks: as the summaries."""

    begin: int
    end: int
    aligned: bool
    ranks: tuple[RankDensity, ...]


def run_density(summaries: Sequence[TimelineSummary], bins: int) -> RunDensity:
    """Of one summary or more."""
    aligned = _same_clock(summaries)
    earliest = min(summary.origin_ns for summary in summaries)
    offsets = [summary.origin_ns - earliest if aligned else -summary.begin_ns for summary in summaries]
    begin = min(offset + summary.begin_ns for offset, summary in zip(offsets, summaries, strict=True))
    end = max(offset + summary.end_ns for offset, summary in zip(offsets, summaries, strict=True))
    cuts = edges(begin, end, bins)
    return RunDensity(
        begin,
        end,
        aligned,
        tuple(
            RankDensity(
                offset,
                _density(summary, summary.device, cuts - offset),
                _density(summary, summary.host, cuts - offset),
                _density(summary, summary.communication, cuts - offset),
            )
            for offset, summary in zip(offsets, summaries, strict=True)
        ),
    )


def _same_clock(summaries: Sequence[TimelineSummary]) -> bool:
    """Whether all tell the time of the epoch, and there is a moment that all have recorded."""
    begins = [summary.origin_ns + summary.begin_ns for summary in summaries]
    ends = [summary.origin_ns + summary.end_ns for summary in summaries]
    return all(summary.of_epoch for summary in summaries) and max(begins) <= min(ends)


def _density(summary: TimelineSummary, covered: Sequence[int], cuts: Int64) -> list[int]:
    """Part of each bin, as far as it can be told from the bins that are kept."""
    if not covered:
        return [0] * (len(cuts) - 1)
    whole = np.concatenate([[0], np.cumsum(covered)])
    at = np.interp(cuts, edges(summary.begin_ns, summary.end_ns, len(covered)), whole)
    parts = np.diff(at) / np.maximum(np.diff(cuts), 1)
    shares: list[int] = np.clip(np.ceil(FULL * parts), 0, FULL).astype(int).tolist()
    return shares


#: part of a bin, 255 is all
Share = Annotated[int, Meta(ge=0, le=255)]


class OverviewBins(msgspec.Struct, frozen=True):
    """How fine."""

    bins: Annotated[int, Meta(ge=16, le=1024, description="Bins of density.")] = 400


class RankOverview(msgspec.Struct, frozen=True):
    """One rank.

    worker            name of the process that was recorded
    rank              number of its process, null if neither the trace nor its name says
    host_name         of its machine, as the trace says; empty if it does not
    state             always ready
    version           of its timeline
    events            how many the file has
    slices            how many the timeline has
    offset_ns         to be added to a time of this worker for one of the overview
    begin_ns, end_ns  in the worker's time
    device            part of each bin in which device work ran, 0…255 for 0…1
    host              the same of operators, 0…255
    communication     the same of communication kernels, 0…255
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


class RunOverview(msgspec.Struct, frozen=True):
    """All ranks of a run.

    run               name of the run
    span              which recording of the workers it is
    begin_ns, end_ns  where the first rank begins, where the last one ends
    aligned           whether offsets come from the clocks of the files; otherwise every rank begins at 0
    workers           of those that can be asked
    absent            those that cannot be asked
    """

    run: str
    span: str
    begin_ns: Ns
    end_ns: Ns
    aligned: bool
    workers: Sequence[RankOverview]
    absent: Sequence[AbsentTrace]


def _run_overview(run: RunTimelines, params: OverviewBins) -> RunOverview:
    summaries = [rank.summary() for rank in run.ranks]
    found = run_density(summaries, params.bins)
    return RunOverview(
        run=run.run,
        span=run.span,
        begin_ns=found.begin,
        end_ns=found.end,
        aligned=found.aligned,
        workers=[_rank_overview(*each) for each in zip(run.ranks, summaries, found.ranks, strict=True)],
        absent=run.absent,
    )


def _rank_overview(rank: RankTimeline, summary: TimelineSummary, density: RankDensity) -> RankOverview:
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


TIMELINE_OVERVIEW = Question(
    name="timeline/overview",
    summary="All ranks of a run",
    compute=_run_overview,
)
