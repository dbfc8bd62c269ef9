"""Process groups and the parallel layout that follows from them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.process_groups import ProcessGroup
from torch_tb_profiler.ranks.join import group_key
from torch_tb_profiler.ranks.names import group_label
from torch_tb_profiler.ranks.run_answers import Layout, LayoutDimension, RunGroup
from torch_tb_profiler.ranks.run_data import RunData
from torch_tb_profiler.ranks.words import Link, Role

#: what the description of a group says it is for; the first that is found counts
_ROLES: tuple[tuple[Role, re.Pattern[str]], ...] = tuple(
    (role, lazy_pattern(pattern, re.IGNORECASE))  # type: ignore[misc]
    for role, pattern in (
        ("world", r"^default_pg$|^world"),
        ("ep", r"expert|moe|(?:^|[_\W])ep(?:[_\W\d]|$)"),
        ("cp", r"context|(?:^|[_\W])cp(?:[_\W\d]|$)"),
        ("pp", r"pipeline|embedding|(?:^|[_\W])pp(?:[_\W\d]|$)"),
        ("tp", r"tensor|sequence_parallel|(?:^|[_\W])[ts]p(?:[_\W\d]|$)"),
        ("dp", r"data|fsdp|ddp|hsdp|shard|replica|(?:^|[_\W])dp(?:[_\W\d]|$)"),
    )
)


def nodes_of(run: RunData) -> list[int]:
    """Of each rank the number of its node: by host; ranks without a host are one node each."""
    codes: dict[str, int] = {}
    return [codes.setdefault(head.host or f"\0{at}", len(codes)) for at, head in enumerate(run.heads)]


def groups_of(run: RunData) -> list[RunGroup]:
    """All process groups that were used, as `RunData.join.groups` has them."""
    places = {head.rank: at for at, head in enumerate(run.heads) if head.rank is not None}
    nodes = nodes_of(run)
    world = world_of(run)
    state, shared = run.state, run.is_shared
    group = np.array([*(each.group for each in run.signatures), -1])[state.signature]
    here = group >= 0
    calls = np.bincount(group[here & shared], minlength=len(run.join.groups))
    moved = np.where(shared & (state.timed > 0), state.shortest, 0)
    transfer = sums_at(group[here], moved[here], len(run.join.groups))
    waited = sums_at(group[here], np.where(shared, state.total - state.timed * moved, 0)[here], len(run.join.groups))
    present = Counter(group_key(of) for head in run.heads for of in head.groups)
    found = []
    for at, of in enumerate(run.join.groups):
        members = [places[rank] for rank in of.ranks if rank in places]
        role, told = _role(of, world)
        found.append(
            RunGroup(
                label=group_label(of),
                name=of.name,
                description=of.description,
                ranks=of.ranks,
                size=of.size or None,
                present=len(members) if of.ranks else present[group_key(of)],
                role=role,
                role_from=told,  # type: ignore[arg-type]
                link=_link(run, of, members, nodes),
                hosts=len({nodes[member] for member in members if run.heads[member].host}),
                calls=int(calls[at]),
                transfer_ns=int(transfer[at]),
                wait_ns=int(waited[at]),
            )
        )
    return found


def world_of(run: RunData) -> int | None:
    """Ranks of the job; None if no trace says."""
    return max((head.world for head in run.heads if head.world), default=None)


def described_role(of: ProcessGroup) -> Role:
    """What the description of a group says it is for; `unknown` where it does not."""
    return next((role for role, pattern in _ROLES if pattern.search(of.description)), "unknown")


def _role(of: ProcessGroup, world: int | None) -> tuple[Role, str]:
    described = described_role(of)
    if described != "unknown":
        return described, "description"
    if world and of.size == world:
        return "world", "ranks"
    return "unknown", ""


def _link(run: RunData, of: ProcessGroup, members: Sequence[int], nodes: Sequence[int]) -> Link:
    if any(not run.heads[member].host for member in members) or len(members) < 2:
        return "unknown"
    if len({nodes[member] for member in members}) > 1:
        return "between_nodes"
    return "within_node" if len(members) == of.size else "unknown"


def layout_of(run: RunData, groups: Sequence[RunGroup]) -> Layout:
    """Dimensions by what groups are for; where none says, neighbours are tensor parallel, others data parallel."""
    nodes = nodes_of(run)
    hosts = Counter(node for node, head in zip(nodes, run.heads, strict=True) if head.host)
    world = world_of(run)
    by_role: dict[Role, list[RunGroup]] = {}
    for of in groups:
        if of.size and of.size > 1 and of.role not in ("world", "unknown"):
            by_role.setdefault(of.role, []).append(of)
    told = bool(by_role)
    if not told:
        for of in groups:
            if of.role == "unknown" and of.ranks and world and 1 < len(of.ranks) < world:
                by_role.setdefault("tp" if _stride(of.ranks) == 1 else "dp", []).append(of)
    dimensions = []
    for role, of_role in by_role.items():
        for alike in _dimensions(role, of_role):
            strides = {_stride(of.ranks) for of in alike}
            stride = strides.pop() if len(strides) == 1 else None
            dimensions.append(LayoutDimension(role=role, size=alike[0].size or 0, groups=len(alike), stride=stride))
    if not dimensions and world and any(of.role == "world" and of.calls for of in groups):
        dimensions.append(LayoutDimension(role="dp", size=world, groups=1, stride=1))
        told = False
    dimensions.sort(key=lambda each: (each.stride is None, each.stride or 0, each.role))
    product = math.prod(each.size for each in dimensions if each.role != "ep")
    return Layout(
        world=world,
        nodes=len(hosts) or None,
        ranks_per_node=max(hosts.values(), default=0) or None,
        dimensions=dimensions,
        confidence="low" if not told else "high" if world and product == world else "medium",
    )


def _dimensions(role: Role, groups: Sequence[RunGroup]) -> list[list[RunGroup]]:
    """Groups of one role by dimension: those that there are most of.

    Data parallel ones may have two: of shards, and of their replicas across these.
    """
    sizes = Counter(of.size for of in groups)
    size = max(sizes, key=lambda each: (sizes[each], each))
    if role != "dp" or not all(of.ranks for of in groups):
        return [[of for of in groups if of.size == size]]
    kinds: dict[tuple[int | None, int | None], list[RunGroup]] = {}
    for of in groups:
        kinds.setdefault((of.size, _stride(of.ranks)), []).append(of)
    ordered = sorted(kinds.values(), key=lambda kind: (-len(kind), -len(kind[0].ranks)))
    first = _group_of_rank(ordered[0])
    for across in ordered[1:]:
        other = _group_of_rank(across)
        if other.keys() == first.keys() and len({(first[rank], other[rank]) for rank in first}) == len(first):
            return [ordered[0], across]
    return [[of for of in groups if of.size == size]]


def _group_of_rank(groups: Sequence[RunGroup]) -> dict[int, int]:
    return {rank: at for at, of in enumerate(groups) for rank in of.ranks}


def _stride(ranks: Sequence[int]) -> int | None:
    """Distance of neighbours; None if they are not equally far apart."""
    apart = {b - a for a, b in pairwise(ranks)}
    return apart.pop() if len(apart) == 1 else None
