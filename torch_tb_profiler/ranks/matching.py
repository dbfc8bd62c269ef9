"""Which operations of the ranks are the same one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.arrays.grouping import group, least_at
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model.communication_names import KINDS, POINT_TO_POINT
from torch_tb_profiler.model.process_groups import ProcessGroup
from torch_tb_profiler.ranks.rank import Rank
from torch_tb_profiler.trace import Note

#: in a key: does not tell operations apart here
_ANY = -2


@dataclass(frozen=True)
class Matching:
    """Per rank, parallel to its operations.

    match       number of the operation in the whole run; -1 for one that belongs to no other rank's
    ranks       how many ranks have it
    transfer    ns: the shortest duration that any rank has of it; -1 where none was recorded
    """

    match: tuple[Int64, ...]
    ranks: tuple[Int64, ...]
    transfer: tuple[Int64, ...]
    groups: tuple[ProcessGroup, ...]
    notes: tuple[Note, ...]


@dataclass(frozen=True)
class _Operations:
    """The operations of all ranks, one after the other."""

    rank: Int64
    group: Int64
    kind: Int64
    sequence: Int64
    size: Int64
    step: Int64
    duration: Int64


def match(ranks: Sequence[Rank]) -> Matching:
    """By process group and sequence number; without one, the n-th of its group and kind is the n-th everywhere.

    Where ranks have different numbers of a kind, it is the n-th within the step. When all ranks have the same sizes,
    only operations of one size are counted, because threads may run two operations in either order.
    """
    groups, together = _together(ranks)
    alone = np.isin(together.kind, [KINDS.index(kind) for kind in POINT_TO_POINT])
    by_size, by_step, notes = _what_tells_apart(together, alone, groups)
    numbered = together.sequence >= 0
    keys = [
        together.group,
        together.kind,
        together.sequence,
        np.where(by_size & ~numbered, together.size, _ANY),
        np.where(by_step & ~numbered, together.step, _ANY),
        # an operation without partners is one of its own
        np.where(alone, np.arange(len(alone)), -1),
    ]
    nth = group([together.rank, *keys]).nth()
    same = group([*keys, nth])
    timed = together.duration >= 0
    shortest = least_at(same.of[timed], together.duration[timed], len(same))
    ends = np.cumsum([len(rank.communications) for rank in ranks])[:-1]

    def per_rank(values: Int64) -> tuple[Int64, ...]:
        return tuple(np.split(values, ends))

    return Matching(
        match=per_rank(np.where(alone, -1, same.of)),
        ranks=per_rank(same.count()[same.of]),
        transfer=per_rank(np.where(timed, shortest[same.of], -1)),
        groups=groups,
        notes=notes,
    )


def _together(ranks: Sequence[Rank]) -> tuple[tuple[ProcessGroup, ...], _Operations]:
    groups: dict[tuple[object, ...], int] = {}
    known: list[ProcessGroup] = []
    steps: dict[str, int] = {}
    columns: list[tuple[Int64, ...]] = []
    for number, rank in enumerate(ranks):
        found, operations = rank.communications, rank.communications.operations
        codes = []
        for of in found.groups:
            code = groups.setdefault((of.name, of.ranks or of.description), len(groups))
            codes.append(code)
            if code == len(known):
                known.append(of)
        named = [steps.setdefault(name, len(steps)) for name in rank.overlap.names]
        columns.append(
            (
                np.full(len(operations), number),
                np.array([*codes, -1])[operations.group],
                operations.kind.astype(np.int64),
                operations.sequence,
                operations.in_bytes,
                np.array([*named, -1])[rank.step],
                found.duration,
            )
        )
    joined = [np.concatenate(values).astype(np.int64) for values in zip(*columns, strict=True)]
    return tuple(known), _Operations(*(joined or [np.empty(0, np.int64)] * 7))


def _what_tells_apart(
    together: _Operations, alone: Bool, groups: tuple[ProcessGroup, ...]
) -> tuple[Bool, Bool, tuple[Note, ...]]:
    """Where the size, and where the step, has to be the same; and what to say about different counts."""
    by_size, by_step = np.zeros(len(alone), np.bool_), np.zeros(len(alone), np.bool_)
    unequal: list[str] = []
    told: list[str] = []
    chosen = np.flatnonzero(~alone)
    if not len(chosen):
        return by_size, by_step, ()
    kinds = group([together.group[chosen], together.kind[chosen]])
    for number in range(len(kinds)):
        members = chosen[kinds.of == number]
        rank, size = together.rank[members], together.size[members]
        present, counts = np.unique(rank, return_counts=True)
        sizes = [np.sort(size[rank == r]) for r in present]
        if len(set(counts.tolist())) == 1:
            by_size[members] = all(np.array_equal(sizes[0], other) for other in sizes)
            continue
        by_step[members] = True
        by_size[members] = len({tuple(np.unique(of).tolist()) for of in sizes}) == 1
        of = groups[together.group[members[0]]]
        name = f" in group {of.description or of.name}" if of.description or of.name else ""
        kind = KINDS[together.kind[members[0]]]
        unequal.append(f"{kind}{name}: {counts.min()} to {counts.max()}")
        told.append(f"{kind} {of.description or of.name}: {counts.min()}–{counts.max()}")
    if not unequal:
        return by_size, by_step, ()
    note = Note(
        "unequal_counts",
        "warning",
        "The ranks recorded different numbers of operations "
        f"({'; '.join(unequal)}). Those without a sequence number are matched by their order within each step, "
        "and what is left over is taken alone: waiting is uncertain there.",
        count=len(unequal),
        touches=("distributed",),
        values={"operations": "; ".join(told)},
    )
    return by_size, by_step, (note,)
