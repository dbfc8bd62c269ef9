"""Calls of the device's API that take long, and neither launch, nor wait, nor allocate."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import free
from torch_tb_profiler.analysis.replay.labels import ALLOCATOR
from torch_tb_profiler.analysis.shared.synchronize import SYNCHRONIZE
from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.types import Int32
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import CALLS, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.wording import how_often, ms
from torch_tb_profiler.late_pattern import late_pattern

#: calls that are listed one by one
MOST = 3
#: of these runtimes it is known which calls only do what their name says
_KNOWN = late_pattern(r"^(?:cuda[A-Z]|cu[A-Z]|hip[A-Z]|ze[A-Z]|ur[A-Z]|nccl[A-Z])")
#: work without a record of it
_STARTS = late_pattern(r"Launch|emcpy|emset|Mem(?:cpy|set)|Enqueue|AppendMemory")
#: kinds of calls by their names
_KINDS: Mapping[str, re.Pattern[str]] = {
    "graph": late_pattern(r"Graph(?!Launch)|Capture"),
    "module": late_pattern(r"Module|Library|FatBinary|FuncGet|FuncLoad|KernelGet|LinkCreate|LinkAdd|LinkComplete"),
    "query": late_pattern(r"(?:Event|Stream)(?:Query|GetStatus)|EventHostIsSignaled"),
    "setup": late_pattern(
        r"Init|PriorityRange|GetDeviceProperties|DeviceGet|SetDevice|GetDevice|StreamCreate|CtxCreate|PrimaryCtx|Peer|"
        r"DriverGet|RuntimeGet"
    ),
    "event": late_pattern(r"Event(?:Create|Destroy|Record)|StreamWaitEvent|EventElapsed"),
}
_ADVICE: Mapping[str, str] = {
    "graph": (
        "Capture and instantiate a CUDA graph once for each shape, before the loop, and only `graph.replay()` in it."
    ),
    "module": (
        "Load kernels before the steps: warm up with all shapes, `schedule(wait=1, warmup=2, active=3)`, or set "
        "`CUDA_MODULE_LOADING=EAGER`."
    ),
    "query": (
        "Do not poll in a loop: `event.synchronize()` waits without using a core, and `stream.wait_event(event)` "
        "lets the device wait."
    ),
    "setup": (
        "The device is set up at the first calls of its API. Record after a warm-up, "
        "`schedule(wait=1, warmup=2, active=3)`, and use the device once before a server takes requests."
    ),
    "event": "Create events once and use them again; record only events that are waited for.",
    "other": "See in the Trace view what makes these calls, and whether they can be made once, before the loop.",
}


def _find(facts: Facts) -> Sequence[Found]:
    trace, links = facts.trace, facts.model.structure.launch_links
    calls, strings = facts.graph.calls, trace.strings

    def counts(name: str) -> bool:
        found = _KNOWN.match(name) is not None
        return found and not any(pattern.search(name) for pattern in (_STARTS, SYNCHRONIZE, ALLOCATOR))

    # a driver's call inside a runtime's is part of it
    chosen = np.flatnonzero((calls.release < 0) & (links.duration > 0) & strings.where(counts, calls.name)[calls.name])
    rows = facts.in_steps(calls.row[chosen])
    least = facts.limit("api_calls", "least_share")
    spent = sums_at(trace.events.name[rows], facts.duration(rows), len(strings))
    most = [code for code in np.argsort(-spent, kind="stable")[:MOST].tolist() if spent[code]]
    of = trace.events.name[rows]
    return [
        _of_call(facts, str(strings[code]), facts.longest_first(rows[of == code]))
        for code in most
        if facts.share(int(spent[code])) >= least
    ]


def _of_call(facts: Facts, name: str, rows: Int32) -> Found:
    spent, longest = int(facts.duration(rows).sum()), int(facts.duration(rows[:1])[0])
    share, per_step, spent_ns = facts.share(spent), len(rows) / facts.steps, spent / facts.steps
    kind = next((kind for kind, pattern in _KINDS.items() if pattern.search(name)), "other")
    if kind == "setup" and 2 * longest < spent:
        kind = "other"  # it comes again and again
    return Found(
        title=f"Steps spend their time in {name}",
        detail=(
            f"`{name}` is called {how_often(len(rows), facts.steps)} and takes {ms(spent_ns)}, {100 * share:.1f} % "
            f"of the average step; the longest call {ms(longest)}."
        ),
        advice=_ADVICE[kind],
        values={
            "call": name,
            "times": len(rows),
            "steps": facts.steps,
            "spent_ns": spent_ns,
            "share": share,
            "longest_ns": longest,
            "how": kind,
        },
        rows=rows,
        changes=(free("api", rows=rows),),
        confidence="medium" if kind == "other" else "high",
        least_share=facts.limit("api_calls", "least_share"),
        evidence=(
            Evidence("call_per_step", "In this call, average per step", spent / facts.steps, "ns", "trace", name),
            Evidence("calls_per_step", "Calls per step", per_step, "count", "trace", name),
            Evidence("longest_call", "The longest call", longest, "ns", "trace", name),
        ),
        links=(
            Link(
                "profiler_recipe",
                "PyTorch Profiler",
                "https://docs.pytorch.org/tutorials/recipes/recipes/profiler_recipe.html",
            ),
        ),
    )


RULE = Rule("api_calls", "R65", (STEPS, CALLS), _find, replay=True)
