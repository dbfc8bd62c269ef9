"""Match the operations of all ranks at once: by number (Comms Id, else group and Seq), else by order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from torch_tb_profiler.arrays.grouping import each_value, greatest_at, group, least_at
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model.communication import KINDS, ProcessGroup
from torch_tb_profiler.ranks.matching.by_order import by_order
from torch_tb_profiler.ranks.matching.numbering import MOST_STEPS_APART, CollectiveNumbering
from torch_tb_profiler.ranks.matching.operations import (
    OperationSignatures,
    RunCommunications,
    RunOperations,
    TimedOperations,
    is_between_two,
    operation_signatures,
    run_communications,
)
from torch_tb_profiler.reason import Value
from torch_tb_profiler.trace import Note, note


class Numbered(msgspec.Struct, frozen=True):
    """Operations matched by number.

    rows, number      those that are, and what they share; equal numbers are the same operation
    is_contradicted   shape (operations,): has the Comms Id of an operation that looks otherwise
    repeated          shape (operations,): a number that the rank gave several times, so that order has to tell them
                      apart; -1 for all others
    """

    rows: Int64
    number: Int64
    is_contradicted: Bool
    repeated: Int64


def by_number(operations: RunOperations, looks: Int64, chosen: Int64) -> Numbered:
    """Match by Comms Id, else by group and Seq, and check that what has one number looks the same.

    looks    shape (operations,): equal where operations can be the same one
    chosen   the rows to match, ascending
    A process group in which one Seq stands for operations that look different, or whose operations mostly come in
    different steps, was counted from another start on some rank: its Seq is not used.
    """
    by_id = operations.identity >= 0
    rows = chosen[by_id[chosen] | (operations.sequence[chosen] >= 0)]
    keys = group(
        [
            operations.identity[rows],
            np.where(by_id[rows], -1, operations.group[rows]),
            np.where(by_id[rows], -1, operations.sequence[rows]),
        ]
    )
    # an id is of one operation, whatever each rank calls the group: only another kind or type of it contradicts
    other_kind = _differ(keys.inverse, operations.kind[rows], len(keys))
    dtype = operations.dtype[rows]
    other_dtype = _differ(keys.inverse, dtype, len(keys)) & (least_at(keys.inverse, dtype, len(keys)) >= 0)
    other_looks = _differ(keys.inverse, looks[rows], len(keys))
    different = np.where(by_id[rows[keys.first]], other_kind | other_dtype, other_looks)
    groups = int(operations.group.max(initial=-1)) + 2
    contradicting = np.bincount(operations.group[rows[different[keys.inverse] & ~by_id[rows]]], minlength=groups) > 0
    doubtful = (contradicting | _is_shifted(operations, rows, keys.inverse, groups))[operations.group[rows]] & ~by_id[
        rows
    ]
    own = group([keys.inverse, operations.rank[rows]])
    once = greatest_at(keys.inverse, own.count()[own.inverse], len(keys))[keys.inverse] == 1
    is_contradicted = np.zeros(len(operations), np.bool_)
    is_contradicted[rows[by_id[rows] & different[keys.inverse]]] = True
    repeated = np.full(len(operations), -1, np.int64)
    again = ~once & ~doubtful & ~different[keys.inverse]
    repeated[rows[again]] = keys.inverse[again]
    sure = once & ~doubtful & ~different[keys.inverse]
    return Numbered(rows[sure], keys.inverse[sure], is_contradicted, repeated)


def _differ(places: Int64, values: Int64, size: int) -> Bool:
    different: Bool = least_at(places, values, size) != greatest_at(places, values, size)
    return different


def _is_shifted(operations: RunOperations, rows: Int64, keys: Int64, groups: int) -> Bool:
    """Mark process groups in which most operations of one Seq come in different steps."""
    in_step = operations.step[rows] >= 0
    rows, keys = rows[in_step], keys[in_step]
    if not len(rows):
        return np.zeros(groups, np.bool_)
    matches = group([keys])
    several = np.bincount(matches.inverse)[matches.inverse] > 1
    apart = _differ(matches.inverse, operations.step[rows], len(matches))[matches.inverse]
    total = np.bincount(operations.group[rows[several]], minlength=groups)
    parted = np.bincount(operations.group[rows[several & apart]], minlength=groups)
    return parted > MOST_STEPS_APART * total


_TOUCHES = ("distributed",)


def unmatched_notes(joined: RunCommunications, matched: Bool) -> tuple[Note, ...]:
    """Return notes about unmatched collectives of groups with several loaded ranks."""
    operations = joined.operations
    chosen = np.flatnonzero(~operations.is_between_two & _has_company(operations, len(joined.groups)))
    return (*_unequal_counts(operations, joined.groups, chosen), *_unmatched(operations, chosen, matched))


def _has_company(operations: RunOperations, groups: int) -> Bool:
    """Mark operations of groups that another rank uses, too."""
    pairs = np.unique(np.stack([operations.group, operations.rank]), axis=1)
    ranks: Bool = np.bincount(pairs[0], minlength=groups + 1)[operations.group] > 1
    return ranks


def _unequal_counts(operations: RunOperations, groups: tuple[ProcessGroup, ...], chosen: Int64) -> Iterator[Note]:
    unequal: list[dict[str, Value]] = []
    kinds, place = np.unique(np.stack([operations.group[chosen], operations.kind[chosen]]), axis=1, return_inverse=True)
    of_group = {group: np.unique(operations.rank[chosen[some]]) for group, some in each_value(operations.group[chosen])}
    of_kind = dict(each_value(place.ravel()))
    for number, (at, kind) in enumerate(kinds.T.tolist()):
        ranks = of_group[at]
        counts = np.bincount(operations.rank[chosen[of_kind[number]]], minlength=int(ranks.max()) + 1)[ranks]
        if counts.min() == counts.max():
            continue
        label = groups[at].description or groups[at].name
        fewest, most = int(counts.min()), int(counts.max())
        unequal.append({"operation": KINDS[kind], "group": label, "fewest": fewest, "most": most})
    if unequal:
        yield note(
            "unequal_counts",
            "warning",
            len(unequal),
            _TOUCHES,
            listed={"operations": unequal},
            values={
                "operations": "; ".join("{operation} {group}: {fewest}–{most}".format_map(each) for each in unequal)
            },
        )


def _unmatched(operations: RunOperations, chosen: Int64, matched: Bool) -> Iterator[Note]:
    alone = chosen[~matched[chosen]]
    if len(alone):
        kinds, counts = np.unique(operations.kind[alone], return_counts=True)
        counted = "; ".join(
            f"{KINDS[kind]}: {count}" for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True)
        )
        yield note(
            "unmatched_operations",
            "warning",
            len(alone),
            _TOUCHES,
            values={"unmatched": len(alone), "all": len(chosen), "operations": counted},
        )


class Matching(msgspec.Struct, frozen=True):
    """What was matched, per rank, parallel to its operations.

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
        """Bytes of its arrays."""
        return sum(each.nbytes for kind in (self.match, self.ranks, self.is_known, self.transfer) for each in kind)


def match(calls: Sequence[TimedOperations]) -> Matching:
    """Match the operations of each rank by number (Comms Id, else group and Seq), else by order."""
    joined = run_communications(calls)
    operations = joined.operations
    number = np.concatenate(numbers_of(calls) or [np.empty(0, np.int64)])
    same = group([number, np.where(number < 0, np.arange(len(number)), -1)])
    having = same.count()[same.inverse]
    sizes = np.array([*(of.size for of in joined.groups), 0])[operations.group]
    # a group of unknown ranks, found on more of them than it has: several groups that look like one
    nameless = np.array([*(not of.ranks for of in joined.groups), True])[operations.group]
    too_many = nameless & (sizes > 0) & (having > sizes)
    matched = (number >= 0) & (having > 1) & ~too_many
    timed = operations.duration >= 0
    shortest = least_at(same.inverse[timed], operations.duration[timed], len(same))
    transfer = np.where(timed, np.where(matched, shortest[same.inverse], operations.duration), -1)
    ends = np.cumsum([len(each) for each in calls])[:-1]
    return Matching(
        match=tuple(np.split(np.where(matched, same.inverse, -1), ends)),
        ranks=tuple(np.split(np.where(matched, having, 1), ends)),
        is_known=tuple(np.split(matched | ((sizes == 1) & ~operations.is_between_two), ends)),
        transfer=tuple(np.split(transfer, ends)),
        groups=joined.groups,
        notes=unmatched_notes(joined, matched),
    )


def numbers_of(calls: Sequence[TimedOperations]) -> list[Int64]:
    """Return numbers per rank, shape (rows,): equal ones are the same operation, -1 is on no other rank."""
    numbering = CollectiveNumbering()
    numbers = [numbering.add(each) for each in calls]
    if numbering.doubted:
        # a group that becomes doubted later was joined before
        numbers = [numbering.add(each) for each in calls]
        closer = match_closely(calls, numbering.count)
        numbers = [
            np.where(is_between_two(each), mine, other)
            for each, mine, other in zip(calls, numbers, closer, strict=True)
        ]
    return numbers


def match_closely(calls: Sequence[TimedOperations], first: int) -> list[Int64]:
    """Match collectives whose ranks disagree about numbers or order; as `numbers_of`, numbers begin at `first`."""
    joined = run_communications(calls)
    operations = joined.operations
    number = np.full(len(operations), -1, np.int64)
    chosen = ~operations.is_between_two
    looks = operation_signatures(operations, joined.groups)
    numbered = by_number(operations, looks.of, np.flatnonzero(chosen))
    number[numbered.rows] = numbered.number
    left = np.flatnonzero(chosen & (number < 0) & ~numbered.is_contradicted)
    number = by_order(
        joined, OperationSignatures(group([looks.of, numbered.repeated]).inverse, looks.is_loose), left, number
    )
    number = np.where(number >= 0, number + first, -1)
    return np.split(number, np.cumsum([len(each) for each in calls])[:-1])
