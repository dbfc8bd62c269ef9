"""A snapshot in a few numbers, and in one sentence."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from torch_tb_profiler.analysis.answer import Bytes, Count, Fraction, Ns
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.snapshot.curves import History, histories
from torch_tb_profiler.analysis.snapshot.device import about
from torch_tb_profiler.analysis.snapshot.findings import SnapshotFinding, snapshot_findings
from torch_tb_profiler.analysis.snapshot.frames import StackNames, stack_names
from torch_tb_profiler.analysis.snapshot.growth import Growth, growth
from torch_tb_profiler.analysis.snapshot.inferred_oom import InferredOom, has_history, inferred_oom
from torch_tb_profiler.analysis.snapshot.layout import PoolRow, fragmentation, layout, pools
from torch_tb_profiler.analysis.snapshot.lifetimes import Churn, churn
from torch_tb_profiler.analysis.snapshot.moments import Moment, moments
from torch_tb_profiler.analysis.snapshot.oom import Oom, ooms
from torch_tb_profiler.model import Model
from torch_tb_profiler.words.memory import memory_text


class SnapshotDevice(msgspec.Struct, frozen=True):
    """One device of a snapshot. Bytes; `requested` is what the program asked for, `allocated` its blocks.

    device            number of the device
    entries           how many records there are
    has_history       whether records tell what was in use before the end; without them the peaks are not known
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
    """All of a snapshot in a few numbers. A trace has no devices."""
    told = about(model)
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
        bool(told.get("cut_off")),
        told.get("overflowed"),
        model.trace.origin_ns,
    )


def _device(history: History, grown: Growth, names: StackNames) -> SnapshotDevice:
    curves, device = history.curves, history.device
    end = layout(history, history.last)
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
        missing=history.lives.missing,
        moments=moments(history),
        pools=pools(end),
        growth=grown,
        churn=churn(history),
        inferred_oom=inferred_oom(history, names),
    )
