"""What is in use in one snapshot and not in another: of two versions, two steps, two ranks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from typing import Literal

import numpy as np

from torch_tb_profiler.analysis.result import Result, column
from torch_tb_profiler.analysis.snapshot.alive import AliveRows, alive_rows
from torch_tb_profiler.analysis.snapshot.curves import History
from torch_tb_profiler.analysis.snapshot.frames import StackNames
from torch_tb_profiler.arrays.types import Int64

#: streams are not among them: their ids are pointers
AgainstBy = Literal["line", "stack", "size", "module", "annotation"]


class AgainstRows(Result, group="snapshot.against"):
    """A row for each line, stack, size, module or annotation of either snapshot; what differs most is first."""

    name: tuple[str, ...] = column(
        "Allocated at", "The line, stack, module or annotation that the row is about, in both snapshots."
    )
    size: Int64 = column("Size of each", "Requested bytes of each.", unit="bytes", missing_below_zero=True)
    blocks_before: Int64 = column("Allocations before", "How many were in use in the other snapshot.")
    blocks: Int64 = column("Allocations", "How many are in use in this one.")
    bytes_before: Int64 = column("Requested before", "Requested bytes in use in the other snapshot.", unit="bytes")
    bytes: Int64 = column("Requested", "Requested bytes in use in this one.")
    difference: Int64 = column("Difference", "Requested bytes − those in the other snapshot.", unit="bytes")


Side = tuple[History, StackNames, int]
"""A device of a snapshot, the names of its stacks, and after which record."""


def against(before: Side, after: Side, by: AgainstBy) -> AgainstRows:
    """Rows of both that are called the same are one: numbers of stacks mean nothing in another file.

    A line that moved within its file is another one; functions of modules are not.
    """
    found: defaultdict[Hashable, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    names: dict[Hashable, tuple[str, set[int]]] = {}
    for side, (history, stacks, position) in enumerate((before, after)):
        rows = alive_rows(history, stacks, position, by)
        for at, key in enumerate(_keys(rows, stacks, by)):
            row = found[key]
            row[side] += int(rows.blocks[at])
            row[2 + side] += int(rows.bytes[at])
            name = rows.group[at] if by in ("module", "annotation") else rows.line[at]
            names.setdefault(key, (name, set()))[1].add(int(rows.size[at]))
    keys = sorted(found, key=lambda key: (-abs(found[key][3] - found[key][2]), -found[key][3]))
    columns = np.array([found[key] for key in keys], np.int64).reshape(-1, 4)
    sizes = [names[key][1] for key in keys]
    return AgainstRows(
        name=tuple(names[key][0] for key in keys),
        size=np.array([next(iter(each)) if len(each) == 1 else -1 for each in sizes], np.int64),
        blocks_before=columns[:, 0],
        blocks=columns[:, 1],
        bytes_before=columns[:, 2],
        bytes=columns[:, 3],
        difference=columns[:, 3] - columns[:, 2],
    )


def _keys(rows: AliveRows, stacks: StackNames, by: AgainstBy) -> list[Hashable]:
    """What is the same in both."""
    if by == "size":
        return list(rows.size.tolist())
    if by in ("module", "annotation"):
        return list(rows.group)
    if by == "stack":
        ends = zip(rows.stack.tolist(), rows.line, strict=True)
        return [(line, *stacks.frames_of(stack)) for stack, line in ends]
    return list(rows.line)
