"""Kernels are loaded onto the device in the steps, at their first launch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import scale
from torch_tb_profiler.analysis.replay.inputs import Work
from torch_tb_profiler.arrays.distinct import distinct, distinct_first
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import CALLS, DEVICE, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.wording import ms


def _find(facts: Facts) -> Sequence[Found]:
    graph = facts.graph
    items, calls, names = graph.items, graph.calls, facts.trace.events.name
    kernel = np.flatnonzero((items.kind == Work.KERNEL) & (items.call >= 0))
    # not of graphs, whose launch has all their kernels
    single = facts.trace.strings.where(lambda name: "LaunchKernel" in name, calls.name)[calls.name]
    kernel = kernel[single[items.call[kernel]]]
    if not len(kernel):
        return ()
    # by start: the first of each name
    order = kernel[np.argsort(calls.start[items.call[kernel]], kind="stable")]
    _, first = distinct_first(names[items.row[order]])
    call = distinct(items.call[order[first]])
    # a call may go on after its work has begun; with CUDA_LAUNCH_BLOCKING it lasts until that has ended
    began, ended = (take_known(column, calls.first_item) for column in (items.start, items.end))
    beside = np.where(calls.first_item >= 0, np.minimum(calls.end, ended) - np.maximum(calls.start, began), 0)
    own = np.maximum(calls.end - calls.start - np.maximum(beside, 0), 0)
    usual = median(own[distinct(items.call[kernel])])
    least = max(facts.limit("first_launches", "slow_ns"), facts.limit("first_launches", "least_factor") * usual)
    slow = call[own[call] >= least]
    slow = slow[facts.step_of(calls.row[slow]) >= 0]
    spent = int(own[slow].sum())
    share = facts.share(spent)
    if not len(slow) or share < facts.limit("first_launches", "least_share"):
        return ()
    rows = facts.longest_first(calls.row[slow])
    longest = int(own[slow].max())
    return (
        Found(
            title="Kernels are loaded at their first launch within the steps",
            detail=(
                f"First launches of kernels ({len(slow)}) take {ms(spent)}, the longest {ms(longest)}; "
                f"a launch usually takes {usual / 1000:.1f} µs."
            ),
            advice=(
                "Record after a warm-up: `schedule(wait=1, warmup=2, active=3)`. In a server send requests of "
                "all shapes before the first user, or load all when it starts: `CUDA_MODULE_LOADING=EAGER`."
            ),
            values={
                "kernels": len(slow),
                "spent_ns": spent,
                "longest_ns": longest,
                "usual_us": usual / 1000,
            },
            rows=rows,
            changes=(scale("launch", usual * len(slow) / max(spent, 1), rows=rows),),
            evidence=(
                Evidence("first_launches", "Slow first launches", len(slow), "count", "trace"),
                Evidence("in_first_launches", "Time in them, all steps", spent, "ns", "trace"),
                Evidence("usual_launch", "A launch usually takes", usual, "ns", "trace"),
            ),
            links=(
                Link(
                    "lazy_loading",
                    "Lazy loading",
                    "https://docs.nvidia.com/cuda/cuda-programming-guide/04-special-topics/lazy-loading.html",
                ),
            ),
        ),
    )


RULE = Rule("first_launches", "R66", (STEPS, DEVICE, CALLS), _find, replay=True)
