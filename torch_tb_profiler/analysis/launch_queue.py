"""How much work each stream had waiting, as a step function of time."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.result import Result, column
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.types import Float64, Int64
from torch_tb_profiler.model import Model

#: launches that a CUDA stream takes before the next one blocks its caller
FULL_QUEUE = 1024


class StreamQueue(msgspec.Struct, frozen=True):
    """Of one stream: `length` pieces of work wait on [start_ns, end_ns), zero elsewhere.

    A piece waits from the start of the call that launches it until it begins; all pieces of a graph from the
    start of its launch. `pieces` counts those that waited at all.
    """

    device: int
    stream: int
    start_ns: Int64
    end_ns: Int64
    length: Int64
    pieces: int
    first_launch_ns: int
    last_start_ns: int

    def time_at_least(self, length: int) -> int:
        """ns during which this many or more were waiting."""
        kept = self.length >= length
        return int((self.end_ns[kept] - self.start_ns[kept]).sum())


class QueueLengths(Result):
    """One row per device and stream with a known launch."""

    device: Int64 = column("Device", "Number of the device.", unit=None)
    stream: Int64 = column("Stream", "Number of the stream.", unit=None)
    pieces: Int64 = column("Pieces", "Kernels, copies and fills with a known launch.")
    max_length: Int64 = column("Max length", "Most that waited at the same time.")
    mean_length: Float64 = column(
        "Mean length", "Over time, from the first launch for the stream to the start of its last piece."
    )
    waiting_ns: Int64 = column("Waiting", "Time with at least one waiting.")
    full_ns: Int64 = column("Full", f"Time with {FULL_QUEUE:,} or more waiting: the host could not launch more.")


@cached
def stream_queues(model: Model) -> tuple[StreamQueue, ...]:
    """The queue of every stream that was launched to, by device and stream; work without a known launch is left out."""
    work, events = model.device_work, model.trace.events
    known = np.flatnonzero(model.is_work & (model.device_links.launch >= 0))
    begin = events.start[model.launches.row[model.device_links.launch[known]]]
    end = events.start[work.row[known]]
    device, stream = work.device[known], work.stream[known]
    groups = group([device, stream])
    found = []
    for lane in np.split(np.argsort(groups.of, kind="stable"), np.cumsum(groups.count())[:-1]):
        if not len(lane):
            continue
        waiting = intervals.step_function(begin[lane], end[lane], np.ones(len(lane)))
        found.append(
            StreamQueue(
                device=int(device[lane[0]]),
                stream=int(stream[lane[0]]),
                start_ns=waiting.start,
                end_ns=waiting.end,
                length=np.rint(waiting.value).astype(np.int64),
                pieces=int(np.count_nonzero(end[lane] > begin[lane])),
                first_launch_ns=int(begin[lane].min()),
                last_start_ns=int(end[lane].max()),
            )
        )
    return tuple(sorted(found, key=lambda q: (q.device, q.stream)))


def queue_lengths(model: Model, full: int = FULL_QUEUE) -> QueueLengths:
    """The queues in numbers."""
    queues = stream_queues(model)
    area = [int((q.length * (q.end_ns - q.start_ns)).sum()) for q in queues]
    span = [max(q.last_start_ns - q.first_launch_ns, 1) for q in queues]
    return QueueLengths(
        device=np.array([q.device for q in queues], np.int64),
        stream=np.array([q.stream for q in queues], np.int64),
        pieces=np.array([q.pieces for q in queues], np.int64),
        max_length=np.array([q.length.max(initial=0) for q in queues], np.int64),
        mean_length=np.array(area, np.float64) / np.array(span, np.float64),
        waiting_ns=np.array([q.time_at_least(1) for q in queues], np.int64),
        full_ns=np.array([q.time_at_least(full) for q in queues], np.int64),
    )
