"""Where the steps of a trace begin and end, on the host and including the device work they launched.

Rules are tried in the order of `RULES`; the first that finds a step is used and named in `Steps.rule`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.model.launches import DeviceLinks
from torch_tb_profiler.trace import Category, Note, Phase, Trace
from torch_tb_profiler.trace.schema import DEVICE_WORK, Bool, Int32, Int64
from torch_tb_profiler.trace.vocabulary import is_annotation_name

PROFILER_STEP = re.compile(r"ProfilerStep#(\d+)")

#: a last step with fewer than this share of the device events of the one before it is taken as cut off
WHOLE_STEP_SHARE = 0.8


@dataclass(frozen=True)
class Steps:
    """The steps, in time order; they never overlap.

    names                  shape (n,): the number after `#`, or "0" for the whole trace
    host_start, host_end   shape (n,), ns: the annotation on the host
    start, end             shape (n,), ns: extended to the end of the device work that the step launched
    """

    rule: str
    names: tuple[str, ...]
    host_start: Int64
    host_end: Int64
    start: Int64
    end: Int64
    notes: tuple[Note, ...] = ()

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True)
class HostSteps:
    names: list[str]
    start: Int64
    end: Int64


def _profiler_step(trace: Trace) -> HostSteps | None:
    """`ProfilerStep#N` of torch.profiler's schedule; never the copies of it on the device."""
    events = trace.events
    annotations = np.flatnonzero(events.category == Category.USER_ANNOTATION)
    is_step = trace.strings.where(PROFILER_STEP.fullmatch, np.unique(events.name[annotations]).tolist())
    rows = annotations[is_step[events.name[annotations]]]
    if not len(rows):
        return None
    # the same steps may be marked on several threads: the thread with most of them tells
    tracks, counts = np.unique(events.track[rows], return_counts=True)
    rows = rows[events.track[rows] == tracks[np.argmax(counts)]]
    rows = rows[np.argsort(events.start[rows], kind="stable")]
    names = [trace.strings[code].removeprefix("ProfilerStep#") for code in events.name[rows].tolist()]
    return HostSteps(names, events.start[rows], events.end[rows])


def _whole_trace(trace: Trace) -> HostSteps | None:
    """No step is marked: everything from the first to the last operator is one step.

    With the operators count the annotations that torch itself writes, such as collectives and the DataLoader: a
    program may begin or end with them.
    """
    events = trace.events
    annotations = np.flatnonzero(events.category == Category.USER_ANNOTATION)
    by_torch = trace.strings.where(is_annotation_name, np.unique(events.name[annotations]).tolist())
    marked = (events.category == Category.USER_ANNOTATION) & by_torch[events.name]
    complete = events.phase == Phase.COMPLETE
    for chosen in (
        (events.category == Category.OPERATOR) | marked,
        np.isin(events.category, (Category.USER_ANNOTATION, Category.RUNTIME, Category.DRIVER)),
        np.isin(events.category, DEVICE_WORK),
    ):
        rows = np.flatnonzero(complete & chosen)
        if len(rows):
            return HostSteps(["0"], events.start[rows].min(keepdims=True), events.end[rows].max(keepdims=True))
    return None


RULES: tuple[tuple[str, Callable[[Trace], HostSteps | None]], ...] = (
    ("profiler_step", _profiler_step),
    ("whole_trace", _whole_trace),
)


def find_steps(trace: Trace, device: DeviceLinks) -> Steps:
    """The steps of a trace, by the first rule that fits; empty when nothing in it has a duration."""
    for rule, find in RULES:
        host = find(trace)
        if host is not None:
            return _with_device_work(trace, device, rule, host)
    nothing = np.empty(0, dtype=np.int64)
    return Steps("none", (), nothing, nothing, nothing, nothing)


def _with_device_work(trace: Trace, device: DeviceLinks, rule: str, host: HostSteps) -> Steps:
    """Extend each step to the end of what it launched on devices, and begin it where the one before ends."""
    work = _StepWork.of(trace, device, host)
    n = len(host.names)
    start, end = host.start.copy(), np.maximum(host.end, host.start)
    notes: list[Note] = []
    if work.any:
        previous = int(host.start[0])
        if work.count[0]:
            previous = max(previous, work.end_of_earlier_work(int(work.first[0])))
        for i in range(n):
            start[i] = max(previous, int(host.start[i]))
            last = int(work.last[i]) if work.count[i] else int(start[i])
            end[i] = max(int(host.end[i]), last, int(start[i]))
            previous = int(end[i])
        keep = work.whole_steps()
        if keep < n:
            dropped = ", ".join(host.names[keep:])
            notes.append(
                Note(
                    "incomplete_last_steps",
                    "info",
                    f"Step {dropped} is left out: recording stopped before its device work was complete.",
                    count=n - keep,
                    touches=("overview",),
                )
            )
            return Steps(
                rule,
                tuple(host.names[:keep]),
                host.start[:keep],
                host.end[:keep],
                start[:keep],
                end[:keep],
                tuple(notes),
            )
    return Steps(rule, tuple(host.names), host.start, host.end, start, end)


@dataclass(frozen=True)
class _StepWork:
    """Per host step: how many pieces of device work its launches started, and when they ran."""

    any: bool
    count: Int64
    first: Int64
    last: Int64
    ends_outside: Int64

    @classmethod
    def of(cls, trace: Trace, device: DeviceLinks, host: HostSteps) -> _StepWork:
        events, work = trace.events, trace.device_work
        rows: Int32 = work.row
        is_work: Bool = np.isin(events.category[rows], DEVICE_WORK)
        launched = np.flatnonzero(is_work & (device.launch >= 0))
        launch_rows = trace.launches.row[device.launch[launched]]
        begin, finish = events.start[launch_rows], events.end[launch_rows]
        step = np.searchsorted(host.start, begin, side="right") - 1
        inside = (step >= 0) & (finish <= host.end[np.maximum(step, 0)])
        n = len(host.names)
        count = np.bincount(step[inside], minlength=n)
        first = np.full(n, np.iinfo(np.int64).max)
        last = np.full(n, np.iinfo(np.int64).min)
        np.minimum.at(first, step[inside], events.start[rows[launched[inside]]])
        np.maximum.at(last, step[inside], events.end[rows[launched[inside]]])
        in_a_step = np.zeros(len(rows), dtype=np.bool_)
        in_a_step[launched[inside]] = True
        return cls(bool(inside.any()), count, first, last, events.end[rows[is_work & ~in_a_step]])

    def end_of_earlier_work(self, before: int) -> int:
        """The end of the last work of no step that had ended before a time."""
        earlier = self.ends_outside[self.ends_outside < before]
        return int(earlier.max()) if len(earlier) else np.iinfo(np.int64).min

    def whole_steps(self) -> int:
        """How many steps remain when those without device work at the end, and one cut off, are left out."""
        with_work = np.flatnonzero(self.count)
        if len(self.count) <= 1 or not len(with_work):
            return len(self.count)
        i = int(with_work[-1])
        if i > 0 and self.count[i - 1] * WHOLE_STEP_SHARE > self.count[i]:
            return i
        return i + 1
