"""Communication in a trace: operations, their process groups and sizes, and their times."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import ClassVar

import msgspec
import numpy as np

from torch_tb_profiler.arrays.grouping import greatest_at, least_at
from torch_tb_profiler.arrays.types import Bool, Int8, Int32, Int64
from torch_tb_profiler.trace import Trace
from torch_tb_profiler.trace.schema import TraceTable, column


class ProcessGroup(msgspec.Struct, frozen=True):
    """Ranks that communicate with each other.

    name, description: empty if the trace does not contain it; `ranks` is then empty, too
    ranks: numbers in the whole job
    size: 0 when unknown
    """

    name: str = ""
    description: str = ""
    ranks: tuple[int, ...] = ()
    size: int = 0

    @property
    def label(self) -> str:
        """Name for tables, description first; empty if unknown."""
        if self.description and self.description != "undefined":
            return f"{self.description} ({self.name})" if self.name else self.description
        return self.name


def groups_of_header(trace: Trace) -> dict[str, ProcessGroup]:
    """`distributedInfo.pg_config`, by name."""
    found: dict[str, ProcessGroup] = {}
    listed = trace.header.distributed.get("pg_config")
    for group in listed if isinstance(listed, list) else []:
        if isinstance(group, dict) and group.get("pg_name") is not None:
            ranks = ranks_of(json.dumps(group.get("ranks")))
            name = str(group["pg_name"])
            size = positive_number(group.get("pg_size")) or len(ranks)
            found[name] = ProcessGroup(name, str(group.get("pg_desc") or ""), ranks, size)
    return found


def positive_number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


@lru_cache(maxsize=256)
def ranks_of(text: str) -> tuple[int, ...]:
    """Parse ranks, `[0, 1]` or its string; empty for long lists, which torch shortens with dots."""
    try:
        ranks = json.loads(text)
    except ValueError:
        return ()
    if isinstance(ranks, str):
        return ranks_of(ranks)
    if isinstance(ranks, list) and all(isinstance(rank, int) for rank in ranks):
        return tuple(ranks)
    return ()


#: how an operation was recognised
RECOGNISED = ("kernel_arguments", "host_arguments", "host_range", "kernel_name")


class Operations(TraceTable):
    """One row per operation of this rank, in the order in which the host called them."""

    table_name: ClassVar[str] = "operations"
    name: Int32 = column("index into Communications.names", "the host range, else `library:kind`")
    kind: Int8 = column("index into KINDS", "collective name, host range, kernel name")
    group: Int32 = column("index into Communications.groups", "arguments, else distributedInfo")
    dtype: Int32 = column("index into Communications.dtypes; 0 is unknown", "arguments, else Input type")
    in_bytes: Int64 = column("bytes, -1", "In msg nelems × size of dtype, else Input Dims and Input type")
    out_bytes: Int64 = column("bytes, -1", "Out msg nelems × size of dtype")
    sequence: Int64 = column("number within the group, -1", "Seq")
    peer: Int32 = column("number of the other rank of a send or a receive, -1", "Dst Rank, Src Rank")
    identity: Int32 = column("index into Communications.identities; 0 is unknown", "Comms Id")
    host_start: Int64 = column("ns, -1", "the call on the host")
    host_end: Int64 = column("ns, -1", "the call on the host")
    on_device: Bool = column("", "its ranges are kernels, not the call")
    recognised: Int8 = column("index into RECOGNISED")


class Ranges(TraceTable):
    """When the operations ran, by operation and start: kernels, or the call on the host where there can be none."""

    table_name: ClassVar[str] = "ranges"
    operation: Int32 = column("row of Operations")
    start: Int64 = column("ns")
    end: Int64 = column("ns")


class Communications(msgspec.Struct, frozen=True):
    """All communication of one trace."""

    names: tuple[str, ...]
    groups: tuple[ProcessGroup, ...]
    dtypes: tuple[str, ...]
    #: what all ranks call the same operation, as it stands in the file
    identities: tuple[str, ...]
    operations: Operations
    ranges: Ranges

    def __len__(self) -> int:
        return len(self.operations)

    @property
    def start(self) -> Int64:
        """Start of each operation, ns: of its call on the host, else of its first range."""
        first = least_at(self.ranges.operation, self.ranges.start, len(self))
        return np.where(self.operations.host_start >= 0, self.operations.host_start, first)

    @property
    def end(self) -> Int64:
        """End of the last range of each operation, ns; -1 if only the call was recorded."""
        return np.maximum(greatest_at(self.ranges.operation, self.ranges.end, len(self)), -1)

    @property
    def duration(self) -> Int64:
        """Σ of the ranges of each operation, ns; -1 if only the call was recorded."""
        total = np.full(len(self), -1, np.int64)
        total[self.ranges.operation] = 0
        np.add.at(total, self.ranges.operation, self.ranges.end - self.ranges.start)
        return total
