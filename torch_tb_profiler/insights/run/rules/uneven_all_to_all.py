"""All-to-all exchanges in which one rank sends or gets more than the others, as experts with unequal loads do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import collectives
from torch_tb_profiler.analysis.replay.effects import Effect, OnWork
from torch_tb_profiler.insights.rule import Evidence
from torch_tb_profiler.insights.run.facts import RunFacts
from torch_tb_profiler.insights.run.instance import RunInstance
from torch_tb_profiler.insights.run.rule import RunFound, RunRule
from torch_tb_profiler.insights.run.transfers import instances_of, work_of_operations
from torch_tb_profiler.insights.shared.links import ALL_TO_ALL
from torch_tb_profiler.model.communication_names import KINDS

_ALL_TO_ALL = KINDS.index("all_to_all")
_LISTED = 20


def _find(facts: RunFacts) -> Sequence[RunFound]:
    sizes: dict[int, list[tuple[int, int, int]]] = {}
    for number, each in enumerate(facts.ranks):
        of, match = each.rank.communications.operations, facts.distributed.matching.match[number]
        moved = np.maximum(of.in_bytes, of.out_bytes)
        chosen = (of.kind == _ALL_TO_ALL) & (match >= 0) & (of.in_bytes >= 0) & (of.out_bytes >= 0)
        for at in np.flatnonzero(chosen & (each.rank.step >= 0)).tolist():
            sizes.setdefault(int(match[at]), []).append((number, at, int(moved[at])))
    limit = facts.limit("uneven_all_to_all", "least_ratio")
    uneven: list[tuple[float, list[tuple[int, int, int]]]] = []
    for members in sizes.values():
        bytes_ = np.array([moved for _, _, moved in members], np.float64)
        if len(members) > 1 and bytes_.mean() > 0 and bytes_.max() > limit * bytes_.mean():
            uneven.append((float(bytes_.max() / bytes_.mean()), members))
    if not uneven or len(uneven) < facts.limit("uneven_all_to_all", "least_part") * len(sizes):
        return ()
    ratio = float(np.median([each for each, _ in uneven]))
    work: list[list[OnWork]] = [[] for _ in facts.ranks]
    items = [work_of_operations(each) for each in facts.ranks]
    instances: list[RunInstance] = []
    most: dict[int, int] = {}
    for above, members in uneven:
        largest = max(members, key=lambda one: one[2])[0]
        most[largest] = most.get(largest, 0) + 1
        for number, operation, _ in members:
            item = np.array(items[number].get(operation, ()), np.int64)
            work[number].append(OnWork(item, 1 / above))
            if number == largest:
                instances += instances_of(facts.ranks[number], item, operation)
    worker = max(most, key=lambda number: most[number])
    name = facts.ranks[worker].rank.worker
    return (
        RunFound(
            title="All-to-all exchanges are uneven",
            detail=(
                f"In {len(uneven)} of {len(sizes)} all-to-all exchanges one rank moves {ratio:.1f} times as much "
                f"as the mean, most often {name}: the others wait for it."
            ),
            advice=(
                "Balance the experts: an auxiliary loss for the router, a capacity per expert, or another placement of "
                "experts on ranks."
            ),
            values={"uneven": len(uneven), "all": len(sizes), "ratio": round(ratio, 1), "worker": name},
            remedy=tuple((Effect(work=tuple(each)),) for each in work),
            changes=(collectives(0.5),),
            instances=tuple(sorted(instances, key=lambda one: -one.duration_ns)[:_LISTED]),
            count=len(uneven),
            confidence="medium",
            evidence=(
                Evidence("uneven_exchanges", "Uneven all-to-all exchanges", len(uneven), "count", "distributed"),
                Evidence("uneven_ratio", "What the largest is above the mean", ratio - 1, "fraction", "distributed"),
            ),
            links=(ALL_TO_ALL,),
        ),
    )


RULE = RunRule("uneven_all_to_all", "R56", _find)
