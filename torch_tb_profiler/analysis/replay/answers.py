"""What /api/critical_path and /api/what_if answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Fraction, MeanNs, Ns, TraceMeta
from torch_tb_profiler.analysis.definition import Definition
from torch_tb_profiler.analysis.replay.change_texts import AskedChange
from torch_tb_profiler.analysis.replay.on_path import OnPath
from torch_tb_profiler.analysis.replay.refusals import Confidence, Scope
from torch_tb_profiler.analysis.replay.resources import ResourceId
from torch_tb_profiler.analysis.result import columns_field

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
    changes: Sequence[AskedChange]
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
