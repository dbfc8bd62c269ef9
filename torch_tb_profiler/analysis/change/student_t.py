"""Student's distribution, for intervals and tests of means."""

from __future__ import annotations

from math import erfc, exp, lgamma, log, log1p, pi, sqrt

#: degrees of freedom from which on it is told apart from the normal distribution by nothing that is shown
_AS_NORMAL = 1e7
#: of the quantile: 7 to 9 for usual values, and one for each doubling of a far one
_MOST_STEPS = 500
#: a step shorter than this part of t is the last: the error that is left is about its square
_LITTLE = 1e-8
#: of the continued fraction below; it needs far fewer
_MOST_ROUNDS = 500
_LEAST = 1e-300


def upper_tail(t: float, freedom: float) -> float:
    """P(T > t) of Student's distribution; with infinitely many degrees of freedom of the normal one.

    >>> round(upper_tail(2.0, 10), 6), round(upper_tail(-1.0, 3), 6), round(upper_tail(1.959964, 1e9), 6)
    (0.036694, 0.804499, 0.025)
    """
    if freedom > _AS_NORMAL:
        return _normal_tail(t)
    tail = 0.5 * _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))
    return tail if t >= 0 else 1 - tail


def quantile(p: float, freedom: float) -> float:
    """t ≥ 0 with P(T > t) = p, 0 < p ≤ 0.5, by Newton's method.

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
    """The regularised incomplete beta function, by Lentz's continued fraction."""
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
    found = d
    for m in range(1, _MOST_ROUNDS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            d = 1 / kept(1 + term * d)
            c = kept(1 + term / c)
            found *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return found
