"""Which operations of the ranks are the same one. docs/ranks.md has the rules in words."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from torch_tb_profiler.arrays.grouping import group, least_at
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model.process_groups import ProcessGroup
from torch_tb_profiler.ranks.by_number import by_number
from torch_tb_profiler.ranks.by_order import by_order
from torch_tb_profiler.ranks.called import Timed, is_between_two
from torch_tb_profiler.ranks.join import Join
from torch_tb_profiler.ranks.operations import Looks, looks_of, together
from torch_tb_profiler.ranks.rank import Rank
from torch_tb_profiler.ranks.unmatched import notes_about
from torch_tb_profiler.trace import Note


class Matching(msgspec.Struct, frozen=True):
    """Per rank, parallel to its operations.

    match       number of the operation in the whole run; -1 for one that belongs to no other rank's
    ranks       how many ranks have it
    is_known    whether waiting can be told from transferring: another rank has it, or its group has one rank only
    transfer    ns: the shortest duration that any rank has of it; -1 where none was recorded. The own duration of an
                operation that belongs to no other rank's
    """

    match: tuple[Int64, ...]
    ranks: tuple[Int64, ...]
    is_known: tuple[Bool, ...]
    transfer: tuple[Int64, ...]
    groups: tuple[ProcessGroup, ...]
    notes: tuple[Note, ...]

    @property
    def size(self) -> int:
        """Of its arrays, bytes."""
        return sum(each.nbytes for kind in (self.match, self.ranks, self.is_known, self.transfer) for each in kind)


def match(ranks: Sequence[Rank]) -> Matching:
    """By what the traces number (Comms Id, else group and Seq), else by the order within what looks the same."""
    calls = [rank.called for rank in ranks]
    found = together(calls)
    operations = found.operations
    number = np.concatenate(numbers_of(calls) or [np.empty(0, np.int64)])
    same = group([number, np.where(number < 0, np.arange(len(number)), -1)])
    having = same.count()[same.of]
    sizes = np.array([*(of.size for of in found.groups), 0])[operations.group]
    # a group of unknown ranks, found on more of them than it has: several groups that look like one
    nameless = np.array([*(not of.ranks for of in found.groups), True])[operations.group]
    too_many = nameless & (sizes > 0) & (having > sizes)
    matched = (number >= 0) & (having > 1) & ~too_many
    timed = operations.duration >= 0
    shortest = least_at(same.of[timed], operations.duration[timed], len(same))
    transfer = np.where(timed, np.where(matched, shortest[same.of], operations.duration), -1)
    ends = np.cumsum([len(each) for each in calls])[:-1]
    return Matching(
        match=tuple(np.split(np.where(matched, same.of, -1), ends)),
        ranks=tuple(np.split(np.where(matched, having, 1), ends)),
        is_known=tuple(np.split(matched | ((sizes == 1) & ~operations.is_between_two), ends)),
        transfer=tuple(np.split(transfer, ends)),
        groups=found.groups,
        notes=notes_about(found, matched),
    )


def numbers_of(calls: Sequence[Timed]) -> list[Int64]:
    """Per rank, shape (rows,): equal numbers are the same operation, -1 belongs to no other rank's."""
    join = Join()
    numbers = [join.add(each) for each in calls]
    if join.doubted:
        # a group that becomes doubted later was joined before
        numbers = [join.add(each) for each in calls]
        closer = looked_at_closely(calls, join.count)
        numbers = [
            np.where(is_between_two(each), mine, other)
            for each, mine, other in zip(calls, numbers, closer, strict=True)
        ]
    return numbers


def looked_at_closely(calls: Sequence[Timed], first: int) -> list[Int64]:
    """As `numbers_of`, from `first`, of collectives whose ranks do not agree about their numbers or their order."""
    found = together(calls)
    operations = found.operations
    number = np.full(len(operations), -1, np.int64)
    chosen = ~operations.is_between_two
    looks = looks_of(operations, found.groups)
    numbered = by_number(operations, looks.of, np.flatnonzero(chosen))
    number[numbered.rows] = numbered.number
    left = np.flatnonzero(chosen & (number < 0) & ~numbered.is_contradicted)
    number = by_order(found, Looks(group([looks.of, numbered.repeated]).of, looks.is_loose), left, number)
    number = np.where(number >= 0, number + first, -1)
    return np.split(number, np.cumsum([len(each) for each in calls])[:-1])
