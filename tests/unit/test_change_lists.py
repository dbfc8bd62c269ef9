"""Lists of names with a false discovery rate: the figures that were promised, by simulation, and hand-made cases."""

from __future__ import annotations

from math import inf, log, sqrt

import numpy as np
import pytest

from torch_tb_profiler.analysis.change.name_lists import FLOOR, ChangedName, SideOfName, name_list
from torch_tb_profiler.analysis.change.statistics import (
    adjusted,
    beyond,
    inverse_trigamma,
    moderated,
    quantile,
    trigamma,
    upper_tail,
)

NAMES, CHANGED = 200, 20
STEP = 1e9


def side(ns: np.ndarray, calls: int = 1) -> SideOfName:
    return SideOfName(np.round(ns).astype(np.int64), np.full(len(ns), calls))


def simulated(random: np.random.Generator, steps: int, effect: float, between: float) -> tuple[int, int, int]:
    """False and true discoveries, and names that were not tested: a list of 200 names of which 20 changed.

    Their spread is log-normal (median 0.4 %, 90 % below 1.3 %), the noise Student's with 4 degrees of freedom, and each
    name shifts between the recordings by N(0, between).
    """
    spread = 0.004 * np.exp(random.normal(0, log(1.3 / 0.4) / 1.2816, NAMES))
    true = np.zeros(NAMES)
    true[:CHANGED] = log(1 + effect)
    before, after = (
        np.exp(shift[:, None] + spread[:, None] * random.standard_t(4, (NAMES, steps)) / sqrt(2)) * STEP / 100
        for shift in (np.zeros(NAMES), true + random.normal(0, between, NAMES))
    )
    names = [f"kernel{at:03}" for at in range(NAMES)]
    found = name_list(
        dict(zip(names, map(side, before), strict=True)), dict(zip(names, map(side, after), strict=True)), (STEP, STEP)
    )
    hits = {each.name for each in found.names if each.verdict in ("slower", "faster")}
    right = len(hits & set(names[:CHANGED]))
    return len(hits) - right, right, sum(each.verdict == "untested" for each in found.names)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("steps", "between", "false", "rate", "power"),
    [(5, 0.005, 0.1, 0.004, 0.90), (10, 0.005, 0.1, 0.005, 0.95), (5, 0.0, 0.0, 0.0, 0.98)],
)
def test_few_false_discoveries_and_enough_power(
    steps: int, between: float, false: float, rate: float, power: float
) -> None:
    random = np.random.default_rng(7)
    lists = [simulated(random, steps, 0.05, between) for _ in range(60)]
    assert sum(untested for *_, untested in lists) == 0
    wrong, right = (sum(each[at] for each in lists) for at in (0, 1))
    assert wrong / len(lists) <= false + 0.25
    assert wrong / max(wrong + right, 1) <= rate + 0.02
    assert right / (CHANGED * len(lists)) == pytest.approx(power, abs=0.05)


def test_nothing_is_found_where_nothing_changed() -> None:
    random = np.random.default_rng(11)
    lists = [simulated(random, 5, 0.0, 0.005) for _ in range(30)]
    assert sum(wrong + right for wrong, right, _ in lists) <= 6


def one(before: list[int], after: list[int], calls: tuple[int, int] = (1, 1), step: float = 1e6) -> ChangedName:
    a = {"x": SideOfName(np.array(before), np.full(len(before), calls[0]))} if before else {}
    b = {"x": SideOfName(np.array(after), np.full(len(after), calls[1]))} if after else {}
    (found,) = name_list(a, b, (step, step)).names
    return found


STEADY = [10_000, 10_010, 9_990, 10_005, 9_995]


def test_verdicts() -> None:
    slower = [round(1.06 * ns) for ns in STEADY]
    found = one(STEADY, slower)
    assert found.verdict == "slower"
    assert found.shift == pytest.approx(0.06, abs=1e-3)
    assert found.low is not None
    assert found.high is not None
    assert FLOOR < found.low < found.shift < found.high
    assert one(slower, STEADY).verdict == "faster"
    assert one(STEADY, STEADY[::-1]).verdict == "unchanged"
    assert one(STEADY, [round(ns * (1 + 0.1 * (-1) ** at)) for at, ns in enumerate(STEADY)]).verdict == "unclear"
    assert one(STEADY, []).verdict == "gone"
    assert one([], STEADY).verdict == "new"


def test_below_the_floor_is_no_change() -> None:
    # highly significant, and of no interest
    found = one(STEADY, [round(1.01 * ns) for ns in STEADY])
    assert found.verdict == "unchanged"
    assert found.low is not None
    assert found.low > 0


def test_too_few_steps_have_no_verdict() -> None:
    found = one(STEADY[:3], [2 * ns for ns in STEADY[:3]])
    assert found.verdict == "untested"
    assert (found.shift, found.low, found.high, found.q) == (None, None, None, None)
    assert one([*STEADY, 0], STEADY).verdict == "untested"


def test_changed_calls_are_a_fact_of_steady_steps() -> None:
    assert one(STEADY, STEADY, (4, 5)).calls_changed
    assert not one(STEADY, STEADY, (4, 4)).calls_changed
    assert one(STEADY, [], (4, 0)).calls_changed
    uneven = {"x": SideOfName(np.array(STEADY), np.array([1, 2, 1, 2, 1]))}
    even = {"x": SideOfName(np.array(STEADY), np.array([3, 3, 3, 3, 3]))}
    assert not name_list(uneven, even, (1e6, 1e6)).names[0].calls_changed


def test_small_names_are_one_row() -> None:
    steps = np.array(STEADY)
    sides = {"large": SideOfName(steps, steps // steps), "small": SideOfName(steps // 100, steps // steps)}
    found = name_list(sides, sides, (1e6, 1e6))
    assert [each.name for each in found.names] == ["large"]
    assert found.smaller == 1
    assert found.before_ns == pytest.approx(float((steps // 100).mean()))
    assert name_list({}, {}, (1.0, 1.0)).names == ()


def test_known_values() -> None:
    # tables of Student's distribution
    for freedom, t in ((1, 12.706), (4, 2.776), (30, 2.042), (inf, 1.960)):
        assert quantile(0.025, freedom) == pytest.approx(t, abs=5e-4)
        assert upper_tail(t, freedom) == pytest.approx(0.025, abs=5e-5)
    assert upper_tail(-3, 7) == pytest.approx(1 - upper_tail(3, 7))
    for p in (0.5, 0.4, 0.025, 1e-4, 1e-12):
        for freedom in (0.5, 1, 2, 7.3, 79, 1e6, inf):
            assert upper_tail(quantile(p, freedom), freedom) == pytest.approx(p, rel=1e-6)
    for x in (1e-9, 0.01, 0.7, 3.0, 250.0, 1e7):
        assert inverse_trigamma(trigamma(x)) == pytest.approx(x, rel=1e-5)
    assert adjusted(np.array([])).tolist() == []
    assert beyond(np.array([0.0, 1.0]), np.array([0.0, 0.0]), 5, 0.1).tolist() == [1.0, 0.0]


def test_variances_are_shrunk_towards_the_common_one() -> None:
    random = np.random.default_rng(3)
    true = 1 / random.gamma(4, 1, 4000)
    seen = true * random.chisquare(6, 4000) / 6
    found = moderated(seen, 6)
    # 1 / Γ(4, 1) is 8 degrees of freedom: those, and the six of each
    assert found.freedom == pytest.approx(14, rel=0.2)
    assert np.abs(np.log(found.variance / true)).mean() < 0.75 * np.abs(np.log(seen / true)).mean()
    alike = moderated(random.chisquare(6, 4000) / 6, 6)
    assert np.ptp(alike.variance) < 0.2
    assert moderated(np.array([2.0]), 6).freedom == 6
