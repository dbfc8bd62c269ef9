"""Which operators and kernels changed by more than a floor, at a false discovery rate; which changed their calls.

"Different from 0" is the wrong question: between two recordings of one program every kernel shifts by some tenths of a
percent, and enough steps show that as significant. So the test is of a change beyond 2 %.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import exp, log
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count, Fraction, FractionChange, NsMean
from torch_tb_profiler.analysis.change.figures import RecordingFigures
from torch_tb_profiler.analysis.change.shares import TimesOfName
from torch_tb_profiler.analysis.change.statistics import adjusted, beyond, moderated, quantile
from torch_tb_profiler.arrays.types import Float64, Int64

#: a change below this is none, relatively
FLOOR = 0.02
#: false discovery rate
RATE = 0.05
#: names with less of a step on both sides are not tested, but put together
LEAST_SHARE = 0.002
#: steps of a side, for a test
LEAST_STEPS = 4
#: of the interval
_CONFIDENCE = 0.95

#: unchanged: the whole interval is within the floor · unclear: it is not, and no change beyond the floor was shown ·
#: new, gone: on one side only · untested: too few steps, or a step in which it did nothing
ListVerdict = Literal["slower", "faster", "unchanged", "unclear", "new", "gone", "untested"]


#: of a mean step
CallsMean = Annotated[float, Meta(ge=0, description="how often in a mean step")]


class SideOfName(msgspec.Struct, frozen=True):
    """What one name did in each step that counts, of all recordings of a side one after the other.

    ns, calls  shape (steps,)
    """

    ns: Int64
    calls: Int64


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

    names: tuple[ChangedName, ...]
    smaller: Count
    before_ns: NsMean
    exp_ns: NsMean


def name_list(
    before: Mapping[str, SideOfName], after: Mapping[str, SideOfName], step_ns: tuple[float, float]
) -> ChangedNames:
    """Test all names of both sides. step_ns: the mean step of each; a name without any entry did not occur."""
    names = sorted({*before, *after})
    large = [
        name for name in names if _is_large(before.get(name), step_ns[0]) or _is_large(after.get(name), step_ns[1])
    ]
    small = sorted({*names} - {*large})
    tested = [name for name in large if _can_be_tested(before.get(name)) and _can_be_tested(after.get(name))]
    results = dict(zip(tested, _tests([(before[name], after[name]) for name in tested]), strict=True))
    found = [_change(name, before.get(name), after.get(name), results.get(name)) for name in large]
    found.sort(key=lambda each: (-abs(each.exp_ns - each.before_ns), each.name))
    sums = [sum(_mean(side.get(name), _time) for name in small) for side in (before, after)]
    return ChangedNames(names=tuple(found), smaller=len(small), before_ns=sums[0], exp_ns=sums[1])


class _Test(msgspec.Struct, frozen=True):
    shift: float
    low: float
    high: float
    q: float


def _tests(pairs: Sequence[tuple[SideOfName, SideOfName]]) -> list[_Test]:
    """Test pairs, which all have as many steps."""
    if not pairs:
        return []
    a, b = (np.log(np.stack([side.ns for side in sides])) for sides in zip(*pairs, strict=True))
    shift, error, freedom = _shifts(a, b)
    q = adjusted(beyond(shift, error, freedom, log(1 + FLOOR)))
    half = quantile((1 - _CONFIDENCE) / 2, freedom) * error
    columns = zip(shift.tolist(), half.tolist(), q.tolist(), strict=True)
    return [_Test(exp(d) - 1, exp(d - h) - 1, exp(d + h) - 1, each) for d, h, each in columns]


def _shifts(a: Float64, b: Float64) -> tuple[Float64, Float64, float]:
    """Return the difference of the means of each row, its standard error by moderated variances, and their degrees of
    freedom.
    """
    n, m = a.shape[1], b.shape[1]
    freedom = n + m - 2
    pooled = (
        ((a - a.mean(axis=1, keepdims=True)) ** 2).sum(axis=1) + ((b - b.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    ) / freedom
    found = moderated(pooled, freedom)
    return b.mean(axis=1) - a.mean(axis=1), np.sqrt(found.variance * (1 / n + 1 / m)), found.freedom


def _change(name: str, a: SideOfName | None, b: SideOfName | None, test: _Test | None) -> ChangedName:
    return ChangedName(
        name=name,
        before_ns=_mean(a, _time),
        exp_ns=_mean(b, _time),
        calls=_mean(a, _calls),
        exp_calls=_mean(b, _calls),
        calls_changed=_calls_changed(a, b),
        shift=test.shift if test else None,
        low=test.low if test else None,
        high=test.high if test else None,
        q=test.q if test else None,
        verdict=_verdict(a, b, test),
    )


def _verdict(a: SideOfName | None, b: SideOfName | None, test: _Test | None) -> ListVerdict:
    if not _occurs(a) or not _occurs(b):
        return "new" if _occurs(b) else "gone"
    if test is None:
        return "untested"
    if test.q < RATE and abs(test.shift) > FLOOR:
        return "slower" if test.shift > 0 else "faster"
    return "unchanged" if test.low >= -FLOOR and test.high <= FLOOR else "unclear"


def _calls_changed(a: SideOfName | None, b: SideOfName | None) -> bool:
    """Return whether numbers of calls differ. Equal in all steps they need no test; a side without the name has 0."""
    found = [0 if side is None else int(side.calls[0]) for side in (a, b)]
    steady = all(side is None or bool((side.calls == side.calls[0]).all()) for side in (a, b))
    return steady and found[0] != found[1]


def _occurs(side: SideOfName | None) -> bool:
    return side is not None and bool(side.calls.any())


def _can_be_tested(side: SideOfName | None) -> bool:
    return side is not None and len(side.ns) >= LEAST_STEPS and bool((side.ns > 0).all())


def _is_large(side: SideOfName | None, step_ns: float) -> bool:
    return step_ns > 0 and _mean(side, _time) >= LEAST_SHARE * step_ns


def _mean(side: SideOfName | None, what: Callable[[SideOfName], Int64]) -> float:
    return 0.0 if side is None or not len(side.ns) else float(what(side).mean())


def _time(side: SideOfName) -> Int64:
    return side.ns


def _calls(side: SideOfName) -> Int64:
    return side.calls


class MovedName(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel or operator that changed, by more than 2 % or in its number of calls. Of the mean step.

    kind       kernel or operator
    name       its name
    owner      of a kernel: the operator, or whatever else launched most of it; null of an operator
    base_ns    in the baseline
    new_ns     in the new recordings
    change_ns  new − base
    base_calls calls in the baseline
    new_calls  calls in the new recordings
    change     of a typical step, relative, 0.05 is 5 % more; null if it was not tested
    lower      95 % interval of it
    upper      its other end
    q          the least false discovery rate at which a change beyond 2 % is shown; null if it was not tested
    verdict    slower, faster, new, gone, or of which only the number of calls says something
    """

    kind: Literal["kernel", "operator"]
    name: str
    owner: str | None
    base_ns: NsMean
    new_ns: NsMean
    change_ns: NsMean
    base_calls: Annotated[float, Meta(ge=0)]
    new_calls: Annotated[float, Meta(ge=0)]
    change: float | None
    lower: float | None
    upper: float | None
    q: Fraction | None
    verdict: ListVerdict


def moved_names(
    kind: Literal["kernel", "operator"], base: Sequence[RecordingFigures], new: Sequence[RecordingFigures]
) -> list[MovedName]:
    """List what changed beyond the floor, or in its number of calls, by the change of the mean step, the largest
    first.
    """
    sides = base, new
    on_devices = base[0].basis == "devices" and new[0].basis == "devices"
    before, after = (_names(kind, side, on_devices) for side in sides)
    steps = [mean([ns for figures in side for ns in figures.step_ns[figures.kept]]) for side in sides]
    owners = {named.name: named.owner for side in sides for figures in side for named in figures.kernels.names}
    moved = []
    for changed in name_list(before, after, (steps[0], steps[1])).names:
        if changed.verdict not in ("slower", "faster", "new", "gone") and not changed.calls_changed:
            continue
        moved.append(
            MovedName(
                kind=kind,
                name=changed.name,
                owner=owners.get(changed.name) if kind == "kernel" else None,
                base_ns=changed.before_ns,
                new_ns=changed.exp_ns,
                change_ns=changed.exp_ns - changed.before_ns,
                base_calls=changed.calls,
                new_calls=changed.exp_calls,
                change=changed.shift,
                lower=changed.low,
                upper=changed.high,
                q=changed.q,
                verdict=changed.verdict,
            )
        )
    return moved


def _names(kind: str, side: Sequence[RecordingFigures], on_devices: bool) -> dict[str, SideOfName]:
    """Collect every name in each step of all recordings; times are means over lanes."""
    tables = [{named.name: named for named in _table(kind, figures)} for figures in side]
    is_of_device = kind == "kernel" or on_devices
    by_name = {}
    for name in dict.fromkeys(name for table in tables for name in table):
        ns: list[int] = []
        calls: list[int] = []
        for figures, table in zip(side, tables, strict=True):
            named, nothing = table.get(name), [0] * len(figures.steps)
            lanes = figures.lanes if is_of_device else figures.ranks
            times = nothing if named is None else named.device_ns if is_of_device else named.host_ns
            ns += [round(value / lanes) for value in times[figures.kept]]
            calls += (nothing if named is None else named.calls)[figures.kept]
        by_name[name] = SideOfName(np.array(ns, np.int64), np.array(calls, np.int64))
    return by_name


def _table(kind: str, figures: RecordingFigures) -> Sequence[TimesOfName]:
    return (figures.kernels if kind == "kernel" else figures.operators).names


def mean(values: Iterable[float]) -> float:
    listed = list(values)
    return sum(listed) / len(listed) if listed else 0.0
