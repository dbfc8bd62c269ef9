"""Why the shift is judged as it is: what other tests do on the same simulated recordings (docs/compare-two-runs.md).

The tables are of 500 and 2,000 repetitions; here all are drawn at once, so that many cost little. They do not say how
their BCa and block bootstraps were made: Efron's definition with a jackknife over both sides, and circular blocks as
long as the cube root of the number of steps give what they say.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

from tests.unit.test_shift import is_near, pooled
from torch_tb_profiler.analysis.change.statistics import order_statistic, quantile

pytestmark = pytest.mark.slow

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
#: whether two sides differ, two-sided at 5 %: of each repetition; base, new have shape (repetitions, steps)
Test = Callable[[Floats, Floats], Bools]

REPETITIONS = 1_000
#: of orders and resamples within a repetition
RESAMPLES = 399
#: repetitions whose resamples are in memory at once
AT_ONCE = 250

INDEPENDENT, CORRELATED, DIFFERING = (0.0, 0.0), (0.5, 0.0), (0.0, 0.01)


@functools.cache
def distribution() -> tuple[Floats, Floats]:
    """Φ at many places."""
    places = np.linspace(-5, 5, 2001)
    return places, np.array([0.5 * (1 + math.erf(each / math.sqrt(2))) for each in places])


def steps_of(name: str, steps: int, correlated: float, between: float, seed: int, side: int) -> Floats:
    """Shape (repetitions, steps): as `test_shift.recording`."""
    random = np.random.default_rng((seed, steps, side))
    normal = random.standard_normal((REPETITIONS, steps))
    for at in range(1, steps):
        normal[:, at] = correlated * normal[:, at - 1] + math.sqrt(1 - correlated**2) * normal[:, at]
    drawn = np.quantile(pooled(name), np.interp(normal, *distribution()))
    return drawn + between * random.standard_normal((REPETITIONS, 1))


def t_of(base: Floats, new: Floats) -> tuple[Floats, Floats]:
    """Welch's t and its degrees of freedom, along the last axis."""
    n = base.shape[-1]
    left, right = base.var(axis=-1, ddof=1) / n, new.var(axis=-1, ddof=1) / n
    error = np.maximum(left + right, 1e-300)
    freedom = error**2 / np.maximum((left**2 + right**2) / (n - 1), 1e-300)
    return (new.mean(axis=-1) - base.mean(axis=-1)) / np.sqrt(error), freedom


def welch(base: Floats, new: Floats) -> Bools:
    t, freedom = t_of(base, new)
    known = np.arange(1, 80)
    return np.abs(t) > np.interp(freedom, known, [quantile(0.025, int(each)) for each in known])


def mann_whitney(base: Floats, new: Floats) -> Bools:
    """Whether the exact interval of the shift excludes 0."""
    above = (new[:, :, None] > base[:, None, :]).sum(axis=(1, 2))
    k = order_statistic(base.shape[1], new.shape[1])
    return np.minimum(above, base.shape[1] * new.shape[1] - above) < k


def permuted(statistic: Callable[[Floats, Floats], Floats]) -> Test:
    """Of random orders: as large a statistic or larger in 5 % of them or fewer."""

    def test(base: Floats, new: Floats) -> Bools:
        random, n = np.random.default_rng(7), base.shape[1]
        found = []
        for at in range(0, len(base), AT_ONCE):
            both = np.concatenate([base[at : at + AT_ONCE], new[at : at + AT_ONCE]], axis=1)
            mixed = random.permuted(np.repeat(both[:, None, :], RESAMPLES, axis=1), axis=2)
            seen = np.abs(statistic(both[:, :n], both[:, n:]))
            other = np.abs(statistic(mixed[..., :n], mixed[..., n:]))
            larger = (other >= seen[:, None] - 1e-12).sum(axis=1)
            found.append((1 + larger) / (1 + RESAMPLES) <= 0.05)
        return np.concatenate(found)

    return test


def median_change(base: Floats, new: Floats) -> Floats:
    return np.median(new, axis=-1) - np.median(base, axis=-1)


def resampled(base: Floats, new: Floats, random: np.random.Generator, block: int = 1) -> Floats:
    """Differences of the medians of resamples, whose steps are drawn in circular blocks: (repetitions, resamples)."""
    many, n = base.shape
    first = random.integers(0, n, (2, many, RESAMPLES, -(-n // block), 1))
    picked = ((first + np.arange(block)) % n).reshape(2, many, RESAMPLES, -1)[..., :n]
    return median_change(
        *(np.take_along_axis(side[:, None, :], at, axis=2) for side, at in zip((base, new), picked, strict=True))
    )


def bootstrap(interval: Callable[[Floats, Floats, np.random.Generator], tuple[Floats, Floats]]) -> Test:
    """Whether the interval of the difference of medians excludes 0."""

    def test(base: Floats, new: Floats) -> Bools:
        random, found = np.random.default_rng(8), []
        for at in range(0, len(base), AT_ONCE):
            low, high = interval(base[at : at + AT_ONCE], new[at : at + AT_ONCE], random)
            found.append((low > 0) | (high < 0))
        return np.concatenate(found)

    return test


def percentiles(base: Floats, new: Floats, random: np.random.Generator) -> tuple[Floats, Floats]:
    low, high = np.quantile(resampled(base, new, random), [0.025, 0.975], axis=1)
    return low, high


def percentiles_of_blocks(base: Floats, new: Floats, random: np.random.Generator) -> tuple[Floats, Floats]:
    drawn = resampled(base, new, random, round(base.shape[1] ** (1 / 3)))
    low, high = np.quantile(drawn, [0.025, 0.975], axis=1)
    return low, high


def left_out(side: Floats) -> Floats:
    """How far each step pulls the median: the mean of the medians without one step, less the median without it."""
    medians = np.stack([np.median(np.delete(side, at, 1), axis=1) for at in range(side.shape[1])], axis=1)
    return medians.mean(axis=1, keepdims=True) - medians


def corrected_percentiles(base: Floats, new: Floats, random: np.random.Generator) -> tuple[Floats, Floats]:
    """Percentiles corrected for bias, and accelerated (BCa)."""
    drawn = np.sort(resampled(base, new, random), axis=1)
    places, shares = distribution()
    below = (drawn < median_change(base, new)[:, None]).mean(axis=1)
    bias = np.interp(np.clip(below, 1 / RESAMPLES, 1 - 1 / RESAMPLES), shares, places)
    pulls = np.concatenate([-left_out(base), left_out(new)], axis=1)
    speed = (pulls**3).sum(axis=1) / (6 * np.maximum((pulls**2).sum(axis=1) ** 1.5, 1e-300))
    bounds = []
    for z in (-1.959964, 1.959964):
        share = np.interp(bias + (bias + z) / (1 - speed * (bias + z)), places, shares)
        at = np.rint(share * (RESAMPLES - 1)).astype(int)
        bounds.append(np.take_along_axis(drawn, at[:, None], axis=1)[:, 0])
    return bounds[0], bounds[1]


TESTS: dict[str, Test] = {
    "welch": welch,
    "mann_whitney": mann_whitney,
    "permuted_median": permuted(median_change),
    "permuted_t": permuted(lambda base, new: t_of(base, new)[0]),
    "bootstrap": bootstrap(percentiles),
    "bca": bootstrap(corrected_percentiles),
    "blocks": bootstrap(percentiles_of_blocks),
}

#: false positives without a threshold, in percent: of each number of steps
FALSE: dict[tuple[str, tuple[float, float]], dict[str, dict[int, float]]] = {
    ("steady", INDEPENDENT): {
        "welch": {3: 2, 5: 2, 10: 4, 20: 5},
        "mann_whitney": {3: 0, 5: 3, 10: 4, 20: 4},
        "permuted_median": {3: 0, 5: 4, 10: 3, 20: 4},
        "permuted_t": {3: 0, 5: 4, 10: 4, 20: 5},
        "bootstrap": {3: 11, 5: 3, 10: 2, 20: 3},
        "bca": {3: 11, 5: 2, 10: 1, 20: 3},
        "blocks": {3: 11, 5: 6, 10: 6, 20: 4},
    },
    ("host", INDEPENDENT): {
        "welch": {5: 3, 10: 4, 20: 4},
        "mann_whitney": {5: 3, 10: 4, 20: 5},
        "permuted_median": {5: 5, 10: 5, 20: 5},
        "permuted_t": {5: 4, 10: 5, 20: 4},
        "bootstrap": {5: 3, 10: 4, 20: 4},
        "bca": {5: 5, 10: 6, 20: 4},
        "blocks": {5: 7, 10: 9, 20: 5},
    },
    ("steady", CORRELATED): {
        "welch": {5: 13, 10: 24, 20: 23},
        "mann_whitney": {5: 17, 10: 22, 20: 23},
        "permuted_median": {5: 17, 10: 22, 20: 19},
        "permuted_t": {5: 20, 10: 25, 20: 22},
        "bootstrap": {5: 17, 10: 18, 20: 16},
        "bca": {5: 17, 10: 18, 20: 13},
        "blocks": {5: 22, 10: 21, 20: 12},
    },
    ("steady", DIFFERING): {
        "welch": {5: 14, 10: 24, 20: 45},
        "mann_whitney": {5: 16, 10: 34, 20: 63},
        "permuted_median": {5: 16, 10: 31, 20: 69},
        "permuted_t": {5: 20, 10: 24, 20: 46},
        "bootstrap": {5: 16, 10: 30, 20: 59},
        "bca": {5: 17, 10: 31, 20: 61},
        "blocks": {5: 22, 10: 41, 20: 65},
    },
}
#: what is found of a change, independent steps, Welch (where the table says it) and Mann–Whitney, in percent
POWER: dict[str, dict[tuple[float, int], tuple[float | None, float]]] = {
    "steady": {
        (0.01, 5): (12, 15), (0.01, 10): (20, 36), (0.01, 20): (37, 66),
        (0.02, 5): (31, 24), (0.02, 10): (59, 55), (0.02, 20): (88, 87),
        (0.05, 3): (51, 0), (0.05, 5): (92, 82), (0.05, 10): (100, 100), (0.05, 20): (100, 100),
        (0.1, 5): (100, 100), (0.1, 10): (100, 100), (0.1, 20): (100, 100),
    },
    "spikes": {
        (0.01, 5): (2, 6), (0.01, 10): (2, 15), (0.01, 20): (5, 34),
        (0.02, 5): (5, 12), (0.02, 10): (6, 30), (0.02, 20): (8, 54),
        (0.05, 3): (22, 0), (0.05, 5): (11, 30), (0.05, 10): (16, 67), (0.05, 20): (20, 95),
        (0.1, 5): (28, 36), (0.1, 10): (38, 75), (0.1, 20): (63, 98),
    },
    "host": {
        (0.01, 5): (4, 5), (0.01, 10): (5, 7), (0.01, 20): (8, 9),
        (0.02, 5): (4, 5), (0.02, 10): (6, 11), (0.02, 20): (9, 20),
        (0.05, 3): (7, 0), (0.05, 5): (15, 13), (0.05, 10): (28, 29), (0.05, 20): (46, 53),
        (0.1, 5): (32, 31), (0.1, 10): (71, 79), (0.1, 20): (92, 97),
    },
    "starved": {
        (0.01, 5): (None, 4), (0.01, 10): (None, 5), (0.01, 20): (None, 7),
        (0.02, 5): (None, 3), (0.02, 10): (None, 6), (0.02, 20): (None, 7),
        (0.05, 3): (None, 0), (0.05, 5): (None, 4), (0.05, 10): (None, 8), (0.05, 20): (None, 15),
        (0.1, 5): (None, 6), (0.1, 10): (None, 10), (0.1, 20): (None, 23),
    },
}  # fmt: skip
#: false "regressed" of naive gates, ten steps, 3 %: independent, correlated, differing, both, differing twice as much
GATES: dict[str, dict[str, tuple[float, ...]]] = {
    "means": {
        "steady": (0, 2, 3, 6),
        "spikes": (28, 34, 34, 39),
        "host": (20, 26, 25, 30),
        "starved": (47, 47, 43, 47),
    },
    "medians": {
        "steady": (0, 3, 3, 6, 16),
        "spikes": (3, 11, 8, 14, 17),
        "host": (17, 24, 19, 27, 25),
        "starved": (43, 43, 43, 44, 43),
    },
    "test and shift": {
        "steady": (0, 2, 2, 6, 15),
        "spikes": (1, 7, 4, 9, 12),
        "host": (2, 11, 4, 13, 8),
        "starved": (2, 11, 2, 11, 3),
    },
}


def share(found: Bools) -> float:
    return 100 * float(found.mean())


def false_positives(name: str, program: tuple[float, float], test: str) -> None:
    for steps, percent in FALSE[name, program][test].items():
        sides = [steps_of(name, steps, *program, 1, side) for side in range(2)]
        found = share(TESTS[test](*sides))
        assert is_near(found, percent, 500, REPETITIONS), (steps, found, percent)


@pytest.mark.parametrize("test", ["welch", "mann_whitney"])
@pytest.mark.parametrize(("name", "program"), FALSE)
def test_false_positives(name: str, program: tuple[float, float], test: str) -> None:
    false_positives(name, program, test)


@pytest.mark.slow
@pytest.mark.parametrize("test", ["permuted_median", "permuted_t", "bootstrap", "bca", "blocks"])
@pytest.mark.parametrize(("name", "program"), FALSE)
def test_false_positives_of_resampling(name: str, program: tuple[float, float], test: str) -> None:
    false_positives(name, program, test)


@pytest.mark.parametrize("name", POWER)
def test_what_is_found(name: str) -> None:
    for (change, steps), percents in POWER[name].items():
        base, new = (steps_of(name, steps, *INDEPENDENT, 2, side) for side in range(2))
        for test, percent in zip((welch, mann_whitney), percents, strict=True):
            found = share(test(base, new + math.log1p(change)))
            assert percent is None or is_near(found, percent, 500, REPETITIONS), (
                test.__name__,
                change,
                steps,
                found,
                percent,
            )


def gates(base: Floats, new: Floats) -> dict[str, Bools]:
    shift = np.median((new[:, :, None] - base[:, None, :]).reshape(len(base), -1), axis=1)
    return {
        "means": np.exp(new).mean(axis=1) >= 1.03 * np.exp(base).mean(axis=1),
        "medians": np.exp(np.median(new, axis=1)) >= 1.03 * np.exp(np.median(base, axis=1)),
        "test and shift": mann_whitney(base, new) & (shift >= math.log(1.03)),
    }


@pytest.mark.parametrize("name", GATES["means"])
def test_gates_that_were_not_chosen(name: str) -> None:
    for at, program in enumerate((INDEPENDENT, CORRELATED, DIFFERING, (0.5, 0.01), (0.0, 0.02))):
        found = gates(*(steps_of(name, 10, *program, 3, side) for side in range(2)))
        for gate, percents in GATES.items():
            for percent in percents[name][at : at + 1]:
                false = share(found[gate])
                assert is_near(false, percent, 2000, REPETITIONS), (gate, program, false, percent)


#: several recordings of ten steps on each side: false positives, power at 5 % and at 10 %, of each number of them
SEVERAL: dict[tuple[str, float], dict[int, tuple[float, float, float]]] = {
    ("steady", 0.01): {3: (0.1, 92, 100), 5: (0.0, 100, 100), 8: (0.0, 100, 100)},
    ("steady", 0.02): {3: (1.6, 56, 98), 5: (1.0, 87, 100), 8: (0.4, 96, 100)},
    ("spikes", 0.01): {3: (0.3, 65, 84), 5: (0.2, 73, 90), 8: (0.1, 81, 95)},
    ("host", 0.01): {3: (1.7, 33, 78), 5: (2.1, 58, 97), 8: (1.3, 80, 100)},
}


@pytest.mark.parametrize(("name", "between"), SEVERAL)
def test_several_recordings_find_more(name: str, between: float) -> None:
    """Student's t of their medians, one-sided 2.5 %, and a shift of 3 % or more; autocorrelation 0.3."""
    for recordings, percents in SEVERAL[name, between].items():
        medians = [
            np.stack(
                [
                    np.median(steps_of(name, 10, 0.3, between, 100 * recordings + at, side), axis=1)
                    for at in range(recordings)
                ],
                axis=1,
            )
            for side in range(2)
        ]
        limit = quantile(0.025, 2 * recordings - 2)
        for change, percent in zip((0.0, 0.05, 0.1), percents, strict=True):
            base, new = medians[0], medians[1] + math.log1p(change)
            error = np.sqrt((base.var(axis=1, ddof=1) + new.var(axis=1, ddof=1)) / recordings)
            moved = new.mean(axis=1) - base.mean(axis=1)
            found = share((moved > limit * error) & (moved >= math.log(1.03)))
            assert is_near(found, percent, 500, REPETITIONS), (recordings, change, found, percent)
