"""Moderated t: variances of many names shrunk towards a common one, so that few steps are enough.

Smyth, Linear models and empirical Bayes methods, 2004 (`limma`); tests beyond a floor: McCarthy and Smyth, 2009
(`treat`); false discovery rate: Benjamini and Hochberg, 1995.
"""

from __future__ import annotations

from math import exp, inf, log, sqrt

import msgspec
import numpy as np

from torch_tb_profiler.analysis.change.student_t import upper_tail
from torch_tb_profiler.arrays.types import Float64

#: of the iteration below; it needs far fewer
_MOST_ROUNDS = 500


def digamma(x: float) -> float:
    """ψ(x), x > 0: recurrence up to 12, then the asymptotic series.

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
    """ψ'(x), x > 0.

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
    """x with ψ'(x) = value > 0, by Newton's method on 1/ψ', which is nearly a line.

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
    """variance: shape (n,), each with so many degrees of freedom. One alone is kept as it is, and variances of 0 are
    left out of the common one.
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
    """Shape (n,): p of a shift as large where the true one is at most `floor`; error: its standard error."""
    found = [
        upper_tail((abs(d) - floor) / e, freedom) + upper_tail((abs(d) + floor) / e, freedom)
        if e > 0
        else float(abs(d) <= floor)
        for d, e in zip(shift.tolist(), error.tolist(), strict=True)
    ]
    return np.minimum(np.array(found, np.float64), 1.0)


def adjusted(p: Float64) -> Float64:
    """Shape (n,): q of each p, the least false discovery rate at which it is found.

    >>> adjusted(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    n = len(p)
    order = np.argsort(-p, kind="stable")
    scaled = p[order] * n / np.arange(n, 0, -1)
    found = np.empty(n, np.float64)
    found[order] = np.minimum(np.minimum.accumulate(scaled), 1.0)
    return found
