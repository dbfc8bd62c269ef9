"""Collectives that some present member of their group does not have: a hint that ranks diverged."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.ranks.called import is_between_two
from torch_tb_profiler.ranks.run_answers import MissingCollective, RunGroup
from torch_tb_profiler.ranks.run_data import RunData

#: entries of the answer, and ranks of an entry
MOST, MOST_RANKS = 50, 64


def missing_collectives(run: RunData, groups: Sequence[RunGroup]) -> list[MissingCollective]:
    """In the steps that the members recorded. Those that are numbered first, then those known by counting alone."""
    users = _users(run)
    found = _numbered(run, groups, users)
    return [*found, *_counted(run, groups, users)][:MOST]


def _users(run: RunData) -> list[list[int]]:
    """Of each group the ranks that are members of it, as far as their traces name it."""
    found: list[list[int]] = [[] for _ in run.join.groups]
    for rank, head in enumerate(run.heads):
        for at in run.join.group_numbers(head.groups)[:-1].tolist():
            # a group that only a header lists is numbered after those that were used
            if at < len(found) and (not run.join.groups[at].ranks or head.rank in run.join.groups[at].ranks):
                found[at].append(rank)
    return found


def _numbered(run: RunData, groups: Sequence[RunGroup], users: list[list[int]]) -> list[MissingCollective]:
    state = run.state
    # steps in which nothing was communicated get their numbers here
    recorded = [run.join.steps.all(head.steps)[:-1] for head in run.heads]
    names = list(run.join.steps.of)
    has_step = np.zeros((len(run), len(names) + 1), np.bool_)
    for rank, steps in enumerate(recorded):
        has_step[rank, steps] = True
    expected = np.array([has_step[of].sum(axis=0) for of in users] or np.zeros((1, len(names) + 1)), np.int64)
    group = np.array([*(each.group for each in run.signatures), -1])[state.signature]
    two = np.array([*(each.kind in ("send", "recv") for each in run.signatures), False])[state.signature]
    doubted = np.isin(group, list(run.join.doubted))
    here = np.flatnonzero((state.signature >= 0) & ~two & ~doubted & (state.step >= 0))
    wanted = expected[group[here], state.step[here]]
    lacking = here[(state.ranks[here] < wanted) & (wanted > 1)][:MOST]
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
    found = []
    for number in lacking.tolist():
        signature = run.signatures[int(state.signature[number])]
        ranks = [
            rank
            for rank in users[signature.group]
            if has_step[rank, int(state.step[number])] and rank not in having[number]
        ]
        sequence = sequences.get(number, -1)
        found.append(
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
    return found


def _counted(run: RunData, groups: Sequence[RunGroup], users: list[list[int]]) -> list[MissingCollective]:
    """In groups whose collectives have no numbers: fewer of a name in a step than most members have."""
    found: list[MissingCollective] = []
    for at in sorted(run.join.doubted):
        counts: dict[tuple[str, str], dict[int, int]] = {}
        for rank in users[at]:
            of = run.summaries[rank].called
            group = run.join.group_numbers(of.groups)[of.group]
            rows = np.flatnonzero((group == at) & ~is_between_two(of) & (of.step >= 0) & (of.sequence < 0))
            for name in of.steps:
                for call in of.names:
                    counts.setdefault((name, call), {})[rank] = 0
            for step, call in zip(of.step[rows].tolist(), of.name[rows].tolist(), strict=True):
                counts[of.steps[step], of.names[call]][rank] += 1
        for (step, name), by_rank in counts.items():
            most = max(by_rank.values())
            lacking = [rank for rank, count in by_rank.items() if count < most]
            if lacking and len(lacking) * 2 <= len(by_rank):
                found.append(
                    MissingCollective(
                        group=groups[at].label,
                        sequence=None,
                        name=name,
                        step=step,
                        ranks=[run.heads[rank].rank for rank in lacking[:MOST_RANKS]],
                        having=len(by_rank) - len(lacking),
                        exact=False,
                        stops=False,
                    )
                )
    return found
