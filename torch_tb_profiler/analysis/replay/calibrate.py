"""Makes the edges give exactly the recorded times: the cause that came last carries the recorded delay."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.edges import Edge
from torch_tb_profiler.analysis.replay.graph import PREFERENCE, binding_of
from torch_tb_profiler.arrays.types import Int8, Int64


class Calibrated(msgspec.Struct, frozen=True):
    """What was made of the delays of edges.

    lag    shape (edges,), ns
    rest   shape (edges,), ns: how much later the target is than all its causes, at the one that came last
    over   how many delays were lowered
    """

    lag: Int64
    rest: Int64
    over: int

    def unexplained(self, edge: Int8, latency: Int64) -> Int64:
        """Shape (edges,), ns: the part of `lag` that nothing in the trace explains.

        edge      shape (edges,), an Edge
        latency   shape (edges,), ns: the longest that a device takes to begin what is at the target
        Of a thread nobody knows what made it late, nor of a device what made it later than its latency.
        """
        on_device = np.isin(edge, (Edge.LAUNCH, Edge.STREAM, Edge.STREAM_WAIT)) & (self.rest > 0)
        on_device &= self.lag > latency
        return np.where(edge == Edge.LANE, self.rest, np.where(on_device, self.lag, 0))


def calibrate(time: Int64, source: Int64, target: Int64, edge: Int8, lag: Int64, length: Int64) -> Calibrated:
    """Correct the delays of edges.

    time                         shape (nodes,), ns, as recorded
    source, target, edge, lag    shape (edges,), by target
    length                       shape (edges,), ns: host time or duration, to which `lag` is added

    A cause after its effect has its delay lowered. Where all causes come too early, the one that came last takes
    the rest.
    """
    lag, rest = lag.copy(), np.zeros(len(lag), np.int64)
    arrival = time[source] + np.maximum(length + lag, 0)
    excess = arrival - time[target]
    over = excess > 0
    lag[over] = time[target[over]] - time[source[over]] - length[over]
    arrival = np.minimum(arrival, time[target])
    binding = binding_of(target, arrival, PREFERENCE[edge])
    rest[binding] = time[target[binding]] - arrival[binding]
    late = np.flatnonzero(rest)
    lag[late] = time[target[late]] - time[source[late]] - length[late]
    return Calibrated(lag, rest, int(np.count_nonzero(over)))
