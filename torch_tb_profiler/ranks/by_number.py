"""Operations that the traces number: the Comms Id is the same on all ranks, Seq counts the calls of a process group."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.arrays.grouping import greatest_at, group, least_at
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.ranks.operations import Operations

#: Seq is not believed where more than this part of a group's matches have different steps
MOST_STEPS_APART = 0.5


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


def by_number(of: Operations, looks: Int64, chosen: Int64) -> Numbered:
    """Match by Comms Id, else by group and Seq, and check that what has one number looks the same.

    looks    shape (operations,): equal where operations can be the same one
    chosen   the rows to match, ascending
    A process group in which one Seq stands for operations that look different, or whose operations mostly come in
    different steps, was counted from another start on some rank: its Seq is not used.
    """
    by_id = of.identity >= 0
    rows = chosen[by_id[chosen] | (of.sequence[chosen] >= 0)]
    keys = group(
        [
            of.identity[rows],
            np.where(by_id[rows], -1, of.group[rows]),
            np.where(by_id[rows], -1, of.sequence[rows]),
        ]
    )
    # an id is of one operation, whatever each rank calls the group: only another kind or type of it contradicts
    other_kind = _differ(keys.of, of.kind[rows], len(keys))
    dtype = of.dtype[rows]
    other_dtype = _differ(keys.of, dtype, len(keys)) & (least_at(keys.of, dtype, len(keys)) >= 0)
    other_looks = _differ(keys.of, looks[rows], len(keys))
    different = np.where(by_id[rows[keys.first]], other_kind | other_dtype, other_looks)
    groups = int(of.group.max(initial=-1)) + 2
    contradicting = np.bincount(of.group[rows[different[keys.of] & ~by_id[rows]]], minlength=groups) > 0
    doubtful = (contradicting | _is_shifted(of, rows, keys.of, groups))[of.group[rows]] & ~by_id[rows]
    own = group([keys.of, of.rank[rows]])
    once = greatest_at(keys.of, own.count()[own.of], len(keys))[keys.of] == 1
    is_contradicted = np.zeros(len(of), np.bool_)
    is_contradicted[rows[by_id[rows] & different[keys.of]]] = True
    repeated = np.full(len(of), -1, np.int64)
    again = ~once & ~doubtful & ~different[keys.of]
    repeated[rows[again]] = keys.of[again]
    sure = once & ~doubtful & ~different[keys.of]
    return Numbered(rows[sure], keys.of[sure], is_contradicted, repeated)


def _differ(places: Int64, values: Int64, size: int) -> Bool:
    different: Bool = least_at(places, values, size) != greatest_at(places, values, size)
    return different


def _is_shifted(of: Operations, rows: Int64, keys: Int64, groups: int) -> Bool:
    """Of each process group whether most of what has one Seq comes in different steps."""
    in_step = of.step[rows] >= 0
    rows, keys = rows[in_step], keys[in_step]
    if not len(rows):
        return np.zeros(groups, np.bool_)
    matches = group([keys])
    several = np.bincount(matches.of)[matches.of] > 1
    apart = _differ(matches.of, of.step[rows], len(matches))[matches.of]
    total = np.bincount(of.group[rows[several]], minlength=groups)
    parted = np.bincount(of.group[rows[several & apart]], minlength=groups)
    return parted > MOST_STEPS_APART * total
