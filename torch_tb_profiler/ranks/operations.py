"""The operations of all ranks as one table, and what the same operation has in common on all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.arrays.grouping import greatest_at, group, least_at
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model.communication_names import KINDS, POINT_TO_POINT, UNKNOWN_KIND
from torch_tb_profiler.model.process_groups import ProcessGroup
from torch_tb_profiler.ranks.rank import Rank

#: in a key: does not tell operations apart here
ANY = -2


@dataclass(frozen=True)
class Operations:
    """The operations of all ranks, one rank after the other, each in the order of its calls. All of shape (rows,).

    rank, group, kind, dtype, name, step   numbers that mean the same on all ranks; step is -1 outside of all steps
    identity                               of a Comms Id, -1 without
    sequence                               Seq, -1 without
    in_bytes, out_bytes                    of one rank, -1 where not known
    start, end, duration                   of its ranges, ns by the clock of the rank; duration is -1 without any
    """

    rank: Int64
    group: Int64
    kind: Int64
    dtype: Int64
    name: Int64
    step: Int64
    identity: Int64
    sequence: Int64
    in_bytes: Int64
    out_bytes: Int64
    start: Int64
    end: Int64
    duration: Int64

    def __len__(self) -> int:
        return len(self.rank)

    @property
    def is_between_two(self) -> Bool:
        """Sends and receives."""
        return np.isin(self.kind, [KINDS.index(kind) for kind in POINT_TO_POINT])


@dataclass(frozen=True)
class Together:
    """Operations of all ranks and what their numbers mean.

    groups     process groups, by the numbers of `operations.group`
    has_step   shape (ranks, steps + 1): which rank recorded which step; the last column is for no step
    """

    operations: Operations
    groups: tuple[ProcessGroup, ...]
    has_step: Bool


def together(ranks: Sequence[Rank]) -> Together:
    """Put the operations of all ranks into one table."""
    groups: dict[tuple[object, ...], int] = {}
    known: list[ProcessGroup] = []
    texts: dict[str, int] = {}
    steps: dict[str, int] = {}
    columns: list[tuple[Int64, ...]] = []

    def codes(names: Sequence[str], known: dict[str, int]) -> Int64:
        return np.array([*(known.setdefault(name, len(known)) for name in names), -1])

    for number, rank in enumerate(ranks):
        found, operations = rank.communications, rank.communications.operations
        of_group = []
        for of in found.groups:
            of_group.append(groups.setdefault((of.name, of.ranks or of.description), len(groups)))
            if of_group[-1] == len(known):
                known.append(of)
        end, duration = found.end, found.duration
        columns.append(
            (
                np.full(len(operations), number),
                np.array([*of_group, -1])[operations.group],
                operations.kind.astype(np.int64),
                np.where(operations.dtype > 0, codes(found.dtypes, texts)[operations.dtype], -1),
                codes(found.names, texts)[operations.name],
                codes(rank.overlap.names, steps)[rank.step],
                np.where(operations.identity > 0, codes(found.identities, texts)[operations.identity], -1),
                operations.sequence,
                operations.in_bytes,
                operations.out_bytes,
                np.where(duration >= 0, least_at(found.ranges.operation, found.ranges.start, len(found)), -1),
                end,
                duration,
            )
        )
    joined = [np.concatenate(values).astype(np.int64) for values in zip(*columns, strict=True)]
    has_step = np.zeros((len(ranks), len(steps) + 1), np.bool_)
    has_step[:, -1] = True
    for number, rank in enumerate(ranks):
        has_step[number, [steps[name] for name in rank.overlap.names]] = True
    return Together(Operations(*(joined or [np.empty(0, np.int64)] * 13)), tuple(known), has_step)


@dataclass(frozen=True)
class Looks:
    """What the same operation has in common on all ranks. Both of shape (rows,).

    of         equal for equal kind, element type and size
    is_loose   the size may be another one on each rank, so that it is no part of `of`
    """

    of: Int64
    is_loose: Bool


def looks_of(of: Operations, groups: Sequence[ProcessGroup]) -> Looks:
    """What each operation has in common with the same one on other ranks.

    The size counts where it has to be the same on all ranks, or is the same: an all-to-all may send another number of
    elements on each rank, an all-gather of equal parts may not. What a rank does not know tells nothing apart.
    """
    places = group([of.group, of.kind])
    barrier = of.kind == KINDS.index("barrier")
    dtype_known = least_at(places.of, of.dtype, len(places))[places.of] >= 0
    size = _comparable_size(of, groups)
    size_known = least_at(places.of, size, len(places))[places.of] >= 0
    size = np.where(size_known & ~barrier, size, ANY)
    dtype = np.where(dtype_known & ~barrier, of.dtype, ANY)
    name = np.where(of.kind == KINDS.index(UNKNOWN_KIND), of.name, ANY)
    classes = group([of.group, of.kind, dtype, name])
    free = _may_differ(of, groups) & ~_same_sizes(of.rank, classes.of, size)
    return Looks(group([of.group, of.kind, dtype, name, np.where(free, ANY, size)]).of, free)


def _kind_is(of: Operations, *kinds: str) -> Bool:
    return np.isin(of.kind, [KINDS.index(kind) for kind in kinds])


def _comparable_size(of: Operations, groups: Sequence[ProcessGroup]) -> Int64:
    """Bytes of the part that each rank has, -1: the root of a gather has another output, that of a scatter an input."""
    part_is_output = _kind_is(of, "reduce_scatter", "scatter")
    size = np.where(part_is_output, of.out_bytes, of.in_bytes)
    ranks = np.array([*(each.size for each in groups), 0])[of.group]
    whole = np.where(part_is_output, of.in_bytes, -1)
    of_whole = (size < 0) & (whole >= 0) & (ranks > 0) & _kind_is(of, "reduce_scatter")
    return np.where(of_whole, whole // np.maximum(ranks, 1), size)


def _may_differ(of: Operations, groups: Sequence[ProcessGroup]) -> Bool:
    """Operations whose size may be another one on each rank."""
    ranks = np.array([*(each.size for each in groups), 0])[of.group]
    gathering = _kind_is(of, "all_gather")
    part = np.where(gathering, of.in_bytes, of.out_bytes)
    whole = np.where(gathering, of.out_bytes, of.in_bytes)
    even = (part >= 0) & ((whole < 0) | (ranks <= 0) | (part * ranks == whole))
    free: Bool = _kind_is(of, "all_to_all") | (_kind_is(of, "all_gather", "reduce_scatter") & ~even)
    return free


def _same_sizes(rank: Int64, classes: Int64, size: Int64) -> Bool:
    """Of each operation whether all ranks that have its class have the same sizes, however often."""
    places = group([classes, size])
    on_ranks = group([places.of, rank])
    having = np.bincount(places.of[on_ranks.first], minlength=len(places))
    class_ranks = group([classes, rank])
    of_class = np.bincount(classes[class_ranks.first], minlength=int(classes.max(initial=-1)) + 1)
    everywhere = having == of_class[classes[places.first]]
    missing = greatest_at(classes[places.first], (~everywhere).astype(np.int64), len(of_class))
    same: Bool = missing[classes] == 0
    return same
