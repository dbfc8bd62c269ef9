"""When a device or a stream had nothing to do, and why."""

from __future__ import annotations

from enum import IntEnum
from typing import Literal

import numpy as np

from torch_tb_profiler.analysis.replay.launched_work import work_items
from torch_tb_profiler.analysis.replay.stream_edges import LONGEST_LATENCY_NS, stream_waits
from torch_tb_profiler.analysis.result import Result, column
from torch_tb_profiler.analysis.shared.distribution import distribution
from torch_tb_profiler.arrays.distinct import begins_run, isin
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.lookup import place_of_running_maximum, take_known
from torch_tb_profiler.arrays.types import Bool, Float64, Int32, Int64, UInt8
from torch_tb_profiler.model import Model

#: a gap shorter than this, with the next work already queued, is the cost of one piece of work after another
KERNEL_WAIT_NS = 30_000

Lanes = Literal["device", "stream"]


class GapCause(IntEnum):
    """Why nothing ran; told from the work that ends the gap."""

    HOST_WAIT = 0  # it was launched after everything before it had ended: the host was late
    KERNEL_WAIT = 1  # it was queued, and began within KERNEL_WAIT_NS
    OTHER = 2  # it was queued, and something else held it up: another stream, an event, a full device
    UNKNOWN = 3  # its launch is not in the trace, or it was launched and nothing tells why it began so late


CAUSES = tuple(cause.name.lower() for cause in GapCause)


class IdleGaps(Result):
    """Every gap, by device, stream and time."""

    device: Int64 = column("Device", "Number of the device.", unit=None)
    stream: Int64 = column("Stream", "Number of the stream; -1 for gaps of a whole device.", unit=None)
    start_ns: Int64 = column("Start", "From the start of the trace.")
    duration_ns: Int64 = column("Duration", "From the end of the work before to the start of the work after.")
    cause: UInt8 = column("Cause", "A `Cause`.", unit=None)
    before: Int64 = column(
        "Before", "Index into Model.device_work: the work that ended last before the gap.", unit=None
    )
    after: Int64 = column("After", "Index into Model.device_work: the work that ends the gap.", unit=None)

    def largest(self, count: int) -> IdleGaps:
        """Return the longest gaps, descending."""
        chosen = np.argsort(-self.duration_ns, kind="stable")[:count]
        return IdleGaps(**{name: getattr(self, name)[chosen] for name in self.columns})


class IdleTimes(Result):
    """One row per device (and stream) and cause that occurs."""

    device: Int64 = column("Device", "Number of the device.", unit=None)
    stream: Int64 = column("Stream", "Number of the stream; missing for gaps of a whole device.", unit=None)
    cause: tuple[str, ...] = column(
        "Cause",
        "host_wait (the next work was launched late), kernel_wait (it was queued and began soon), other (it was "
        "queued, and something else delayed it), unknown (its launch is not in the trace, or nothing tells why it "
        "began so late).",
    )
    gaps: Int64 = column("Gaps", "How many gaps of this cause.")
    total_ns: Int64 = column("Total", "Σ durations of the gaps.")
    share: Float64 = column("Share", "Total ÷ all idle time of the device or stream.")
    mean_ns: Float64 = column("Mean", "Total ÷ gaps.")
    median_ns: Float64 = column("Median", "Median of the durations.")
    max_ns: Float64 = column("Max", "Longest gap.")


def idle_gaps(model: Model, per: Lanes = "device", kernel_wait_ns: int = KERNEL_WAIT_NS) -> IdleGaps:
    """Find gaps between the first and the last work of each lane: a device, or one stream of it.

    A gap of a device is one in which none of its streams worked. Σ gaps of a device = its idle time in
    `device_time`, exactly.
    """
    work, events = model.device_work, model.trace.events
    chosen = np.flatnonzero(model.is_work)
    start, end = events.start[work.row], events.end[work.row]
    stream = work.stream if per == "stream" else np.full(len(work), -1, np.int64)
    order = chosen[np.lexsort((end[chosen], start[chosen], stream[chosen], work.device[chosen]))]
    before, after = [], []
    for lane in np.split(order, np.flatnonzero(begins_run(work.device[order], stream[order]))[1:]):
        last = place_of_running_maximum(end[lane])
        gap = np.flatnonzero(start[lane][1:] > end[lane][last[:-1]])
        before.append(lane[last[gap]])
        after.append(lane[gap + 1])
    before_of, after_of = np.concatenate(before), np.concatenate(after)
    return IdleGaps(
        device=work.device[after_of].astype(np.int64),
        stream=stream[after_of],
        start_ns=end[before_of],
        duration_ns=start[after_of] - end[before_of],
        cause=_causes(model, per, end[before_of], after_of, kernel_wait_ns),
        before=before_of,
        after=after_of,
    )


def idle_times(model: Model, per: Lanes = "device", kernel_wait_ns: int = KERNEL_WAIT_NS) -> IdleTimes:
    """Sum gaps by cause."""
    gaps = idle_gaps(model, per, kernel_wait_ns)
    lane = group([gaps.device, gaps.stream])
    # in the order of lanes, then of causes
    found = group([gaps.device, gaps.stream, gaps.cause], lane.inverse * len(CAUSES) * (len(gaps) + 1) + _within(gaps))
    spread = distribution(found, gaps.duration_ns)
    whole = lane.sum(gaps.duration_ns)[lane.inverse[found.first]]
    return IdleTimes(
        device=gaps.device[found.first],
        stream=gaps.stream[found.first],
        cause=tuple(CAUSES[c] for c in gaps.cause[found.first].tolist()),
        gaps=spread.count,
        total_ns=spread.sum,
        share=spread.sum / whole,
        mean_ns=spread.mean,
        median_ns=spread.p50,
        max_ns=spread.max,
    )


def _within(gaps: IdleGaps) -> Int64:
    """Return distinct numbers that order gaps by cause."""
    return gaps.cause.astype(np.int64) * (len(gaps) + 1) + np.arange(len(gaps))


def _causes(model: Model, per: Lanes, idle_since: Int64, after: Int64, kernel_wait_ns: int) -> UInt8:
    events, launches = model.trace.events, model.launches
    launch = model.device_links.launch[after]
    known: Bool = launch >= 0
    launched, returned = (take_known(times[launches.row], launch) for times in (events.start, events.end))
    begun = events.start[model.device_work.row[after]]
    soon = begun - idle_since < kernel_wait_ns
    cause = np.where(launched > idle_since, GapCause.HOST_WAIT, np.where(soon, GapCause.KERNEL_WAIT, GapCause.OTHER))
    if per == "device":
        # no stream works that it could wait for, but for one that ended as the gap began
        late = begun - np.maximum(idle_since, returned)
        strange = (late > LONGEST_LATENCY_NS) & (2 * late > begun - idle_since) & ~soon
        cause[strange & ~isin(model.device_work.row[after], _waiting_rows(model))] = GapCause.UNKNOWN
    cause[~known] = GapCause.UNKNOWN
    return cause.astype(np.uint8)


def _waiting_rows(model: Model) -> Int32:
    """Return the rows of work whose stream waited for work of another."""
    _, waiting = stream_waits(model)
    rows: Int32 = work_items(model).row[waiting]
    return rows
