"""A rank whose launch calls take longer than those of the other ranks of its host."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import scale
from torch_tb_profiler.analysis.replay.effects import Effect
from torch_tb_profiler.analysis.replay.labels import Label
from torch_tb_profiler.analysis.shared.count_text import counted
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.insights.rule import Evidence, Link
from torch_tb_profiler.insights.run.deviations import from_the_middle
from torch_tb_profiler.insights.run.facts import RunFacts, RunRank
from torch_tb_profiler.insights.run.rule import RunFound, RunRule
from torch_tb_profiler.insights.shared.wording import ms

_LISTED = 20


def _find(facts: RunFacts) -> Sequence[RunFound]:
    calls = [_launches(each) for each in facts.ranks]
    by_node: dict[str, list[int]] = {}
    for number, place in enumerate(facts.distributed.places):
        if len(calls[number]) >= facts.limit("slow_host", "least_calls"):
            by_node.setdefault(place.node, []).append(number)
    found = []
    for members in by_node.values():
        if len(members) < 3:
            continue
        of = [median(_durations(facts.ranks[k], calls[k])) for k in members]
        middle, z = from_the_middle(of, facts.limit("slow_host", "least_deviation"))
        for number, mine, far in zip(members, of, z.tolist(), strict=True):
            if far > facts.limit("slow_host", "deviations") and mine > facts.limit("slow_host", "least_ratio") * middle:
                found.append(_found(facts, number, calls[number], mine, middle))
    return found


def _launches(rank: RunRank) -> Int64:
    """Calls of the steps that start work."""
    steps, calls = rank.graph.steps, rank.graph.calls
    return np.flatnonzero((steps.on_host(calls.start) >= 0) & (calls.release >= 0))


def _durations(rank: RunRank, chosen: Int64) -> Int64:
    """Of some calls, ns."""
    return rank.graph.calls.end[chosen] - rank.graph.calls.start[chosen]


def _found(facts: RunFacts, number: int, chosen: Int64, mine: float, middle: float) -> RunFound:
    rank = facts.ranks[number]
    worker, calls = rank.rank.worker, rank.graph.calls
    factors = np.ones(len(Label))
    factors[Label.LAUNCH] = middle / mine
    return RunFound(
        title=f"Launch calls of {worker} are slower than those of its neighbours",
        detail=(
            f"A launch takes {ms(mine)} there and {ms(middle)} on the median rank of the same host, in "
            f"{counted(len(chosen), 'call')}."
        ),
        advice=(
            "Bind each rank to CPUs next to its GPU (`numactl --cpunodebind=… --membind=…`), and look for other "
            "processes on them and for CPUs at a low frequency (`cpupower frequency-info`)."
        ),
        values={"worker": worker, "mine_ns": mine, "middle_ns": middle, "calls": len(chosen)},
        workers=(worker,),
        remedy=facts.on(worker, Effect(labels=factors)),
        changes=(scale("launch", middle / mine),),
        bound=False,
        instances=rank.instances(
            calls.row[chosen].astype(np.int64),
            "launch",
            calls.start[chosen],
            _durations(rank, chosen),
            _LISTED,
        ),
        count=len(chosen),
        confidence="medium",
        evidence=(
            Evidence("launch_median", "Median of its launch calls", mine, "ns", "overview"),
            Evidence("launch_median_middle", "The same of the median rank", middle, "ns", "overview"),
        ),
        links=(
            Link(
                "numa_binding",
                "Binding processes to CPUs, from the tuning guide",
                "https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html",
            ),
        ),
    )


RULE = RunRule("slow_host", "R18", _find, replaces=("waiting",))
