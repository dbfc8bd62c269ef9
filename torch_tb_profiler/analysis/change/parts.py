"""The change of the mean step by cause, by what happened to each kernel and operator, and its headline. Exact.

All amounts are fractions, so that Σ parts = change holds to the nanosecond and below. Where they are shown they are
whole nanoseconds (`rounded`): what rounding leaves is in the largest.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Literal, get_args

import msgspec

from torch_tb_profiler.analysis.answer import Ns
from torch_tb_profiler.analysis.change.matching import How, WorkMatch, matches
from torch_tb_profiler.analysis.change.shares import Share, StepShares
from torch_tb_profiler.model.kernel_names.short import short_name

#: what happened to work. calls: more or fewer of them · speed: slower or faster · new, gone: on one side only ·
#: replaced: something else in its place
Kind = Literal["calls", "speed", "new", "gone", "replaced"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_ZERO = Fraction(0)
#: of the shares of both sides operators and kernels
_Names = tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]


class Amount(msgspec.Struct, frozen=True):
    """What one side has of some work, of the mean step. Times in ns.

    calls     per step
    exposed   of the time of the step
    full      whether hidden or not
    """

    calls: Fraction = _ZERO
    exposed: Fraction = _ZERO
    full: Fraction = _ZERO


class WorkChange(msgspec.Struct, frozen=True):
    """Some work on both sides, and what the change of its exposed time is made of, ns of the mean step.

    before, after          shares of both sides, as `names.matches` put them together; one may be empty
    how                    how both sides were found to belong together; None if one has nothing
    amounts                of both sides
    parts                  by kind; they add up to the change exactly
    """

    before: tuple[Share, ...]
    after: tuple[Share, ...]
    how: How | None
    amounts: tuple[Amount, Amount]
    parts: Mapping[Kind, Fraction]

    @property
    def change(self) -> Fraction:
        return self.amounts[1].exposed - self.amounts[0].exposed

    @property
    def main_kind(self) -> Kind:
        """The kind with the largest part; the first kind if nothing changed."""
        return max(self.parts, key=lambda kind: (abs(self.parts[kind]), -KINDS.index(kind)))


class CauseChange(msgspec.Struct, frozen=True):
    """A cause of the waterfall on both sides, ns of the mean step."""

    cause: str
    before: Fraction
    after: Fraction

    @property
    def change(self) -> Fraction:
        return self.after - self.before


class StepChange(msgspec.Struct, frozen=True):
    """The change of the mean step.

    before, after  the mean step of each side, ns
    causes         Σ change = after − before, exactly
    work           of each cause of work, Σ over `work` of what its shares have of the cause = the cause, on both sides;
                   the largest change first
    """

    before: Fraction
    after: Fraction
    causes: tuple[CauseChange, ...]
    work: tuple[WorkChange, ...]

    @property
    def change(self) -> Fraction:
        return self.after - self.before

    def kinds(self) -> dict[Kind, Fraction]:
        """Sum `work` by kind."""
        total: dict[Kind, Fraction] = dict.fromkeys(KINDS, _ZERO)
        for each in self.work:
            for kind, ns in each.parts.items():
                if ns:
                    total[kind] += ns
        return total

    def without_names(self) -> Fraction:
        """Return the change that is in no `work`: causes without kernels or operators."""
        return self.change - sum((each.change for each in self.work), _ZERO)


class MeanStep:
    """The recordings of one side, all their steps together."""

    def __init__(self, recordings: Sequence[StepShares]) -> None:
        steps = sum(recording.steps for recording in recordings)
        if not steps:
            raise ValueError("a side without steps has no mean step")
        self._weight = [Fraction(1, steps * recording.devices) for recording in recordings]
        #: of a share the place of its weight
        self._of: dict[int, int] = {}
        #: all amounts are multiples of 1 ÷ this
        self.parts_of_one = lcm(*(weight.denominator for weight in self._weight))
        self.step = Fraction(sum(recording.step_ns for recording in recordings), steps)
        self.causes: dict[str, Fraction] = defaultdict(Fraction)
        self.shares: list[Share] = []
        for place, (recording, weight) in enumerate(zip(recordings, self._weight, strict=True)):
            for cause, ns in recording.causes.items():
                self.causes[cause] += ns * weight
            for share in recording.shares:
                self._of[id(share)] = place
                self.shares.append(share)

    def amount(self, shares: Iterable[Share]) -> Amount:
        # whole numbers while the weight is the same: fractions take twenty times as long
        sums: dict[int, list[int]] = {}
        for share in shares:
            of = sums.setdefault(self._of[id(share)], [0, 0, 0])
            of[0] += share.calls
            of[1] += share.exposed_ns
            of[2] += share.full_ns
        if not sums:
            return Amount()
        first, *others = ([self._weight[place] * each for each in of] for place, of in sums.items())
        for other in others:
            first = [one + more for one, more in zip(first, other, strict=True)]
        return Amount(*first)


def step_change(before: Sequence[StepShares], after: Sequence[StepShares]) -> StepChange:
    """Take the change between two sides apart. Raises ValueError if a side has no recording with steps."""
    left, right = MeanStep(before), MeanStep(after)
    found = _joined(matches(left.shares, right.shares))
    work = [(_work(left, right, match), names) for names, match in found]
    parts_of_one = lcm(left.parts_of_one, right.parts_of_one)

    def largest_first(item: tuple[WorkChange, _Names]) -> tuple[int, _Names]:
        change = item[0].change
        return -abs(change.numerator) * (parts_of_one // change.denominator), item[1]

    work.sort(key=largest_first)
    causes = [
        CauseChange(cause, left.causes.get(cause, _ZERO), right.causes.get(cause, _ZERO))
        for cause in dict.fromkeys([*left.causes, *right.causes])
    ]
    return StepChange(
        left.step,
        right.step,
        tuple(sorted(causes, key=lambda each: (-abs(each.change), each.cause))),
        tuple(each for each, _ in work),
    )


def _names(shares: Iterable[Share]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted({(share.operator, share.kernel) for share in shares}))


def _joined(found: Iterable[WorkMatch]) -> list[tuple[_Names, WorkMatch]]:
    """Join matches of the same names (with other shapes, below other operators); with the names of both sides."""
    groups: dict[tuple[_Names, How | None], list[WorkMatch]] = defaultdict(list)
    for match in found:
        groups[(_names(match.before), _names(match.after)), match.how].append(match)
    return [
        (
            names,
            WorkMatch(
                tuple(share for match in same for share in match.before),
                tuple(share for match in same for share in match.after),
                how,
            ),
        )
        for (names, how), same in groups.items()
    ]


def _work(left: MeanStep, right: MeanStep, match: WorkMatch) -> WorkChange:
    a, b = left.amount(match.before), right.amount(match.after)
    return WorkChange(match.before, match.after, match.how, (a, b), _parts(match.how, a, b))


def _parts(how: How | None, a: Amount, b: Amount) -> dict[Kind, Fraction]:
    change = b.exposed - a.exposed
    if how is None:
        return {"gone" if a.calls else "new": change}
    if how not in ("name", "launch"):
        return {"replaced": change}
    if a.calls == b.calls:
        return {"calls": _ZERO, "speed": change}
    # midpoints of both sides: both parts add up without a rest
    each = a.exposed / a.calls, b.exposed / b.calls
    calls = (b.calls - a.calls) * (each[0] + each[1]) / 2
    return {"calls": calls, "speed": change - calls}


def rounded(amounts: Sequence[Fraction], total: Fraction | None = None) -> list[int]:
    """Round amounts so that they add up to their rounded sum (or `total`): the largest has what rounding leaves.

    >>> rounded([Fraction(1, 3), Fraction(1, 3), Fraction(7, 3)])
    [0, 0, 3]
    """
    found = [round(each) for each in amounts]
    if found:
        largest = max(range(len(found)), key=lambda at: (abs(amounts[at]), -at))
        found[largest] += round(sum(amounts, _ZERO) if total is None else total) - sum(found)
    return found


def main_operator(shares: Iterable[Share]) -> str:
    """Return the operator with the most time among the shares; of equal ones the first by name. Empty if there is
    none.
    """
    times: Counter[str] = Counter()
    for share in shares:
        times[share.operator] += share.full_ns
    return min(times, key=lambda name: (-times[name], name), default="")


#: a part is worth naming from this share of what it is a part of
_WORTH = Fraction(1, 10)


class Headline(msgspec.Struct, frozen=True, kw_only=True):
    """The largest change in the direction in which the step changed.

    cause         of the waterfall
    cause_ns      change of the cause, of a mean step
    kind          what happened to the work that changed most in it; null if it has no kernel or operator that did
    delta_ns      change of that work; null likewise
    operator      what launches it in the experiment, in the baseline where it is gone; null likewise
    label         what to call it in the baseline: short name of its kernel, of several that with most time; of host
                  time the operator; null if it is new
    exp_label     the same in the experiment; null if it is gone
    is_kernel     whether the labels are of kernels, copies or fills
    """

    cause: str
    cause_ns: Ns
    kind: Kind | None
    delta_ns: Ns | None
    operator: str | None
    label: str | None
    exp_label: str | None
    is_kernel: bool


def headline(parts: StepChange) -> Headline | None:
    """Find the largest change in the direction of the step's; None if no cause moved with the step."""
    change = parts.change
    moved = [each for each in parts.causes if each.change * change > 0]
    if not moved:
        return None
    cause = moved[0]
    work = max(parts.work, key=lambda each: _toward(_in_cause(each, cause.cause), cause.change), default=None)
    if work is not None and _toward(_in_cause(work, cause.cause), cause.change) < _WORTH * abs(cause.change):
        work = None
    return Headline(
        cause=cause.cause,
        cause_ns=round(cause.change),
        kind=work.main_kind if work else None,
        delta_ns=round(work.change) if work else None,
        operator=(main_operator(work.after) or main_operator(work.before) or None) if work else None,
        label=label_of(work.before) if work else None,
        exp_label=label_of(work.after) if work else None,
        is_kernel=work is not None and any(share.kernel for share in (*work.before, *work.after)),
    )


def _toward(part: Fraction, whole: Fraction) -> Fraction:
    """Return how much of a change a part of it makes: 0 if it goes the other way."""
    return abs(part) if part * whole > 0 else Fraction(0)


def _in_cause(work: WorkChange, cause: str) -> Fraction:
    """Return the change of work in one cause; all of it for work that is in others as well."""
    of = {share.cause for share in (*work.before, *work.after)}
    return work.change if cause in of else Fraction(0)


def label_of(shares: Sequence[Share]) -> str | None:
    """Return the short name of the kernel with most time (for host time, the operator); of equal ones the first. None
    of nothing.
    """
    times: dict[tuple[str, str], int] = {}
    for share in shares:
        name = short_name(share.kernel) if share.kernel else share.operator
        times[name, share.kernel] = times.get((name, share.kernel), 0) + share.full_ns
    return min(times, key=lambda names: (-times[names], names))[0] if times else None
