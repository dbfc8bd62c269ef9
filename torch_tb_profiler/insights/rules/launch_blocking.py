"""Each launch waits until its kernel is done: CUDA_LAUNCH_BLOCKING and its like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.changes import Change, scale, without
from torch_tb_profiler.analysis.replay.graph import Graph
from torch_tb_profiler.analysis.replay.inputs import Work
from torch_tb_profiler.analysis.shared.synchronize import SYNCHRONIZE
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.grouping import greatest_at, least_at
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.moments import Moments
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import CALLS, DEVICE, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Rule
from torch_tb_profiler.insights.shared.device_words import Platform, platform
from torch_tb_profiler.insights.shared.waits import ASYNCHRONOUS


class _Launches(msgspec.Struct, frozen=True):
    """Launches of kernels in the steps that take long enough to tell. Parallel, shape (n,).

    call      index into Calls
    done      ns: when the last of its kernels ended
    within    the call returned only after that
    sync      index into Calls: a call that waits and follows at once on the same thread, -1 for none
    """

    call: Int64
    done: Int64
    within: Bool
    sync: Int64


def _launches(facts: Facts, graph: Graph) -> _Launches:
    calls, items, strings = graph.calls, graph.items, facts.trace.strings
    kernel = np.flatnonzero((items.kind == Work.KERNEL) & (items.call >= 0))
    done_of = greatest_at(items.call[kernel], items.end[kernel], len(calls))
    starts = np.zeros(len(calls), np.bool_)
    starts[items.call[kernel]] = True
    began_of = least_at(items.call[kernel], items.start[kernel], len(calls))
    call = np.flatnonzero(starts & (facts.step_of(calls.row) >= 0))
    call = call[done_of[call] - began_of[call] >= facts.limit("launch_blocking", "long_ns")]
    is_sync = np.flatnonzero(strings.where(SYNCHRONIZE.search, calls.name)[calls.name])
    first = Moments(calls.lane[is_sync], calls.start[is_sync]).first(calls.lane[call], calls.end[call])
    after = take_known(is_sync, first)
    near = facts.limit("launch_blocking", "follows_ns")
    follows = np.where((after >= 0) & (take_known(calls.start, after) - calls.end[call] <= near), after, -1)
    done = done_of[call]
    return _Launches(call, done, calls.end[call] >= done, follows)


#: what makes launches wait, by platform
_SETTINGS: Mapping[Platform, str] = {
    "cuda": "CUDA_LAUNCH_BLOCKING=1",
    "rocm": "HIP_LAUNCH_BLOCKING=1 or AMD_SERIALIZE_KERNEL",
    "xpu": "UR_L0_SERIALIZE=2",
    "npu": "ASCEND_LAUNCH_BLOCKING=1",
    "other": "CUDA_LAUNCH_BLOCKING=1",
}


def _find(facts: Facts) -> Sequence[Found]:
    graph = facts.graph
    calls = graph.calls
    found = _launches(facts, graph)
    n = len(found.call)
    if n < facts.limit("launch_blocking", "fewest"):
        return ()
    blocks = found.within | (found.sync >= 0)
    share = float(np.count_nonzero(blocks)) / n
    if share < facts.limit("launch_blocking", "least_ratio"):
        return ()
    changes: list[Change] = []
    syncs = distinct(found.sync[(found.sync >= 0) & ~found.within])
    if len(syncs):
        changes.append(without("sync", rows=calls.row[syncs]))
    within = found.call[found.within]
    if len(within):
        # what a launch takes by itself: until its kernel can begin
        own = np.minimum(calls.release[within], calls.end[within]) - calls.start[within]
        own = np.maximum(own - graph.lags.launch, 0)
        took = int((calls.end[within] - calls.start[within]).sum())
        changes.append(scale("launch", int(own.sum()) / max(took, 1), rows=calls.row[within]))
    rows = calls.row[found.call[blocks]]
    waited = _waited(facts, calls.row[np.concatenate((within, syncs))])
    setting = _SETTINGS[platform(facts.model)]
    return (
        Found(
            title="Each launch waits for its kernel",
            detail=(
                f"{100 * share:.0f} % of {n} launches of kernels over 10 µs return only when the kernel is done: "
                "host and device never work at the same time."
            ),
            advice=(
                f"Unset it: `{setting}` is for finding errors. If it is not set, look for code that calls "
                "`torch.cuda.synchronize()` after each operator."
            ),
            values={"share": share, "launches": n, "setting": setting},
            rows=facts.longest_first(rows),
            changes=tuple(changes),
            evidence=(
                Evidence("blocking_launches", "Launches that wait for their kernel", share, "fraction", "trace"),
                Evidence("launches", "Launches of kernels over 10 µs", n, "count", "trace"),
                Evidence("in_launches", "Time in these calls, average per step", waited / facts.steps, "ns", "trace"),
            ),
            links=(ASYNCHRONOUS,),
        ),
    )


def _waited(facts: Facts, rows: Int32) -> int:
    return int(facts.duration(rows).sum())


RULE = Rule(
    "launch_blocking",
    "R12",
    (STEPS, DEVICE, CALLS),
    _find,
    replaces=("sync_points", "logging_reads", "dynamic_shapes"),
    replay=True,
)
