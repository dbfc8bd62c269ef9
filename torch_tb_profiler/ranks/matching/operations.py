"""The operations of one rank, and of all ranks as one table, in the form in which they are matched."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.arrays.grouping import greatest_at, group, least_at
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model.communication import KINDS, POINT_TO_POINT, UNKNOWN_KIND, Communications, ProcessGroup

_IS_BETWEEN_TWO = np.array([kind in POINT_TO_POINT for kind in KINDS])

C = TypeVar("C", bound="CalledOperations")


class OperationColumns(msgspec.Struct, frozen=True):
    """Collectives, in the order of the calls of a rank. Columns are of shape (rows,).

    group, name, kind, dtype, step   step is -1 outside of all steps
    identity   a number made of the Comms Id, the same in every process; -1 without
    sequence   Seq, -1 without
    in_bytes, out_bytes   of one rank, -1 where unknown
    duration   of its ranges, ns; -1 without any
    """

    group: Int64
    name: Int64
    kind: Int64
    dtype: Int64
    step: Int64
    identity: Int64
    sequence: Int64
    in_bytes: Int64
    out_bytes: Int64
    duration: Int64

    def __len__(self) -> int:
        return len(self.group)


class CalledOperations(OperationColumns, frozen=True):
    """The operations that a rank called.

    number     number of the rank in the job; -1 where its trace does not say
    groups, names, dtypes, steps   what the columns of that name point into; dtype 0 is unknown
    peer       number of the other rank of a send or a receive, -1 where unknown
    """

    number: int
    groups: Sequence[ProcessGroup]
    names: Sequence[str]
    dtypes: Sequence[str]
    steps: Sequence[str]
    peer: Int64

    def take(self: C, rows: Int64) -> C:
        """Select some of the rows."""
        columns: dict[str, Any] = {name: getattr(self, name) for name in self.__struct_fields__}
        taken: dict[str, Any] = {name: of[rows] for name, of in columns.items() if isinstance(of, np.ndarray)}
        return replace(self, **taken)


class TimedOperations(CalledOperations, frozen=True):
    """With start and end of their ranges, ns by the clock of the rank; -1 without any."""

    start: Int64
    end: Int64


def timed_operations(
    communications: Communications, number: int | None, steps: Sequence[str], step: Int64
) -> TimedOperations:
    """Convert the communication of a trace. step: the index of each operation into `steps`."""
    operations = communications.operations
    duration = communications.duration
    identities = np.array([-1, *map(_number_of, communications.identities[1:])], np.int64)
    first = least_at(communications.ranges.operation, communications.ranges.start, len(communications))
    return TimedOperations(
        number=-1 if number is None else number,
        groups=communications.groups,
        names=communications.names,
        dtypes=communications.dtypes,
        steps=steps,
        group=operations.group.astype(np.int64),
        name=operations.name.astype(np.int64),
        kind=operations.kind.astype(np.int64),
        dtype=operations.dtype.astype(np.int64),
        step=step.astype(np.int64),
        identity=identities[operations.identity],
        sequence=operations.sequence,
        peer=operations.peer.astype(np.int64),
        in_bytes=operations.in_bytes,
        out_bytes=operations.out_bytes,
        start=np.where(duration >= 0, first, -1),
        end=communications.end,
        duration=duration,
    )


def is_between_two(of: CalledOperations) -> Bool:
    """Mark sends and receives."""
    return _IS_BETWEEN_TWO[of.kind]


def _number_of(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") >> 1


#: in a key: equal for all operations here
ANY = -2


class RunOperations(OperationColumns, frozen=True):
    """The operations of all ranks, one rank after the other; numbers mean the same on all ranks.

    rank         position of the rank
    start, end   of its ranges, ns by the clock of the rank; -1 without any
    """

    rank: Int64
    start: Int64
    end: Int64

    @property
    def is_between_two(self) -> Bool:
        """Sends and receives."""
        return np.isin(self.kind, [KINDS.index(kind) for kind in POINT_TO_POINT])


class RunCommunications(msgspec.Struct, frozen=True):
    """Operations of all ranks and what their numbers mean.

    groups     process groups, by the numbers of `operations.group`
    has_step   shape (ranks, steps + 1): which rank recorded which step; the last column is for no step
    """

    operations: RunOperations
    groups: tuple[ProcessGroup, ...]
    has_step: Bool


def run_communications(ranks: Sequence[TimedOperations]) -> RunCommunications:
    """Put the operations of all ranks into one table."""
    groups: dict[tuple[object, ...], int] = {}
    known: list[ProcessGroup] = []
    texts: dict[str, int] = {}
    steps: dict[str, int] = {}
    columns: list[dict[str, Int64]] = []

    def codes(names: Sequence[str], known: dict[str, int]) -> Int64:
        return np.array([*(known.setdefault(name, len(known)) for name in names), -1])

    for number, calls in enumerate(ranks):
        of_group = []
        for process_group in calls.groups:
            key = process_group.name, process_group.ranks or process_group.description
            of_group.append(groups.setdefault(key, len(groups)))
            if of_group[-1] == len(known):
                known.append(process_group)
        columns.append(
            {name: getattr(calls, name) for name in RunOperations.__struct_fields__ if name != "rank"}
            | {
                "rank": np.full(len(calls), number),
                "group": np.array([*of_group, -1])[calls.group],
                "dtype": np.where(calls.dtype > 0, codes(calls.dtypes, texts)[calls.dtype], -1),
                "name": codes(calls.names, texts)[calls.name],
                "step": codes(calls.steps, steps)[calls.step],
            }
        )
    joined = {
        name: np.concatenate([np.empty(0, np.int64), *(group[name] for group in columns)]).astype(np.int64)
        for name in RunOperations.__struct_fields__
    }
    has_step = np.zeros((len(ranks), len(steps) + 1), np.bool_)
    has_step[:, -1] = True
    for number, calls in enumerate(ranks):
        has_step[number, [steps[name] for name in calls.steps]] = True
    return RunCommunications(RunOperations(**joined), tuple(known), has_step)


class OperationSignatures(msgspec.Struct, frozen=True):
    """What the same operation has in common on all ranks; both of shape (rows,).

    of         equal for equal kind, element type and size
    is_loose   the size may be another one on each rank, so that it is no part of `of`
    """

    of: Int64
    is_loose: Bool


def operation_signatures(operations: RunOperations, groups: Sequence[ProcessGroup]) -> OperationSignatures:
    """Give equal numbers to operations that may be the same one on several ranks.

    The size counts where it has to be equal on all ranks, or is: an all-to-all may send another number of elements on
    each rank, an all-gather of equal parts may not. Values that a rank does not know are not compared.
    """
    places = group([operations.group, operations.kind])
    barrier = operations.kind == KINDS.index("barrier")
    dtype_known = least_at(places.inverse, operations.dtype, len(places))[places.inverse] >= 0
    ranks = np.array([*(each.size for each in groups), 0])[operations.group]
    size = comparable_size(operations.kind, operations.in_bytes, operations.out_bytes, ranks)
    size_known = least_at(places.inverse, size, len(places))[places.inverse] >= 0
    size = np.where(size_known & ~barrier, size, ANY)
    dtype = np.where(dtype_known & ~barrier, operations.dtype, ANY)
    name = np.where(operations.kind == KINDS.index(UNKNOWN_KIND), operations.name, ANY)
    classes = group([operations.group, operations.kind, dtype, name])
    free = size_may_differ(operations.kind, operations.in_bytes, operations.out_bytes, ranks) & ~_same_sizes(
        operations.rank, classes.inverse, size
    )
    return OperationSignatures(
        group([operations.group, operations.kind, dtype, name, np.where(free, ANY, size)]).inverse, free
    )


#: masks by kind; `_PART_IS_OUTPUT`: the output is the part of one rank, `_UNEVEN`: sizes may differ between ranks
_PART_IS_OUTPUT, _SCATTERS, _GATHERS, _EXCHANGES, _UNEVEN = (
    np.array([kind in kinds for kind in KINDS])
    for kinds in (
        ("reduce_scatter", "scatter"),
        ("reduce_scatter",),
        ("all_gather",),
        ("all_to_all",),
        ("all_gather", "reduce_scatter"),
    )
)


def comparable_size(kind: Int64, in_bytes: Int64, out_bytes: Int64, ranks: Int64) -> Int64:
    """Return the bytes of one rank's part of each operation, -1 if unknown.

    Parts are comparable where the whole is not: only the root of a gather has it as output, only the root of a scatter
    as input.

    ranks   number of ranks in the group of each operation, 0 where unknown
    """
    part_is_output = _PART_IS_OUTPUT[kind]
    if not part_is_output.any():
        return in_bytes
    size = np.where(part_is_output, out_bytes, in_bytes)
    whole = np.where(part_is_output, in_bytes, -1)
    of_whole = (size < 0) & (whole >= 0) & (ranks > 0) & _SCATTERS[kind]
    return np.where(of_whole, whole // np.maximum(ranks, 1), size)


def size_may_differ(kind: Int64, in_bytes: Int64, out_bytes: Int64, ranks: Int64) -> Bool:
    """Mark operations whose size may be another one on each rank; arguments as of `comparable_size`."""
    gathering, uneven, exchanging = _GATHERS[kind], _UNEVEN[kind], _EXCHANGES[kind]
    if not uneven.any():
        return exchanging
    part = np.where(gathering, in_bytes, out_bytes)
    whole = np.where(gathering, out_bytes, in_bytes)
    even = (part >= 0) & ((whole < 0) | (ranks <= 0) | (part * ranks == whole))
    free: Bool = exchanging | (uneven & ~even)
    return free


def _same_sizes(rank: Int64, classes: Int64, size: Int64) -> Bool:
    """Mark operations of classes with equal sets of sizes on all their ranks, however often each size occurs."""
    places = group([classes, size])
    on_ranks = group([places.inverse, rank])
    having = np.bincount(places.inverse[on_ranks.first], minlength=len(places))
    class_ranks = group([classes, rank])
    of_class = np.bincount(classes[class_ranks.first], minlength=int(classes.max(initial=-1)) + 1)
    everywhere = having == of_class[classes[places.first]]
    missing = greatest_at(classes[places.first], (~everywhere).astype(np.int64), len(of_class))
    same: Bool = missing[classes] == 0
    return same
