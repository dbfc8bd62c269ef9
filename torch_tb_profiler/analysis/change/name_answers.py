"""Names that changed, as they are told: operators and kernels, each tested for a change beyond 2 %."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count, Fraction, FractionChange, NsMean
from torch_tb_profiler.analysis.change.lists import ListVerdict, NameChange, NameList

#: of a mean step
CallsMean = Annotated[float, Meta(ge=0, description="how often in a mean step")]


class ChangedName(msgspec.Struct, frozen=True, kw_only=True):
    """A name on both sides, tested for a change beyond 2 %.

    name           of the operator or kernel
    before_ns      of a mean step of the baseline
    exp_ns         the same of the experiment
    calls          how often in a mean step of the baseline
    exp_calls      how often in a mean step of the experiment
    calls_changed  whether each side has the same number of calls in all steps, and the other side another: a fact
    shift          relative change of the typical time per step, 0.05 is 5 % more; null if it was not tested
    low            lower bound of its 95 % interval
    high           upper bound
    q              least false discovery rate at which a change beyond 2 % is shown
    verdict        slower, faster, unchanged (the interval is within ± 2 %), unclear, new, gone, or untested (fewer than
                   four steps, or one in which it did nothing)
    """

    name: str
    before_ns: NsMean
    exp_ns: NsMean
    calls: CallsMean
    exp_calls: CallsMean
    calls_changed: bool
    shift: FractionChange | None
    low: FractionChange | None
    high: FractionChange | None
    q: Fraction | None
    verdict: ListVerdict


class ChangedNames(msgspec.Struct, frozen=True, kw_only=True):
    """Names with 0.2 % of a step on a side, the largest change first.

    names      of each what changed
    smaller    how many others there are
    before_ns  what those have of a mean step of the baseline, together
    exp_ns     the same of the experiment
    """

    names: Sequence[ChangedName]
    smaller: Count
    before_ns: NsMean
    exp_ns: NsMean


def changed_names(found: NameList) -> ChangedNames:
    return ChangedNames(
        names=[_name(each) for each in found.names],
        smaller=found.smaller,
        before_ns=found.before,
        exp_ns=found.after,
    )


def _name(each: NameChange) -> ChangedName:
    return ChangedName(
        name=each.name,
        before_ns=each.before,
        exp_ns=each.after,
        calls=each.calls,
        exp_calls=each.exp_calls,
        calls_changed=each.calls_changed,
        shift=each.shift,
        low=each.low,
        high=each.high,
        q=each.q,
        verdict=each.verdict,
    )
