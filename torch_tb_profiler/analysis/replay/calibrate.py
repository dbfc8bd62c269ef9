"""Makes the edges give exactly the recorded times: the cause that came last carries the recorded delay."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.edges import Edge
from torch_tb_profiler.analysis.replay.graph import PREFERENCE, binding_of
from torch_tb_profiler.analysis.replay.lags import Lags
from torch_tb_profiler.arrays.types import Int8, Int64

#: ns, and typical delays: a device that waits longer does so for something that was not recorded
UNEXPLAINED_NS, UNEXPLAINED_TIMES = 10_000, 5


class Calibrated(msgspec.Struct, frozen=True):
    """lag, unexplained: shape (edges,), ns; over, under: counts."""

    lag: Int64
    unexplained: Int64
    over: int
    under: int


def calibrate(
    time: Int64, source: Int64, target: Int64, edge: Int8, lag: Int64, length: Int64, lags: Lags
) -> Calibrated:
    """Correct the delays of edges.

    time                         shape (nodes,), ns, as recorded
    source, target, edge, lag    shape (edges,), by target
    length                       shape (edges,), ns: host time or duration, to which `lag` is added

    A cause after its effect has its delay lowered. Where all causes come too early, the one that came last takes
    the rest: of a thread, and of a device when it is long, nobody knows why.
    """
    lag = lag.copy()
    unexplained = np.zeros(len(lag), np.int64)
    arrival = time[source] + np.maximum(length + lag, 0)
    excess = arrival - time[target]
    over = excess > 0
    lag[over] = time[target[over]] - time[source[over]] - length[over]
    arrival = np.minimum(arrival, time[target])
    binding = binding_of(target, arrival, PREFERENCE[edge])
    rest = time[target[binding]] - arrival[binding]
    late, rest = binding[rest > 0], rest[rest > 0]
    lag[late] = time[target[late]] - time[source[late]] - length[late]
    kind = edge[late]
    typical = np.where(kind == Edge.LAUNCH, lags.launch, lags.gap)
    on_device = np.isin(kind, (Edge.LAUNCH, Edge.STREAM, Edge.STREAM_WAIT))
    unknown = kind == Edge.LANE
    unknown |= on_device & (rest > UNEXPLAINED_NS) & (rest > UNEXPLAINED_TIMES * typical)
    unexplained[late[unknown]] = rest[unknown]
    under = int(np.count_nonzero(unknown & (kind == Edge.LANE)))
    return Calibrated(lag, unexplained, int(np.count_nonzero(over)), under)
