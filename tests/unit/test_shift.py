"""The shift between two sides: against brute force, and against what was found to hold of simulated recordings."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.analysis.change.shift import Scale, Shift, detectable, hodges_lehmann, needed, shift, verdict
from torch_tb_profiler.analysis.change.statistics import MOST_EXACT, fisher_rise, order_statistic, quantile, u_counts

pytestmark = pytest.mark.slow

Floats = npt.NDArray[np.float64]

#: steps of recorded traces without the first of each, in ms: of GPUs without and with spikes, of the host alone, and of
#: a GPU that waits for the loader (without the first two)
RECORDED = {
    "steady": (
        (175.153, 179.733, 174.564, 182.172, 165.983),
        (149.553, 149.803, 149.532, 154.343, 154.465),
        (95.737, 95.571, 95.664, 95.395),
        (365.309, 346.141, 344.313, 336.369),
        (222.442, 219.788, 224.996),
    ),
    "spikes": ((126.183, 127.181, 123.079, 163.525, 124.268), (122.52, 123.217, 118.625, 119.738, 202.617)),
    "host": (
        (78.082, 82.116, 72.154, 71.198, 77.447),
        (42.947, 39.52, 46.983, 45.993, 52.608),
        (51.526, 55.261, 71.822, 53.727),
    ),
    "starved": (
        (
            *(158.968, 157.979, 154.01, 158.786, 159.213, 159.28, 157.713, 279.434, 488.336, 150.247),
            *(152.331, 774.262, 470.768, 291.643, 154.738, 750.608, 342.513, 360.619, 159.564, 755.46),
            *(395.527, 372.433, 156.444, 828.912, 551.719, 150.419, 158.119, 653.044),
        ),
    ),
}
#: of each cell of a table; the tables themselves are of 2,000 and 500
REPETITIONS = 300
STEPS = Scale(relative=True, between=0.01)


@functools.cache
def pooled(name: str) -> Floats:
    """Logarithms beside the median of the recording, smoothed by a tenth of their robust deviation, in order."""
    seen = np.concatenate([np.log(np.array(each) / np.median(each)) for each in RECORDED[name]])
    width = 0.1 * 1.4826 * np.median(np.abs(seen - np.median(seen)))
    normal = [NormalDist().inv_cdf((at + 0.5) / 15) for at in range(15)]
    return np.sort(np.add.outer(np.quantile(seen, np.linspace(0, 1, 101)), width * np.array(normal)).ravel())


def recording(random: np.random.Generator, name: str, steps: int, correlated: float, between: float) -> Floats:
    """Logarithms of steps: an AR(1) Gaussian copula on the interpolated quantiles, and a shift of the recording."""
    normal = random.standard_normal(steps)
    for at in range(1, steps):
        normal[at] = correlated * normal[at - 1] + math.sqrt(1 - correlated**2) * normal[at]
    share = np.array([0.5 * (1 + math.erf(each / math.sqrt(2))) for each in normal])
    return np.quantile(pooled(name), share) + between * random.standard_normal()


def shares(cases: Callable[[np.random.Generator], bool], seed: int, repetitions: int = REPETITIONS) -> float:
    random = np.random.default_rng(seed)
    return 100 * sum(cases(random) for _ in range(repetitions)) / repetitions


def is_near(found: float, percent: float, of: int, repetitions: int = REPETITIONS) -> bool:
    """Within 2 points, and what the two simulations differ by chance (three standard deviations)."""
    share = min(max(percent, 1.0), 99.0) / 100
    chance = 300 * math.sqrt(share * (1 - share) * (1 / repetitions + 1 / of))
    return abs(found - percent) <= 2 + chance


def brute_force_counts(first: int, second: int) -> list[int]:
    counts = [0] * (first * second + 1)
    for chosen in itertools.combinations(range(first + second), first):
        counts[sum(place - at for at, place in enumerate(chosen))] += 1
    return counts


@pytest.mark.parametrize(("first", "second"), [(1, 1), (2, 5), (4, 4), (5, 3), (6, 5)])
def test_counts_of_u_are_those_of_all_orders(first: int, second: int) -> None:
    assert u_counts(first, second, first * second) == brute_force_counts(first, second)


@pytest.mark.parametrize(("first", "second"), [(4, 4), (5, 5), (5, 8), (7, 6)])
def test_the_order_statistic_is_the_largest_that_keeps_the_promise(first: int, second: int) -> None:
    counts, all_orders = brute_force_counts(first, second), math.comb(first + second, first)
    k = order_statistic(first, second)
    assert sum(counts[:k]) <= 0.025 * all_orders < sum(counts[: k + 1])


def test_the_normal_approximation_goes_on_where_exact_counts_end() -> None:
    exact = order_statistic(MOST_EXACT, MOST_EXACT)
    approximate = order_statistic(MOST_EXACT + 1, MOST_EXACT)
    assert exact < approximate < exact + MOST_EXACT


def test_quantiles_of_t_are_those_of_the_tables() -> None:
    known = {1: 12.7062, 2: 4.3027, 3: 3.1824, 4: 2.7764, 5: 2.5706, 10: 2.2281, 30: 2.0423, 100: 1.9840}
    assert {degrees: round(quantile(0.025, degrees), 4) for degrees in known} == known


def test_fisher_is_the_sum_of_hypergeometric_probabilities() -> None:
    # the tea of Fisher's lady: three of four cups
    assert math.isclose(fisher_rise((1, 4), (3, 4)), 17 / 70)
    assert fisher_rise((0, 5), (0, 5)) == 1


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12),
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=12),
)
def test_the_estimate_is_the_median_of_all_differences(base: list[float], new: list[float]) -> None:
    estimate, lower, upper = hodges_lehmann(np.array(base), np.array(new))
    assert estimate == pytest.approx(float(np.median([b - a for a in base for b in new])))
    assert (lower is None) == (upper is None)
    if lower is not None and upper is not None:
        assert lower <= estimate <= upper


@given(st.lists(st.floats(1, 1e9), min_size=4, max_size=15), st.floats(0.5, 2))
def test_the_other_way_round_is_the_mirror_image(base: list[float], factor: float) -> None:
    new = [factor * value for value in base]
    there, back = shift([base], [new], STEPS), shift([new], [base], STEPS)
    assert there.shift is not None
    assert there.lower is not None
    assert back.upper is not None
    assert there.shift == pytest.approx(math.log(factor), abs=1e-9)
    assert back.shift == pytest.approx(-there.shift, abs=1e-9)
    assert back.upper == pytest.approx(-there.lower, abs=1e-9)


def test_fewer_than_four_steps_have_no_interval() -> None:
    found = shift([[1.0, 2.0, 3.0]], [[1.0, 2.0, 3.0, 4.0]], STEPS)
    assert (found.base, found.new) == (3, 4)
    assert found.shift is not None
    assert found.lower is None
    assert verdict(found, 0.05) == "unknown"
    assert shift([], [[1.0]], STEPS).shift is None


def test_three_recordings_on_each_side_are_compared_by_t() -> None:
    base, new = ([[value] * 5 for value in side] for side in ((10.0, 10.1, 9.9), (11.0, 11.1, 10.9)))
    found = shift(base, new, Scale(relative=False, between=5.0))
    assert (found.unit, found.base, found.new) == ("recording", 3, 3)
    assert found.shift == pytest.approx(1.0)
    # s = 0.1, t with four degrees of freedom
    assert found.half == pytest.approx(2.7764451 * 0.1 * math.sqrt(2 / 3))


def test_three_recordings_of_the_baseline_say_how_much_recordings_differ() -> None:
    steps = [100.0, 100.2, 99.9, 100.1, 100.0]
    alike = [steps, [1.001 * each for each in steps], [0.999 * each for each in steps]]
    apart = [steps, [1.03 * each for each in steps], [0.97 * each for each in steps]]
    halves = [shift(base, [steps], STEPS).between for base in ([steps], alike, apart)]
    assert halves[0] == 0.01
    assert halves[1] == pytest.approx(0.003)
    assert halves[2] == pytest.approx(0.044, abs=0.001)


def of(low: float, middle: float, high: float) -> Shift:
    return Shift(middle, low, high, "step", 10, 10, 0.0, (high - low) / 2, 0.0)


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ((0.01, 0.04, 0.07), "regressed"),
        ((0.01, 0.02, 0.029), "unchanged"),
        ((0.01, 0.02, 0.04), "inconclusive"),
        ((-0.01, 0.04, 0.07), "inconclusive"),
        ((-0.01, 0.0, 0.01), "unchanged"),
        ((-0.07, -0.04, -0.01), "improved"),
        ((-0.07, -0.04, 0.01), "unchanged"),
    ],
)
def test_verdicts(bounds: tuple[float, float, float], said: str) -> None:
    assert verdict(of(*bounds), 0.03) == said


def test_what_would_decide_does() -> None:
    open_ = of(-0.04, 0.01, 0.06)
    found = needed(open_, 0.03)
    assert found is not None
    assert found.steps == math.ceil(10 * (0.05 / 0.02) ** 2)
    assert detectable(open_) == pytest.approx(0.05 * 2.8 / 1.96, rel=1e-3)


@pytest.mark.parametrize(
    ("correlated", "between", "percents"),
    [(0.0, 0.0, (3, 4, 4)), (0.5, 0.0, (17, 22, 23)), (0.0, 0.01, (16, 34, 63))],
    ids=["independent", "correlated", "recordings differ"],
)
def test_false_positives_of_the_plain_test(correlated: float, between: float, percents: tuple[int, int, int]) -> None:
    """Why the corrections are needed: none is made here."""
    for steps, percent in zip((5, 10, 20), percents, strict=True):

        def differs(random: np.random.Generator, steps: int = steps) -> bool:
            base, new = (recording(random, "steady", steps, correlated, between) for _ in range(2))
            _, lower, upper = hodges_lehmann(base, new)
            return lower is not None and upper is not None and (lower > 0 or upper < 0)

        assert is_near(shares(differs, steps), percent, 500)


@pytest.mark.parametrize(
    ("name", "percents"),
    [
        ("steady", (0, 0, 2, 3, 11)),
        ("spikes", (0, 1, 2, 3, 9)),
        ("host", (1, 4, 2, 4, 4)),
        ("starved", (1, 3, 1, 4, 1)),
    ],
)
def test_the_gate_seldom_fails_without_reason(name: str, percents: tuple[int, ...]) -> None:
    """Ten steps of each side, threshold 3 %: independent, correlated, recordings that differ, both, and by more."""
    programs = ((0.0, 0.0), (0.5, 0.0), (0.0, 0.01), (0.5, 0.01), (0.0, 0.02))
    for seed, ((correlated, between), percent) in enumerate(zip(programs, percents, strict=True)):

        def fails(random: np.random.Generator, correlated: float = correlated, between: float = between) -> bool:
            base, new = (np.exp(recording(random, name, 10, correlated, between)) for _ in range(2))
            return verdict(shift([base], [new], STEPS), 0.03) == "regressed"

        assert is_near(shares(fails, seed), percent, 2000)


#: regressed, unchanged and inconclusive in percent, of changes in percent: of each number of steps
VERDICTS: dict[tuple[str, int], dict[int, tuple[int, int, int]]] = {
    ("steady", 0): {4: (2, 24, 74), 5: (1, 25, 74), 10: (2, 35, 63), 20: (2, 47, 52)},
    ("steady", 5): {4: (51, 0, 49), 5: (52, 0, 48), 10: (73, 0, 27), 20: (84, 0, 16)},
    ("steady", 10): {4: (94, 0, 6), 5: (96, 0, 4), 10: (100, 0, 0), 20: (100, 0, 0)},
    ("spikes", 5): {4: (29, 1, 71), 5: (26, 0, 73), 10: (51, 0, 48), 20: (72, 0, 28)},
    ("spikes", 10): {4: (46, 0, 53), 5: (41, 0, 59), 10: (69, 0, 31), 20: (93, 0, 7)},
    ("host", 5): {4: (12, 1, 87), 5: (12, 1, 87), 10: (23, 1, 76), 20: (38, 0, 62)},
    ("host", 10): {4: (28, 0, 72), 5: (30, 0, 70), 10: (53, 0, 46), 20: (77, 0, 23)},
}

#: median half-width of the interval in percent, of each number of steps
HALF_WIDTHS = {
    "steady": {4: 4.8, 5: 4.6, 10: 3.6, 20: 3.1},
    "spikes": {4: 21, 5: 25, 10: 8.4, 20: 3.6},
    "host": {4: 16, 5: 15, 10: 8.9, 20: 6.3},
}


@pytest.mark.parametrize(("name", "change"), VERDICTS)
def test_what_the_gate_says(name: str, change: int) -> None:
    """With an autocorrelation of 0.3 and recordings that differ by 1 %."""
    for steps, percents in VERDICTS[name, change].items():
        random = np.random.default_rng(steps)
        said: list[str] = []
        halves: list[float | None] = []
        for _ in range(REPETITIONS):
            base, new = (np.exp(recording(random, name, steps, 0.3, 0.01)) for _ in range(2))
            shifted = shift([base], [new * (1 + change / 100)], STEPS)
            halves.append(shifted.half)
            found = verdict(shifted, 0.03)
            said.append("inconclusive" if found == "improved" else found)
        for word, percent in zip(("regressed", "unchanged", "inconclusive"), percents, strict=True):
            share = 100 * said.count(word) / REPETITIONS
            assert is_near(share, percent, 2000), (steps, word, share, percent)
        # a median is between these order statistics: three standard errors
        far = 1.5 / math.sqrt(REPETITIONS)
        low, high = 100 * np.quantile(np.array(halves, float), (0.5 - far, 0.5 + far))
        assert low - 2 <= HALF_WIDTHS[name][steps] <= high + 2


@pytest.mark.parametrize(
    ("name", "recordings", "percents"),
    [("steady", 3, (0.1, 92, 100)), ("spikes", 3, (0.3, 65, 84)), ("host", 3, (1.7, 33, 78))],
)
def test_several_recordings_find_more(name: str, recordings: int, percents: tuple[float, float, float]) -> None:
    """Ten steps of each with an autocorrelation of 0.3, without a change, 5 % and 10 %."""
    for seed, (change, percent) in enumerate(zip((0.0, 0.05, 0.1), percents, strict=True)):

        def fails(random: np.random.Generator, change: float = change) -> bool:
            base, new = (
                [np.exp(recording(random, name, 10, 0.3, 0.01) + more).tolist() for _ in range(recordings)]
                for more in (0.0, change)
            )
            return verdict(shift(base, new, STEPS), 0.03) == "regressed"

        assert is_near(shares(fails, seed, 150), percent, 500, 150)
