"""The edges of the graph while it is made: batches of parallel columns."""

from __future__ import annotations

from enum import IntEnum

import msgspec
import numpy as np

from torch_tb_profiler.arrays.types import Bool, Int8, Int64


class Edge(IntEnum):
    """Why the target of an edge cannot come earlier."""

    LANE = 0  # the thread has to get there
    LAUNCH = 1  # the work has to be launched
    STREAM = 2  # the stream runs one piece after the other
    STREAM_WAIT = 3  # the stream waits for an event of another
    COINCIDENCE = 4  # it began when work of another stream ended, long after everything known
    SYNC = 5  # the call waits for the device
    BLOCKING_COPY = 6  # the call returns when its copy is done
    FULL_QUEUE = 7  # the call waits for a place in the launch queue
    HAND_OVER = 8  # one thread wakes another
    HOST_COLLECTIVE = 9  # a collective on the host: from its call, or back to who waits for it
    STEP_END = 10  # the step ends with the last of its work
    ROOT = 11  # nothing known comes before: the recorded time
    MEET = 12  # a collective begins when its last rank is there


class Edges(msgspec.Struct, frozen=True):
    """Parallel, shape (edges,).

    source, target   points, then items, then step ends, as numbered by who makes them
    kind             an Edge
    lag              ns: how much later the target is than the source, or than its end, beside host time
    from_end         the source is a piece of work, and its duration counts
    """

    source: Int64
    target: Int64
    kind: Int8
    lag: Int64
    from_end: Bool

    def __len__(self) -> int:
        return len(self.source)

    def take(self, chosen: Int64) -> Edges:
        """Some of them."""
        return Edges(
            self.source[chosen], self.target[chosen], self.kind[chosen], self.lag[chosen], self.from_end[chosen]
        )


def edges(kind: Edge, source: Int64, target: Int64, lag: Int64 | int, from_end: bool = False) -> Edges:
    """Edges of one kind."""
    n = len(source)
    return Edges(
        np.asarray(source, np.int64),
        np.asarray(target, np.int64),
        np.full(n, kind, np.int8),
        np.broadcast_to(np.asarray(lag, np.int64), (n,)).copy(),
        np.full(n, from_end, np.bool_),
    )


def joined(batches: list[Edges]) -> Edges:
    """All of them, one batch after the other."""
    return Edges(
        np.concatenate([b.source for b in batches]),
        np.concatenate([b.target for b in batches]),
        np.concatenate([b.kind for b in batches]),
        np.concatenate([b.lag for b in batches]),
        np.concatenate([b.from_end for b in batches]),
    )
