"""Code on the thread that runs the steps which starts nothing on a device, while devices have nothing to do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from torch_tb_profiler.analysis.replay.changes import free
from torch_tb_profiler.analysis.replay.labels import HOST_COLLECTIVE
from torch_tb_profiler.analysis.shared.main_lane import main_lane
from torch_tb_profiler.analysis.waterfall.host_lanes import COMPILE, COMPILE_FRAME, GARBAGE
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.arrays.intervals import Coverage
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import CALLS, DEVICE, HOST, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Rule
from torch_tb_profiler.insights.shared.links import TUNING_GUIDE
from torch_tb_profiler.insights.shared.loading import LOADING
from torch_tb_profiler.insights.shared.recurring import MOST_PLACES, is_loop_known, recurring
from torch_tb_profiler.insights.shared.wording import ms
from torch_tb_profiler.late_pattern import late_pattern
from torch_tb_profiler.model.call_tree import CallTree, FrameTree
from torch_tb_profiler.model.frame_names import frame_label, is_own_code
from torch_tb_profiler.model.model import DATALOADER_NAME
from torch_tb_profiler.model.steps import PROFILER_STEP
from torch_tb_profiler.trace import Category
from torch_tb_profiler.trace.vocabulary import is_annotation_name

_ON_DEVICE = "Computations on tensors can run on the device, after `x = x.to(device, non_blocking=True)`."
#: operators whose time is the allocator's, or that of the device being set up
ALLOCATES = late_pattern(r"aten::(?:empty|resize_|new_empty|_efficientzerotensor)")
#: what other rules see to: loading by a DataLoader, compilation, garbage collection, collectives on the host; beside
#: these annotations that are called loading
_TOLD = (DATALOADER_NAME, COMPILE, COMPILE_FRAME, GARBAGE, HOST_COLLECTIVE)


def _find(facts: Facts) -> Sequence[Found]:
    frames, events = facts.model.structure.frames, facts.trace.events
    rows = _apart(facts, facts.model.structure.tree)
    operators = events.category[rows] == Category.OPERATOR
    if len(frames):
        # annotations are called by functions; an operator on the CPU may be in one that starts work on devices, too
        functions, rows = _apart(facts, frames), rows[operators]
        inside = Coverage(intervals.union(events.start[functions], events.end[functions]))
        rows = np.concatenate([functions, rows[inside.between(events.start[rows], events.end[rows]) == 0]])
        operators = events.category[rows] == Category.OPERATOR
    # a function that calls operators is not known: they are one
    code = np.where(operators, 0, facts.trace.events.name[rows]).astype(np.int64)
    again = recurring(facts, rows, code)
    rows, groups = rows[again], group([code[again]])
    took = groups.sum(facts.duration(rows))
    least = facts.limit("host_code", "least_share")
    heavy = [at for at in descending(took).tolist()[:MOST_PLACES] if facts.share(float(took[at])) >= least]
    return [_of(facts, rows[groups.of == at]) for at in heavy]


def _apart(facts: Facts, nodes: FrameTree | CallTree) -> Int32:
    """The outermost functions of the program, or without stacks annotations and what operators compute themselves, on
    the main thread in the steps, that take long, call nothing of the device's API, and run while no other thread
    launches a kernel.
    """
    model, events = facts.model, facts.trace.events
    lane = main_lane(model)
    at = np.flatnonzero((nodes.track == lane) & (nodes.end - nodes.start >= facts.limit("host_code", "least_ns")))
    at = at[facts.step_of(nodes.row[at]) >= 0]
    at = at[_may_be_named(facts, nodes)[at]]
    calls = facts.trace.launches.row
    launched = model.launches.row[_launches_of_kernels(facts)]
    for rows in (calls[events.track[calls] == lane], launched):
        starts = np.sort(events.start[rows])
        at = at[np.searchsorted(starts, nodes.end[at]) == np.searchsorted(starts, nodes.start[at])]
    chosen = np.zeros(len(nodes), np.bool_)
    chosen[at] = True
    at = at[nearest(nodes.parent, chosen, nodes.parent[at]) < 0]
    told = Coverage(intervals.union_of([intervals.union(*span) for span in _told(facts)]))
    length = nodes.end[at] - nodes.start[at]
    kept: Int32 = nodes.row[at[2 * told.between(nodes.start[at], nodes.end[at]) < length]]
    return kept


def _may_be_named(facts: Facts, nodes: FrameTree | CallTree) -> Bool:
    """Which nodes are code of the program: its own functions; annotations, but marks of steps; operators that take long
    without those inside of them, and do not allocate. What is inside of DistributedDataParallel or an optimizer is not.
    """
    strings = facts.trace.strings
    if isinstance(nodes, FrameTree):
        found: Bool = strings.where(is_own_code, nodes.name)[nodes.name]
        return found
    marks = strings.where(lambda name: PROFILER_STEP.fullmatch(name) is not None or ALLOCATES.match(name), nodes.name)
    within = np.bincount(nodes.parent[nodes.parent >= 0], (nodes.end - nodes.start)[nodes.parent >= 0], len(nodes))
    computes = nodes.end - nodes.start - within >= facts.limit("host_code", "least_ns")
    of_torch = strings.where(lambda name: is_annotation_name(name) and not PROFILER_STEP.fullmatch(name), nodes.name)
    inside = nearest(nodes.parent, of_torch[nodes.name], np.arange(len(nodes), dtype=np.int64)) >= 0
    named: Bool = ~marks[nodes.name] & ~inside & (computes | ~nodes.is_operator)
    return named


def _launches_of_kernels(facts: Facts) -> Int64:
    """Indices into the launches: those that start kernels."""
    model = facts.model
    launch = model.device_links.launch
    found: Int64 = launch[(launch >= 0) & (model.device_category == Category.KERNEL)].astype(np.int64)
    return found


def _told(facts: Facts) -> Iterator[tuple[Int64, Int64]]:
    """From when to when something goes on that other rules see to."""
    strings, structure = facts.trace.strings, facts.model.structure
    for nodes in (structure.tree, structure.frames):
        if len(nodes):
            patterns = _TOLD if isinstance(nodes, FrameTree) else (*_TOLD, LOADING)
            is_told = strings.where(partial(_is_one_of, patterns), nodes.name)[nodes.name]
            yield nodes.start[is_told], nodes.end[is_told]


def _is_one_of(patterns: Sequence[re.Pattern[str]], name: str) -> bool:
    return any(each.search(name) for each in patterns)


def _of(facts: Facts, rows: Int32) -> Found:
    rows = facts.longest_first(rows)
    spent = float(facts.duration(rows).sum()) / facts.steps
    names = facts.trace.events.name[rows]
    name, more = frame_label(str(facts.trace.strings[names[0]])), len(distinct(names)) > 1
    times, training = len(rows) / facts.steps, facts.is_training
    return Found(
        title="The device waits for code on the host",
        detail=(
            f"`{name}` {'and other operators take' if more else 'takes'} {ms(spent)} of each step "
            f"({ms(facts.step_ns)}) on the thread that runs the steps, and {'start' if more else 'starts'} nothing on "
            "the device in that time."
        ),
        advice=(
            "Do it in parallel with the steps: in `__getitem__` of a dataset that `DataLoader(dataset, num_workers=4)` "
            f"reads, or less often. {_ON_DEVICE}"
            if training
            else "Do it while the device works: for the next input in a thread or process of its own, with a short "
            f"queue between. {_ON_DEVICE}"
        ),
        values={"name": name, "more": more, "spent_ns": spent, "step_ns": facts.step_ns, "training": training},
        rows=rows,
        changes=(free(rows=rows.tolist()),),
        least_share=facts.limit("host_code", "least_saving"),
        confidence="medium" if is_loop_known(facts) else "low",
        evidence=(
            Evidence("host_code_per_step", "This code, average per step", spent, "ns", "trace"),
            Evidence("calls_per_step", "Calls per step", times, "count", "trace"),
        ),
        links=(TUNING_GUIDE,),
    )


RULE = Rule("host_code", "R69", (STEPS, HOST, DEVICE, CALLS), _find)
