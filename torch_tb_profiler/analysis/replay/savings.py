"""What changes save: alone, together, and one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.changes import Change, check, is_bound
from torch_tb_profiler.analysis.replay.path import CriticalPath, critical_path
from torch_tb_profiler.analysis.replay.recorded import recorded_quality
from torch_tb_profiler.analysis.replay.refusals import Confidence, Refusal
from torch_tb_profiler.analysis.replay.scenario import changed, unchanged
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model

#: both ends of an interval are so much of the time of the steps wider: the error of the model, by simulated programs
MODEL_ERROR = 0.005
#: of what makes something free this share at least was really saved, in the pairs of recordings that there are
LEAST_OF_BOUND = 0.75
#: with fewer steps there is no interval but the least and the most of any step
FEWEST_STEPS = 4
_DRAWS, _LOW, _HIGH = 2_000, 2.5, 97.5


@dataclass(frozen=True)
class WhatIf:
    """How long the steps take after some changes, ns.

    before_ns, after_ns   all steps that were asked about, together; after_ns is None when the changes are refused
    step_before_ns, step_after_ns   shape (steps,)
    low_ns, high_ns       what is saved in all steps together, with the error of the model and of the sample of steps;
                          None where there are no two steps, or when the changes are refused
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
    refused: tuple[Refusal, ...]
    notes: tuple[str, ...] = ()

    @property
    def saved_ns(self) -> int | None:
        """before_ns - after_ns; None when the changes are refused."""
        return None if self.after_ns is None else self.before_ns - self.after_ns


@dataclass(frozen=True)
class Saving:
    """What one of several changes saves, ns in all steps together; None where the change is refused.

    place          of the change, among those given
    alone          when it is the only one
    after_others   beyond the changes listed before it: these add up to what all save together
    last_in        beyond all others
    low, high      an interval of `after_others`
    bound          the most that any remedy can save
    """

    place: int
    alone: int | None
    after_others: int | None
    last_in: int | None
    low: int | None
    high: int | None
    bound: bool
    refused: Refusal | None


@dataclass(frozen=True)
class Savings:
    """What several changes save, the largest first; refused ones last.

    together_ns   all that are not refused at once; what `after_others` adds up to
    """

    before_ns: int
    together_ns: int
    changes: tuple[Saving, ...]


def what_if(model: Model, changes: Sequence[Change], steps: Sequence[int] | None = None) -> WhatIf:
    """How long the steps of a trace, or some of them by index, take after all of some changes.

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
    after_scenario = changed(model.trace, graph, changes)
    after = after_scenario.step_ns[chosen]
    low, high = interval(before - after, total, bound)
    return WhatIf(
        names=names,
        before_ns=total,
        after_ns=int(after.sum()),
        step_before_ns=before,
        step_after_ns=after,
        low_ns=low,
        high_ns=high,
        bound=bound,
        path=critical_path(after_scenario, chosen.tolist()),
        confidence=quality.confidence,
        unexplained=quality.unexplained,
        refused=(),
        notes=after_scenario.notes,
    )


def savings(model: Model, remedies: Sequence[Sequence[Change]]) -> Savings:
    """What each of several remedies saves, each of one change or more, alone and after those that save more.

    Greedy: the remedy that saves most comes first, then the one that saves most beyond it, and so on. Remedies that
    exclude one another do not belong into one list.
    """
    graph = graph_of(model)
    quality = recorded_quality(model)
    before = unchanged(graph).step_ns
    refused = [next((r for change in each if (r := quality.of(change)) is not None), None) for each in remedies]

    def after(chosen: Sequence[int]) -> Int64:
        return changed(model.trace, graph, [change for place in chosen for change in remedies[place]]).step_ns

    usable = [place for place, why in enumerate(refused) if why is None]
    order, steps_after, first = greedy(usable, after)
    alone = {place: int((before - steps).sum()) for place, steps in first.items()}
    all_after = steps_after[-1] if usable else before
    found = []
    reached = before
    for place, then in zip(order, steps_after, strict=True):
        bound = any(map(is_bound, remedies[place]))
        low, high = interval(reached - then, int(before.sum()), bound)
        # without the one that comes last in the order is known
        without = steps_after[-2] if place == order[-1] and len(order) > 1 else None
        rest = after([each for each in usable if each != place]) if without is None else without
        last_in = int((rest - all_after).sum())
        found.append(Saving(place, alone[place], int((reached - then).sum()), last_in, low, high, bound, None))
        reached = then
    for place, why in enumerate(refused):
        if why is not None:
            bound = any(map(is_bound, remedies[place]))
            found.append(Saving(place, None, None, None, None, None, bound, why))
    return Savings(int(before.sum()), int((before - reached).sum()), tuple(found))


def greedy(
    places: Sequence[int], after: Callable[[Sequence[int]], Int64]
) -> tuple[list[int], list[Int64], dict[int, Int64]]:
    """In which order changes save most beyond those before, the steps after each more of them, and after each alone.

    after   the steps after some changes, ns
    """
    chosen: list[int] = []
    steps: list[Int64] = []
    left = list(places)
    alone: dict[int, Int64] = {}
    while left:
        tried = [(after([*chosen, place]), place) for place in left]
        alone = alone or {place: found for found, place in tried}
        best, place = min(tried, key=lambda each: (int(each[0].sum()), each[1]))
        chosen.append(place)
        steps.append(best)
        left.remove(place)
    return chosen, steps, alone


def interval(saved: Int64, total: int, bound: bool) -> tuple[int | None, int | None]:
    """Between what and what the sum of paired savings of steps lies, ns.

    saved   shape (steps,), ns; total: time of the steps before, ns; bound: something was made free
    Percentiles 2.5 and 97.5 of the mean of resampled steps (bootstrap, seeded), widened by the error of the model. Of a
    bound the upper end is the value, the lower 0.75 of the lower end. With fewer than 4 steps the least and the most of
    any step; None for fewer than 2.
    """
    n = len(saved)
    if n < 2:
        return None, None
    if n < FEWEST_STEPS:
        low, high = float(saved.min()) * n, float(saved.max()) * n
    else:
        drawn = np.random.default_rng(0).integers(0, n, (_DRAWS, n))
        sums = saved[drawn].sum(axis=1)
        low, high = (float(x) for x in np.percentile(sums, (_LOW, _HIGH)))
    low, high = low - MODEL_ERROR * total, high + MODEL_ERROR * total
    if bound:
        value = float(saved.sum())
        low, high = min(LEAST_OF_BOUND * low, value), value
    return round(max(low, 0.0)), round(max(high, 0.0))
