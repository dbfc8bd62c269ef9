"""A snapshot in a few numbers and one sentence, and what to change about it.

What a failed allocation needs is in `oom`; rules about the memory of a trace stand elsewhere (docs/findings.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Bytes, Count, Fraction, Ns
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.shared.thresholds import thresholds
from torch_tb_profiler.analysis.snapshot.alive import alive_rows
from torch_tb_profiler.analysis.snapshot.allocation_patterns import Churn, Growth, churn, growth, lifetime_rows
from torch_tb_profiler.analysis.snapshot.frames import StackNames, stack_names
from torch_tb_profiler.analysis.snapshot.history import History, Moment, histories, moments
from torch_tb_profiler.analysis.snapshot.layout import PoolRow, fragmentation, pools, segment_layout
from torch_tb_profiler.analysis.snapshot.lifetimes import about
from torch_tb_profiler.analysis.snapshot.oom import InferredOom, Oom, has_history, holders, inferred_oom, ooms
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.snapshot.schema import NO_DEVICE_FREE, Action
from torch_tb_profiler.words.sentences import memory_text

SnapshotFindingId = Literal["leak", "fragmentation", "near_capacity", "reserved_growth", "empty_cache", "churn"]
SnapshotSeverity = Literal["low", "medium", "high"]

#: sections of `thresholds.toml`, and ids that a file of the user's mutes, begin so
SECTION = "snapshot_"


class SnapshotFinding(msgspec.Struct, frozen=True):
    """Something to change.

    id        the rule
    severity  high: memory runs out of it soon, or it keeps a quarter of what is reserved
    device    number of the device
    bytes     what removing it would save: of a leak and of growth per step, else once; near the capacity what is
              above the share of it that is the limit
    count     how many steps, segments or allocations show it
    line      the line of the program that has most of it, empty if no line has
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


@cached
def snapshot_findings(model: Model) -> tuple[SnapshotFinding, ...]:
    """Return the findings of all devices, in the order of the rules."""
    names, mute = stack_names(model), thresholds().mute
    found = [
        rule(history, names, grown)
        for history, grown in zip(histories(model), growth(model), strict=True)
        for rule in _RULES
    ]
    return tuple(each for each in found if each is not None and SECTION + each.id not in mute)


def _limit(rule: SnapshotFindingId, name: str) -> float:
    return thresholds().of(SECTION + rule, name)


def known_capacity(history: History) -> int | None:
    """Return the bytes that PyTorch could have of the device: what it had and what was free when an allocation failed.

    What other processes and libraries held then is not in it. None if no allocation failed, or a file does not say
    what was free.
    """
    failed = _failed(history)
    if not len(failed):
        return None
    return int((history.curves.reserved[failed] + history.device.records.address[failed]).max())


def _failed(history: History) -> Int64:
    """Return the positions of failed allocations that say what the device had free."""
    device = history.device
    return np.flatnonzero(device.is_action(Action.OOM) & (device.records.address != NO_DEVICE_FREE))


def _near_capacity(history: History, names: StackNames, _: Growth) -> SnapshotFinding | None:
    """Report memory in use, not only reserved: what is free between blocks is another finding."""
    curves, capacity = history.curves, known_capacity(history)
    peak, share = int(curves.allocated.max()), _limit("near_capacity", "share")
    if capacity is None or peak < share * capacity:
        return None
    top = curves.peak(curves.allocated)
    rows = alive_rows(history, names, top, "line")
    limit = int(share * capacity)
    then = int(curves.allocated[_failed(history)].max())
    return SnapshotFinding(
        "near_capacity",
        "high" if then >= limit else "medium",
        history.device.number,
        peak - limit,
        int(rows.blocks.sum()),
        rows.line[0],
        int(rows.blocks[0]),
        top,
    )


def _leak(history: History, names: StackNames, grown: Growth) -> SnapshotFinding | None:
    if grown.per_step is None or grown.per_step < _limit("leak", "least_bytes"):
        return None
    worst = grown.stacks[0]
    in_use = int(history.curves.requested[-1])
    severity: SnapshotSeverity = "high" if grown.per_step * _limit("leak", "soon") >= in_use else "medium"
    line = names.line_of(worst.stack)
    number = history.device.number
    return SnapshotFinding("leak", severity, number, grown.per_step, grown.steps, line, worst.blocks, history.last)


def _fragmentation(history: History, names: StackNames, _: Growth) -> SnapshotFinding | None:
    """Report what was free between blocks when most was reserved: segments were allocated though memory was free."""
    curves = history.curves
    peak = curves.peak(curves.reserved)
    if not history.blocks.exact and peak != history.last:
        return None  # what is only rounding would be seen as free
    found = segment_layout(history, peak)
    free = found.free_bytes
    split = (free < found.bytes) & ~found.is_expandable
    lost, reserved = int(free[split].sum()), int(found.bytes.sum())
    least = max(_limit("fragmentation", "least_bytes"), _limit("fragmentation", "least_share") * reserved)
    if lost < least:
        return None
    gaps = found.is_free & split[found.piece_segment]
    held = holders(history, names, found, gaps)
    first = held[0] if held else None
    return SnapshotFinding(
        "fragmentation",
        "high" if lost >= _limit("fragmentation", "high_share") * reserved else "medium",
        history.device.number,
        lost,
        int(np.count_nonzero(split)),
        first.line if first else "",
        first.blocks if first else 0,
        peak,
    )


def _reserved_growth(history: History, names: StackNames, grown: Growth) -> SnapshotFinding | None:
    if grown.reserved is None or grown.reserved < _limit("reserved_growth", "least_bytes"):
        return None
    rows = alive_rows(history, names, history.last, "line")
    line, blocks = (rows.line[0], int(rows.blocks[0])) if len(rows) else ("", 0)
    number = history.device.number
    return SnapshotFinding("reserved_growth", "medium", number, grown.reserved, grown.steps, line, blocks, -1)


def _empty_cache(history: History, _: StackNames, __: Growth) -> SnapshotFinding | None:
    found = churn(history)
    if found.empty_cache < _limit("empty_cache", "least_segments"):
        return None
    number = history.device.number
    return SnapshotFinding("empty_cache", "medium", number, found.given_back, found.empty_cache, "", 0, -1)


def _churn(history: History, names: StackNames, _: Growth) -> SnapshotFinding | None:
    found = churn(history)
    if found.blocks < _limit("churn", "least_blocks"):
        return None
    rows = lifetime_rows(history, names)
    worst = int(np.argmax(rows.churn))
    number = history.device.number
    return SnapshotFinding(
        "churn", "low", number, found.bytes, found.blocks, rows.line[worst], int(rows.churn[worst]), -1
    )


_RULES: Sequence[_Rule] = (_leak, _fragmentation, _near_capacity, _reserved_growth, _empty_cache, _churn)


class SnapshotDevice(msgspec.Struct, frozen=True):
    """One device of a snapshot. Bytes; `requested` is what the program asked for, `allocated` its blocks.

    device            number of the device
    entries           how many records there are
    has_history       whether records tell what was in use before the end; without them the peaks are unknown
    segments          how many there were at the end
    blocks            how many there were at the end
    peak_requested    most that was requested and not released; None without a history
    peak_allocated    most bytes of blocks of it: exact or the least that it can be; None without a history
    allocated_exact   whether that is exact
    start_requested   in use before the first record
    requested         in use at the end
    allocated         blocks of it
    active            and blocks whose release is pending
    reserved          segments at the end
    largest_free      largest free piece at the end
    fragmentation     1 − largest / Σ of the free pieces at the end; None if nothing is free
    contradictions    by kind: how often there is what cannot be
    missing           actions that were not recorded (`skip_actions`)
    moments           worth looking at
    pools             at the end
    growth            what grows from step to step
    churn             work of the allocator that leads to nothing
    inferred_oom      why memory ran out, if that is when it was taken; None if the file has a history
    """

    device: int
    entries: Count
    has_history: bool
    segments: Count
    blocks: Count
    peak_requested: Bytes | None
    peak_allocated: Bytes | None
    allocated_exact: bool
    start_requested: Bytes
    requested: Bytes
    allocated: Bytes
    active: Bytes
    reserved: Bytes
    largest_free: Bytes
    fragmentation: Fraction | None
    contradictions: Mapping[str, Count]
    missing: tuple[str, ...]
    moments: tuple[Moment, ...]
    pools: tuple[PoolRow, ...]
    growth: Growth
    churn: Churn
    inferred_oom: InferredOom | None

    @property
    def text(self) -> str:
        """What was most, and what is left."""
        return memory_text("device", self, peak_reserved=max(moment.reserved for moment in self.moments))


class MemorySnapshot(msgspec.Struct, frozen=True):
    """A snapshot: its devices, the one with most records first; failed allocations; what of the file is wrong.

    findings        what to change
    contradictions  how many there are in the records and in the state at the end
    cut_off         whether the file ends too early
    overflowed      whether the oldest records were overwritten; None if the file does not contain it
    origin_ns       Unix time that times count from; 0 without times
    """

    devices: tuple[SnapshotDevice, ...]
    ooms: tuple[Oom, ...]
    findings: tuple[SnapshotFinding, ...]
    contradictions: Count
    cut_off: bool
    overflowed: bool | None
    origin_ns: Ns

    @property
    def text(self) -> str:
        """Why memory ran out, else what was most."""
        if self.ooms:
            return memory_text("oom", self.ooms[-1])
        return self.devices[0].text if self.devices else memory_text("empty", self)


@cached
def memory_snapshot(model: Model) -> MemorySnapshot:
    """Return all of a snapshot in a few numbers. A trace has no devices."""
    header = about(model)
    grown = growth(model)
    names = stack_names(model)
    devices = tuple(_device(each, grew, names) for each, grew in zip(histories(model), grown, strict=True))
    of_file = sum(note.count for note in model.trace.notes if note.values.get("contradicts"))
    of_records = sum(sum(device.contradictions.values()) for device in devices)
    return MemorySnapshot(
        devices,
        ooms(model),
        snapshot_findings(model),
        of_file + of_records,
        bool(header.get("cut_off")),
        header.get("overflowed"),
        model.trace.origin_ns,
    )


def _device(history: History, grown: Growth, names: StackNames) -> SnapshotDevice:
    curves, device = history.curves, history.device
    end = segment_layout(history, history.last)
    is_told = has_history(device)
    return SnapshotDevice(
        device=device.number,
        entries=len(device.records),
        has_history=is_told,
        segments=len(device.segments),
        blocks=len(device.blocks),
        peak_requested=int(curves.requested.max()) if is_told else None,
        peak_allocated=int(curves.allocated.max()) if is_told else None,
        allocated_exact=curves.allocated_exact,
        start_requested=int(curves.requested[0]),
        requested=int(curves.requested[-1]),
        allocated=int(curves.allocated[-1]),
        active=int(curves.active[-1]),
        reserved=int(curves.reserved[-1]),
        largest_free=end.largest_free,
        fragmentation=fragmentation(end),
        contradictions=history.contradictions,
        missing=history.lifetimes.missing,
        moments=moments(history),
        pools=pools(end),
        growth=grown,
        churn=churn(history),
        inferred_oom=inferred_oom(history, names),
    )
