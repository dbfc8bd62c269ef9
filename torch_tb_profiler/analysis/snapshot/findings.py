"""What to do about a snapshot: rules over what is computed elsewhere, each with bytes and a place.

What a failed allocation needs is said by `oom`. What a trace says of memory has rules of its own (docs/findings.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from torch_tb_profiler.analysis.answer import Bytes, Count
from torch_tb_profiler.analysis.remember import remembered
from torch_tb_profiler.analysis.snapshot.alive import alive_rows
from torch_tb_profiler.analysis.snapshot.curves import History, histories
from torch_tb_profiler.analysis.snapshot.frames import StackNames, stack_names
from torch_tb_profiler.analysis.snapshot.growth import Growth, growth
from torch_tb_profiler.analysis.snapshot.layout import layout
from torch_tb_profiler.analysis.snapshot.lifetimes import churn, lifetime_rows
from torch_tb_profiler.analysis.snapshot.oom import holders
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.snapshot.schema import NO_DEVICE_FREE, Action

SnapshotFindingId = Literal["leak", "fragmentation", "near_capacity", "reserved_growth", "empty_cache", "churn"]
SnapshotSeverity = Literal["low", "medium", "high"]

#: of what PyTorch can have of the device, that blocks take at their peak
NEAR_CAPACITY_SHARE = 0.9
#: a leak of less per step is not told
LEAST_LEAK = 4096
#: of what is reserved at its peak, and bytes, that are free between blocks
FRAGMENTED_SHARE = 0.15
FRAGMENTED_BYTES = 64 << 20
#: segments that are given back and taken again
LEAST_EMPTIED = 10
#: short-lived allocations, of a line
LEAST_CHURN = 100
#: how often a loss fits until it is as large as what is in use: from then on it is serious
_SOON = 1000


@dataclass(frozen=True)
class SnapshotFinding:
    """Something to change.

    id        the rule
    severity  high: memory runs out of it soon, or it keeps a quarter of what is reserved
    device    number of the device
    bytes     what removing it would save: of a leak and of growth per step, else once; near the capacity what is
              above 90 % of it
    count     how many steps, segments or allocations show it
    line      the line of the program that has most of it, empty where no line has
    blocks    how many of its allocations
    position  number of a record after which it can be seen, -1 where it is seen over time
    """

    id: SnapshotFindingId
    severity: SnapshotSeverity
    device: int
    bytes: Bytes
    count: Count
    line: str
    blocks: Count
    position: int


_Rule = Callable[[History, StackNames, Growth], SnapshotFinding | None]


@remembered
def snapshot_findings(model: Model) -> tuple[SnapshotFinding, ...]:
    """Of all devices, in the order of the rules."""
    names = stack_names(model)
    found = [
        rule(history, names, grown)
        for history, grown in zip(histories(model), growth(model), strict=True)
        for rule in _RULES
    ]
    return tuple(each for each in found if each is not None)


def known_capacity(history: History) -> int | None:
    """Bytes that PyTorch could have of the device: what it had and what was free when an allocation failed.

    What other processes and libraries held then is not in it. None where no allocation failed, or a file does not say
    what was free.
    """
    failed = _failed(history)
    if not len(failed):
        return None
    return int((history.curves.reserved[failed] + history.device.records.address[failed]).max())


def _failed(history: History) -> Int64:
    """Positions of failed allocations that say what the device had free."""
    device = history.device
    return np.flatnonzero(device.is_action(Action.OOM) & (device.records.address != NO_DEVICE_FREE))


def _near_capacity(history: History, names: StackNames, _: Growth) -> SnapshotFinding | None:
    """In use, not only reserved: what is free between blocks is another finding."""
    curves, capacity = history.curves, known_capacity(history)
    peak = int(curves.allocated.max())
    if capacity is None or peak < NEAR_CAPACITY_SHARE * capacity:
        return None
    at = curves.peak(curves.allocated)
    rows = alive_rows(history, names, at, "line")
    limit = int(NEAR_CAPACITY_SHARE * capacity)
    then = int(curves.allocated[_failed(history)].max())
    return SnapshotFinding(
        "near_capacity",
        "high" if then >= limit else "medium",
        history.device.number,
        peak - limit,
        int(rows.blocks.sum()),
        rows.line[0],
        int(rows.blocks[0]),
        at,
    )


def _leak(history: History, names: StackNames, grown: Growth) -> SnapshotFinding | None:
    if grown.per_step is None or grown.per_step < LEAST_LEAK:
        return None
    worst = grown.stacks[0]
    in_use = int(history.curves.requested[-1])
    severity: SnapshotSeverity = "high" if grown.per_step * _SOON >= in_use else "medium"
    line = names.line_of(worst.stack)
    number = history.device.number
    return SnapshotFinding("leak", severity, number, grown.per_step, grown.steps, line, worst.blocks, history.last)


def _fragmentation(history: History, names: StackNames, _: Growth) -> SnapshotFinding | None:
    """Free between blocks when most was reserved: memory that was taken of the device though there was some."""
    curves = history.curves
    at = curves.peak(curves.reserved)
    if not history.blocks.exact and at != history.last:
        return None  # what is only rounding would be seen as free
    found = layout(history, at)
    free = found.free_bytes
    split = (free < found.bytes) & ~found.is_expandable
    lost, reserved = int(free[split].sum()), int(found.bytes.sum())
    if lost < FRAGMENTED_BYTES or lost < FRAGMENTED_SHARE * reserved:
        return None
    gaps = found.is_free & split[found.piece_segment]
    held = holders(history, names, found, gaps)
    first = held[0] if held else None
    return SnapshotFinding(
        "fragmentation",
        "high" if 4 * lost >= reserved else "medium",
        history.device.number,
        lost,
        int(np.count_nonzero(split)),
        first.line if first else "",
        first.blocks if first else 0,
        at,
    )


def _reserved_growth(history: History, names: StackNames, grown: Growth) -> SnapshotFinding | None:
    if not grown.reserved:
        return None
    rows = alive_rows(history, names, history.last, "line")
    line, blocks = (rows.line[0], int(rows.blocks[0])) if len(rows) else ("", 0)
    number = history.device.number
    return SnapshotFinding("reserved_growth", "medium", number, grown.reserved, grown.steps, line, blocks, -1)


def _empty_cache(history: History, _: StackNames, __: Growth) -> SnapshotFinding | None:
    found = churn(history)
    if found.empty_cache < LEAST_EMPTIED:
        return None
    number = history.device.number
    return SnapshotFinding("empty_cache", "medium", number, found.given_back, found.empty_cache, "", 0, -1)


def _churn(history: History, names: StackNames, _: Growth) -> SnapshotFinding | None:
    found = churn(history)
    if found.blocks < LEAST_CHURN:
        return None
    rows = lifetime_rows(history, names)
    worst = int(np.argmax(rows.churn))
    number = history.device.number
    return SnapshotFinding(
        "churn", "low", number, found.bytes, found.blocks, rows.line[worst], int(rows.churn[worst]), -1
    )


_RULES: Sequence[_Rule] = (_leak, _fragmentation, _near_capacity, _reserved_growth, _empty_cache, _churn)
