"""Transfers of collectives: slow between some ranks, slow inside of a host, hidden by nothing, uneven."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from torch_tb_profiler.analysis.replay.changes import collectives
from torch_tb_profiler.analysis.replay.effects import ChangeEffect, WorkEffect
from torch_tb_profiler.analysis.replay.quality import ReplayRefusal
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Float64
from torch_tb_profiler.insights.rule import evidence, link
from torch_tb_profiler.insights.run.facts import RunFacts
from torch_tb_profiler.insights.run.instance import RunInstance
from torch_tb_profiler.insights.run.lateness import steps_of_ranks
from torch_tb_profiler.insights.run.rule import RunFound, run_rule
from torch_tb_profiler.insights.run.transfers import (
    Transfers,
    instances_of,
    longest,
    scaled,
    transfers,
    work_of_operations,
)
from torch_tb_profiler.insights.shared.transfer_advice import Sent, most_sent, transfer_links
from torch_tb_profiler.model.communication_names import KINDS
from torch_tb_profiler.ranks.run.collectives import judge_links

#: instances that a finding lists
_LISTED = 20


@run_rule("R47")
def slow_link(facts: RunFacts) -> Iterator[RunFound]:
    """A process group whose transfers take longer than the same transfers of groups like it."""
    known = transfers(facts)
    known = known.take(known.bus_bytes >= facts.limit("slow_link", "large_bytes"))
    if not len(known):
        return
    size = np.array([group.size for group in known.groups], np.int64)[known.group]
    alike = group([known.kind, known.bus_bytes.astype(np.int64), size, known.nodes])
    middle = np.full(len(known), np.nan)
    for each in range(len(alike)):
        at = np.flatnonzero(alike.of == each)
        for number, ns in _slow_groups(facts, known.take(at)).items():
            middle[at[known.group[at] == number]] = ns
    slow = np.flatnonzero(~np.isnan(middle))
    for number in distinct(known.group[slow]).tolist():
        mine = slow[known.group[slow] == number]
        yield _slow_group(facts, known.take(mine), middle[mine])


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


def _slow_group(facts: RunFacts, slow: Transfers, middle: Float64) -> RunFound:
    """slow: of one group; middle: shape (n,), what each takes in the median group, ns."""
    operations = slow.operations
    mine, others = float(slow.transfer_ns.mean()), float(middle.mean())
    ranks = slow.groups[int(slow.group[0])].ranks
    return RunFound(
        values={"ranks": ", ".join(map(str, ranks)), "calls": operations, "mine_ns": mine, "middle_ns": others},
        workers=tuple(facts.ranks[number].rank.worker for number in distinct(slow.rank).tolist()),
        remedy=scaled(facts, slow, np.minimum(middle / slow.transfer_ns, 1.0)),
        changes=(collectives(0.5),),
        bound=False,
        instances=longest(facts, slow, _LISTED),
        count=operations,
        confidence="medium",
        evidence=(
            evidence("link_transfer", mine, "ns", "distributed"),
            evidence("link_transfer_middle", others, "ns", "distributed"),
        ),
        links=(link("nccl_troubleshooting"),),
    )


@run_rule("R46", replaces=("exposed_transfer",))
def slow_transfers(facts: RunFacts) -> Iterator[RunFound]:
    """Large collectives inside of a host whose transfers take longer than any link there needs."""
    slowest = facts.limit("slow_communication", "slowest_link") / 1e9  # bytes per ns
    large = facts.limit("slow_communication", "large_bytes")
    known = transfers(facts)
    slow = known.take((known.nodes == 1) & (known.bus_bytes >= large) & (known.bus_bytes < slowest * known.transfer_ns))
    spent, whole = int(slow.transfer_ns.sum()), int(known.transfer_ns.sum())
    if not len(slow) or spent < facts.limit("slow_communication", "least_share_of_time") * whole:
        return
    operations = slow.operations
    bandwidth = float(slow.bus_bytes.sum()) / spent  # GB/s
    yield RunFound(
        values={
            "calls": operations,
            "gigabytes": round(bandwidth, 1),
            "share": spent / whole,
            "link": round(slowest, 1),
            "left": bandwidth / slowest,
        },
        remedy=scaled(facts, slow, slow.bus_bytes / (slowest * slow.transfer_ns)),
        changes=(collectives(0.5),),
        bound=False,
        instances=longest(facts, slow, _LISTED),
        count=operations,
        confidence="medium",
        evidence=(
            evidence("slow_transfers", operations, "count", "distributed"),
            evidence("slow_transfer_time", spent / facts.steps, "ns", "distributed"),
        ),
        links=(link("nccl_troubleshooting"),),
    )


_UNMATCHED = ReplayRefusal("unmatched", "savings")


@run_rule("R43")
def exposed_transfer(facts: RunFacts) -> Iterator[RunFound]:
    """Transfers of collectives that no computation hides, without the waiting for late ranks."""
    changes = facts.relief_changes("communication")
    if not changes or not facts.joint.collectives or facts.refusal(changes) is not None:
        return
    remedy = facts.relief("communication")
    after = sum(int(each.sum()) for each in facts.steps_after([remedy])) / facts.steps
    if 1 - after / facts.step_ns <= facts.limit("exposed_transfer", "least_share"):
        return
    of = steps_of_ranks(facts)
    known = of.transfer_ns[of.transfer_ns >= 0]
    transfer = float(known.mean()) if len(known) else 0.0
    sent = _most_sent(facts)
    yield RunFound(
        values={
            "loaded": facts.loaded,
            "world": facts.world,
            "partial": facts.is_partial,
            "before_ns": facts.step_ns,
            "after_ns": after,
            "sent": sent,
        },
        remedy=remedy,
        changes=changes,
        refused=_UNMATCHED if float(of.unmatched_ns.mean()) > transfer else None,
        confidence="medium" if facts.is_partial else "high",
        evidence=(
            evidence("transfer_per_step", transfer, "ns", "distributed"),
            evidence("collectives_matched", facts.joint.collectives, "count", "distributed"),
        ),
        links=transfer_links(sent),
    )


def _most_sent(facts: RunFacts) -> Sent:
    """What most of the time of the transfers goes to, on all ranks."""
    communications = [each.rank.communications for each in facts.ranks]
    spent = zip(communications, facts.distributed.matching.transfer, strict=True)
    holds = Counter(each.held for each in facts.ranks)
    return most_sent(spent, any(each.is_training for each in facts.ranks), holds.most_common(1)[0][0])


@run_rule("R56")
def uneven_all_to_all(facts: RunFacts) -> Iterator[RunFound]:
    """All-to-all exchanges in which one rank sends or gets more than the others, as experts with unequal loads do."""
    exchanges = _exchanges(facts)
    limit = facts.limit("uneven_all_to_all", "least_ratio")
    uneven: list[tuple[float, list[tuple[int, int, int]]]] = []
    for members in exchanges:
        bytes_ = np.array([moved for _, _, moved in members], np.float64)
        if len(members) > 1 and bytes_.mean() > 0 and bytes_.max() > limit * bytes_.mean():
            uneven.append((float(bytes_.max() / bytes_.mean()), members))
    if not uneven or len(uneven) < facts.limit("uneven_all_to_all", "least_part") * len(exchanges):
        return
    ratio = float(np.median([each for each, _ in uneven]))
    work: list[list[WorkEffect]] = [[] for _ in facts.ranks]
    items = [work_of_operations(each) for each in facts.ranks]
    instances: list[RunInstance] = []
    most: Counter[int] = Counter()
    for above, members in uneven:
        largest = max(members, key=lambda one: one[2])[0]
        most[largest] += 1
        for number, operation, _ in members:
            item = np.array(items[number].get(operation, ()), np.int64)
            work[number].append(WorkEffect(item, 1 / above))
            if number == largest:
                instances += instances_of(facts.ranks[number], item, operation)
    worker = facts.ranks[most.most_common(1)[0][0]].rank.worker
    yield RunFound(
        values={"uneven": len(uneven), "all": len(exchanges), "ratio": round(ratio, 1), "worker": worker},
        remedy=tuple((ChangeEffect(work=tuple(each)),) for each in work),
        changes=(collectives(0.5),),
        instances=tuple(sorted(instances, key=lambda one: -one.duration_ns)[:_LISTED]),
        count=len(uneven),
        confidence="medium",
        evidence=(
            evidence("uneven_exchanges", len(uneven), "count", "distributed"),
            evidence("uneven_ratio", ratio - 1, "fraction", "distributed"),
        ),
        links=(link("all_to_all"),),
    )


def _exchanges(facts: RunFacts) -> list[list[tuple[int, int, int]]]:
    """The matched all-to-all exchanges of the steps: of each rank its number, its operation, and its bytes."""
    found: dict[int, list[tuple[int, int, int]]] = {}
    for number, each in enumerate(facts.ranks):
        of, match = each.rank.communications.operations, facts.distributed.matching.match[number]
        moved = np.maximum(of.in_bytes, of.out_bytes)
        chosen = (of.kind == KINDS.index("all_to_all")) & (match >= 0) & (of.in_bytes >= 0) & (of.out_bytes >= 0)
        for at in np.flatnonzero(chosen & (each.rank.step >= 0)).tolist():
            found.setdefault(int(match[at]), []).append((number, at, int(moved[at])))
    return list(found.values())
