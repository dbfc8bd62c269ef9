"""The process of the program beside its operators: Python's own work, threads, the profiler, and saving."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from torch_tb_profiler.analysis.replay.changes import free, scale, targets, without
from torch_tb_profiler.analysis.replay.host_time import HOST_COLLECTIVE
from torch_tb_profiler.analysis.shared.host_threads import main_lane
from torch_tb_profiler.analysis.waterfall.host_lanes import COMPILE, COMPILE_FRAME, GARBAGE
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.arrays.intervals import Coverage
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.insights.facts import CALLS, DEVICE, FRAMES, HOST, MACHINE, OVERHEAD, STEPS, Facts
from torch_tb_profiler.insights.rule import Found, evidence, link, rule
from torch_tb_profiler.insights.shared.frames import copies_within, saving_frames
from torch_tb_profiler.insights.shared.loading import LOADING
from torch_tb_profiler.insights.shared.profiler_time import profiler_ns, profiler_rows
from torch_tb_profiler.insights.shared.recurring import MOST_PLACES, is_loop_known, recurring
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.call_tree import CallTree, FrameTree
from torch_tb_profiler.model.event_names import frame_label, is_own_code
from torch_tb_profiler.model.model import DATALOADER_NAME
from torch_tb_profiler.model.steps import PROFILER_STEP
from torch_tb_profiler.trace import Category
from torch_tb_profiler.trace.vocabulary import is_annotation_name

#: what the profiler writes around a collection that Python began by itself
_AUTOMATIC = "Python GC"


@rule("R15", STEPS, FRAMES)
def garbage_collection(facts: Facts) -> Iterator[Found]:
    """Python's garbage collection within the steps."""
    rows = _collections(facts)
    spent = int(facts.duration(rows).sum())
    if not len(rows) or facts.share(spent) < facts.limit("garbage_collection", "least_share"):
        return
    called = not bool((facts.trace.events.name[rows] == facts.trace.strings.code(_AUTOMATIC)).any())
    longest = int(facts.duration(rows).max())
    yield Found(
        values={
            "times": len(rows),
            "steps": facts.steps,
            "longest_ns": longest,
            "spent_ns": spent / facts.steps,
            "share": facts.share(spent),
            "how": "called" if called else "automatic",
        },
        rows=facts.longest_first(rows),
        changes=(free(rows=rows),),
        least_share=facts.limit("garbage_collection", "least_share"),
        evidence=(
            evidence("gc_per_step", spent / facts.steps, "ns", "trace"),
            evidence("longest_gc", longest, "ns", "trace"),
            evidence("gc_runs", len(rows), "count", "trace"),
        ),
        links=(link("python_gc"),),
    )


def _collections(facts: Facts) -> Int32:
    """Return collections in the steps that are in no other one."""
    frames, strings = facts.model.structure.frames, facts.trace.strings
    is_gc = strings.where(GARBAGE.search, frames.name)[frames.name]
    outer = np.append(is_gc, False)[frames.parent]
    return facts.in_steps(frames.row[is_gc & ~outer])


@rule("R17", STEPS, DEVICE, CALLS, replay=True)
def thread_contention(facts: Facts) -> Iterator[Found]:
    """Threads that launch at the same time hold each other up."""
    calls = facts.graph.calls
    names = facts.trace.strings.where(lambda name: "LaunchKernel" in name, calls.name)
    call = np.flatnonzero((calls.release >= 0) & names[calls.name])
    call = call[facts.step_of(calls.row[call]) >= 0]
    lanes = distinct(calls.lane[call]) if len(call) else np.empty(0, np.int64)
    if len(lanes) < 2 or len(lanes) > facts.limit("thread_contention", "most_threads"):
        return
    length = calls.end[call] - calls.start[call]
    beside = _beside_others(calls.lane[call], calls.start[call], calls.end[call], lanes)
    fewest = facts.limit("thread_contention", "fewest")
    if np.count_nonzero(beside) < fewest or np.count_nonzero(~beside) < fewest:
        return
    usual, contended = median(length[~beside]), median(length[beside])
    if contended < facts.limit("thread_contention", "least_factor") * max(usual, 1.0):
        return
    rows, took = calls.row[call[beside]], int(length[beside].sum())
    if facts.share(max(took - usual * len(rows), 0.0)) < facts.limit("thread_contention", "least_share"):
        return
    yield Found(
        values={"threads": len(lanes), "beside_us": contended / 1000, "alone_us": usual / 1000},
        rows=facts.longest_first(rows),
        changes=(scale("launch", usual * len(rows) / max(took, 1), rows=rows),),
        confidence="medium",
        evidence=(
            evidence("launching_threads", len(lanes), "count", "trace"),
            evidence("launch_beside_others", contended, "ns", "trace"),
            evidence("launch_alone", usual, "ns", "trace"),
        ),
        links=(link("cpu_affinity"),),
    )


def _beside_others(lane: Int64, start: Int64, end: Int64, lanes: Int64) -> Bool:
    """Mark calls that overlap a call of another thread."""
    found = np.zeros(len(lane), np.bool_)
    for each in lanes.tolist():
        mine = lane == each
        others = intervals.union(start[~mine], end[~mine])
        place = np.searchsorted(others.end, start[mine], side="right")
        found[mine] = np.append(others.start, np.iinfo(np.int64).max)[place] < end[mine]
    return found


@rule("R20", STEPS, OVERHEAD)
def profiler_overhead(facts: Facts) -> Iterator[Found]:
    """Find what the profiler itself costs in the steps."""
    events, steps = facts.trace.events, facts.model.steps
    rows, spent = profiler_rows(facts.model), profiler_ns(facts)
    share = facts.share(spent)
    if share < facts.limit("profiler_overhead", "least_share"):
        return
    rows = rows[(events.end[rows] > int(steps.host_start[0])) & (events.start[rows] < int(steps.host_end[-1]))]
    longest = facts.longest_first(rows)
    name = str(facts.trace.strings[int(events.name[longest[0]])])
    yield Found(
        values={"share": share, "spent_ns": spent / facts.steps, "name": name},
        rows=longest,
        severity="medium" if share >= facts.limit("profiler_overhead", "high_share") else "low",
        evidence=(
            evidence("profiler_per_step", spent / facts.steps, "ns", "trace", name),
            evidence("share_of_step", share, "fraction", "trace"),
        ),
        links=(link("profiler_schedule"),),
    )


#: operators whose time is the allocator's, or that of the device being set up
_ALLOCATES = lazy_pattern(r"aten::(?:empty|resize_|new_empty|_efficientzerotensor)")
#: what other rules see to: loading by a DataLoader, compilation, garbage collection, collectives on the host; beside
#: these annotations that are called loading
_TOLD = (DATALOADER_NAME, COMPILE, COMPILE_FRAME, GARBAGE, HOST_COLLECTIVE)
#: functions of torch: what they do is what operators, collectives and the profiler do
_OF_TORCH = lazy_pattern(r"^torch/|^nn\.Module: |^<built-in.*(?:\btorch\b|run_backward|Tensor object|Parameter object)")


@rule("R69", STEPS, HOST, MACHINE)
def host_code(facts: Facts) -> Iterator[Found]:
    """Code on the thread that runs the steps which starts nothing on a device, while devices have nothing to do;
    without a device code that calls no operator.
    """
    frames, events, on_device = facts.model.structure.frames, facts.trace.events, facts.model.has_device_work
    if on_device and not facts.model.has_runtime:
        return
    rows = _apart(facts, facts.model.structure.tree)
    rows = rows if on_device else rows[events.category[rows] != Category.OPERATOR]
    operators = events.category[rows] == Category.OPERATOR
    if len(frames):
        # a range, or an operator on the CPU, may be in a function that starts work on devices, too
        functions = _apart(facts, frames)
        inside = Coverage(intervals.union(events.start[functions], events.end[functions]))
        rows = np.concatenate([functions, rows[inside.between(events.start[rows], events.end[rows]) == 0]])
        operators = events.category[rows] == Category.OPERATOR
    # the function that calls the operators is unknown: they count as one
    code = np.where(operators, 0, facts.trace.events.name[rows]).astype(np.int64)
    # what comes twice in many steps may be two accidents, unless it takes long
    again = recurring(facts, rows, code, least=2)
    rows, groups = rows[again], group([code[again]])
    took, often = groups.sum(facts.duration(rows)), recurring(facts, rows, code[again])[groups.first]
    least = np.where(often, *(facts.limit("host_code", name) for name in ("least_share", "least_share_of_few")))
    heavy = [at for at in descending(took).tolist()[:MOST_PLACES] if facts.share(float(took[at])) >= least[at]]
    for at in heavy:
        yield _waited_for(facts, rows[groups.inverse == at])


def _apart(facts: Facts, nodes: FrameTree | CallTree) -> Int32:
    """Return the outermost functions of the program, or without stacks annotations and what operators compute
    themselves, on the main thread in the steps, that take long, call nothing of the device's API, and run while no
    other thread launches a kernel; without a device those that call no operator.
    """
    model, events = facts.model, facts.trace.events
    lane = main_lane(model)
    long = np.flatnonzero((nodes.track == lane) & (nodes.end - nodes.start >= facts.limit("host_code", "least_ns")))
    long = long[facts.step_of(nodes.row[long]) >= 0]
    long = long[_may_be_named(facts, nodes)[long]]
    called = [facts.trace.launches.row, model.launches.row[_launches_of_kernels(facts)]]
    called[0] = called[0][events.track[called[0]] == lane]
    if not model.has_device_work:
        tree = model.structure.tree
        called.append(tree.row[tree.is_operator & (tree.track == lane)])
    for rows in called:
        starts = np.sort(events.start[rows])
        long = long[np.searchsorted(starts, nodes.end[long]) == np.searchsorted(starts, nodes.start[long])]
    chosen = np.zeros(len(nodes), np.bool_)
    chosen[long] = True
    long = long[nearest(nodes.parent, chosen, nodes.parent[long]) < 0]
    told = Coverage(intervals.union_of([intervals.union(*span) for span in _covered_by_other_rules(facts)]))
    length = nodes.end[long] - nodes.start[long]
    kept: Int32 = nodes.row[long[2 * told.between(nodes.start[long], nodes.end[long]) < length]]
    return kept


def _may_be_named(facts: Facts, nodes: FrameTree | CallTree) -> Bool:
    """Which nodes are code of the program: its own functions, and what they call of libraries but torch; annotations,
    but marks of steps; operators that take long without those inside of them, and do not allocate. What is inside of
    DistributedDataParallel or an optimizer is not.
    """
    strings = facts.trace.strings
    if isinstance(nodes, FrameTree):
        own = strings.where(is_own_code, nodes.name)[nodes.name]
        of_torch = strings.where(_OF_TORCH.search, nodes.name)[nodes.name]
        found: Bool = own | (np.append(own, False)[nodes.parent] & ~of_torch)
        return found
    marks = strings.where(lambda name: PROFILER_STEP.fullmatch(name) is not None or _ALLOCATES.match(name), nodes.name)
    within = np.bincount(nodes.parent[nodes.parent >= 0], (nodes.end - nodes.start)[nodes.parent >= 0], len(nodes))
    computes = nodes.end - nodes.start - within >= facts.limit("host_code", "least_ns")
    of_torch = strings.where(lambda name: is_annotation_name(name) and not PROFILER_STEP.fullmatch(name), nodes.name)
    inside = nearest(nodes.parent, of_torch[nodes.name], np.arange(len(nodes), dtype=np.int64)) >= 0
    named: Bool = ~marks[nodes.name] & ~inside & (computes | ~nodes.is_operator)
    return named


def _launches_of_kernels(facts: Facts) -> Int64:
    """Return indices into the launches: those that start kernels."""
    model = facts.model
    launch = model.device_links.launch
    found: Int64 = launch[(launch >= 0) & (model.device_category == Category.KERNEL)].astype(np.int64)
    return found


def _covered_by_other_rules(facts: Facts) -> Iterator[tuple[Int64, Int64]]:
    """From when to when something goes on that other rules see to."""
    strings, structure = facts.trace.strings, facts.model.structure
    for nodes in (structure.tree, structure.frames):
        if len(nodes):
            patterns = _TOLD if isinstance(nodes, FrameTree) else (*_TOLD, LOADING)
            is_told = strings.where(partial(_is_one_of, patterns), nodes.name)[nodes.name]
            yield nodes.start[is_told], nodes.end[is_told]


def _is_one_of(patterns: Sequence[re.Pattern[str]], name: str) -> bool:
    return any(each.search(name) for each in patterns)


def _waited_for(facts: Facts, rows: Int32) -> Found:
    rows = facts.longest_first(rows)
    spent = float(facts.duration(rows).sum()) / facts.steps
    names = facts.trace.events.name[rows]
    return Found(
        values={
            "name": frame_label(str(facts.trace.strings[names[0]])),
            "more": len(distinct(names)) > 1,
            "spent_ns": spent,
            "step_ns": facts.step_ns,
            "training": facts.is_training,
            "device": facts.model.has_device_work,
        },
        rows=rows,
        changes=(free(rows=rows.tolist()),),
        least_share=facts.limit("host_code", "least_saving"),
        confidence="medium" if is_loop_known(facts) else "low",
        evidence=(
            evidence("host_code_per_step", spent, "ns", "trace"),
            evidence("calls_per_step", len(rows) / facts.steps, "count", "trace"),
        ),
        links=(link("tuning_guide"),),
    )


@rule("R70", STEPS, FRAMES)
def checkpoint_saves(facts: Facts) -> Iterator[Found]:
    """Checkpoints are written while the steps wait."""
    rows = facts.longest_first(facts.in_steps(saving_frames(facts.model)))
    took = int(facts.duration(rows).sum())
    if not len(rows) or facts.share(took) < facts.limit("checkpoint_saves", "least_share"):
        return
    copied = copies_within(facts.model, rows).tolist()
    yield Found(
        values={
            "times": len(rows),
            "steps": facts.steps,
            "longest_ns": float(np.max(facts.duration(rows))),
            "share": facts.share(took),
        },
        rows=rows,
        changes=(
            free(rows=rows),
            without("sync", rows=rows),
            *([targets(copied, [0] * len(copied))] if copied else []),
        ),
        evidence=(
            evidence("saving_per_step", took / facts.steps, "ns", "trace"),
            evidence("saving_steps", len(distinct(facts.step_of(rows))), "count", "trace"),
        ),
        links=(link("async_save"),),
    )
