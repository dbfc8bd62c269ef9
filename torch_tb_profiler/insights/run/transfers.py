"""Transfers of collectives on devices, without the waiting for late ranks."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.effects import ChangeEffect, WorkEffect
from torch_tb_profiler.arrays.distinct import distinct, distinct_first
from torch_tb_profiler.arrays.types import Bool, Float64, Int64
from torch_tb_profiler.insights.run.facts import Remedy, RunFacts, RunRank
from torch_tb_profiler.insights.run.instance import RunInstance
from torch_tb_profiler.insights.shared.bus import bus_bytes
from torch_tb_profiler.model.communication import ProcessGroup


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
        """Some of them."""
        columns = {name: getattr(self, name)[chosen] for name in self.__struct_fields__ if name != "groups"}
        return Transfers(self.groups, **columns)

    @property
    def operations(self) -> int:
        """How many there are in the whole run."""
        return len(distinct(self.match))


def transfers(facts: RunFacts) -> Transfers:
    """All that move something and take time on devices, rank by rank."""
    nodes = {each.rank.rank: place.node for each, place in zip(facts.ranks, facts.distributed.places, strict=True)}
    matching = facts.distributed.matching
    groups: dict[ProcessGroup, int] = {}
    parts: list[tuple[Int64 | Float64, ...]] = []
    for number, each in enumerate(facts.ranks):
        of, transfer, match = each.rank.communications, matching.transfer[number], matching.match[number]
        moved = bus_bytes(of, lambda group: len(group.ranks) > 1 and all(rank in nodes for rank in group.ranks))
        chosen = of.operations.on_device & (moved > 0) & (transfer > 0) & (match >= 0) & (each.rank.step >= 0)
        at = np.flatnonzero(chosen)
        code = np.array([groups.setdefault(group, len(groups)) for group in of.groups], np.int64)
        on = np.array([len({nodes.get(rank) for rank in group.ranks}) for group in of.groups], np.int64)
        group = of.operations.group[at]
        kind = of.operations.kind[at].astype(np.int64)
        parts.append((np.full(len(at), number), at, match[at], code[group], kind, on[group], moved[at], transfer[at]))
    rank, operation, same, which, what, on_nodes, bus, ns = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Transfers(tuple(groups), rank, operation, same, which, what, on_nodes, bus, ns)


def scaled(facts: RunFacts, chosen: Transfers, factor: Float64) -> Remedy:
    """What makes transfers take their time × a factor each. factor: shape (n,)."""
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
    """The pieces of work of each operation."""
    ranges, items = rank.rank.communications.ranges, rank.graph.items
    known = np.flatnonzero(items.is_communication)
    at = dict(zip(items.start[known].tolist(), known.tolist(), strict=True))
    found: dict[int, list[int]] = {}
    for operation, start in zip(ranges.operation.tolist(), ranges.start.tolist(), strict=True):
        if start in at:
            found.setdefault(operation, []).append(at[start])
    return found


def instances_of(rank: RunRank, item: Int64, operation: int) -> tuple[RunInstance, ...]:
    """The longest piece of work of an operation."""
    communications, items = rank.rank.communications, rank.graph.items
    name = communications.names[int(communications.operations.name[operation])]
    return rank.instances(items.row[item].astype(np.int64), name, items.start[item], items.duration[item], 1)
