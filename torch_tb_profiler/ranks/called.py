"""The communication of one rank in the form in which ranks are matched."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, TypeVar

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.arrays.grouping import least_at
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model.communication import Communications
from torch_tb_profiler.model.communication_names import KINDS, POINT_TO_POINT
from torch_tb_profiler.model.process_groups import ProcessGroup

_IS_BETWEEN_TWO = np.array([kind in POINT_TO_POINT for kind in KINDS])

C = TypeVar("C", bound="Called")


class CalledColumns(msgspec.Struct, frozen=True):
    """Collectives, in the order of the calls of a rank. Columns are of shape (rows,).

    group, name, kind, dtype, step   step is -1 outside of all steps
    identity   a number made of the Comms Id, the same in every process; -1 without
    sequence   Seq, -1 without
    in_bytes, out_bytes   of one rank, -1 where not known
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


class Called(CalledColumns, frozen=True):
    """What a rank called.

    number     number of the rank in the job; -1 where its trace does not say
    groups, names, dtypes, steps   what the columns of that name point into; dtype 0 is unknown
    peer       number of the other rank of a send or a receive, -1 where not known
    """

    number: int
    groups: Sequence[ProcessGroup]
    names: Sequence[str]
    dtypes: Sequence[str]
    steps: Sequence[str]
    peer: Int64

    def take(self: C, rows: Int64) -> C:
        """Some of the rows."""
        columns: dict[str, Any] = {name: getattr(self, name) for name in self.__struct_fields__}
        taken: dict[str, Any] = {name: of[rows] for name, of in columns.items() if isinstance(of, np.ndarray)}
        return replace(self, **taken)


class Timed(Called, frozen=True):
    """And when it ran: start and end of its ranges, ns by the clock of the rank; -1 without any."""

    start: Int64
    end: Int64


def called(found: Communications, number: int | None, steps: Sequence[str], step: Int64) -> Timed:
    """step: of each operation the index into `steps`."""
    of = found.operations
    duration = found.duration
    identities = np.array([-1, *map(_number_of, found.identities[1:])], np.int64)
    first = least_at(found.ranges.operation, found.ranges.start, len(found))
    return Timed(
        number=-1 if number is None else number,
        groups=found.groups,
        names=found.names,
        dtypes=found.dtypes,
        steps=steps,
        group=of.group.astype(np.int64),
        name=of.name.astype(np.int64),
        kind=of.kind.astype(np.int64),
        dtype=of.dtype.astype(np.int64),
        step=step.astype(np.int64),
        identity=identities[of.identity],
        sequence=of.sequence,
        peer=of.peer.astype(np.int64),
        in_bytes=of.in_bytes,
        out_bytes=of.out_bytes,
        start=np.where(duration >= 0, first, -1),
        end=found.end,
        duration=duration,
    )


def is_between_two(of: Called) -> Bool:
    """Sends and receives."""
    return _IS_BETWEEN_TWO[of.kind]


def _number_of(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") >> 1
