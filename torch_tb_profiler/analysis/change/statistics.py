"""Distributions and tests behind intervals: Student's t, Mann–Whitney's U, Fisher's exact test, moderated t.

Moderated t shrinks the variances of many names towards a common one, so that few steps are enough: Smyth, Linear models
and empirical Bayes methods, 2004 (`limma`); tests beyond a floor: McCarthy and Smyth, 2009 (`treat`); false discovery
rate: Benjamini and Hochberg, 1995.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import erfc, exp, inf, lgamma, log, log1p, pi, sqrt

import msgspec
import numpy as np

from torch_tb_profiler.arrays.types import Float64

#: from so many degrees of freedom on, no shown digit differs from the normal distribution
_AS_NORMAL = 1e7
#: of the quantile: 7 to 9 for usual values, and one for each doubling of a far one
_MOST_STEPS = 500
#: a step shorter than this part of t is the last: the error that is left is about its square
_LITTLE = 1e-8
#: of the continued fraction below; it needs far fewer
_MOST_TERMS = 500
_LEAST = 1e-300


def upper_tail(t: float, freedom: float) -> float:
    """Return P(T > t) of Student's distribution; with infinitely many degrees of freedom, of the normal one.

    >>> round(upper_tail(2.0, 10), 6), round(upper_tail(-1.0, 3), 6), round(upper_tail(1.959964, 1e9), 6)
    (0.036694, 0.804499, 0.025)
    """
    if freedom > _AS_NORMAL:
        return _normal_tail(t)
    tail = 0.5 * _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))
    return tail if t >= 0 else 1 - tail


def quantile(p: float, freedom: float) -> float:
    """Return t ≥ 0 with P(T > t) = p, 0 < p ≤ 0.5, by Newton's method.

    The tail is convex from 0 on, so that each tangent meets p before the tail does: no step is too long.

    >>> round(quantile(0.025, 8), 4)
    2.306
    """
    t = 0.0
    for _ in range(_MOST_STEPS):
        step = (upper_tail(t, freedom) - p) / _density(t, freedom)
        t += step
        if step <= _LITTLE * t:
            break
    return t


def _density(t: float, freedom: float) -> float:
    if freedom > _AS_NORMAL:
        return exp(-t * t / 2) / sqrt(2 * pi)
    front = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) / sqrt(pi * freedom)
    return front * exp(-(freedom + 1) / 2 * log1p(t * t / freedom))


def _normal_tail(t: float) -> float:
    return 0.5 * erfc(t / sqrt(2))


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """Evaluate the regularised incomplete beta function, by Lentz's continued fraction."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    def kept(value: float) -> float:
        return value if abs(value) > _LEAST else _LEAST

    c, d = 1.0, 1 / kept(1 - (a + b) * x / (a + 1))
    product = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / kept(1 + term * d)
            c = kept(1 + term / c)
            product *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return product


#: a side with more values has the normal approximation of U
MOST_EXACT = 50

#: two-sided level of every interval, and its quantile of the normal distribution
LEVEL = 0.05
Z = 1.959963984540054


def u_counts(first: int, second: int, most: int) -> list[int]:
    """Count the orderings of two samples of sizes `first` and `second` that have U = 0 … most.

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
    """Return which of the sorted differences, from 1 at either end, bound the interval of the shift; 0 for none.

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
    """Return the probability of so many or more cases in `new` if they are as likely on both sides; each: cases, and
    all.

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


#: of the iteration below; it needs far fewer
_MOST_ROUNDS = 500


def digamma(x: float) -> float:
    """Evaluate ψ(x), x > 0: recurrence up to 12, then the asymptotic series.

    >>> round(digamma(1.0), 10)
    -0.5772156649
    """
    total = 0.0
    while x < 12:
        total -= 1 / x
        x += 1
    y = 1 / (x * x)
    return total + log(x) - 0.5 / x - y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y / 132))))


def trigamma(x: float) -> float:
    """Evaluate ψ'(x), x > 0.

    >>> round(trigamma(1.0), 10)
    1.6449340668
    """
    total = 0.0
    while x < 12:
        total += 1 / (x * x)
        x += 1
    y = 1 / (x * x)
    series = y * (1 / 6 - y * (1 / 30 - y * (1 / 42 - y * (1 / 30 - y * 5 / 66))))
    return total + 1 / x + y / 2 + series / x


def inverse_trigamma(value: float) -> float:
    """Solve ψ'(x) = value > 0, by Newton's method on 1/ψ', which is nearly a line.

    >>> round(inverse_trigamma(trigamma(3.5)), 9)
    3.5
    """
    if value > 1e7:
        return 1 / sqrt(value)
    if value < 1e-6:
        return 1 / value
    x = 0.5 + 1 / value
    for _ in range(_MOST_ROUNDS):
        found = trigamma(x)
        h = 1e-5 * x
        slope = (trigamma(x + h) - trigamma(x - h)) / (2 * h)
        step = found * (1 - found / value) / slope
        x += step
        if abs(step) < 1e-10 * x:
            break
    return x


class Moderated(msgspec.Struct, frozen=True):
    """Variances shrunk towards a common one.

    variance  shape (n,)
    freedom   degrees of freedom of each, those of the common variance included; may be infinite
    """

    variance: Float64
    freedom: float


def moderated(variance: Float64, freedom: int) -> Moderated:
    """Shrink variances, shape (n,), each with `freedom` degrees of freedom. One alone is kept as it is, and variances
    of 0 are left out of the common one.
    """
    known = variance[variance > 0]
    if len(known) < 2:
        return Moderated(variance, float(freedom))
    half = freedom / 2
    z = np.log(known) - digamma(half) + log(half)
    spread = float(z.var(ddof=1)) - trigamma(half)
    if spread > 0:
        prior = 2 * inverse_trigamma(spread)
        common = exp(float(z.mean()) + digamma(prior / 2) - log(prior / 2))
        return Moderated((prior * common + freedom * variance) / (prior + freedom), prior + freedom)
    return Moderated(np.full(len(variance), exp(float(z.mean()))), inf)


def beyond(shift: Float64, error: Float64, freedom: float, floor: float) -> Float64:
    """Return shape (n,): p of a shift as large where the true one is at most `floor`; error: its standard error."""
    found = [
        upper_tail((abs(d) - floor) / e, freedom) + upper_tail((abs(d) + floor) / e, freedom)
        if e > 0
        else float(abs(d) <= floor)
        for d, e in zip(shift.tolist(), error.tolist(), strict=True)
    ]
    return np.minimum(np.array(found, np.float64), 1.0)


def adjusted(p: Float64) -> Float64:
    """Return shape (n,): q of each p, the least false discovery rate at which it is significant.

    >>> adjusted(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    n = len(p)
    order = np.argsort(-p, kind="stable")
    scaled = p[order] * n / np.arange(n, 0, -1)
    found = np.empty(n, np.float64)
    found[order] = np.minimum(np.minimum.accumulate(scaled), 1.0)
    return found
