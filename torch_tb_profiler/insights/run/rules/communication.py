"""Transfers of collectives: slow between some ranks, slow inside of a host, hidden by nothing, uneven."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.changes import collectives
from torch_tb_profiler.analysis.replay.effects import ChangeEffect, WorkEffect
from torch_tb_profiler.analysis.replay.quality import ReplayRefusal
from torch_tb_profiler.arrays.distinct import distinct, distinct_first
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Bool, Float64, Int64
from torch_tb_profiler.insights.rule import RunInstance, evidence, link
from torch_tb_profiler.insights.run.facts import Remedy, RunFacts, RunFound, RunRank, run_rule
from torch_tb_profiler.insights.run.lateness import steps_of_ranks
from torch_tb_profiler.insights.shared.communication import Sent, bus_bytes, most_sent, transfer_links
from torch_tb_profiler.model.communication import KINDS, ProcessGroup
from torch_tb_profiler.ranks.run.collectives import judge_links
from torch_tb_profiler.reason import Value


class Transfers(msgspec.Struct, frozen=True):
    """Operations of the steps, of groups whose ranks are all loaded: a row for each operation and rank. Shape (n,).

    groups        those that `group` counts
    rank          place among the loaded ranks
    operation     of this rank
    match         number of the operation in the whole run
    group         index into `groups`
    kind          index into KINDS
    nodes         how many hosts the group is on
    bus_bytes     what each link moves, as the bus bandwidth counts it
    transfer_ns   from the arrival of the last rank on
    """

    groups: tuple[ProcessGroup, ...]
    rank: Int64
    operation: Int64
    match: Int64
    group: Int64
    kind: Int64
    nodes: Int64
    bus_bytes: Float64
    transfer_ns: Int64

    def __len__(self) -> int:
        return len(self.rank)

    def take(self, chosen: Bool | Int64) -> Transfers:
        """Select some of them."""
        columns = {name: getattr(self, name)[chosen] for name in self.__struct_fields__ if name != "groups"}
        return Transfers(self.groups, **columns)

    @property
    def operations(self) -> int:
        """How many there are in the whole run."""
        return len(distinct(self.match))


def transfers(facts: RunFacts) -> Transfers:
    """All that move something and take time on devices, rank by rank."""
    nodes = {
        run_rank.rank.rank: place.node for run_rank, place in zip(facts.ranks, facts.distributed.places, strict=True)
    }
    matching = facts.distributed.matching
    groups: dict[ProcessGroup, int] = {}
    parts: list[tuple[Int64 | Float64, ...]] = []
    for number, run_rank in enumerate(facts.ranks):
        of, transfer, match = run_rank.rank.communications, matching.transfer[number], matching.match[number]
        moved = bus_bytes(of, lambda group: len(group.ranks) > 1 and all(rank in nodes for rank in group.ranks))
        chosen = of.operations.on_device & (moved > 0) & (transfer > 0) & (match >= 0) & (run_rank.rank.step >= 0)
        at = np.flatnonzero(chosen)
        code = np.array([groups.setdefault(group, len(groups)) for group in of.groups], np.int64)
        on = np.array([len({nodes.get(rank) for rank in group.ranks}) for group in of.groups], np.int64)
        group = of.operations.group[at]
        kind = of.operations.kind[at].astype(np.int64)
        parts.append((np.full(len(at), number), at, match[at], code[group], kind, on[group], moved[at], transfer[at]))
    rank, operation, same, which, what, on_nodes, bus, ns = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    return Transfers(tuple(groups), rank, operation, same, which, what, on_nodes, bus, ns)


def scaled(facts: RunFacts, chosen: Transfers, factor: Float64) -> Remedy:
    """Return what makes transfers take their time × a factor each. factor: shape (n,)."""
    items = [work_of_operations(each) for each in facts.ranks]
    work: list[list[WorkEffect]] = [[] for _ in facts.ranks]
    for rank, operation, part in zip(chosen.rank.tolist(), chosen.operation.tolist(), factor.tolist(), strict=True):
        work[rank].append(WorkEffect(np.array(items[rank].get(operation, ()), np.int64), part))
    return tuple((ChangeEffect(work=tuple(each)),) for each in work)


def longest(facts: RunFacts, chosen: Transfers, most: int) -> tuple[RunInstance, ...]:
    """Where the longest of some transfers can be seen, once each."""
    by_time = chosen.take(np.argsort(-chosen.transfer_ns, kind="stable"))
    once = by_time.take(np.sort(distinct_first(by_time.match)[1])[:most])
    items = {rank: work_of_operations(facts.ranks[rank]) for rank in set(once.rank.tolist())}
    found: list[RunInstance] = []
    for rank, operation in zip(once.rank.tolist(), once.operation.tolist(), strict=True):
        item = np.array(items[rank].get(operation, ()), np.int64)
        found += instances_of(facts.ranks[rank], item, operation)
    return tuple(found)


def work_of_operations(rank: RunRank) -> dict[int, list[int]]:
    """Return the pieces of work of each operation."""
    ranges, items = rank.rank.communications.ranges, rank.graph.items
    known = np.flatnonzero(items.is_communication)
    at = dict(zip(items.start[known].tolist(), known.tolist(), strict=True))
    found: dict[int, list[int]] = {}
    for operation, start in zip(ranges.operation.tolist(), ranges.start.tolist(), strict=True):
        if start in at:
            found.setdefault(operation, []).append(at[start])
    return found


def instances_of(rank: RunRank, item: Int64, operation: int) -> tuple[RunInstance, ...]:
    """Return the longest piece of work of an operation."""
    communications, items = rank.rank.communications, rank.graph.items
    name = communications.names[int(communications.operations.name[operation])]
    return rank.instances(items.row[item].astype(np.int64), name, items.start[item], items.duration[item], 1)


#: instances that a finding lists
_LISTED = 20


@run_rule("R47")
def slow_link(facts: RunFacts) -> Iterator[RunFound]:
    """Find a process group whose transfers take longer than the same transfers of groups like it."""
    known = transfers(facts)
    known = known.take(known.bus_bytes >= facts.limit("slow_link", "large_bytes"))
    if not len(known):
        return
    size = np.array([group.size for group in known.groups], np.int64)[known.group]
    alike = group([known.kind, known.bus_bytes.astype(np.int64), size, known.nodes])
    middle = np.full(len(known), np.nan)
    for each in range(len(alike)):
        at = np.flatnonzero(alike.inverse == each)
        for number, ns in _slow_groups(facts, known.take(at)).items():
            middle[at[known.group[at] == number]] = ns
    slow = np.flatnonzero(~np.isnan(middle))
    for number in distinct(known.group[slow]).tolist():
        mine = slow[known.group[slow] == number]
        yield _slow_group(facts, known.take(mine), middle[mine])


def _slow_groups(facts: RunFacts, of: Transfers) -> dict[int, float]:
    """Return the slow ones among groups that do the same, with the time of the median group, ns."""
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
    steps = steps_of_ranks(facts)
    known = steps.transfer_ns[steps.transfer_ns >= 0]
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
            **_longest_transfer(facts),
        },
        remedy=remedy,
        changes=changes,
        refused=_UNMATCHED if float(steps.unmatched_ns.mean()) > transfer else None,
        confidence="medium" if facts.is_partial else "high",
        evidence=(
            evidence("transfer_per_step", transfer, "ns", "distributed"),
            evidence("collectives_matched", facts.joint.collectives, "count", "distributed"),
        ),
        links=transfer_links(sent),
    )


def _longest_transfer(facts: RunFacts) -> dict[str, Value]:
    """Name the collective and process group that transfers longest, and how long in a step of one rank, ns."""
    spent: Counter[tuple[str, str]] = Counter()
    for run_rank, transfer in zip(facts.ranks, facts.distributed.matching.transfer, strict=True):
        of = run_rank.rank.communications
        at = np.flatnonzero((transfer > 0) & (run_rank.rank.step >= 0))
        pairs = group([of.operations.name[at].astype(np.int64), of.operations.group[at].astype(np.int64)])
        for first, ns in zip(at[pairs.first].tolist(), pairs.sum(transfer[at]).tolist(), strict=True):
            spent[of.names[int(of.operations.name[first])], of.groups[int(of.operations.group[first])].label] += int(ns)
    if not spent:
        return {}
    ((collective, members), ns), *_ = spent.most_common(1)
    return {"collective": collective, "members": members, "transfer_ns": ns / facts.steps}


def _most_sent(facts: RunFacts) -> Sent:
    """Say what most of the time of the transfers goes to, on all ranks."""
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
    ratio = float(np.median([excess for excess, _ in uneven]))
    work: list[list[WorkEffect]] = [[] for _ in facts.ranks]
    items = [work_of_operations(rank) for rank in facts.ranks]
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
        remedy=tuple((ChangeEffect(work=tuple(effects)),) for effects in work),
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
    """Match the all-to-all exchanges of the steps: of each rank its number, its operation, and its bytes."""
    found: dict[int, list[tuple[int, int, int]]] = {}
    for number, each in enumerate(facts.ranks):
        of, match = each.rank.communications.operations, facts.distributed.matching.match[number]
        moved = np.maximum(of.in_bytes, of.out_bytes)
        chosen = (of.kind == KINDS.index("all_to_all")) & (match >= 0) & (of.in_bytes >= 0) & (of.out_bytes >= 0)
        for at in np.flatnonzero(chosen & (each.rank.step >= 0)).tolist():
            found.setdefault(int(match[at]), []).append((number, at, int(moved[at])))
    return list(found.values())
