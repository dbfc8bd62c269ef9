"""A process group whose transfers take longer than the same transfers of groups like it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import collectives
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Float64
from torch_tb_profiler.insights.rule import Evidence
from torch_tb_profiler.insights.run.facts import RunFacts
from torch_tb_profiler.insights.run.rule import RunFound, RunRule
from torch_tb_profiler.insights.run.transfers import Transfers, longest, scaled, transfers
from torch_tb_profiler.insights.shared.links import NCCL_TROUBLESHOOTING
from torch_tb_profiler.insights.shared.wording import ms
from torch_tb_profiler.ranks.slow_links import judge_links

_LISTED = 20


def _find(facts: RunFacts) -> Sequence[RunFound]:
    known = transfers(facts)
    known = known.take(known.bus_bytes >= facts.limit("slow_link", "large_bytes"))
    if not len(known):
        return ()
    size = np.array([group.size for group in known.groups], np.int64)[known.group]
    alike = group([known.kind, known.bus_bytes.astype(np.int64), size, known.nodes])
    middle = np.full(len(known), np.nan)
    for each in range(len(alike)):
        at = np.flatnonzero(alike.of == each)
        for number, ns in _slow_groups(facts, known.take(at)).items():
            middle[at[known.group[at] == number]] = ns
    slow = np.flatnonzero(~np.isnan(middle))
    return [
        _found(facts, known.take(mine), middle[mine])
        for number in distinct(known.group[slow]).tolist()
        for mine in (slow[known.group[slow] == number],)
    ]


def _slow_groups(facts: RunFacts, of: Transfers) -> dict[int, float]:
    """Of groups that do the same those that are slow, with what the median group takes, ns."""
    takes = {}
    for number in distinct(of.group).tolist():
        mine = of.take(of.group == number)
        if mine.operations >= facts.limit("slow_link", "fewest"):
            takes[number] = median(mine.transfer_ns)
    judged = judge_links(np.array(list(takes.values()), np.float64))
    if judged is None:
        return {}
    return {number: judged.middle for number, is_slow in zip(takes, judged.is_slow.tolist(), strict=True) if is_slow}


def _found(facts: RunFacts, slow: Transfers, middle: Float64) -> RunFound:
    """slow: of one group; middle: shape (n,), what each takes in the median group, ns."""
    workers = tuple(facts.ranks[number].rank.worker for number in distinct(slow.rank).tolist())
    operations = slow.operations
    mine, others = float(slow.transfer_ns.mean()), float(middle.mean())
    ranks = slow.groups[int(slow.group[0])].ranks
    named = ", ".join(map(str, ranks))
    return RunFound(
        title=f"Transfers between the ranks {named} are slower than those of groups like theirs",
        detail=(
            f"{operations} collectives take {ms(mine)} there on average, and {ms(others)} at the median of groups "
            "that send as much between as many ranks."
        ),
        advice=(
            "Look at the links between these devices: `nvidia-smi nvlink -s`, `nvidia-smi nvlink -e` for errors, "
            "`nvidia-smi topo -m`, and `ibstat` or `ethtool` between hosts. `all_reduce_perf` of nccl-tests on these "
            "devices alone shows whether it is the link."
        ),
        values={"ranks": named, "calls": operations, "mine_ns": mine, "middle_ns": others},
        workers=workers,
        remedy=scaled(facts, slow, np.minimum(middle / slow.transfer_ns, 1.0)),
        changes=(collectives(0.5),),
        bound=False,
        instances=longest(facts, slow, _LISTED),
        count=operations,
        confidence="medium",
        evidence=(
            Evidence("link_transfer", "Mean transfer of the group", mine, "ns", "distributed"),
            Evidence("link_transfer_middle", "The same of the median group", others, "ns", "distributed"),
        ),
        links=(NCCL_TROUBLESHOOTING,),
    )


RULE = RunRule("slow_link", "R47", _find)
