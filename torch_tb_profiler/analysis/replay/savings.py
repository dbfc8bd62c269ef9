"""What changes save: alone, together, and one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.changes import Change, check, is_bound
from torch_tb_profiler.analysis.replay.graph import Graph
from torch_tb_profiler.analysis.replay.on_path import recorded_quality
from torch_tb_profiler.analysis.replay.path import CriticalPath, critical_path
from torch_tb_profiler.analysis.replay.quality import Confidence, ReplayRefusal
from torch_tb_profiler.analysis.replay.scenario import apply_changes, apply_effects, effect_of, unchanged
from torch_tb_profiler.analysis.step_kinds import warm_up_ratio
from torch_tb_profiler.arrays.order import percentile
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model import Model

#: error of the replay by simulated programs, share of the time of the steps; widens both ends of an interval
MODEL_ERROR = 0.005
#: least measured ÷ replayed saving of a change that makes something free, in the available pairs of recordings
LEAST_OF_BOUND = 0.75
#: with fewer steps the interval goes from the least to the largest saving of a step
FEWEST_STEPS = 4
#: share of a saving from which it counts as saved in the first step only
ONLY_FIRST = 0.9
#: comparisons of nodes that may be spent on the order of remedies: a second or so
MOST_VISITS = 3_000_000
_DRAWS, _PARTS, _LOW, _HIGH = 2_000, 10, 2.5, 97.5
#: with more steps a normal distribution replaces the bootstrap; its 97.5th percentile
MOST_DRAWN, _Z = 1_000, 1.959964


@dataclass(frozen=True)
class WhatIf:
    """How long the steps take after some changes, ns.

    before_ns, after_ns   all steps that were asked about, together; after_ns is None if the changes are refused
    step_before_ns, step_after_ns   shape (steps,)
    low_ns, high_ns       what is saved in all steps together, with the error of the model and of the sample of steps;
                          None if there are no two steps, or when the changes are refused
    bound                 what is saved is the most that any remedy can: a change makes something free
    path                  the critical path after the changes: what limits the steps then
    confidence            "low": more than 10 % of the time of the steps is not explained by the trace
    unexplained           that share; None without steps
    refused               why there is no answer
    notes                 what of the changes could not be done
    """

    names: tuple[str, ...]
    before_ns: int
    after_ns: int | None
    step_before_ns: Int64
    step_after_ns: Int64 | None
    low_ns: int | None
    high_ns: int | None
    bound: bool
    path: CriticalPath | None = field(repr=False)
    confidence: Confidence
    unexplained: float | None
    refused: tuple[ReplayRefusal, ...]
    notes: tuple[str, ...] = ()

    @property
    def saved_ns(self) -> int | None:
        """before_ns - after_ns; None if the changes are refused."""
        return None if self.after_ns is None else self.before_ns - self.after_ns


class Saving(msgspec.Struct, frozen=True):
    """What one of several changes saves, ns in all steps together; None if the change is refused.

    place          of the change, among those given
    alone          when it is the only one
    after_others   beyond the changes listed before it: these add up to what all save together
    last_in        beyond all others
    low, high      an interval of `after_others`
    bound          the most that any remedy can save
    only_first     nearly all of `after_others` and of `last_in` is saved in the first step of the trace, which begins
                   with an idle device: what costs time there is hidden in the others
    """

    place: int
    alone: int | None
    after_others: int | None
    last_in: int | None
    low: int | None
    high: int | None
    bound: bool
    refused: ReplayRefusal | None
    only_first: bool = False


class Savings(msgspec.Struct, frozen=True):
    """What several changes save, each after those before it, the largest further saving first; refused ones last.

    together_ns   all that are listed and not refused at once; what `after_others` adds up to
    """

    before_ns: int
    together_ns: int
    changes: tuple[Saving, ...]


def what_if(model: Model, changes: Sequence[Change], steps: Sequence[int] | None = None) -> WhatIf:
    """Replay the steps of a trace, or some of them by index, with all of some changes.

    Raises ValueError for a factor that is no number.
    """
    graph = graph_of(model)
    base = unchanged(graph)
    quality = recorded_quality(model)
    chosen = np.arange(len(graph.steps)) if steps is None else np.array(steps, np.int64)
    before = base.step_ns[chosen]
    refused = tuple(dict.fromkeys(each for change in changes if (each := quality.of(change)) is not None))
    names = tuple(graph.steps.names[k] for k in chosen.tolist())
    bound = any(map(is_bound, changes))
    total = int(before.sum())
    for change in changes:
        check(change)
    if refused:
        return WhatIf(
            names, total, None, before, None, None, None, bound, None, quality.confidence, quality.unexplained, refused
        )
    scenario = apply_changes(model.trace, graph, changes)
    then = scenario.settled_ns[chosen]
    low, high = saving_interval(before - then, total, bound, settled_steps(graph)[chosen])
    return WhatIf(
        names=names,
        before_ns=total,
        after_ns=int(then.sum()),
        step_before_ns=before,
        step_after_ns=then,
        low_ns=low,
        high_ns=high,
        bound=bound,
        path=critical_path(scenario, chosen.tolist()),
        confidence=quality.confidence,
        unexplained=quality.unexplained,
        refused=(),
        notes=scenario.notes,
    )


def savings(
    model: Model,
    remedies: Sequence[Sequence[Change]],
    steps: Sequence[int] | None = None,
    least: Sequence[float] | None = None,
) -> Savings:
    """Estimate what each of several remedies saves, alone and after those that save more. A remedy is one or more
    changes.

    steps   indices of the steps that count; all without it
    least   per remedy, ns over all these steps: a remedy that saves less, alone and beyond all others, is left out of
            the answer and of the total

    Greedy: the remedy that saves most comes first, then the one that saves most beyond it, and so on. In a large trace
    with many remedies the last ones are sorted by their latest known saving. Remedies that exclude one another do not
    belong in one list.
    """
    graph = graph_of(model)
    quality = recorded_quality(model)
    counted = np.arange(len(graph.steps)) if steps is None else np.array(steps, np.int64)
    before = unchanged(graph).settled_ns[counted]
    refused = [next((r for change in remedy if (r := quality.of(change)) is not None), None) for remedy in remedies]
    usable = [place for place, why in enumerate(refused) if why is None]
    effects = {place: [effect_of(model.trace, graph, change) for change in remedies[place]] for place in usable}

    steps_after = ReplayCache(
        lambda chosen: apply_effects(graph, [effect for place in chosen for effect in effects[place]]).settled_ns[
            counted
        ]
    )
    if least is not None:
        usable = worth_counting(usable, before, steps_after, dict(enumerate(least)))
    replays = MOST_VISITS // max(graph.solver.comparisons, 1)
    order, reached, alone = greedy_order(usable, before, steps_after, replays)
    total = int(before.sum())
    settled = settled_steps(graph)[counted]
    listed = []
    now = before
    for place, then in zip(order, reached, strict=True):
        bound = any(map(is_bound, remedies[place]))
        low, high = saving_interval(now - then, total, bound, settled)
        rest = steps_after(other for other in usable if other != place)
        last_in = int((rest - reached[-1]).sum())
        first = all(_is_first_only(saved_ns, counted) for saved_ns in (now - then, rest - reached[-1]))
        listed.append(Saving(place, alone[place], int((now - then).sum()), last_in, low, high, bound, None, first))
        now = then
    for place, why in enumerate(refused):
        if why is not None:
            bound = any(map(is_bound, remedies[place]))
            listed.append(Saving(place, None, None, None, None, None, bound, why))
    return Savings(total, int((before - now).sum()), tuple(listed))


def _is_first_only(saved_ns: Int64, steps: Int64) -> bool:
    """Return whether nearly everything is saved in the first step of the trace.

    saved_ns, steps   shape (steps,): the savings, and the index of each step in the trace
    """
    if len(steps) < FEWEST_STEPS or steps[0] != 0 or saved_ns[0] <= 0:
        return False
    return bool(saved_ns[0] >= ONLY_FIRST * np.maximum(saved_ns, 0).sum())


class ReplayCache:
    """The steps after some of several remedies, ns; those after the same remedies are replayed once."""

    def __init__(self, after: Callable[[Sequence[int]], Int64]) -> None:
        self._after = after
        self._known: dict[frozenset[int], Int64] = {}

    def __call__(self, places: Iterable[int]) -> Int64:
        """Return shape (steps,), ns, after the remedies at these places."""
        key = frozenset(places)
        if key not in self._known:
            self._known[key] = self._after(sorted(key))
        return self._known[key]


def worth_counting(places: Sequence[int], before: Int64, after: ReplayCache, least: Mapping[int, float]) -> list[int]:
    """List the remedies that save enough, alone or beyond all others.

    before   shape (steps,), ns: without any of them
    least    per remedy, ns over all steps
    """

    def counts(place: int) -> bool:
        if int((before - after([place])).sum()) >= least[place]:
            return True
        without_it = after(each for each in places if each != place)
        return int((without_it - after(places)).sum()) >= least[place]

    return [place for place in places if counts(place)]


def greedy_order(
    places: Sequence[int], before: Int64, after: Callable[[Sequence[int]], Int64], replays: int
) -> tuple[list[int], list[Int64], dict[int, int]]:
    """Order changes by their saving beyond earlier ones; also return the steps after each, and what each saves alone.

    before    shape (steps,), ns: without any of them
    after     the steps after some changes, ns
    replays   budget: once it is spent, the rest is sorted by the latest known saving. The search also ends when the
              chosen changes save as much as all together
    """
    alone: dict[int, int] = {}
    chosen: list[int] = []
    steps: list[Int64] = []
    left = list(places)
    together = after(left)
    tried: dict[int, Int64] = {}
    while left:
        fresh = not chosen or len(left) == 1 or replays > 0
        if fresh:
            tried = {place: together if len(left) == 1 else after([*chosen, place]) for place in left}
            replays -= len(left)
        alone = alone or {place: int((before - found).sum()) for place, found in tried.items()}
        best = min(left, key=lambda place: (int(tried[place].sum()), place))
        chosen.append(best)
        left.remove(best)
        steps.append(tried[best] if fresh else after(chosen))
        if np.array_equal(steps[-1], together):
            rest = sorted(left, key=lambda place: (int(tried[place].sum()), place))
            return [*chosen, *rest], [*steps, *(together for _ in rest)], alone
    return chosen, steps, alone


def settled_steps(graph: Graph) -> Bool:
    """Mark all steps but a first one that was still warming up. Shape (steps,)."""
    found = np.ones(len(graph.steps), np.bool_)
    found[:1] = warm_up_ratio(graph.steps, graph.step_kind) is None
    return found


def saving_interval(
    saved: Int64, total: int, bound: bool, settled: Bool | None = None
) -> tuple[int | None, int | None]:
    """Return an interval of the sum of paired savings of steps, ns.

    saved     shape (steps,), ns
    total     time of the steps before, ns
    bound     something was made free
    settled   shape (steps,): steps that are resampled; savings of the other steps are added unchanged

    Percentiles 2.5 and 97.5 of the mean of resampled steps (bootstrap, seeded; a normal distribution for more than
    `MOST_DRAWN` steps), widened by the error of the model. For a bound the upper end is the value, and the lower end is
    multiplied by 0.75. With fewer than 4 steps the least and the largest saving of a step; None for fewer than 2.
    """
    value = float(saved.sum())
    if settled is not None:
        saved = saved[settled]
    fixed = value - float(saved.sum())
    n = len(saved)
    if n < 2:
        return None, None
    if n < FEWEST_STEPS:
        low, high = float(saved.min()) * n, float(saved.max()) * n
    elif n > MOST_DRAWN:
        spread = _Z * float(np.sqrt(n) * saved.std())
        low, high = float(saved.sum()) - spread, float(saved.sum()) + spread
    else:
        dice = np.random.default_rng(0)
        # a part at a time, for memory: the draws are the same
        parts = [saved[dice.integers(0, n, (_DRAWS // _PARTS, n))].sum(axis=1) for _ in range(_PARTS)]
        sums = np.concatenate(parts)
        low, high = (percentile(sums, percent) for percent in (_LOW, _HIGH))
    low, high = fixed + low - MODEL_ERROR * total, fixed + high + MODEL_ERROR * total
    if bound:
        low, high = min(LEAST_OF_BOUND * low, value), value
    return round(max(low, 0.0)), round(max(high, 0.0))
