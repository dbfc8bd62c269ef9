"""The verdict on a shift (regressed, improved, unchanged or inconclusive), and how much more data would decide it."""

from __future__ import annotations

import math
from typing import Literal

import msgspec

from torch_tb_profiler.analysis.answer import Count
from torch_tb_profiler.analysis.change.rank_test import Z
from torch_tb_profiler.analysis.change.shift import LEAST_RECORDINGS, POWER_FACTOR, Shift

Verdict = Literal["regressed", "improved", "unchanged", "inconclusive", "unknown"]

#: more than these would be no advice
MOST_STEPS, MOST_RECORDINGS = 10_000, 100


class Need(msgspec.Struct, frozen=True, kw_only=True):
    """What would decide, if the change stays what it seems to be.

    steps       on each side, with as many recordings as there are; null if no number of steps can
    recordings  on each side, with as many steps as there are; null if too many
    """

    steps: Count | None
    recordings: Count | None


def verdict(found: Shift, threshold: float) -> Verdict:
    """Unknown without an interval. threshold: above 0, on the scale of the shift, so a logarithm for ratios.

    regressed      more for certain, and by the threshold or more as far as is known
    improved       the mirror image
    unchanged      for certain no rise by the threshold
    inconclusive   none of these can be said
    """
    if found.shift is None or found.lower is None or found.upper is None:
        return "unknown"
    if found.lower > 0 and found.shift >= threshold:
        return "regressed"
    if found.upper < 0 and found.shift <= -threshold:
        return "improved"
    return "unchanged" if found.upper < threshold else "inconclusive"


def detectable(found: Shift) -> float | None:
    """The smallest change that such data show in 80 of 100 cases, on the scale of the shift; None without interval."""
    return None if found.half is None else POWER_FACTOR * found.half


def needed(found: Shift, threshold: float) -> Need | None:
    """How much data would decide; None if none can. Half-widths shrink with the square root of the number of values.

    A change as large as the threshold must differ from 0, a smaller one from the threshold.
    """
    if found.within is None or found.shift is None:
        return None
    allowed = found.shift if found.shift >= threshold else threshold - found.shift
    if allowed <= 0:
        return None
    fewest = min(found.base, found.new)
    per_value = found.within * math.sqrt(fewest)
    if found.unit == "recording":
        return Need(steps=None, recordings=_most(math.ceil((per_value / allowed) ** 2), fewest + 1, MOST_RECORDINGS))
    left = allowed**2 - 2 * (Z * found.between) ** 2
    steps = _most(math.ceil(per_value**2 / left), fewest + 1, MOST_STEPS) if left > 0 else None
    # of a recording its median, which varies between recordings and with its steps
    spread = math.sqrt(2 * (Z * found.between) ** 2 + found.within**2)
    return Need(steps=steps, recordings=_most(math.ceil((spread / allowed) ** 2), LEAST_RECORDINGS, MOST_RECORDINGS))


def _most(number: int, least: int, most: int) -> int | None:
    return max(number, least) if number <= most else None
