"""The questions about all ranks of a run that are answered from their summaries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Definition
from torch_tb_profiler.analysis.question import Node, NoParameters, NotFound, Question, RunSubject, Subject
from torch_tb_profiler.analysis.result import columns_field
from torch_tb_profiler.ranks import reduction
from torch_tb_profiler.ranks.peers import MAD_OF_NORMAL
from torch_tb_profiler.ranks.reduction import RunResult, decode_result, encode_result
from torch_tb_profiler.ranks.run.answers import Clock, HeatMap, Metric, RanksOverview
from torch_tb_profiler.ranks.run.group_answers import CollectiveRow
from torch_tb_profiler.ranks.summary import RankSummary, decode_for_worker, summarize
from torch_tb_profiler.words.sentences import because

#: of a step: what is an outlier, in deviations, with a floor of this part of the median
OUTLIER, FLOOR = 8.0, 0.005
MOST_OUTLIERS = 1_000


class OneMetric(msgspec.Struct, frozen=True):
    """What the heat map shows."""

    metric: Annotated[Metric, Meta(description="Which metric.")] = "step_ns"


class CollectiveTable(Answer, frozen=True, kw_only=True):
    """Collectives matched across the ranks.

    rows     most waiting first
    columns  what their columns are
    """

    rows: Sequence[CollectiveRow]
    columns: Sequence[Definition] = columns_field("collective", CollectiveRow)


def _summary_of(subject: Subject) -> RankSummary:
    return summarize(subject.model, subject.worker)


#: what is kept of each trace for these questions
SUMMARY = Node(name="summary", make=_summary_of, keep="rank", decode=decode_for_worker)
Summaries = Annotated[RunSubject[RankSummary], SUMMARY]


def heat_map(result: RunResult, metric: Metric) -> HeatMap:
    """One metric of all ranks and steps. Raises NotFound: it was not recorded."""
    if metric not in result.heat:
        raise NotFound(because("metric_not_recorded", {"metric": metric}))
    values = result.heat[metric]
    known = values[values >= 0]
    middle = float(np.median(known)) if len(known) else None
    spread = None if middle is None else float(np.median(np.abs(known - middle)))
    return HeatMap(
        metric=metric,
        unit="bytes" if metric == "memory_bytes" else "ns",
        ranks=values.shape[0],
        steps=values.shape[1],
        values=[None if value < 0 else value for value in values.ravel().tolist()],
        middle=middle,
        spread=spread,
        outliers=_outliers(values),
    )


def _outliers(values: np.typing.NDArray[np.int64]) -> list[int]:
    """Places far above the median of their step."""
    if not values.size:
        return []
    of = np.where(values < 0, np.nan, values.astype(np.float64))
    columns = ~np.isnan(of).all(axis=0)
    z = np.zeros(of.shape)
    middle = np.nanmedian(of[:, columns], axis=0)
    apart = of[:, columns] - middle
    deviation = np.maximum(np.nanmedian(np.abs(apart), axis=0), np.maximum(FLOOR * middle, 1))
    z[:, columns] = np.nan_to_num(MAD_OF_NORMAL * apart / deviation)
    found = np.flatnonzero(z > OUTLIER)
    order = np.argsort(-z.ravel()[found], kind="stable")[:MOST_OUTLIERS]
    return [int(place) for place in np.sort(found[order])]


def reduced(subject: Summaries) -> RunResult:
    """Reduce the ranks of a question, or read the kept result."""
    return reduction.reduce_run(subject.parts, subject.loading, subject.failed)


#: what is kept of all of them
REDUCED = Node(name="reduced", make=reduced, keep="run", encode=encode_result, decode=decode_result)
Reduced = Annotated[RunResult, REDUCED]


def _overview(result: Reduced, _: NoParameters) -> RanksOverview:
    return result.overview


def _heat_map(result: Reduced, asked: OneMetric) -> HeatMap:
    return heat_map(result, asked.metric)


def _collectives(result: Reduced, _: NoParameters) -> CollectiveTable:
    return CollectiveTable(rows=result.collectives)


def _clock(subject: Summaries, _: NoParameters) -> Clock:
    return reduction.clock_of_run(subject.parts)


RUN_RANKS = Question(
    name="ranks",
    summary="All ranks of a run in a page: who is slow and why, what it costs",
    compute=_overview,
)
RUN_HEAT = Question(
    name="ranks/heatmap",
    summary="One metric of all ranks and steps",
    compute=_heat_map,
)
RUN_COLLECTIVES = Question(
    name="ranks/collectives",
    summary="Collectives matched across the ranks",
    compute=_collectives,
)
RUN_CLOCK = Question(
    name="ranks/clock",
    summary="One clock for all ranks",
    compute=_clock,
)
