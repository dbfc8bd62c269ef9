"""How much larger one of two sides is, with an interval: the Hodges–Lehmann shift.

The median of all differences of a value of one side and a value of the other, with the interval of the Mann–Whitney
test: exact for any number of values, nothing random in it, and a few slow steps do not move it. Two corrections widen
the interval, without which no method keeps its promise (docs/compare-two-runs.md): steps follow each other and are not
independent, and the next recording of the same program is never quite like this one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Count
from torch_tb_profiler.analysis.change.statistics import LEVEL, Z, order_statistic, quantile
from torch_tb_profiler.arrays.order import differences_at, median
from torch_tb_profiler.arrays.types import Float64

#: with fewer values on a side there is no verdict
LEAST_VALUES = 4
#: with this many recordings on each side, one value per recording is compared; with fewer, the values of steps
LEAST_RECORDINGS = 3

#: the smallest change that is found in 80 of 100 cases, in half-widths of the interval: (1.96 + 0.84) ÷ 1.96
POWER_FACTOR = (Z + 0.8416212335729143) / Z

#: standard deviation ÷ median absolute deviation of a normal distribution
_NORMAL = 1.4826
#: autocorrelation clips values at this distance from the median, in median absolute deviations
_FURTHEST = 3.0
_MOST_CORRELATED = 0.9

#: values of one recording, in the order of its steps
Series = Sequence[float]


class Scale(msgspec.Struct, frozen=True):
    """On which scale values are compared.

    relative  as ratios, on logarithms: every value is above 0. Otherwise as differences
    between   spread between recordings, one standard deviation: a fraction, or in the unit of the values
    """

    relative: bool
    between: float

    def of(self, series: Sequence[Series]) -> list[Float64]:
        found = [np.asarray(values, np.float64) for values in series]
        return [np.log(values) for values in found] if self.relative else found


class Shift(msgspec.Struct, frozen=True):
    """New − base, on the scale that was asked for (of ratios: the logarithm).

    shift            the estimate; None without values
    lower, upper     95 % interval; None with fewer values than `LEAST_VALUES` on a side (recordings: 3)
    half             mean half-width of the interval
    unit             what one value is: a step, or a recording (its median step)
    base, new        how many values there are
    autocorrelation  of steps that follow each other, 0 … 0.9
    within           half-width without what is added for the spread between recordings
    between          that spread, one standard deviation
    """

    shift: float | None
    lower: float | None
    upper: float | None
    unit: str
    base: int
    new: int
    autocorrelation: float
    within: float | None
    between: float

    @property
    def half(self) -> float | None:
        if self.lower is None or self.upper is None:
            return None
        return (self.upper - self.lower) / 2


def shift(base: Sequence[Series], new: Sequence[Series], scale: Scale) -> Shift:
    """Estimate the shift between two sides, each of one or more recordings."""
    base, new = ([values for values in side if len(values)] for side in (base, new))
    sides = scale.of(base), scale.of(new)
    if min(map(len, sides)) >= LEAST_RECORDINGS:
        return _of_recordings(*(np.array([median(values) for values in side]) for side in sides))
    between = measured_spread(base, scale)
    values = [np.concatenate(side) if side else np.empty(0) for side in sides]
    counts = len(values[0]), len(values[1])
    if not min(counts):
        return Shift(None, None, None, "step", *counts, 0.0, None, between)
    estimate, lower, upper = hodges_lehmann(values[0], values[1])
    correlation = autocorrelation([*sides[0], *sides[1]], sum(counts) / 2)
    if min(counts) < LEAST_VALUES or lower is None or upper is None:
        return Shift(estimate, None, None, "step", *counts, correlation, None, between)
    wider = math.sqrt((1 + correlation) / (1 - correlation))
    added = 2 * (Z * between) ** 2
    down, up = ((wider * each) for each in (estimate - lower, upper - estimate))
    return Shift(
        estimate,
        estimate - math.sqrt(down**2 + added),
        estimate + math.sqrt(up**2 + added),
        "step",
        *counts,
        correlation,
        (down + up) / 2,
        between,
    )


def hodges_lehmann(base: Float64, new: Float64, level: float = LEVEL) -> tuple[float, float | None, float | None]:
    """Return the median of all differences new − base, and the bounds of its interval; None if there are too few.

    base, new   shape (n,) and (m,), at least one value each
    level       how often the interval may miss: 0.05 for one of 95 %; with more than 50 values on a side it is 95 %

    >>> hodges_lehmann(np.array([1.0, 2, 3, 4]), np.array([11.0, 12, 13, 14]))
    (10.0, 7.0, 13.0)
    """
    count = len(base) * len(new)
    k = order_statistic(len(base), len(new), level)
    bounds = () if k == 0 else (k - 1, count - k)
    low, high, *found = differences_at(new, base, [(count - 1) // 2, count // 2, *bounds])
    middle = (low + high) / 2
    return (middle, found[0], found[1]) if bounds else (middle, None, None)


def _of_recordings(base: Float64, new: Float64) -> Shift:
    """Estimate the shift from one value per recording, without an assumed spread between recordings.

    No rank test can decide with three values on a side: these get Student's interval.
    """
    counts = len(base), len(new)
    if min(counts) >= LEAST_VALUES:
        estimate, lower, upper = hodges_lehmann(base, new)
    else:
        estimate = float(new.mean() - base.mean())
        degrees = sum(counts) - 2
        squares = float(((base - base.mean()) ** 2).sum() + ((new - new.mean()) ** 2).sum())
        half = quantile(LEVEL / 2, degrees) * math.sqrt(squares / degrees * (1 / counts[0] + 1 / counts[1]))
        lower, upper = estimate - half, estimate + half
    within = None if lower is None or upper is None else (upper - lower) / 2
    return Shift(estimate, lower, upper, "recording", *counts, 0.0, within, 0.0)


def measured_spread(base: Sequence[Series], scale: Scale) -> float:
    """Measure the spread between the medians of baseline recordings, at least 0.3 × the assumed spread.

    With fewer than three recordings return the assumed one.
    """
    if len(base) < LEAST_RECORDINGS:
        return scale.between
    middles = np.array([median(values) for values in scale.of(base)])
    return max(_NORMAL * _deviation(middles), 0.3 * scale.between)


def autocorrelation(series: Sequence[Float64], mean_count: float) -> float:
    """Return the lag-1 autocorrelation of all series together, 0 … 0.9.

    1 ÷ mean_count is added, because short series underestimate it.

    Values are clipped at 3 median absolute deviations, so that a single slow step does not hide it.
    """
    products = squares = 0.0
    for values in series:
        middle, deviation = median(values), _deviation(values)
        left = np.clip(values - middle, -_FURTHEST * deviation, _FURTHEST * deviation)
        products += float((left[:-1] * left[1:]).sum())
        squares += float((left**2).sum())
    found = products / squares if squares > 0 else 0.0
    return min(max(found + 1 / mean_count, 0.0), _MOST_CORRELATED)


def _deviation(values: Float64) -> float:
    """Return the median absolute deviation."""
    return median(np.abs(values - median(values)))


Verdict = Literal["regressed", "improved", "unchanged", "inconclusive", "unknown"]

#: beyond these counts, asking for more data is no advice
MOST_STEPS, MOST_RECORDINGS = 10_000, 100


class DataNeeded(msgspec.Struct, frozen=True, kw_only=True):
    """What would decide, if the change stays what it seems to be.

    steps       on each side, with as many recordings as there are; null if no number of steps can
    recordings  on each side, with as many steps as there are; null if too many
    """

    steps: Count | None
    recordings: Count | None


def verdict(estimate: Shift, threshold: float) -> Verdict:
    """Judge a shift; unknown without an interval. threshold: above 0, on the scale of the shift, so a logarithm for
    ratios.

    regressed      the whole interval is above 0, and the estimate reaches the threshold
    improved       the mirror image
    unchanged      the whole interval is below the threshold
    inconclusive   none of these is certain
    """
    if estimate.shift is None or estimate.lower is None or estimate.upper is None:
        return "unknown"
    if estimate.lower > 0 and estimate.shift >= threshold:
        return "regressed"
    if estimate.upper < 0 and estimate.shift <= -threshold:
        return "improved"
    return "unchanged" if estimate.upper < threshold else "inconclusive"


def detectable(estimate: Shift) -> float | None:
    """Return the smallest change that such data show in 80 of 100 cases, on the scale of the shift; None without
    interval.
    """
    return None if estimate.half is None else POWER_FACTOR * estimate.half


def needed(estimate: Shift, threshold: float) -> DataNeeded | None:
    """Estimate how much data would decide; None if none can. Half-widths shrink with the square root of the number of
    values.

    A change as large as the threshold must differ from 0, a smaller one from the threshold.
    """
    if estimate.within is None or estimate.shift is None:
        return None
    allowed = estimate.shift if estimate.shift >= threshold else threshold - estimate.shift
    if allowed <= 0:
        return None
    fewest = min(estimate.base, estimate.new)
    per_value = estimate.within * math.sqrt(fewest)
    if estimate.unit == "recording":
        return DataNeeded(
            steps=None, recordings=_most(math.ceil((per_value / allowed) ** 2), fewest + 1, MOST_RECORDINGS)
        )
    left = allowed**2 - 2 * (Z * estimate.between) ** 2
    steps = _most(math.ceil(per_value**2 / left), fewest + 1, MOST_STEPS) if left > 0 else None
    # the median of a recording varies between recordings and with its steps
    spread = math.sqrt(2 * (Z * estimate.between) ** 2 + estimate.within**2)
    return DataNeeded(
        steps=steps, recordings=_most(math.ceil((spread / allowed) ** 2), LEAST_RECORDINGS, MOST_RECORDINGS)
    )


def _most(number: int, least: int, most: int) -> int | None:
    return max(number, least) if number <= most else None
