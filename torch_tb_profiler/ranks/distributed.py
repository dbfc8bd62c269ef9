"""Waiting and transferring: per step and rank, and per operation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.device_time import WHY
from torch_tb_profiler.analysis.program.kinds import PHASES
from torch_tb_profiler.analysis.result import Result, column, fact
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.grouping import each_value, group
from torch_tb_profiler.arrays.types import Bool, Float64, Int8, Int64
from torch_tb_profiler.model.communication import KINDS, RECOGNISED, ProcessGroup, Ranges, bus_factor, nccl_tests_bytes
from torch_tb_profiler.ranks.matching.match import Matching, match
from torch_tb_profiler.ranks.rank import Location, Rank, locations, missing_notes
from torch_tb_profiler.trace import Note


class StepWaits(Result, group="ranks"):
    """Time in which operations of each step ran, split. Parallel to `overlap.names` of the rank, in ns.

    The last entry is the operations outside of all steps. All three columns add up to the time in which any ran. -1 is
    for what is unknown.
    """

    transfer_ns: Int64 = column(
        "Data transfer time",
        "Time in which operations that the step called moved data: for each operation its last part, as long as "
        "the shortest time that any rank needed for it. The rank that arrives last does not wait. Unknown if no "
        "operation could be matched with another rank's.",
        missing_below_zero=True,
    )
    wait_ns: Int64 = column(
        "Synchronizing time",
        "Time in which operations that the step called ran − data transfer time − unmatched time: waiting for "
        "ranks that arrived later. Unknown if no operation could be matched with another rank's.",
        missing_below_zero=True,
    )
    unmatched_ns: Int64 = column(
        "Unmatched time",
        "Time in which operations that the step called ran that could not be matched with another rank's, while no "
        "matched one moved data: waiting or transfer, it is unknown which.",
    )
    calls: Int64 = fact("how many operations ran")

    @property
    def is_known(self) -> Bool:
        """Where waiting can be told from transferring: some operation was matched, or none ran."""
        return self.wait_ns >= 0


class OperationTable(Result, group="operations"):
    """Operations grouped.

    Sizes and bandwidths are NaN, times that are unknown -1.
    """

    name: tuple[str, ...] = column("Name", "Library and collective, as called on the host or by the kernel.")
    worker: tuple[str, ...] = column("Worker", "The rank whose trace it is.")
    kind: tuple[str, ...] = column("Kind", "What it does, independent of the name that the library uses.", hidden=True)
    group: tuple[str, ...] = column("Process group", "Description and name; empty if they are not in the trace.")
    dtype: tuple[str, ...] = column("Data type", "Type of the elements, as the trace writes it.")
    calls: Int64 = column("Calls", "How often the rank took part in it.")
    matched: Int64 = column(
        "Matched calls",
        "Calls that are also in the trace of another rank, so that waiting and transfer can be distinguished.",
    )
    total_bytes: Float64 = column(
        "Total size", "Σ bytes of the rank's input: elements × bytes of an element. Calls of unknown size are left out."
    )
    mean_bytes: Float64 = column("Average size", "Total size ÷ calls of known size.")
    latency_ns: Int64 = column(
        "Total latency",
        "Time in which at least one of the calls ran: its kernels, or, for libraries without kernels, the call on the "
        "host.",
    )
    mean_latency_ns: Float64 = column(
        "Average latency",
        "Mean duration of a call. Calls that overlap count in full, so that it can exceed total latency ÷ calls.",
    )
    transfer_ns: Int64 = column(
        "Data transfer time",
        "The part of the latency that was not waiting: for each call its last part, as long as the shortest time that "
        "any rank needed for the same operation. Unknown if no call was matched.",
        missing_below_zero=True,
    )
    mean_transfer_ns: Float64 = column(
        "Average data transfer time",
        "Mean over matched calls of the shortest time that any rank needed for the same operation.",
        hidden=True,
    )
    wait_ns: Int64 = column(
        "Synchronizing time",
        "Total latency − data transfer time − unmatched time. Unknown if no call was matched.",
        missing_below_zero=True,
    )
    unmatched_ns: Int64 = column(
        "Unmatched time",
        "The part of the latency in which calls ran that were not matched, and no matched one moved data.",
    )
    exposed_ns: Int64 = column(
        "Exposed",
        "Time in which the calls ran and the rank computed nothing. A moment in which several ran counts for the one "
        "that began first, so that all rows of a rank add up to its exposed communication.",
    )
    hidden_ns: Int64 = column("Hidden", "The same while the rank computed.")
    phase: tuple[str, ...] = column("Phase", "The phase of the program that called it.")
    why: tuple[str, ...] = column(
        "Why exposed",
        "Why most of what is exposed was not hidden. overtaken: kernels launched later ran before it, because "
        "streams share a queue of the device, or because no multiprocessor was free; asynchronous: what is computed "
        "beside it is too little; queued: it was launched over 0.1 ms before it began, behind other kernels; graph: "
        "a graph has this order; launched_late: the device had nothing to do when it was launched; awaited: what was "
        "launched next began when it had ended. Empty where no launch is known (gloo, MPI).",
    )
    algbw: Float64 = column(
        "Algorithm bandwidth",
        "Σ S ÷ Σ data transfer time, over matched calls whose size and time are known. If there are none, over the "
        "whole time of the other calls, which may include waiting, so that it is a lower bound. S is the size as "
        "nccl-tests counts it: of all ranks together for all-gather, reduce-scatter, gather and scatter, otherwise of "
        "one rank.",
        unit="bytes_per_second",
    )
    busbw: Float64 = column(
        "Bus bandwidth",
        "Algorithm bandwidth × 2(n−1)/n for all-reduce, × (n−1)/n for reduce-scatter, all-gather, all-to-all, gather "
        "and scatter, × 1 for the others; n is the size of the process group. Comparable with the speed of the link.",
        unit="bytes_per_second",
    )
    recognised: tuple[str, ...] = column(
        "Recognized by",
        "How it was recognized as communication: by arguments of the collective on the kernel or on the host, by a "
        "range on the host, or only by the name of the kernel.",
        hidden=True,
    )


class GroupUse(msgspec.Struct, frozen=True):
    """A process group, and how many of its ranks are among the traces."""

    group: ProcessGroup
    present: int


class DistributedRanks(msgspec.Struct, frozen=True):
    """The ranks of one run and span, compared; lists are parallel to `ranks`."""

    ranks: tuple[Rank, ...]
    places: tuple[Location, ...]
    waits: tuple[StepWaits, ...]
    groups: tuple[GroupUse, ...]
    matching: Matching
    notes: tuple[Note, ...]


def distributed(ranks: Sequence[Rank]) -> DistributedRanks:
    matching = match([rank.called for rank in ranks])
    groups = _groups(ranks, matching)
    present = [(use.group, use.present) for use in groups]
    return DistributedRanks(
        ranks=tuple(ranks),
        places=tuple(locations(ranks)),
        waits=tuple(map(_waits, ranks, matching.transfer, matching.is_known)),
        groups=groups,
        matching=matching,
        notes=(
            *matching.notes,
            *missing_notes(ranks, present, matching.is_known),
        ),
    )


def operation_table(found: DistributedRanks, by_group: bool = True) -> OperationTable:
    """Group the operations of every rank by name, with `by_group` by process group, element type and phase, too."""
    rows = [
        row
        for rank, transfer, known in zip(found.ranks, found.matching.transfer, found.matching.is_known, strict=True)
        for row in _rows(rank, transfer, known, by_group)
    ]

    def floats(key: str) -> Float64:
        return np.array([np.nan if row[key] is None else row[key] for row in rows], np.float64)

    def integers(key: str) -> Int64:
        return np.array([row[key] for row in rows], np.int64)

    def texts(key: str) -> tuple[str, ...]:
        return tuple(str(row[key]) for row in rows)

    sized, total = integers("sized"), floats("bytes")
    return OperationTable(
        worker=texts("worker"),
        name=texts("name"),
        kind=texts("kind"),
        group=texts("group"),
        dtype=texts("dtype"),
        calls=integers("calls"),
        matched=integers("matched"),
        total_bytes=total,
        mean_bytes=total / np.maximum(sized, 1),
        latency_ns=integers("latency"),
        mean_latency_ns=floats("mean_latency"),
        transfer_ns=integers("transfer"),
        mean_transfer_ns=floats("mean_transfer"),
        wait_ns=integers("wait"),
        unmatched_ns=integers("unmatched"),
        exposed_ns=integers("exposed"),
        hidden_ns=integers("hidden"),
        phase=texts("phase"),
        why=texts("why"),
        algbw=floats("algbw"),
        busbw=floats("busbw"),
        recognised=texts("recognised"),
    )


def transfer_ranges(ranges: Ranges, transfer: Int64) -> Ranges:
    """Cut the ranges of each operation to their last `transfer[operation]` ns: what comes before is waiting."""
    duration = ranges.end - ranges.start
    through = np.cumsum(duration)
    last = np.searchsorted(ranges.operation, ranges.operation, side="right") - 1
    later = through[last] - through if len(through) else through
    part = np.clip(transfer[ranges.operation] - later, 0, duration)
    return Ranges(ranges.operation, ranges.end - part, ranges.end)


def _waits(rank: Rank, transfer: Int64, is_known: Bool) -> StepWaits:
    steps = len(rank.overlap.names)
    ranges = rank.communications.ranges
    moving = transfer_ranges(ranges, transfer)
    step, known_ranges = rank.step[ranges.operation], is_known[ranges.operation]
    split = np.zeros((3, steps + 1), np.int64)
    for at, chosen in each_value(step):
        split[:, at] = _split(ranges, moving, chosen, known_ranges)
    calls = np.bincount(np.where(rank.step >= 0, rank.step, steps), minlength=steps + 1)
    return StepWaits(transfer_ns=split[0], wait_ns=split[1], unmatched_ns=split[2], calls=calls)


def _split(ranges: Ranges, moving: Ranges, chosen: Int64, is_known: Bool) -> tuple[int, int, int]:
    """Transfer, wait and unmatched of the chosen ranges: time of a transfer, else of an unmatched one, else waiting.

    moving   parallel to the ranges: their last parts, in which data may have moved; all of an unmatched operation
    """
    busy, moved = _covered(ranges, chosen), _covered(moving, chosen)
    known = is_known[chosen]
    if known.all():
        return moved, busy - moved, 0
    if not known.any():
        return -1, -1, busy
    transfer = _covered(moving, chosen[known])
    return transfer, busy - moved, moved - transfer


def _covered(ranges: Ranges, chosen: Int64) -> int:
    return intervals.total(intervals.union(ranges.start[chosen], ranges.end[chosen]))


def _rows(rank: Rank, transfer: Int64, is_known: Bool, by_group: bool) -> list[dict[str, object]]:
    communications = rank.communications
    operations, ranges = communications.operations, communications.ranges
    if not len(operations):
        return []
    moving, known_ranges = transfer_ranges(ranges, transfer), is_known[ranges.operation]
    name, phase = operations.name, rank.exposure.phase
    groups = group([name, operations.group, operations.dtype, phase] if by_group else [name])
    volumes, bus, duration = *_volumes(rank, transfer), communications.duration
    exposed = rank.exposure.exposed_ns
    rows: list[dict[str, object]] = []
    nothing = np.empty(0, np.int64)
    ranges_of = dict(each_value(groups.inverse[ranges.operation]))
    for number, members in each_value(groups.inverse):
        first = int(groups.first[number])
        chosen = ranges_of.get(number, nothing)
        sized = members[operations.in_bytes[members] >= 0]
        measured = members[volumes[members] >= 0]
        if is_known[measured].any():
            measured = measured[is_known[measured]]
        moved, waited, unmatched = _split(ranges, moving, chosen, known_ranges)
        seconds = float(transfer[measured].sum()) / 1e9
        with_bus = len(measured) > 0 and not bool(np.isnan(bus[measured]).any())
        rows.append(
            {
                "worker": rank.worker,
                "name": communications.names[operations.name[first]],
                "kind": KINDS[operations.kind[first]],
                "group": communications.groups[operations.group[first]].label,
                "dtype": communications.dtypes[operations.dtype[first]],
                "calls": len(members),
                "sized": len(sized),
                "bytes": int(operations.in_bytes[sized].sum()) if len(sized) else None,
                "matched": int(is_known[members].sum()),
                "latency": _covered(ranges, chosen),
                "mean_latency": _mean_of_known(duration[members]),
                "transfer": moved,
                "mean_transfer": _mean_of_known(transfer[members[is_known[members]]]),
                "wait": waited,
                "unmatched": unmatched,
                "exposed": int(exposed[members].sum()),
                "hidden": int(rank.exposure.hidden_ns[members].sum()),
                "phase": PHASES[int(rank.exposure.phase[first])].value,
                "why": WHY[_most(rank.exposure.why[members], exposed[members])],
                "algbw": float(volumes[measured].sum()) / seconds if seconds else None,
                "busbw": float((volumes[measured] * bus[measured]).sum()) / seconds if seconds and with_bus else None,
                "recognised": RECOGNISED[operations.recognised[first]],
            }
        )
    return rows


def _most(codes: Int8, ns: Int64) -> int:
    """Return the code that has most of some time."""
    return int(np.argmax(np.bincount(codes, ns + 1)))


def _mean_of_known(values: Int64) -> float | None:
    """Average the values that are not below zero, ns; None without any."""
    known = values[values >= 0]
    return float(known.mean()) if len(known) else None


def _volumes(rank: Rank, transfer: Int64) -> tuple[Int64, Float64]:
    """Return per operation S of its bandwidth (-1 when that or the time is unknown) and the factor of the bus (NaN)."""
    found, operations = rank.communications, rank.communications.operations
    volumes, factors = np.full(len(operations), -1, np.int64), np.full(len(operations), np.nan)
    distinct = group([operations.kind, operations.group, operations.in_bytes, operations.out_bytes])
    for _, members in each_value(distinct.inverse):
        first = int(members[0])
        kind, size = KINDS[operations.kind[first]], found.groups[operations.group[first]].size
        moved = nccl_tests_bytes(kind, int(operations.in_bytes[first]), int(operations.out_bytes[first]), size)
        factor = bus_factor(kind, size)
        volumes[members] = -1 if moved is None else moved
        factors[members] = np.nan if factor is None else factor
    volumes[transfer <= 0] = -1
    return volumes, factors


def _groups(ranks: Sequence[Rank], matching: Matching) -> tuple[GroupUse, ...]:
    def known_as(of: ProcessGroup) -> tuple[object, ...]:
        return of.name, of.ranks or of.description

    present = Counter(known for rank in ranks for known in set(map(known_as, rank.communications.groups)))
    return tuple(GroupUse(of, present[known_as(of)]) for of in matching.groups)
