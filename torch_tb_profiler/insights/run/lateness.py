"""Which rank arrives last, step by step: all leave a collective together, so who waits least has arrived last."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.host_time import Label
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Bool, Float64, Int64
from torch_tb_profiler.insights.run.facts import RunFacts
from torch_tb_profiler.ranks.peers import deviations
from torch_tb_profiler.ranks.stragglers.peer_sets import LEAST_PEERS
from torch_tb_profiler.ranks.stragglers.slow_ranks import LEAST_STEPS
from torch_tb_profiler.ranks.what_if import KERNELS

#: where a step is spent; `kernels` beside the labels of host time
PLACES = (*(label.name.lower() for label in Label), "kernels")


class StepsOfRanks(msgspec.Struct, frozen=True):
    """The steps that all ranks have. Shape (ranks, steps), ns; -1 where unknown.

    waiting_ns   the part of `wait_ns` that can be outside of computing: at most the exposed communication
    """

    names: tuple[str, ...]
    duration_ns: Int64
    wait_ns: Int64
    waiting_ns: Int64
    transfer_ns: Int64
    unmatched_ns: Int64

    @property
    def step_ns(self) -> float:
        """The mean; 0 without steps."""
        return float(self.duration_ns.mean()) if self.duration_ns.size else 0.0

    @property
    def is_known(self) -> bool:
        """Waiting is known on all ranks in all steps."""
        return bool(self.wait_ns.size) and bool((self.wait_ns >= 0).all())


def steps_of_ranks(facts: RunFacts) -> StepsOfRanks:
    """By name; a step that a rank lacks is left out."""
    ranks, waits = facts.distributed.ranks, facts.distributed.waits
    # of steps of one name the first
    places = [
        dict(zip(reversed(rank.overlap.names), reversed(range(len(rank.overlap.names))), strict=True)) for rank in ranks
    ]
    names = tuple(name for name in ranks[0].overlap.names if all(name in of_rank for of_rank in places[1:]))
    rows = [[of_rank[name] for name in names] for of_rank in places]

    def taken(values: list[Int64]) -> Int64:
        return np.array([of[at] for of, at in zip(values, rows, strict=True)], np.int64).reshape(len(ranks), -1)

    wait = taken([rank_waits.wait_ns for rank_waits in waits])
    exposed = [rank.exposed_communication_ns for rank in ranks]
    hidden = [
        np.minimum(of.wait_ns[:-1], (of.wait_ns[:-1] if most is None else most).astype(np.int64))
        for of, most in zip(waits, exposed, strict=True)
    ]
    return StepsOfRanks(
        names,
        taken([rank.overlap.duration_ns for rank in ranks]),
        wait,
        taken(hidden),
        taken([rank_waits.transfer_ns for rank_waits in waits]),
        taken([rank_waits.unmatched_ns for rank_waits in waits]),
    )


class Late(msgspec.Struct, frozen=True):
    """A rank that the others wait for.

    rank         its place among the ranks
    steps        in how many of the steps it is clearly later than the median rank
    of_steps     how many there are
    waited_ns    what the median rank waits more than it, mean of all steps
    z            how far it is from the median rank, in deviations: the median of the steps; None with two ranks
    """

    rank: int
    steps: int
    of_steps: int
    waited_ns: float
    z: float | None


def late_ranks(facts: RunFacts) -> list[Late]:
    """Ranks that are late in most steps, the latest first; none where waiting is unknown on all ranks.

    z = 0.6745 × (median of the waits − own wait) ÷ the median absolute deviation, which is `least_deviation` of the
    mean step at least (docs/findings.md). Of two ranks there is no deviation: one is late by `least_share_of_two`.
    """
    steps = steps_of_ranks(facts)
    if not steps.is_known or len(steps.wait_ns) < 2:
        return []

    def limit(name: str) -> float:
        return facts.limit("straggler", name)

    wait = steps.waiting_ns.astype(np.float64)
    is_late: Bool
    z: Float64 | None = None
    if len(wait) == 2:
        ahead = wait[::-1] - wait
        is_late, share = ahead > limit("least_share_of_two") * steps.step_ns, limit("steps_of_two")
    else:
        middle = np.median(wait, axis=0)
        ahead = middle - wait
        floor = max(limit("least_deviation") * steps.step_ns, 1.0)
        z = deviations(ahead, floor)
        is_late, share = (z > limit("deviations")) & (ahead > limit("least_share") * steps.step_ns), limit("steps")
    # what own time says is surer than waiting (docs/ranks.md), where there is enough of it
    is_short = len(wait) <= LEAST_PEERS or len(steps.names) < LEAST_STEPS
    late = [
        Late(
            rank,
            int(is_late[rank].sum()),
            len(steps.names),
            float(ahead[rank].mean()),
            None if z is None else float(np.median(z[rank])),
        )
        for rank in range(len(wait))
        if is_late[rank].mean() >= share and (is_short or facts.is_slow(facts.ranks[rank].rank.worker))
    ]
    return sorted(late, key=lambda each: -each.waited_ns)


class Excess(msgspec.Struct, frozen=True):
    """What a rank spends more on than the median rank, in an average step.

    place     one of PLACES
    ns        how much more of it
    name      of the event or kernel with the largest part of it; empty for none
    name_ns   that part
    kernels   of `kernels`: how many more kernels than the median rank, as a fraction; else None
    """

    place: str
    ns: float
    name: str
    name_ns: float
    kernels: float | None


def excess_of(facts: RunFacts, rank: int) -> Excess | None:
    """Return where a rank spends most beyond the others; None if it is less than `least_share` of the step."""
    spent = [other.spent for other in facts.ranks]
    kinds = sorted({kind for of_rank in spent for kind in of_rank.kinds})
    at = {kind: number for number, kind in enumerate(kinds)}
    ns = np.zeros((len(spent), len(kinds)))
    for number, of_rank in enumerate(spent):
        ns[number, [at[kind] for kind in of_rank.kinds]] = of_rank.ns
    label = np.array([kind[0] for kind in kinds], np.int64)
    of_label = np.stack([ns[:, label == number].sum(axis=1) for number in range(KERNELS + 1)], axis=1)
    more = of_label[rank] - _middle(of_label)
    place = int(more.argmax())
    if more[place] <= facts.limit("straggler", "least_share") * facts.step_ns:
        return None
    of_name = np.where(label == place, ns[rank] - _middle(ns), -np.inf)
    name = int(of_name.argmax())
    kernels = None
    if place == KERNELS:
        counts = np.array(
            [len(of_rank.item) / max(len(of), 1) for of_rank, of in zip(spent, facts.before, strict=True)]
        )
        kernels = float(counts[rank] / max(_middle(counts[:, None])[0], 1e-9) - 1)
    return Excess(PLACES[place], float(more[place]), kinds[name][1], max(float(of_name[name]), 0.0), kernels)


def _middle(values: Float64) -> Float64:
    """Over ranks; of an even number the lower of the middle two, as the replay without a straggler has it."""
    found: Float64 = np.sort(values, axis=0)[(len(values) - 1) // 2]
    return found


def from_the_middle(values: Sequence[float], least: float) -> tuple[float, Float64]:
    """Return the median, and z of each: 0.6745 × (value − median) ÷ the median absolute deviation.

    values  of at least three things
    least   of the median: a smaller deviation counts as this

    >>> middle, z = from_the_middle([10.0, 10.0, 10.0, 12.0], 0.1)
    >>> middle, z.round(2).tolist()
    (10.0, [0.0, 0.0, 0.0, 1.35])
    """
    of = np.array(values, np.float64)
    middle = median(of)
    return middle, deviations(of - middle, max(least * middle, 1.0))
