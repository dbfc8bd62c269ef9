"""The ranges that a program names, over its ranks: how long each takes, and which rank is far from the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Count, InlineTable
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
LEAST_RANKS, FAR_DEVIATIONS, LEAST_SHARE, LEAST_OF_STEP = 3, 8.0, 0.1, 0.001
#: deviations are at least this part of the median
FLOOR_SHARE = 0.005
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
    ranges, head = summary.ranges, summary.head
    if name is not None:
        ranges = ranges.take(ranges.name == (head.range_names.index(name) if name in head.range_names else -1))
    if step is not None:
        place = head.steps.index(step) if step in head.steps else -2
        ranges = ranges.take(ranges.step == place)
    rows = group([ranges.name.astype(np.int64)])
    times = np.stack([np.asarray(getattr(ranges, time), np.float64) for time in TIMES])
    times[times < 0] = np.nan
    if not head.device_ids:
        times[TIMES.index("device")] = np.nan
    count = rows.count()
    first = np.cumsum(count) - count
    ordered = np.stack([values[np.lexsort((values, rows.inverse))] for values in times])
    medians = (ordered[:, first + (count - 1) // 2] + ordered[:, first + count // 2]) / 2
    medians[np.stack([rows.sum(np.isnan(values)) > 0 for values in times])] = np.nan
    lengths = summary.steps.end - summary.steps.start
    return RangesOfOneRank(
        head=head,
        names=tuple(head.range_names[place] for place in ranges.name[rows.first].tolist()),
        steps=count,
        calls=sums_at(rows.inverse, ranges.calls, len(rows)),
        times=medians,
        least=ordered[0, first],
        most=ordered[0, first + count - 1],
        step_ns=float(np.median(lengths)) if len(lengths) else float(head.last_ns - head.first_ns),
    )


def ranges_of_ranks(summaries: Sequence[RankSummary], step: str | None = None) -> RankRangeTable:
    """Compare all ranges over the ranks. summaries: may be read again each time one is taken."""
    ranks = [ranges_of_one_rank(summary, step) for summary in chosen_ranks(summaries).ranks]
    columns: dict[str, int] = {}
    places = [np.array([columns.setdefault(name, len(columns)) for name in rank.names], np.int64) for rank in ranks]
    shape = (len(ranks), len(columns))
    times, calls = np.full((3, *shape), np.nan), np.full(shape, np.nan)
    for number, (rank, place) in enumerate(zip(ranks, places, strict=True)):
        times[:, number, place] = rank.times
        calls[number, place] = rank.calls
    names = np.array(list(columns), object)
    is_called = ~np.isnan(calls)
    host = times[0]
    longest = np.where(is_called, host, -1.0).max(axis=0) if ranks else np.empty(0)
    order = np.lexsort((np.arange(len(names)), -longest))[:MOST_NAMES]
    order = order[np.argsort(-peer_median(host[:, order]), kind="stable")] if len(order) else order
    complete = np.array([rank.head.ranges_left == 0 for rank in ranks], np.bool_)
    step_ns = float(np.median([rank.step_ns for rank in ranks])) if ranks else 0.0
    most = np.where(is_called, host, -1.0)[:, order].argmax(axis=0) if ranks else np.empty(0, np.int64)
    far = [_far(times[:, :, place], step_ns) for place in order.tolist()]
    heads = [rank.head for rank in ranks]
    shown = slice(None), order
    return RankRangeTable(
        name=tuple(names[order].tolist()),
        ranks=is_called[shown].sum(axis=0),
        lacking=(~is_called[shown] & complete[:, None]).sum(axis=0),
        calls=_middle(calls[shown]),
        host_ns=_whole(_middle(host[shown])),
        host_least_ns=_whole(np.fmin.reduce(host[shown], axis=0)) if ranks else np.empty(0, np.int64),
        host_most_ns=_whole(np.fmax.reduce(host[shown], axis=0)) if ranks else np.empty(0, np.int64),
        most_worker=tuple(heads[place].worker for place in most.tolist()),
        device_ns=_whole(_middle(times[1][shown])),
        exposed_ns=_whole(_middle(times[2][shown])),
        far_worker=tuple(None if each is None else heads[each.place].worker for each in far),
        far_rank=tuple(None if each is None else heads[each.place].rank for each in far),
        far_time=tuple(None if each is None else each.time for each in far),
        far_ns=tuple(None if each is None else each.ns for each in far),
        far_z=tuple(None if each is None else each.z for each in far),
        left_out=len(names) - len(order) + max((rank.head.ranges_left for rank in ranks), default=0),
    )


def range_of_ranks(summaries: Sequence[RankSummary], name: str, step: str | None = None) -> RangeRankTable:
    """Compare the ranks that call one range. summaries: may be read again each time one is taken."""
    callers = [
        (ranges, ranges.names.index(name))
        for ranges in (ranges_of_one_rank(summary, step, name) for summary in chosen_ranks(summaries).ranks)
        if name in ranges.names
    ]
    times = np.array([ranges.times[:, row] for ranges, row in callers], np.float64).reshape(-1, 3)
    excess = times[:, 0] - (peer_median(times[:, 0]) if callers else 0.0)
    z = _deviations(times[:, 0])
    return RangeRankTable(
        worker=tuple(ranges.head.worker for ranges, _ in callers),
        rank=tuple(ranges.head.rank for ranges, _ in callers),
        host=tuple(ranges.head.host or None for ranges, _ in callers),
        steps=np.array([ranges.steps[at] for ranges, at in callers], np.int64),
        calls=np.array([ranges.calls[at] for ranges, at in callers], np.int64),
        host_ns=_whole(times[:, 0]),
        host_least_ns=_whole(np.array([ranges.least[at] for ranges, at in callers])),
        host_most_ns=_whole(np.array([ranges.most[at] for ranges, at in callers])),
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
    farthest: _Far | None = None
    for time, values in zip(TIMES, times, strict=True):
        z = _deviations(values)
        excess = values - peer_median(values)
        least = max(LEAST_SHARE * float(peer_median(values)), LEAST_OF_STEP * step_ns)
        far: Bool = (np.abs(z) >= FAR_DEVIATIONS) & (np.abs(excess) >= least)
        for at in np.flatnonzero(far).tolist():
            if farthest is None or abs(excess[at]) > abs(farthest.ns):
                farthest = _Far(at, time, round(excess[at]), round(float(z[at]), 1))
    return farthest


def _deviations(values: Float64) -> Float64:
    """Shape (ranks,): how far each is from the median, in robust deviations; NaN where too few are known."""
    known = np.flatnonzero(~np.isnan(values))
    found = np.full(len(values), np.nan)
    if len(known) > LEAST_RANKS:
        of = values[known]
        centre = float(peer_median(of))
        found[known] = deviations(of - centre, max(FLOOR_SHARE * centre, 1.0))
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

    names: InlineTable
    left_out: Count


class RangeOfRanks(Answer, frozen=True, kw_only=True):
    """One range, over the ranks.

    ranks  a row for each rank that calls it, in order of rank; none of a name that no rank has kept
    """

    ranks: InlineTable


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
