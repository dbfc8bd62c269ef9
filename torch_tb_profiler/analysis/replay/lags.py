"""The usual delay between an event and what follows it, measured in the trace where nothing else delays it."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.inputs import Calls, Items
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Int64

#: ns: with more than this between two possible causes, the later one is the cause
CLEAR_NS = 20_000
#: samples that a median needs
FEWEST = 5
#: ns: of the launch and of the gap; a graph of many kernels would make them much longer
LARGEST_NS = 20_000
#: ns, and times the usual delay of a launch: what takes longer than the larger of the two is no latency
LATENCY_NS, LATENCY_FACTOR = 10_000, 3
#: ns: what takes longer is no latency of any device
LONGEST_LATENCY_NS = LATENCY_FACTOR * LARGEST_NS
DEFAULT_LAUNCH_NS, DEFAULT_GAP_NS, DEFAULT_WAKE_NS = 5_000, 1_500, 3_000


class Lags(msgspec.Struct, frozen=True):
    """Typical delays, ns.

    launch   λ: from a launch to the start of its work, on an idle stream
    gap      γ: from the end of a piece of work to the start of the next, that was launched long before
    wake     ω: from the end of the work that is waited for to the return of the call that waits
    """

    launch: int
    gap: int
    wake: int


def longest_latencies(items: Items, calls: Calls, launch: int) -> Int64:
    """Shape (items,), ns: within which a free device begins each piece of work that was launched, at the longest.

    Between two pieces of one graph no launch was measured: there the longest of all latencies counts.
    """
    in_graph = (items.call >= 0) & (take_known(calls.first_item, items.call) != np.arange(len(items)))
    return np.where(in_graph, LONGEST_LATENCY_NS, max(LATENCY_NS, LATENCY_FACTOR * launch))


def previous_on_stream(items: Items) -> Int64:
    """The piece of work before each one on its stream, by start; -1 for the first. Shape (items,)."""
    order = np.argsort(items.stream, kind="stable")
    found = np.full(len(items), -1, np.int64)
    if len(items):
        same = items.stream[order[1:]] == items.stream[order[:-1]]
        found[order[1:][same]] = order[:-1][same]
    return found


def launch_and_gap(items: Items, calls: Calls, previous: Int64) -> tuple[int, int]:
    """λ and γ: medians over pieces that the launch alone, or the piece before alone, can have delayed."""
    never = -(2**62)
    release = np.full(len(items), never)
    known = items.call >= 0
    release[known] = calls.release[items.call[known]]
    free = np.where(previous >= 0, items.end[previous], never) if len(items) else np.empty(0, np.int64)
    alone = known & ~items.is_communication & (release > free + CLEAR_NS)
    launch = _usual(items.start[alone] - release[alone], DEFAULT_LAUNCH_NS, LARGEST_NS)
    queued = known & (previous >= 0) & (release + launch + CLEAR_NS < free)
    gap = _usual(items.start[queued] - free[queued], DEFAULT_GAP_NS, LARGEST_NS)
    return launch, gap


def wake_of(late: Int64) -> int:
    """ω of how much later than the work that they waited for calls returned."""
    return int(median(late)) if len(late) else DEFAULT_WAKE_NS


def _usual(samples: Int64, default: int, largest: int) -> int:
    return max(0, min(int(median(samples)), largest)) if len(samples) >= FEWEST else default
