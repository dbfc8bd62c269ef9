"""Step functions of time, and what they are in each of some bins."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torch_tb_profiler.arrays.intervals import StepFunction
from torch_tb_profiler.arrays.types import Float64, Int64
from torch_tb_profiler.timeline.schema import CounterBins


class Steps(NamedTuple):
    """`value` holds from `time` (ascending, the first at or before what is asked) to the next one, without end."""

    time: Int64
    value: Float64


def steps_of(profile: StepFunction, start: int) -> Steps:
    """A profile, which is zero where it has no segment, from `start` on."""
    # where one segment ends and the next begins at once, the second of two equal times counts
    time = np.stack([profile.start, profile.end], axis=1).ravel()
    value = np.stack([profile.value, np.zeros(len(profile.value))], axis=1).ravel()
    before = min(start, *profile.start[:1].tolist()) if len(time) else start
    return _last_of_equals(np.concatenate([[before], time]).astype(np.int64), np.concatenate([[0.0], value]), start)


def latest(time: Int64, value: Float64, start: int) -> Steps:
    """Of several values at one time the last one; all before `start` hold at `start` at the latest."""
    order = np.argsort(time, kind="stable")
    return _last_of_equals(time[order], value[order], start)


def _last_of_equals(time: Int64, value: Float64, start: int) -> Steps:
    time = np.maximum(time, start)
    kept = np.append(time[1:] != time[:-1], True) if len(time) else np.empty(0, np.bool_)
    return Steps(time[kept], value[kept])


def bins_of(steps: Steps, edges: Int64) -> CounterBins:
    """The bins between ascending edges (the first not before the first step); NaN for those without length."""
    low, high, last, mean = (np.full(len(edges) - 1, np.nan) for _ in range(4))
    there = np.flatnonzero(edges[1:] > edges[:-1])
    if len(there):
        begin, end = edges[there], edges[there + 1]
        first = np.searchsorted(steps.time, begin, "right") - 1
        after = np.searchsorted(steps.time, end, "left")
        value = np.append(steps.value, 0.0)
        runs = np.stack([first, after], axis=1).ravel()
        low[there] = np.minimum.reduceat(value, runs)[::2]
        high[there] = np.maximum.reduceat(value, runs)[::2]
        last[there] = steps.value[after - 1]
        mean[there] = (_integral(steps, end) - _integral(steps, begin)) / (end - begin)
        # what rounding took away
        mean[there] = np.clip(mean[there], low[there], high[there])
    return CounterBins(low, high, last, mean)


def _integral(steps: Steps, time: Int64) -> Float64:
    """Of value × ns from the first step to each time."""
    whole = np.concatenate([[0.0], np.cumsum(steps.value[:-1] * np.diff(steps.time))])
    at = np.searchsorted(steps.time, time, "right") - 1
    integral: Float64 = whole[at] + steps.value[at] * (time - steps.time[at])
    return integral


def coarser(bins: CounterBins, lengths: Int64, factor: int) -> CounterBins:
    """`factor` bins in one. lengths: ns of each bin that lie in the trace; a bin that is NaN counts for nothing."""
    weights = np.where(np.isnan(bins.low), 0, lengths).reshape(-1, factor).astype(np.float64)
    whole = weights.sum(axis=1)

    def rows(values: Float64, missing: float) -> Float64:
        return np.where(np.isnan(values), missing, values).reshape(-1, factor)

    there = whole > 0
    newest = factor - 1 - np.argmax(weights[:, ::-1] > 0, axis=1)
    found = (
        rows(bins.low, np.inf).min(axis=1),
        rows(bins.high, -np.inf).max(axis=1),
        rows(bins.last, 0.0)[np.arange(len(whole)), newest],
        (rows(bins.mean, 0.0) * weights).sum(axis=1) / np.maximum(whole, 1.0),
    )
    return CounterBins(*(np.where(there, values, np.nan) for values in found))
