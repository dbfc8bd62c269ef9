"""Where the time of each step went, on each device: busy by kind, exposed communication, copies, idle by cause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Fraction, NsMean
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.device_use import kernel_devices
from torch_tb_profiler.analysis.replay.quality import DOUBTFUL, Confidence, Quality
from torch_tb_profiler.analysis.result import Result, column
from torch_tb_profiler.analysis.shared.device_roles import Role, device_roles, share, work_by_device
from torch_tb_profiler.analysis.shared.kernel_use import durations
from torch_tb_profiler.analysis.waterfall.causes import (
    ALL,
    BUSY,
    FIRST_HOST,
    FIRST_IDLE,
    KINDS,
    LAUNCH_BOUND,
    SHORT_GAP_NS,
    UNKNOWN_KIND,
)
from torch_tb_profiler.analysis.waterfall.gaps import GapContext, GapSegments, device_segments, host_segments
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.grouping import apportion, descending, sums_at
from torch_tb_profiler.arrays.intervals import Overlay, Spans
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.kernel_names.families import family_of

#: of one process; no machine has so many
MOST_DEVICES = 64

#: whose time it is: that of devices, or of the main thread where no device ran kernels
Basis = Literal["devices", "host"]


class Gaps(Result):
    """Pieces of idle time with one cause each, by device and start; of a host, of all its time. Times in ns."""

    start_ns: Int64 = column("Start", "Within one step.")
    duration_ns: Int64 = column("Duration", "Within one step.")
    step: Int64 = column("Step", "Index into the steps.", unit=None)
    device: Int64 = column("Device", "Number of the device; -1 of the host.", unit=None, missing_below_zero=True)
    cause: Int64 = column("Cause", "Index into `Waterfall.causes`.", unit=None)
    gap_ns: Int64 = column("Gap", "Length of the whole gap that it is a part of, whatever steps that lies in.")
    closing_work: Int64 = column(
        "Closing work",
        "Index into Trace.device_work: what ended the whole gap; -1 where nothing did.",
        unit=None,
        missing_below_zero=True,
    )
    launch_call: Int64 = column(
        "Launch call",
        "Index into Trace.launches: the call that launched it; -1 where unknown.",
        unit=None,
        missing_below_zero=True,
    )
    track: Int64 = column(
        "Track",
        "Index into Trace.tracks: the thread that the gap waited for; -1 where unknown.",
        unit=None,
        missing_below_zero=True,
    )

    def take(self, chosen: Bool | Int64) -> Gaps:
        """Select some of them."""
        return Gaps(**{name: getattr(self, name)[chosen] for name in self.columns})


class Waterfall(msgspec.Struct, frozen=True):
    """The parts of each step; parallel to the steps of the model.

    basis     devices, or the main thread of the host where no device ran kernels
    devices   numbers of the devices that ran kernels, of more than MOST_DEVICES those that worked longest; empty for a
              host
    causes    those that occur, in the order of `causes.ALL`
    step_ns   shape (steps,): the periods
    ns        shape (devices or 1, steps, causes): for each device and step the sum over causes is the period, exactly
    gaps      of all causes but those in which a device was busy
    """

    basis: Basis
    devices: tuple[int, ...]
    causes: tuple[str, ...]
    step_ns: Int64
    ns: Int64
    gaps: Gaps

    def of(self, cause: str) -> Int64:
        """Return shape (devices or 1, steps), ns: a cause and those below it, as `idle.host` has `idle.host.python`."""
        chosen = [is_below(each, cause) for each in self.causes]
        total: Int64 = self.ns[:, :, chosen].sum(axis=2)
        return total

    @property
    def launch_bound_ns(self) -> Int64:
        """Shape (steps,), Σ over devices: idle time due to launching in gaps below `SHORT_GAP_NS`.

        Due to launching: `idle.launch_latency`, `idle.host` and `idle.slow_launch`, all with what is below them.
        """
        wanted = {ALL[FIRST_IDLE + cause].cause for cause in LAUNCH_BOUND}
        of_launch = np.array([cause in wanted for cause in self.causes], np.bool_)[self.gaps.cause]
        counted = of_launch & (self.gaps.gap_ns < SHORT_GAP_NS)
        return sums_at(self.gaps.step[counted], self.gaps.duration_ns[counted], len(self.step_ns))

    @property
    def launch_bound_score(self) -> float | None:
        """Share of the idle time that is `launch_bound_ns`, 0…1; None without idle time."""
        return share(int(self.launch_bound_ns.sum()), int(self.of("idle").sum()))


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the average step.

    cause  why the time passed
    ns     mean over the steps and the devices that ran kernels; the parts add up to the mean step time exactly
    """

    cause: str
    ns: NsMean


def is_below(cause: str, wanted: str) -> bool:
    """Return whether a cause is the wanted one, or a kind of it."""
    return cause == wanted or cause.startswith(f"{wanted}.")


@cached(for_good=True)
def waterfall(model: Model) -> Waterfall:
    """Share out the period of every step, for every device that ran kernels.

    The time in which a device was busy is `Quantity.COMPUTING` by kind, then `EXPOSED_COMMUNICATION`, then
    `EXPOSED_COPY`; docs/waterfall.md says how the rest is shared out.
    """
    devices = _devices(model)
    steps = model.steps
    windows = Spans(steps.start, steps.end)
    context = GapContext.of(model)
    ns, pieces = [], []
    for device in devices:
        busy, idle = _busy(model, device, windows)
        found = device_segments(model, context, device, windows, idle)
        ns.append(busy + _sums(found, FIRST_IDLE, windows))
        pieces.append(found)
    if not devices:
        lasting = windows.end > windows.start
        pieces.append(host_segments(context, Spans(windows.start[lasting], windows.end[lasting])))
        ns.append(_sums(pieces[0], FIRST_HOST, windows))
    table = np.stack(ns)
    used = np.flatnonzero(table.sum(axis=(0, 1)))
    place = np.full(len(ALL), -1, np.int64)
    place[used] = np.arange(len(used))
    first = FIRST_IDLE if devices else FIRST_HOST
    return Waterfall(
        basis="devices" if devices else "host",
        devices=tuple(devices),
        causes=tuple(ALL[code].cause for code in used.tolist()),
        step_ns=windows.end - windows.start,
        ns=table[:, :, used],
        gaps=_gaps(model, windows, devices, [(each, place[each.cause.astype(np.int64) + first]) for each in pieces]),
    )


def _devices(model: Model) -> list[int]:
    """Choose the devices that are shown: each looks at the time of all threads, so many would take the product of
    both.
    """
    devices = kernel_devices(model)
    if len(devices) <= MOST_DEVICES:
        return devices
    work = work_by_device(model)
    duration = durations(model)
    took = np.array([duration[work[device]].sum() for device in devices], np.int64)
    return [devices[at] for at in np.sort(descending(took)[:MOST_DEVICES]).tolist()]


def average(steps: Waterfall) -> tuple[Part, ...]:
    """Return the parts of the average step, mean over the devices; see `parts_of`."""
    return parts_of(steps, steps.ns)


def parts_of(steps: Waterfall, ns: Int64) -> tuple[Part, ...]:
    """Average steps, in the order of `causes`, without parts of no time.

    ns   shape (devices, steps, causes); each step adds up to its period
    Whole nanoseconds but for the largest part, which has the fraction of the mean step: they add up to it exactly, in
    any order, also in floating point. Whole numbers are given by largest remainder.
    """
    total = ns.sum(axis=(0, 1))
    if not total.any():
        return ()
    mean = float(steps.step_ns.mean())
    parts = apportion(total, int(mean))
    fraction = mean - int(mean)
    largest = int(np.argmax(parts))
    return tuple(
        Part(cause=cause, ns=each + fraction if at == largest else each)
        for at, (cause, each) in enumerate(zip(steps.causes, parts, strict=True))
        if each or (at == largest and fraction)
    )


def _busy(model: Model, device: int, windows: Spans) -> tuple[Int64, Spans]:
    """Return shape (steps, all causes), ns: when the device was busy with what; and the spans when it was not."""
    sets = busy_sets(model, device)
    parts = intervals.overlay(sets)
    cause = first_set(parts)
    found = np.zeros((len(windows.start), len(ALL)), np.int64)
    cut = intervals.intersection(Spans(parts.start, parts.end), windows)
    step = np.searchsorted(windows.start, cut.start, side="right") - 1
    code = cause[np.searchsorted(parts.start, cut.start, side="right") - 1]
    size = found.size
    found = sums_at(step * len(ALL) + code, cut.end - cut.start, size).reshape(found.shape)
    within = intervals.union(windows.start, windows.end)
    return found, intervals.subtraction(within, intervals.union_of(sets))


def busy_sets(model: Model, device: int) -> list[Spans]:
    """Return when a device did each thing of `BUSY`, whatever else it did; of several the first counts."""
    events, row = model.trace.events, model.device_work.row
    code = _busy_codes(model)
    mine = work_by_device(model).get(device, np.empty(0, np.int64))
    found = [intervals.EMPTY] * len(BUSY)
    for each in distinct(code[mine]).tolist():
        chosen = row[mine[code[mine] == each]]
        found[each] = intervals.union(events.start[chosen], events.end[chosen])
    return found


def works_of(model: Model, device: int, code: int) -> tuple[Int64, Int64, Int64]:
    """Return the work of a device that is one thing of `BUSY`: index into Model.device_work, start and end in ns."""
    chosen = work_by_device(model).get(device, np.empty(0, np.int64))
    chosen = chosen[_busy_codes(model)[chosen] == code]
    row = model.device_work.row[chosen]
    return chosen, model.trace.events.start[row], model.trace.events.end[row]


@cached
def _busy_codes(model: Model) -> Int64:
    """Return shape (device work,): which thing of `BUSY` each is, -1 for what is no work."""
    role = device_roles(model)
    code = np.full(len(role), -1, np.int64)
    computing = role == Role.COMPUTE
    code[computing] = _kinds(model, model.trace.events.name[model.device_work.row[computing]])
    code[role == Role.COMMUNICATION] = len(KINDS)
    code[role == Role.COPY] = len(KINDS) + 1
    return code


def first_set(parts: Overlay) -> Int64:
    """Return shape (segments,): the first of the sets that hold in each segment of an overlay."""
    lowest = np.bitwise_and(parts.member, -parts.member)
    return np.rint(np.log2(lowest)).astype(np.int64)


def _kinds(model: Model, names: Int32) -> Int64:
    """Return the position in `KINDS` of each kernel."""
    of_name = np.zeros(len(model.trace.strings), np.int64)
    for code in distinct(names).tolist():
        family = family_of(model.trace.strings[code])
        of_name[code] = KINDS.index(UNKNOWN_KIND if family is None else family.kind.value)
    return of_name[names]


def _sums(pieces: GapSegments, first: int, windows: Spans) -> Int64:
    """Sum segments: shape (steps, all causes), ns."""
    step = np.searchsorted(windows.start, pieces.start, side="right") - 1
    shape = (len(windows.start), len(ALL))
    place = step * len(ALL) + pieces.cause + first
    return sums_at(place, pieces.end - pieces.start, shape[0] * shape[1]).reshape(shape)


def _gaps(model: Model, windows: Spans, devices: Sequence[int], pieces: Sequence[tuple[GapSegments, Int64]]) -> Gaps:
    owners = devices or [-1]

    def joined(columns: list[Int64]) -> Int64:
        return np.concatenate(columns)

    start = joined([segments.start for segments, _ in pieces])
    closing = joined([segments.closing for segments, _ in pieces])
    return Gaps(
        start_ns=start,
        duration_ns=joined([segments.end - segments.start for segments, _ in pieces]),
        step=np.searchsorted(windows.start, start, side="right") - 1,
        device=joined(
            [np.full(len(segments.start), owner) for owner, (segments, _) in zip(owners, pieces, strict=True)]
        ),
        cause=joined([cause for _, cause in pieces]),
        gap_ns=joined([segments.idle_ns for segments, _ in pieces]),
        closing_work=closing,
        launch_call=take_known(model.structure.device_links.launch, closing).astype(np.int64),
        track=joined([segments.lane for segments, _ in pieces]),
    )


class ExplainedShare(msgspec.Struct, frozen=True):
    """How much of the steps is explained, both on the critical path and in the waterfall.

    share        of the time of the steps, 0…1; None without steps
    confidence   that of the replay, and `low` where the waterfall leaves more than 10 % unknown
    """

    share: Fraction | None
    confidence: Confidence


def explained(quality: Quality, unknown_time: float) -> ExplainedShare:
    """Combine what the replay and the waterfall (`unknown_time`) leave without a cause."""
    if quality.unexplained is None:
        return ExplainedShare(None, quality.confidence)
    is_low = quality.confidence == "normal" and unknown_time > DOUBTFUL
    return ExplainedShare(1 - max(quality.unexplained, unknown_time), "low" if is_low else quality.confidence)


def unknown_time(model: Model) -> float:
    """Return the share of the steps, 0…1, whose cause the trace does not show: of idle devices (mean), or without
    devices of a silent main thread.
    """
    found = waterfall(model)
    total = int(found.step_ns.sum()) * max(len(found.devices), 1)
    return int(found.of("idle.unknown" if found.devices else "host.unknown").sum()) / total if total else 0.0
