"""The change of the mean step taken apart: by cause, and by what happened to each kernel and operator. Exact.

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

from torch_tb_profiler.analysis.change.names import How, Match, matches
from torch_tb_profiler.analysis.change.shares import Share, StepShares

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
        """Σ over `work`."""
        total: dict[Kind, Fraction] = dict.fromkeys(KINDS, _ZERO)
        for each in self.work:
            for kind, ns in each.parts.items():
                if ns:
                    total[kind] += ns
        return total

    def without_names(self) -> Fraction:
        """The change that is in no `work`: causes without kernels or operators."""
        return self.change - sum((each.change for each in self.work), _ZERO)


class Side:
    """The recordings of one side, all their steps together."""

    def __init__(self, recordings: Sequence[StepShares]) -> None:
        steps = sum(each.steps for each in recordings)
        if not steps:
            raise ValueError("a side without steps has no mean step")
        self._weight = [Fraction(1, steps * each.devices) for each in recordings]
        #: of a share the place of its weight
        self._of: dict[int, int] = {}
        #: all amounts are multiples of 1 ÷ this
        self.parts_of_one = lcm(*(weight.denominator for weight in self._weight))
        self.step = Fraction(sum(each.step_ns for each in recordings), steps)
        self.causes: dict[str, Fraction] = defaultdict(Fraction)
        self.shares: list[Share] = []
        for place, (each, weight) in enumerate(zip(recordings, self._weight, strict=True)):
            for cause, ns in each.causes.items():
                self.causes[cause] += ns * weight
            for share in each.shares:
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
    """The change between two sides. Each needs at least one recording with steps, otherwise ValueError is raised."""
    left, right = Side(before), Side(after)
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


def _joined(found: Iterable[Match]) -> list[tuple[_Names, Match]]:
    """Matches of the same names (with other shapes, below other operators) are one; with the names of both sides."""
    groups: dict[tuple[_Names, How | None], list[Match]] = defaultdict(list)
    for match in found:
        groups[(_names(match.before), _names(match.after)), match.how].append(match)
    return [
        (
            names,
            Match(
                tuple(share for match in same for share in match.before),
                tuple(share for match in same for share in match.after),
                how,
            ),
        )
        for (names, how), same in groups.items()
    ]


def _work(left: Side, right: Side, match: Match) -> WorkChange:
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
    """Whole numbers whose sum is that of the amounts (or `total`), rounded: the largest has what rounding leaves.

    >>> rounded([Fraction(1, 3), Fraction(1, 3), Fraction(7, 3)])
    [0, 0, 3]
    """
    found = [round(each) for each in amounts]
    if found:
        largest = max(range(len(found)), key=lambda at: (abs(amounts[at]), -at))
        found[largest] += round(sum(amounts, _ZERO) if total is None else total) - sum(found)
    return found


def main_operator(shares: Iterable[Share]) -> str:
    """The operator with the most time among the shares, or the first by name if several tie. Empty if there is none."""
    times: Counter[str] = Counter()
    for share in shares:
        times[share.operator] += share.full_ns
    return min(times, key=lambda name: (-times[name], name), default="")
