"""What a snapshot says, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.analysis.snapshot.findings import SnapshotFinding
from torch_tb_profiler.analysis.snapshot.frames import NO_STACK
from torch_tb_profiler.analysis.snapshot.inferred_oom import InferredOom
from torch_tb_profiler.analysis.snapshot.oom import Holder, Oom
from torch_tb_profiler.analysis.snapshot.summary import MemorySnapshot, SnapshotDevice
from torch_tb_profiler.words.numbers import counted, size


def said_of_oom(oom: Oom) -> str:
    """Why an allocation failed."""
    asked = f"{size(oom.requested)} was requested at {oom.line}"
    free = f"{size(oom.free)} was free in {oom.pieces} pieces, the largest of {size(oom.largest)}"
    if oom.reason == "fragmented":
        held = _held(oom.holders)
        helps = " It would have had room with expandable_segments:True." if oom.expandable_helps else ""
        return f"Fragmented: {asked}; {free}.{held}{helps}"
    if oom.reason == "other_stream":
        return f"Free memory was of other streams: {asked}; {free}, and {size(oom.other_streams)} of other streams."
    if oom.reason == "other_pool":
        return f"Free memory was of other pools: {asked}; {free}, and {size(oom.other_pools)} of other pools."
    if oom.reason == "pending":
        return f"Released memory was not free yet: {asked}; {size(oom.pending)} waited for another stream."
    if oom.reason == "unknown":
        return (
            f"Full, or a limit: {asked}; {size(oom.in_use)} of {size(oom.reserved)} reserved was in use, {free}. "
            "The file does not say how much the device had free."
        )
    if oom.reason == "limit":
        return (
            f"A limit: {asked}; the device had {size(oom.device_free or 0)} free, so a limit of the process, a part of "
            "a device or a capture kept it from being taken."
        )
    return f"Full: {asked}; {size(oom.in_use)} of {size(oom.reserved)} reserved was in use, {free}."


def _held(holders: Sequence[Holder]) -> str:
    if not holders:
        return ""
    first = holders[0]
    whose = "whose stack is not known" if first.line == NO_STACK else f"allocated at {first.line}"
    blocks, segments = (counted(count, what) for count, what in ((first.blocks, "block"), (first.segments, "segment")))
    return f" {segments} cannot go back to the device because of {blocks} ({size(first.bytes)}) {whose}."


def said_of_inferred_oom(found: InferredOom) -> str:
    """Why memory ran out, if it did: the file does not say so."""
    text = "If the snapshot was taken when memory ran out, which a file without a history does not show: "
    free = f"{size(found.free)} was free in {found.pieces} pieces, the largest of {size(found.largest)}"
    used = f"{size(found.in_use)} of {size(found.reserved)} reserved was in use"
    if found.reason == "fragmented":
        return f"{text}fragmented; {used}, {free}, so more than this was requested.{_held(found.holders)}"
    return f"{text}full; {used}, {free}."


def said_of_device(device: SnapshotDevice) -> str:
    """What was most, when, and what is left."""
    if device.peak_requested is None:
        return (
            f"{size(device.requested)} was in use and {size(device.reserved)} reserved when the snapshot was taken. "
            "It has no history, so the peak is not known."
        )
    reserved = max(moment.reserved for moment in device.moments)
    text = f"At most {size(device.peak_requested)} was requested, and {size(reserved)} reserved"
    if device.entries:
        text += f", in {device.entries:,} record{'s' if device.entries > 1 else ''}"
    text += f"; {size(device.requested)} was in use at the end."
    if device.growth.per_step:
        text += f" Memory grows by {size(device.growth.per_step)} per step ({device.growth.steps} steps)."
    return text


def said_of_finding(found: SnapshotFinding) -> str:
    """What was found, and what to do about it."""
    most = f" {found.blocks} of them at {found.line}." if found.line else ""
    if found.id == "near_capacity":
        return (
            f"At their peak, blocks take nearly all of the device memory that PyTorch can use: {size(found.bytes)} "
            f"above the limit, in {found.count} blocks, most at {found.line}. Recompute activations "
            "(`torch.utils.checkpoint.checkpoint`), halve them (`torch.autocast`), or make batches smaller."
        )
    if found.id == "leak":
        return (
            f"Memory grows by {size(found.bytes)} per step ({found.count} steps), most at {found.line}. Keep numbers "
            "there, not tensors (`.item()`, `.detach()`), and release what the next step does not need."
        )
    if found.id == "fragmentation":
        held = f" {found.line} has the most blocks beside them ({found.blocks})." if found.line else ""
        return (
            f"{size(found.bytes)} were free between blocks when most memory was reserved, in {found.count} "
            f"segments.{held} Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or allocate long-lived tensors "
            "before short-lived ones."
        )
    if found.id == "reserved_growth":
        return (
            f"Reserved memory grows by {size(found.bytes)} per step ({found.count} steps) though the peak of requested "
            "memory does not. Pad sizes that change from step to step to a few sizes, or use expandable segments."
        )
    if found.id == "empty_cache":
        return (
            f"{found.count} segments ({size(found.bytes)}) were released and allocated again in the same size; each "
            "time, the host waits for the device. Remove `torch.cuda.empty_cache()` from the loop."
        )
    return (
        f"{found.count} allocations of more than 1 MiB ({size(found.bytes)}) were released within 100 µs.{most} Write "
        "into a tensor that you keep (`out=`), or fuse the operators around them (`torch.compile`)."
    )


def answer(snapshot: MemorySnapshot) -> str:
    """The one sentence on top: why memory ran out, else what was most."""
    if snapshot.ooms:
        return said_of_oom(snapshot.ooms[-1])
    return said_of_device(snapshot.devices[0]) if snapshot.devices else "The snapshot is empty."
