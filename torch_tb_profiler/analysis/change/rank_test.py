"""Distributions that intervals are made of: Mann–Whitney's U, and Fisher's exact test; Student's is in student_t.py."""

from __future__ import annotations

import math
from collections.abc import Sequence

#: a side with more values has the normal approximation of U
MOST_EXACT = 50

#: two-sided level of every interval, and its quantile of the normal distribution
LEVEL = 0.05
Z = 1.959963984540054


def u_counts(first: int, second: int, most: int) -> list[int]:
    """How many orderings of two samples of sizes `first` and `second` have U = 0 … most.

    The coefficients of the Gaussian binomial ∏ (1 − q^(second + i)) ÷ (1 − q^i), i = 1 … first.

    >>> u_counts(2, 2, 4)
    [1, 1, 2, 1, 1]
    """
    counts = [1] + [0] * most
    for i in range(1, first + 1):
        for u in range(most, second + i - 1, -1):
            counts[u] -= counts[u - second - i]
        for u in range(i, most + 1):
            counts[u] += counts[u - i]
    return counts


def order_statistic(first: int, second: int, level: float = LEVEL) -> int:
    """Which of the sorted differences, counted from 1 at either end, bound the interval of the shift; 0 for none.

    The largest k with P(U < k) ≤ level ÷ 2: so the interval holds the shift at least as often as it says.

    >>> order_statistic(5, 5), order_statistic(3, 3)
    (3, 0)
    """
    pairs = first * second
    if max(first, second) > MOST_EXACT:
        spread = math.sqrt(pairs * (first + second + 1) / 12)
        return max(math.floor(pairs / 2 + 0.5 - Z * spread), 0)
    allowed = level / 2 * math.comb(first + second, first)
    below = 0
    for k, count in enumerate(u_counts(first, second, pairs // 2)):
        below += count
        if below > allowed:
            return k
    return 0


def fisher_rise(base: Sequence[int], new: Sequence[int]) -> float:
    """Probability of so many or more cases in `new` when they are as likely on both sides; each: cases, and all.

    >>> round(fisher_rise((0, 10), (4, 10)), 4)
    0.0433
    """
    (few, before), (many, after) = base, new
    cases = few + many
    ways = sum(
        math.comb(after, x) * math.comb(before, cases - x)
        for x in range(many, min(after, cases) + 1)
        if cases - x <= before
    )
    return ways / math.comb(before + after, cases)
