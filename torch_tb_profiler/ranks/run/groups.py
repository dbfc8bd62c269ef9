"""Process groups, the parallel layout that follows from them, and collectives that some of their ranks lack."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.communication import ProcessGroup
from torch_tb_profiler.ranks.matching.numbering import group_key
from torch_tb_profiler.ranks.matching.operations import is_between_two
from torch_tb_profiler.ranks.run.data import RunData
from torch_tb_profiler.ranks.run.group_answers import (
    LayoutDimension,
    Link,
    MissingCollective,
    ParallelLayout,
    Role,
    RunGroup,
)

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
    """Return the number of each rank's node, by its host; ranks without a host are one node each."""
    codes: dict[str, int] = {}
    return [codes.setdefault(head.host or f"\0{at}", len(codes)) for at, head in enumerate(run.heads)]


def groups_of(run: RunData) -> list[RunGroup]:
    """Describe all process groups that were used, parallel to `RunData.numbering.groups`."""
    places = {head.rank: number for number, head in enumerate(run.heads) if head.rank is not None}
    nodes = nodes_of(run)
    world = world_of(run)
    state, shared = run.state, run.is_shared
    group = np.array([*(each.group for each in run.signatures), -1])[state.signature]
    here = group >= 0
    calls = np.bincount(group[here & shared], minlength=len(run.numbering.groups))
    moved = np.where(shared & (state.timed > 0), state.shortest, 0)
    transfer = sums_at(group[here], moved[here], len(run.numbering.groups))
    waited = sums_at(
        group[here], np.where(shared, state.total - state.timed * moved, 0)[here], len(run.numbering.groups)
    )
    present = Counter(group_key(process_group) for head in run.heads for process_group in head.groups)
    rows = []
    for number, process_group in enumerate(run.numbering.groups):
        members = [places[rank] for rank in process_group.ranks if rank in places]
        role, role_from = _role(process_group, world)
        rows.append(
            RunGroup(
                label=process_group.label,
                name=process_group.name,
                description=process_group.description,
                ranks=process_group.ranks,
                size=process_group.size or None,
                present=len(members) if process_group.ranks else present[group_key(process_group)],
                role=role,
                role_from=role_from,  # type: ignore[arg-type]
                link=_link(run, process_group, members, nodes),
                hosts=len({nodes[member] for member in members if run.heads[member].host}),
                calls=int(calls[number]),
                transfer_ns=int(transfer[number]),
                wait_ns=int(waited[number]),
            )
        )
    return rows


def world_of(run: RunData) -> int | None:
    """Return the number of ranks of the job; None if no trace says."""
    return max((head.world for head in run.heads if head.world), default=None)


def described_role(of: ProcessGroup) -> Role:
    """Read the role of a group from its description; `unknown` where it does not say."""
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


def layout_of(run: RunData, groups: Sequence[RunGroup]) -> ParallelLayout:
    """Infer dimensions from roles; without any, neighbours are tensor parallel and others data parallel."""
    nodes = nodes_of(run)
    hosts = Counter(node for node, head in zip(nodes, run.heads, strict=True) if head.host)
    world = world_of(run)
    by_role: dict[Role, list[RunGroup]] = {}
    for group in groups:
        if group.size and group.size > 1 and group.role not in ("world", "unknown"):
            by_role.setdefault(group.role, []).append(group)
    is_described = bool(by_role)
    if not is_described:
        for group in groups:
            if group.role == "unknown" and group.ranks and world and 1 < len(group.ranks) < world:
                by_role.setdefault("tp" if _stride(group.ranks) == 1 else "dp", []).append(group)
    dimensions = []
    for role, of_role in by_role.items():
        for alike in _dimensions(role, of_role):
            strides = {_stride(group.ranks) for group in alike}
            stride = strides.pop() if len(strides) == 1 else None
            dimensions.append(LayoutDimension(role=role, size=alike[0].size or 0, groups=len(alike), stride=stride))
    if not dimensions and world and any(group.role == "world" and group.calls for group in groups):
        dimensions.append(LayoutDimension(role="dp", size=world, groups=1, stride=1))
        is_described = False
    dimensions.sort(key=lambda each: (each.stride is None, each.stride or 0, each.role))
    product = math.prod(each.size for each in dimensions if each.role != "ep")
    return ParallelLayout(
        world=world,
        nodes=len(hosts) or None,
        ranks_per_node=max(hosts.values(), default=0) or None,
        dimensions=dimensions,
        confidence="low" if not is_described else "high" if world and product == world else "medium",
    )


def _dimensions(role: Role, groups: Sequence[RunGroup]) -> list[list[RunGroup]]:
    """Split groups of one role into dimensions, most groups first.

    Data parallel ones may have two: of shards, and of their replicas across these.
    """
    sizes = Counter(group.size for group in groups)
    size = max(sizes, key=lambda each: (sizes[each], each))
    if role != "dp" or not all(group.ranks for group in groups):
        return [[group for group in groups if group.size == size]]
    kinds: dict[tuple[int | None, int | None], list[RunGroup]] = {}
    for group in groups:
        kinds.setdefault((group.size, _stride(group.ranks)), []).append(group)
    ordered = sorted(kinds.values(), key=lambda kind: (-len(kind), -len(kind[0].ranks)))
    first = _group_of_rank(ordered[0])
    for across in ordered[1:]:
        other = _group_of_rank(across)
        if other.keys() == first.keys() and len({(first[rank], other[rank]) for rank in first}) == len(first):
            return [ordered[0], across]
    return [[group for group in groups if group.size == size]]


def _group_of_rank(groups: Sequence[RunGroup]) -> dict[int, int]:
    return {rank: at for at, of in enumerate(groups) for rank in of.ranks}


def _stride(ranks: Sequence[int]) -> int | None:
    """Distance of neighbours; None if they are not equally far apart."""
    apart = {b - a for a, b in pairwise(ranks)}
    return apart.pop() if len(apart) == 1 else None


#: entries of the answer, and ranks of an entry
MOST_MISSING_LISTED, MOST_RANKS = 50, 64


def missing_collectives(run: RunData, groups: Sequence[RunGroup]) -> list[MissingCollective]:
    """Find what is missing in the steps that the members recorded: numbered ones first, then those known by count."""
    users = _users(run)
    numbered = _numbered(run, groups, users)
    return [*numbered, *_counted(run, groups, users)][:MOST_MISSING_LISTED]


def _users(run: RunData) -> list[list[int]]:
    """List the ranks that are members of each group, as far as their traces name it."""
    found: list[list[int]] = [[] for _ in run.numbering.groups]
    for rank, head in enumerate(run.heads):
        for at in run.numbering.group_numbers(head.groups)[:-1].tolist():
            # a group that only a header lists is numbered after those that were used
            if at < len(found) and (not run.numbering.groups[at].ranks or head.rank in run.numbering.groups[at].ranks):
                found[at].append(rank)
    return found


def _numbered(run: RunData, groups: Sequence[RunGroup], users: list[list[int]]) -> list[MissingCollective]:
    state = run.state
    # steps in which nothing was communicated get their numbers here
    recorded = [run.numbering.steps.all(head.steps)[:-1] for head in run.heads]
    names = list(run.numbering.steps.of)
    has_step = np.zeros((len(run), len(names) + 1), np.bool_)
    for rank, steps in enumerate(recorded):
        has_step[rank, steps] = True
    expected = np.array([has_step[of].sum(axis=0) for of in users] or np.zeros((1, len(names) + 1)), np.int64)
    group = np.array([*(each.group for each in run.signatures), -1])[state.signature]
    two = np.array([*(each.kind in ("send", "recv") for each in run.signatures), False])[state.signature]
    doubted = np.isin(group, list(run.numbering.doubted))
    here = np.flatnonzero((state.signature >= 0) & ~two & ~doubted & (state.step >= 0))
    wanted = expected[group[here], state.step[here]]
    lacking = here[(state.ranks[here] < wanted) & (wanted > 1)][:MOST_MISSING_LISTED]
    if not len(lacking):
        return []
    having: dict[int, list[int]] = {int(number): [] for number in lacking}
    later: dict[int, set[int]] = {int(number): set() for number in lacking}
    sequences: dict[int, int] = {}
    for rank, rows in run.each():
        mine = np.isin(lacking, rows.number)
        for number in lacking[mine].tolist():
            having[number].append(rank)
        if mine.any() and any(number not in sequences for number in lacking[mine].tolist()):
            calls = run.summaries[rank].calls
            for number in lacking[mine].tolist():
                sequences.setdefault(number, int(calls.sequence[np.flatnonzero(rows.number == number)[0]]))
        of_group = np.full(len(groups), -1, np.int64)
        matched = rows.number[rows.number >= 0]
        np.maximum.at(of_group, group[matched], state.step[matched])
        for number in lacking[~mine].tolist():
            if of_group[group[number]] > state.step[number]:
                later[number].add(rank)
    missing = []
    for number in lacking.tolist():
        signature = run.signatures[int(state.signature[number])]
        ranks = [
            rank
            for rank in users[signature.group]
            if has_step[rank, int(state.step[number])] and rank not in having[number]
        ]
        sequence = sequences.get(number, -1)
        missing.append(
            MissingCollective(
                group=groups[signature.group].label,
                sequence=sequence if sequence >= 0 else None,
                name=signature.name,
                step=names[int(state.step[number])],  # type: ignore[arg-type]
                ranks=[run.heads[rank].rank for rank in ranks[:MOST_RANKS]],
                having=len(having[number]),
                exact=sequence >= 0,
                stops=bool(ranks) and not any(rank in later[number] for rank in ranks),
            )
        )
    return missing


def _counted(run: RunData, groups: Sequence[RunGroup], users: list[list[int]]) -> list[MissingCollective]:
    """Compare counts in groups without numbers: fewer of a name in a step than most members have."""
    missing: list[MissingCollective] = []
    for group_number in sorted(run.numbering.doubted):
        counts: dict[tuple[str, str], dict[int, int]] = {}
        for rank in users[group_number]:
            of = run.summaries[rank].called
            group = run.numbering.group_numbers(of.groups)[of.group]
            rows = np.flatnonzero((group == group_number) & ~is_between_two(of) & (of.step >= 0) & (of.sequence < 0))
            for name in of.steps:
                for call in of.names:
                    counts.setdefault((name, call), {})[rank] = 0
            for step, call in zip(of.step[rows].tolist(), of.name[rows].tolist(), strict=True):
                counts[of.steps[step], of.names[call]][rank] += 1
        for (step, name), by_rank in counts.items():
            most = max(by_rank.values())
            lacking = [rank for rank, count in by_rank.items() if count < most]
            if lacking and len(lacking) * 2 <= len(by_rank):
                missing.append(
                    MissingCollective(
                        group=groups[group_number].label,
                        sequence=None,
                        name=name,
                        step=step,
                        ranks=[run.heads[rank].rank for rank in lacking[:MOST_RANKS]],
                        having=len(by_rank) - len(lacking),
                        exact=False,
                        stops=False,
                    )
                )
    return missing
