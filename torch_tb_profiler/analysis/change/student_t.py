"""Student's distribution, for intervals and tests of means."""

from __future__ import annotations

from math import erfc, exp, lgamma, log, log1p, sqrt

#: of the continued fraction below; it needs far fewer
_MOST_ROUNDS = 500
_LEAST = 1e-300


def upper_tail(t: float, freedom: float) -> float:
    """P(T > t) of Student's distribution; with infinitely many degrees of freedom of the normal one.

    >>> round(upper_tail(2.0, 10), 6), round(upper_tail(-1.0, 3), 6), round(upper_tail(1.959964, 1e9), 6)
    (0.036694, 0.804499, 0.025)
    """
    if freedom > 1e7:
        return _normal_tail(t)
    tail = 0.5 * _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))
    return tail if t >= 0 else 1 - tail


def quantile(p: float, freedom: float) -> float:
    """t ≥ 0 with P(T > t) = p, 0 < p ≤ 0.5, by bisection.

    >>> round(quantile(0.025, 8), 4)
    2.306
    """
    low, high = 0.0, 1.0
    while upper_tail(high, freedom) > p and high < 1e12:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if upper_tail(middle, freedom) > p else (low, middle)
    return (low + high) / 2


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
