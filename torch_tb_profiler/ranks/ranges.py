"""The ranges that a program names, over its ranks: how long each takes, and which rank is far from the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Columns, Count
from torch_tb_profiler.analysis.question import Question
from torch_tb_profiler.analysis.result import Result, column, fact
from torch_tb_profiler.arrays.grouping import group, sums_at
from torch_tb_profiler.arrays.types import Bool, Float64, Int64
from torch_tb_profiler.ranks.peers import deviations, peer_median
from torch_tb_profiler.ranks.run.notes import chosen_ranks
from torch_tb_profiler.ranks.run_questions import Summaries
from torch_tb_profiler.ranks.summary import RankHead, RankSummary

#: a rank is far from at least so many others, by so many deviations, by this part of what it takes in the median rank,
#: and by this part of a step
LEAST_RANKS, FAR, LEAST_SHARE, LEAST_OF_STEP = 3, 8.0, 0.1, 0.001
#: deviations are at least this part of the median
FLOOR = 0.005
#: names in the table, those that take longest
MOST_NAMES = 500
TIMES = ("host", "device", "exposed")


class RankRangeTable(Result, group="rank_ranges"):
    """One row per name, the longest first."""

    name: tuple[str, ...] = column("Range", "Name; digits, addresses and keys that differ are shown as ….")
    ranks: Int64 = column("Ranks", "How many ranks call it.")
    lacking: Int64 = column("Ranks without", "How many ranks certainly do not call it.", hidden=True)
    calls: Float64 = column("Calls", "Calls in all steps, as the median of the ranks.")
    host_ns: Int64 = column(
        "Host",
        "Σ durations in a step that calls it: median of the steps, then of the ranks. Calls inside calls of the same "
        "name count once.",
    )
    host_least_ns: Int64 = column("Shortest on the host", "The same for the rank where it is shortest.", hidden=True)
    host_most_ns: Int64 = column("Longest on the host", "The same for the rank where it is longest.")
    most_worker: tuple[str, ...] = column("Longest on", "The rank where it takes the longest time on the host.")
    device_ns: Int64 = column(
        "Device",
        "Σ durations of device work launched inside: median of the steps, then of the ranks.",
        missing_below_zero=True,
    )
    exposed_ns: Int64 = column(
        "Exposed",
        "Time of the step that it delays, as in Program: median of the steps, then of the ranks.",
        missing_below_zero=True,
    )
    far_worker: tuple[str | None, ...] = column(
        "Outlier",
        "The rank that differs most from the others: by 8 robust deviations, 10 % of the median and 0.1 % of a step, "
        "among at least four ranks. In a range that waits for other ranks, the late rank takes the shortest time.",
    )
    far_rank: tuple[int | None, ...] = column(
        "Its number", "Number of that rank; empty if it is not in its trace.", unit=None, hidden=True
    )
    far_time: tuple[str | None, ...] = column("Outlier in", "Which time differs: host, device or exposed.")
    far_ns: tuple[int | None, ...] = column("Difference", "This time on the rank − the median of the ranks.")
    far_z: tuple[float | None, ...] = column(
        "Deviations", "The difference in robust deviations of the ranks.", unit=None, hidden=True
    )

    left_out: int = fact("how many names are no rows: of each rank the longest are kept")


class RangeRankTable(Result, group="range_of_ranks"):
    """One range, a row for each rank that calls it, in order of rank."""

    worker: tuple[str, ...] = column("Worker", "The rank whose trace it is.")
    rank: tuple[int | None, ...] = column("Rank", "Its number; empty if it is not in the trace.", unit=None)
    host: tuple[str | None, ...] = column("On", "Name of the host that it ran on.")
    steps: Int64 = column("Steps", "In how many steps it is called.")
    calls: Int64 = column("Calls", "Calls in these steps.")
    host_ns: Int64 = column("Host", "Σ durations in a step that calls it, median of the steps.")
    host_least_ns: Int64 = column("Host, shortest step", "The same for the step where it is shortest.", hidden=True)
    host_most_ns: Int64 = column("Host, longest step", "The same for the step where it is longest.")
    device_ns: Int64 = column(
        "Device", "Σ durations of device work launched inside, median of the steps.", missing_below_zero=True
    )
    exposed_ns: Int64 = column(
        "Exposed", "Time of the step that it delays, median of the steps.", missing_below_zero=True
    )
    difference_ns: Int64 = column("To the median", "Host − that of the median rank.")
    z: tuple[float | None, ...] = column(
        "Deviations", "The difference in robust deviations of the ranks; empty with fewer than four ranks.", unit=None
    )


class RangesOfOneRank(msgspec.Struct, frozen=True):
    """The ranges of one rank, parallel to `names`: calls in all steps, ns of a step that calls it.

    times   shape (3, names): the median of the steps, of `TIMES`; NaN where not recorded
    least, most   of the host
    """

    head: RankHead
    names: tuple[str, ...]
    steps: Int64
    calls: Int64
    times: Float64
    least: Float64
    most: Float64
    step_ns: float


def ranges_of_one_rank(summary: RankSummary, step: str | None = None, name: str | None = None) -> RangesOfOneRank:
    """step, name: of that step, of that range alone; None for all."""
    of, head = summary.ranges, summary.head
    if name is not None:
        of = of.take(of.name == (head.range_names.index(name) if name in head.range_names else -1))
    if step is not None:
        at = head.steps.index(step) if step in head.steps else -2
        of = of.take(of.step == at)
    rows = group([of.name.astype(np.int64)])
    times = np.stack([np.asarray(getattr(of, time), np.float64) for time in TIMES])
    times[times < 0] = np.nan
    if not head.device_ids:
        times[TIMES.index("device")] = np.nan
    count = rows.count()
    first = np.cumsum(count) - count
    ordered = np.stack([values[np.lexsort((values, rows.of))] for values in times])
    medians = (ordered[:, first + (count - 1) // 2] + ordered[:, first + count // 2]) / 2
    medians[np.stack([rows.sum(np.isnan(values)) > 0 for values in times])] = np.nan
    lengths = summary.steps.end - summary.steps.start
    return RangesOfOneRank(
        head=head,
        names=tuple(head.range_names[at] for at in of.name[rows.first].tolist()),
        steps=count,
        calls=sums_at(rows.of, of.calls, len(rows)),
        times=medians,
        least=ordered[0, first],
        most=ordered[0, first + count - 1],
        step_ns=float(np.median(lengths)) if len(lengths) else float(head.last_ns - head.first_ns),
    )


def ranges_of_ranks(summaries: Sequence[RankSummary], step: str | None = None) -> RankRangeTable:
    """All names. summaries: may be read anew each time one is taken."""
    ranks = [ranges_of_one_rank(summary, step) for summary in chosen_ranks(summaries).ranks]
    column: dict[str, int] = {}
    places = [np.array([column.setdefault(name, len(column)) for name in of.names], np.int64) for of in ranks]
    shape = (len(ranks), len(column))
    times, calls = np.full((3, *shape), np.nan), np.full(shape, np.nan)
    for at, (of, place) in enumerate(zip(ranks, places, strict=True)):
        times[:, at, place] = of.times
        calls[at, place] = of.calls
    names = np.array(list(column), object)
    here = ~np.isnan(calls)
    host = times[0]
    longest = np.where(here, host, -1.0).max(axis=0) if ranks else np.empty(0)
    order = np.lexsort((np.arange(len(names)), -longest))[:MOST_NAMES]
    order = order[np.argsort(-peer_median(host[:, order]), kind="stable")] if len(order) else order
    complete = np.array([of.head.ranges_left == 0 for of in ranks], np.bool_)
    step_ns = float(np.median([of.step_ns for of in ranks])) if ranks else 0.0
    most = np.where(here, host, -1.0)[:, order].argmax(axis=0) if ranks else np.empty(0, np.int64)
    far = [_far(times[:, :, at], step_ns) for at in order.tolist()]
    heads = [of.head for of in ranks]
    shown = slice(None), order
    return RankRangeTable(
        name=tuple(names[order].tolist()),
        ranks=here[shown].sum(axis=0),
        lacking=(~here[shown] & complete[:, None]).sum(axis=0),
        calls=_middle(calls[shown]),
        host_ns=_whole(_middle(host[shown])),
        host_least_ns=_whole(np.fmin.reduce(host[shown], axis=0)) if ranks else np.empty(0, np.int64),
        host_most_ns=_whole(np.fmax.reduce(host[shown], axis=0)) if ranks else np.empty(0, np.int64),
        most_worker=tuple(heads[at].worker for at in most.tolist()),
        device_ns=_whole(_middle(times[1][shown])),
        exposed_ns=_whole(_middle(times[2][shown])),
        far_worker=tuple(None if each is None else heads[each.place].worker for each in far),
        far_rank=tuple(None if each is None else heads[each.place].rank for each in far),
        far_time=tuple(None if each is None else each.time for each in far),
        far_ns=tuple(None if each is None else each.ns for each in far),
        far_z=tuple(None if each is None else each.z for each in far),
        left_out=len(names) - len(order) + max((of.head.ranges_left for of in ranks), default=0),
    )


def range_of_ranks(summaries: Sequence[RankSummary], name: str, step: str | None = None) -> RangeRankTable:
    """Compare the ranks that call one range. summaries: may be read anew each time one is taken."""
    found = [
        (of, of.names.index(name))
        for of in (ranges_of_one_rank(summary, step, name) for summary in chosen_ranks(summaries).ranks)
        if name in of.names
    ]
    times = np.array([of.times[:, at] for of, at in found], np.float64).reshape(-1, 3)
    excess = times[:, 0] - (peer_median(times[:, 0]) if found else 0.0)
    z = _deviations(times[:, 0])
    return RangeRankTable(
        worker=tuple(of.head.worker for of, _ in found),
        rank=tuple(of.head.rank for of, _ in found),
        host=tuple(of.head.host or None for of, _ in found),
        steps=np.array([of.steps[at] for of, at in found], np.int64),
        calls=np.array([of.calls[at] for of, at in found], np.int64),
        host_ns=_whole(times[:, 0]),
        host_least_ns=_whole(np.array([of.least[at] for of, at in found])),
        host_most_ns=_whole(np.array([of.most[at] for of, at in found])),
        device_ns=_whole(times[:, 1]),
        exposed_ns=_whole(times[:, 2]),
        difference_ns=np.rint(excess).astype(np.int64),
        z=tuple(None if np.isnan(value) else round(value, 2) for value in z.tolist()),
    )


class _Far(msgspec.Struct, frozen=True):
    place: int
    time: str
    ns: int
    z: float


def _far(times: Float64, step_ns: float) -> _Far | None:
    """Find the rank that differs most from the others. times: shape (3, ranks); NaN where unknown."""
    found: _Far | None = None
    for time, values in zip(TIMES, times, strict=True):
        z = _deviations(values)
        excess = values - peer_median(values)
        least = max(LEAST_SHARE * float(peer_median(values)), LEAST_OF_STEP * step_ns)
        far: Bool = (np.abs(z) >= FAR) & (np.abs(excess) >= least)
        for at in np.flatnonzero(far).tolist():
            if found is None or abs(excess[at]) > abs(found.ns):
                found = _Far(at, time, round(excess[at]), round(float(z[at]), 1))
    return found


def _deviations(values: Float64) -> Float64:
    """Shape (ranks,): how far each is from the median, in robust deviations; NaN where too few are known."""
    known = np.flatnonzero(~np.isnan(values))
    found = np.full(len(values), np.nan)
    if len(known) > LEAST_RANKS:
        of = values[known]
        centre = float(peer_median(of))
        found[known] = deviations(of - centre, max(FLOOR * centre, 1.0))
    return found


def _middle(values: Float64) -> Float64:
    """Shape (ranks, names) → (names,)."""
    return np.asarray(peer_median(values) if len(values) else (), np.float64)


def _whole(values: Float64) -> Int64:
    """-1 where unknown."""
    return np.where(np.isnan(values), -1, np.rint(np.nan_to_num(values))).astype(np.int64)


class OfStep(msgspec.Struct, frozen=True):
    """Which step."""

    step: Annotated[str | None, Meta(description="Name of a step; without it the median of each rank's steps.")] = None


class OneRange(OfStep, frozen=True):
    """Which range, in which step."""

    name: Annotated[str, Meta(description="Name of a range, as `ranks/ranges` has it.")] = ""


class RangesOfRanks(Answer, frozen=True, kw_only=True):
    """The ranges that the program names, over the ranks.

    names     one row each, the longest first
    left_out  how many names are not in it: of each rank the longest are kept
    """

    names: Columns
    left_out: Count


class RangeOfRanks(Answer, frozen=True, kw_only=True):
    """One range, over the ranks.

    ranks  a row for each rank that calls it, in order of rank; none of a name that no rank has kept
    """

    ranks: Columns


def _ranges(subject: Summaries, asked: OfStep) -> RangesOfRanks:
    found = ranges_of_ranks(subject.parts, asked.step)
    return RangesOfRanks(names=found.as_columns(), left_out=found.left_out)


def _range(subject: Summaries, asked: OneRange) -> RangeOfRanks:
    found = range_of_ranks(subject.parts, asked.name, asked.step)
    return RangeOfRanks(ranks=found.as_columns())


RUN_RANGES = Question(
    name="ranks/ranges",
    summary="The ranges that the program names, over all ranks",
    compute=_ranges,
)
RUN_RANGE = Question(
    name="ranks/range",
    summary="One range of the program on each rank",
    compute=_range,
)
