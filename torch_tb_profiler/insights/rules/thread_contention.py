"""Threads that launch at the same time hold each other up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import scale
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import CALLS, DEVICE, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule


def _find(facts: Facts) -> Sequence[Found]:
    graph = facts.graph
    calls = graph.calls
    names = facts.trace.strings.where(lambda name: "LaunchKernel" in name, calls.name)
    call = np.flatnonzero((calls.release >= 0) & names[calls.name])
    call = call[facts.step_of(calls.row[call]) >= 0]
    lanes = distinct(calls.lane[call]) if len(call) else np.empty(0, np.int64)
    if len(lanes) < 2 or len(lanes) > facts.limit("thread_contention", "most_threads"):
        return ()
    length = calls.end[call] - calls.start[call]
    beside = _beside_others(calls.lane[call], calls.start[call], calls.end[call], lanes)
    fewest = facts.limit("thread_contention", "fewest")
    if np.count_nonzero(beside) < fewest or np.count_nonzero(~beside) < fewest:
        return ()
    usual, contended = median(length[~beside]), median(length[beside])
    if contended < facts.limit("thread_contention", "least_factor") * max(usual, 1.0):
        return ()
    slow = call[beside]
    took = int(length[beside].sum())
    excess = max(took - usual * len(slow), 0.0)
    if facts.share(excess) < facts.limit("thread_contention", "least_share"):
        return ()
    rows = calls.row[slow]
    return (
        Found(
            title="Threads that launch kernels slow each other down",
            detail=(
                f"{len(lanes)} threads launch kernels at the same time: a launch beside another takes "
                f"{contended / 1000:.1f} µs, alone {usual / 1000:.1f} µs."
            ),
            advice=(
                "Launch from one thread for each process, as `DistributedDataParallel` does, or let one thread "
                "put work of all others in a queue. Where threads must be, pin them to cores of their own: "
                "`taskset`, `numactl`."
            ),
            values={"threads": len(lanes), "beside_us": contended / 1000, "alone_us": usual / 1000},
            rows=facts.longest_first(rows),
            changes=(scale("launch", usual * len(slow) / max(took, 1), rows=rows),),
            confidence="medium",
            evidence=(
                Evidence("launching_threads", "Threads that launch", len(lanes), "count", "trace"),
                Evidence("launch_beside_others", "Median launch beside another", contended, "ns", "trace"),
                Evidence("launch_alone", "Median launch alone", usual, "ns", "trace"),
            ),
            links=(
                Link(
                    "cpu_affinity",
                    "Utilise all CPU resources: NUMA and affinity",
                    "https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html"
                    "#utilize-non-uniform-memory-access-numa-controls",
                ),
            ),
        ),
    )


def _beside_others(lane: Int64, start: Int64, end: Int64, lanes: Int64) -> Bool:
    """Which calls have something in common with a call of another thread."""
    found = np.zeros(len(lane), np.bool_)
    for each in lanes.tolist():
        mine = lane == each
        others = intervals.union(start[~mine], end[~mine])
        place = np.searchsorted(others.end, start[mine], side="right")
        found[mine] = np.append(others.start, np.iinfo(np.int64).max)[place] < end[mine]
    return found


RULE = Rule("thread_contention", "R17", (STEPS, DEVICE, CALLS), _find, replay=True)
