"""What the host takes to start work: launches, calls of the device's API, and operators."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import numpy as np

from torch_tb_profiler.analysis.replay.changes import free, graphed, scale
from torch_tb_profiler.analysis.replay.graph import Graph
from torch_tb_profiler.analysis.replay.host_time import ALLOCATOR, Label
from torch_tb_profiler.analysis.replay.launched_work import WorkKind
from torch_tb_profiler.analysis.waterfall import waterfall
from torch_tb_profiler.arrays.distinct import distinct, distinct_first
from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.insights.facts import CALLS, DEVICE, HOST, STEPS, Facts
from torch_tb_profiler.insights.rule import NO_ROWS, Found, evidence, link, rule
from torch_tb_profiler.insights.shared.device_words import platform
from torch_tb_profiler.insights.shared.launch_bound import is_launch_bound, launching
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.event_names import STARTS_WORK, SYNCHRONIZE


@rule("R13", STEPS, DEVICE, CALLS, replaces=("device_idle", "host_dispatch"), symptom=True, replay=True)
def launch_bound(facts: Facts) -> Iterator[Found]:
    """Find that the device idles between short kernels, because each of them has to be launched."""
    launch_time = launching(facts.model)
    if launch_time is None or not is_launch_bound(facts):
        return
    items = facts.graph.items
    kernels = facts.in_steps(items.row[(items.kind == WorkKind.KERNEL) & (items.call >= 0) & ~items.is_communication])
    where = platform(facts.model)
    how = "training" if facts.is_training else "inference"
    if where not in ("cuda", "rocm"):  # others have no graphs, or their own
        how = "npu" if where == "npu" else "compile"
    yield Found(
        values={
            "launches": launch_time.launches,
            "kernel_us": launch_time.kernel_ns / 1000,
            "busy": launch_time.busy,
            "waiting": launch_time.of_steps,
            "how": how,
        },
        # the kernels that took least: they show it most
        rows=kernels[np.argsort(facts.trace.events.duration[kernels], kind="stable")],
        place_rows=NO_ROWS,  # it is everywhere
        changes=(graphed(),),
        confidence="medium",
        evidence=(
            evidence("device_busy", launch_time.busy, "fraction", "overview"),
            evidence("waiting_for_launches", launch_time.of_steps, "fraction", "overview"),
            evidence("mean_kernel", launch_time.kernel_ns, "ns", "kernels"),
            evidence("launches_per_step", launch_time.launches, "count", "kernels"),
        ),
        links=(link("cuda_graphs"),),
    )


#: calls that are listed one by one
_MOST_CALLS = 3
#: of these runtimes it is known which calls only do what their name says
_KNOWN = lazy_pattern(r"^(?:cuda[A-Z]|cu[A-Z]|hip[A-Z]|ze[A-Z]|ur[A-Z]|nccl[A-Z])")
#: kinds of calls by their names
_KINDS: Mapping[str, re.Pattern[str]] = {
    "graph": lazy_pattern(r"Graph(?!Launch)|Capture"),
    "module": lazy_pattern(r"Module|Library|FatBinary|FuncGet|FuncLoad|KernelGet|LinkCreate|LinkAdd|LinkComplete"),
    "query": lazy_pattern(r"(?:Event|Stream)(?:Query|GetStatus)|EventHostIsSignaled"),
    "setup": lazy_pattern(
        r"Init|PriorityRange|GetDeviceProperties|DeviceGet|SetDevice|GetDevice|StreamCreate|CtxCreate|PrimaryCtx|Peer|"
        r"DriverGet|RuntimeGet"
    ),
    "event": lazy_pattern(r"Event(?:Create|Destroy|Record)|StreamWaitEvent|EventElapsed"),
}


@rule("R65", STEPS, CALLS, replay=True)
def api_calls(facts: Facts) -> Iterator[Found]:
    """Find calls of the device's API that take long, and neither launch, nor wait, nor allocate."""
    calls, strings = facts.graph.calls, facts.trace.strings
    # a driver's call inside a runtime's is part of it
    own = (calls.release < 0) & (facts.model.structure.launch_links.duration > 0)
    rows = facts.in_steps(calls.row[own & strings.where(_only_does_what_it_says, calls.name)[calls.name]])
    name = facts.trace.events.name[rows]
    least, spent = facts.limit("api_calls", "least_share"), sums_at(name, facts.duration(rows), len(strings))
    for code in np.argsort(-spent, kind="stable")[:_MOST_CALLS].tolist():
        share, call = facts.share(int(spent[code])), str(strings[code])
        if not spent[code] or share < least:
            return
        mine = facts.longest_first(rows[name == code])
        longest, spent_ns = int(facts.duration(mine[:1])[0]), int(spent[code]) / facts.steps
        how = next((kind for kind, pattern in _KINDS.items() if pattern.search(call)), "other")
        if how == "setup" and 2 * longest < spent[code]:
            how = "other"  # it comes again and again
        yield Found(
            values={
                "call": call,
                "times": len(mine),
                "steps": facts.steps,
                "spent_ns": spent_ns,
                "share": share,
                "longest_ns": longest,
                "how": how,
            },
            rows=mine,
            changes=(free("api", rows=mine),),
            once=how == "setup",
            confidence="medium" if how == "other" else "high",
            least_share=least,
            evidence=(
                evidence("call_per_step", spent_ns, "ns", "trace", call),
                evidence("calls_per_step", len(mine) / facts.steps, "count", "trace", call),
                evidence("longest_call", longest, "ns", "trace", call),
            ),
            links=(link("profiler_recipe"),),
        )


def _only_does_what_it_says(call: str) -> bool:
    is_known = _KNOWN.match(call) is not None
    return is_known and not any(pattern.search(call) for pattern in (STARTS_WORK, SYNCHRONIZE, ALLOCATOR))


@rule("R66", STEPS, DEVICE, CALLS, replay=True)
def first_launches(facts: Facts) -> Iterator[Found]:
    """Kernels are loaded onto the device in the steps, at their first launch."""
    items, calls = facts.graph.items, facts.graph.calls
    kernel = np.flatnonzero((items.kind == WorkKind.KERNEL) & (items.call >= 0))
    # not of graphs, whose launch has all their kernels
    single = facts.trace.strings.where(lambda name: "LaunchKernel" in name, calls.name)[calls.name]
    kernel = kernel[single[items.call[kernel]]]
    if not len(kernel):
        return
    # by start: the first of each name
    order = kernel[np.argsort(calls.start[items.call[kernel]], kind="stable")]
    _, first = distinct_first(facts.trace.events.name[items.row[order]])
    own = _own_times(facts.graph)
    usual = median(own[distinct(items.call[kernel])])
    least = max(facts.limit("first_launches", "slow_ns"), facts.limit("first_launches", "least_factor") * usual)
    call = distinct(items.call[order[first]])
    slow = call[(own[call] >= least) & (facts.step_of(calls.row[call]) >= 0)]
    spent = int(own[slow].sum())
    if not len(slow) or facts.share(spent) < facts.limit("first_launches", "least_share"):
        return
    rows = facts.longest_first(calls.row[slow])
    yield Found(
        values={
            "kernels": len(slow),
            "spent_ns": spent,
            "longest_ns": int(own[slow].max()),
            "usual_us": usual / 1000,
        },
        rows=rows,
        changes=(scale("launch", usual * len(slow) / max(spent, 1), rows=rows),),
        once=True,
        evidence=(
            evidence("first_launches", len(slow), "count", "trace"),
            evidence("in_first_launches", spent, "ns", "trace"),
            evidence("usual_launch", usual, "ns", "trace"),
        ),
        links=(link("lazy_loading"),),
    )


def _own_times(graph: Graph) -> Int64:
    """Shape (calls,): how long each takes without the work that it starts, ns.

    A call may go on after its work has begun; with CUDA_LAUNCH_BLOCKING it lasts until that has ended.
    """
    items, calls = graph.items, graph.calls
    began, ended = (take_known(column, calls.first_item) for column in (items.start, items.end))
    beside = np.where(calls.first_item >= 0, np.minimum(calls.end, ended) - np.maximum(calls.start, began), 0)
    found: Int64 = np.maximum(calls.end - calls.start - np.maximum(beside, 0), 0)
    return found


#: operators that the detail names
_NAMED = 3
#: what runs where the program is compiled
_COMPILED = ("CompiledFunction", "Torch-Compiled Region", "## Call CompiledFxGraph")


@rule("R14", STEPS, HOST, DEVICE, replaces=("device_idle",), general=True, replay=True)
def host_dispatch(facts: Facts) -> Iterator[Found]:
    """Find that the host spends most of the step in operators, and the device waits for it."""
    found = waterfall(facts.model)
    total = int(found.step_ns.sum()) * len(found.devices)
    if found.basis != "devices" or not total:
        return
    busy = 1 - int(found.of("idle").sum()) / total
    row, own = _self_times(facts)
    name, strings = facts.trace.events.name[row], facts.trace.strings
    is_compiled: Bool = strings.where(lambda text: text.startswith(_COMPILED), name)[name]
    # an operator that takes longer computes on the CPU; compiled code is Python that launches
    in_operators = facts.share(int(own[(own <= facts.limit("host_dispatch", "longest_ns")) | is_compiled].sum()))
    operators = len(row) / facts.steps
    if (
        not facts.limit("host_dispatch", "least_busy") <= busy <= facts.limit("host_dispatch", "most_busy")
        or in_operators < facts.limit("host_dispatch", "least_share")
        or operators < facts.limit("host_dispatch", "fewest_operators")
    ):
        return
    by_name = sums_at(name, own, len(strings))
    top = [code for code in np.argsort(-by_name, kind="stable")[:_NAMED].tolist() if by_name[code]]
    most = {str(strings[code]): int(by_name[code]) for code in top}
    how = "compiled" if is_compiled.any() else "training" if facts.is_training else "inference"
    yield Found(
        values={
            "share": in_operators,
            "operators": operators,
            "busy": busy,
            "named": ", ".join(f"`{operator}` {100 * facts.share(spent):.0f} %" for operator, spent in most.items()),
            "how": how,
        },
        rows=row[np.argsort(-own, kind="stable")],
        place_rows=row,
        place_ns=own,
        changes=(scale("operator", 0.5),),
        confidence="medium",
        evidence=(
            evidence("in_operators", in_operators, "fraction", "operators"),
            evidence("device_busy", busy, "fraction", "overview"),
            *(
                evidence("self_time_of", spent / facts.steps, "ns", "operators", f"op:{operator}")
                for operator, spent in most.items()
            ),
        ),
        links=(link("torch_compile"),),
    )


def _self_times(facts: Facts) -> tuple[Int32, Int64]:
    """Operators that begin in the steps, and the host time of each that is no other operator's and no call's, ns."""
    host = facts.graph.host
    counts = (host.label == Label.OPERATOR) & (host.node >= 0)
    own = sums_at(host.node[counts], host.length[counts], len(host.row))
    rows = host.row[own > 0]
    inside = facts.step_of(rows) >= 0
    return rows[inside], own[own > 0][inside]
