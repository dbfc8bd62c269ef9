"""What each resource of a program has on the critical path, and what would be saved were it free, or faster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Definition, Fraction, MeanNs, Ns, TraceMeta
from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.change_texts import RequestedChange
from torch_tb_profiler.analysis.replay.changes import Change, LabelName, ScaleWork, WorkName, is_bound, scale, without
from torch_tb_profiler.analysis.replay.on_path import OnPath, recorded_path, recorded_quality
from torch_tb_profiler.analysis.replay.path import PARTS, CriticalPath, critical_path
from torch_tb_profiler.analysis.replay.quality import Confidence, ReplayRefusal, Scope
from torch_tb_profiler.analysis.replay.savings import saving_interval, settled_steps
from torch_tb_profiler.analysis.replay.scenario import apply_changes
from torch_tb_profiler.analysis.result import columns_field
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model

ResourceId = Literal["input", "host", "launch", "sync", "communication", "copies", "compute", "unknown"]

#: what "20 % faster" multiplies durations with
FASTER = 0.8


class StepResource(msgspec.Struct, frozen=True):
    """Something that can limit a step.

    parts    of the path that are its time; each part is of one resource
    labels   host time that it is
    work     work on devices that it is
    waits    it is the host's waiting for devices
    """

    id: ResourceId
    parts: tuple[str, ...]
    labels: tuple[LabelName, ...] = ()
    work: WorkName | None = None
    waits: bool = False

    def at(self, factor: float) -> tuple[Change, ...]:
        """Return the changes that multiply its time with a factor; none for a wait unless the factor is 0: it ends with
        what it waits for, so it can only be removed.
        """
        if self.waits:
            return (without("sync"),) if factor == 0 else ()
        work = () if self.work is None else (ScaleWork(factor, self.work),)
        return (*work, *(scale(label, factor) for label in self.labels))

    @property
    def free(self) -> tuple[Change, ...]:
        """The changes that make it take no time; none where it cannot be."""
        return self.at(0.0)

    @property
    def faster(self) -> tuple[Change, ...]:
        """The changes that make it 20 % faster; none where that means nothing."""
        return self.at(FASTER)


RESOURCES: tuple[StepResource, ...] = (
    StepResource("input", ("data",), labels=("data",)),
    StepResource(
        "host",
        ("python", "operator", "allocator", "api", "hand_over"),
        labels=("python", "operator", "allocator", "api"),
    ),
    StepResource("launch", ("launch", "launch_latency"), labels=("launch",)),
    StepResource("sync", ("blocking", "wake_up"), waits=True),
    StepResource("communication", ("communication", "collective"), labels=("collective",), work="collectives"),
    StepResource("copies", ("copy",), work="copies"),
    StepResource("compute", ("compute", "device_gap", "dependency"), work="kernels"),
    StepResource("unknown", ("unexplained", "fixed")),
)
RESOURCE_OF: Mapping[str, ResourceId] = {part: each.id for each in RESOURCES for part in each.parts}


class SavingEstimate(msgspec.Struct, frozen=True):
    """What a change saves in some steps together, ns.

    saved, low, high   None if it is refused; low and high also where there are no two steps
    bound              the most that any remedy can save: something is made free
    refused            why there is no answer
    """

    saved: int | None
    low: int | None
    high: int | None
    bound: bool
    refused: ReplayRefusal | None


def path_parts(path: CriticalPath, places: Sequence[int]) -> dict[str, int]:
    """Return the time of the path by part, ns, in PARTS order, without parts of no time.

    places   rows of the composition
    """
    sums = path.composition[list(places)].sum(axis=0)
    return {part: ns for part, ns in zip(PARTS, sums.tolist(), strict=True) if ns}


def by_resource(parts: Mapping[str, int]) -> dict[ResourceId, int]:
    """Sum parts by resource; every resource is there."""
    found: dict[ResourceId, int] = {each.id: 0 for each in RESOURCES}
    for part, ns in parts.items():
        found[RESOURCE_OF[part]] += ns
    return found


def largest_resource(parts: Mapping[str, int]) -> tuple[ResourceId | None, float | None]:
    """Find the resource with most time on a path and its share; None for a path without time. Not "unknown", if
    possible.
    """
    total = sum(parts.values())
    if not total:
        return None, None
    sums = by_resource(parts)
    known = {name: ns for name, ns in sums.items() if name != "unknown" and ns}
    found = max(known or sums, key=lambda name: sums[name])
    return found, sums[found] / total


def estimated_saving(model: Model, changes: Sequence[Change], steps: Sequence[int]) -> SavingEstimate:
    """Estimate by replay what some changes save together in some steps, given by index."""
    graph, quality = graph_of(model), recorded_quality(model)
    bound = any(map(is_bound, changes))
    refused = next((why for change in changes if (why := quality.of(change)) is not None), None)
    if refused is not None:
        return SavingEstimate(None, None, None, bound, refused)
    before = recorded_path(model).step_ns[list(steps)]
    saved: Int64 = before - apply_changes(model.trace, graph, changes).settled_ns[list(steps)]
    low, high = saving_interval(saved, int(before.sum()), bound, settled_steps(graph)[list(steps)])
    return SavingEstimate(int(saved.sum()), low, high, bound, None)


def limit_without(model: Model, resource: StepResource, steps: Sequence[int]) -> tuple[ResourceId | None, float | None]:
    """Find what has most time on the path of some steps when a resource is free, and its share of that path."""
    graph = graph_of(model)
    path = critical_path(apply_changes(model.trace, graph, resource.free), list(steps))
    return largest_resource(path_parts(path, list(range(len(steps)))))


SignedNs = Annotated[int, Meta(description="nanoseconds; below 0 where the steps get longer")]


class NotAnswered(msgspec.Struct, frozen=True):
    """One thing that is not answered.

    id      what is wrong with the trace
    scope   what is refused: everything, all savings, changes of host time, changes of work on devices
    text    why, in one sentence
    share   the measure that decided, 0…1, where there is one
    """

    id: str
    scope: Scope
    text: str
    share: Fraction | None


class ReplayMeta(TraceMeta, frozen=True, kw_only=True):
    """Which trace was replayed, and how far the answer can be trusted.

    explained   share of the time of the steps whose cause is in the trace, both on the critical path and in the
                waterfall; null without steps
    confidence  low: 10 % or more is not explained; none: 40 % or more of the path, and savings are refused
    refused     what could not be answered, and why
    """

    explained: Fraction | None
    confidence: Confidence
    refused: Sequence[NotAnswered]


class StepsOnPath(msgspec.Struct, frozen=True, kw_only=True):
    """The critical path of each step. Parallel lists.

    names     of the steps
    start_ns  when each period begins, since the start of the trace
    step_ns   how long each takes
    part_ns   by part: what the path of each step spends on it; the parts of a step add up to it. Parts without any time
              are left out.
    """

    names: Sequence[str]
    start_ns: Sequence[Ns]
    step_ns: Sequence[Ns]
    part_ns: Mapping[str, Sequence[Ns]]


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """What a change saves in all steps together, replayed; null if that is refused or means nothing.

    saved_ns  after the change the steps take so much less
    low_ns    the least, with the spread of the steps and the error of the model; null with fewer than two steps
    high_ns   the most
    bound     the most that any remedy can save: something is made free
    refused   id of the reason in meta.refused; "waits": a wait ends with what it waits for, and cannot be faster
    """

    saved_ns: SignedNs | None
    low_ns: Ns | None
    high_ns: Ns | None
    bound: bool
    refused: str | None


class ResourceOnPath(msgspec.Struct, frozen=True, kw_only=True):
    """Something that can limit a step, with all steps together.

    resource     input, host, launch, sync, communication, copies, compute, or unknown
    parts        of the path that are its time, those that have any
    on_path_ns   time of the path; those of all resources add up to the steps
    if_free      were it free; null for unknown
    if_faster    were it 20 % faster; null for unknown
    next         the resource with most time on the path when this one is free; null if nothing would be saved
    next_share   its share of that path
    """

    resource: ResourceId
    parts: Sequence[str]
    on_path_ns: Ns
    if_free: Saved | None
    if_faster: Saved | None
    next: ResourceId | None
    next_share: Fraction | None


class CriticalPathAnswer(Answer, frozen=True, kw_only=True):
    """What the steps could not have been shorter without. Sums are over all steps that were asked about.

    meta          which trace
    steps         the path of each step
    total_ns      all steps together
    mean_step_ns  one of them; null without steps
    largest       the resource with most time on the path; null without any time
    resources     what can limit a step, in a fixed order
    operators     operators and annotations on the path, the longest first
    kernels       kernels, copies and sets on the path
    functions     Python functions on the path: the innermost of the user's own code, else the innermost
    modules       modules (nn.Module) on the path
    columns       what the columns of `operators`, `kernels`, `functions` and `modules` are
    """

    meta: ReplayMeta
    steps: StepsOnPath
    total_ns: Ns
    mean_step_ns: MeanNs | None
    largest: ResourceId | None
    resources: Sequence[ResourceOnPath]
    operators: Sequence[OnPath]
    kernels: Sequence[OnPath]
    functions: Sequence[OnPath]
    modules: Sequence[OnPath]
    columns: Sequence[Definition] = columns_field("on_path", OnPath)


class WhatIfAnswer(Answer, frozen=True, kw_only=True):
    """How long the steps take after some changes. Sums are over all steps that were asked about.

    meta            which trace
    changes         what is changed
    notes           what of the changes could not be done, in sentences
    with_waiting    the time of collectives is changed, and holds the waiting for other ranks
    names           of the steps
    step_before_ns  how long each step takes, as recorded
    step_after_ns   after the changes; null if they are refused
    before_ns       all steps together
    after_ns        all of them after the changes; null if they are refused
    saved           what the changes save together
    parts_before    time of the recorded path by part
    parts_after     time of the path after the changes by part; null if they are refused
    limit_before    the resource with most time on the recorded path
    limit_after     the resource with most time on the path after the changes
    """

    meta: ReplayMeta
    changes: Sequence[RequestedChange]
    notes: Sequence[str]
    with_waiting: bool
    names: Sequence[str]
    step_before_ns: Sequence[Ns]
    step_after_ns: Sequence[Ns] | None
    before_ns: Ns
    after_ns: Ns | None
    saved: Saved
    parts_before: Mapping[str, Ns]
    parts_after: Mapping[str, Ns] | None
    limit_before: ResourceId | None
    limit_after: ResourceId | None


WAITS: Literal["waits"] = "waits"
