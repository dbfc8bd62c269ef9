"""Where the steps of a trace begin and end, on the host and including the device work they launched.

Rules are tried in the order of `RULES`; the first that finds steps is used and named in `Steps.rule`. A person may
choose another rule, or give a pattern of annotation names.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from torch_tb_profiler.arrays.distinct import distinct, one_of
from torch_tb_profiler.arrays.grouping import greatest_at, least_at
from torch_tb_profiler.arrays.lookup import window_of
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.model.call_tree import CallTree
from torch_tb_profiler.model.launches import DeviceLinks
from torch_tb_profiler.model.patterns import check_pattern, searcher
from torch_tb_profiler.trace import Category, Note, Phase, Trace
from torch_tb_profiler.trace.schema import DEVICE_WORK
from torch_tb_profiler.trace.vocabulary import is_annotation_name

PROFILER_STEP = re.compile(r"ProfilerStep#\d+")

#: vLLM `execute_context_1(888)_generation_0(0)`, SGLang `step[DECODE bs=32]`, xDiT `execute_diffusion_1_256x256`
ENGINE_STEP = re.compile(r"execute_(?:\d|context|generation|diffusion|model|new)|step\[|model_inference$")

#: Lightning `[pl][profile]run_training_batch`, Transformers and others `training_step`, MMEngine `train_iter`
FRAMEWORK_STEP = re.compile(
    r"^(?:\[pl\]\[profile\])?(?:run_(?:training|evaluation|test|predict)_batch|train(?:ing)?_(?:step|batch|iter)"
    r"|(?:Trainer\.)?training_step|train_one_batch)$"
)

#: the part of the trace that a repeated annotation must cover to be taken for the steps
REPEATED_SHARE = 0.5

#: for matching a person's pattern with all names of annotations
PATTERN_SECONDS = 2.0

#: of what the steps before it launched this share of their rate must have run of what a last step launched; with less
#: it is taken as cut off
WHOLE_STEP_SHARE = 0.8


@dataclass(frozen=True)
class Steps:
    """The steps, in time order; they never overlap.

    names                  shape (n,): the number after `ProfilerStep#`, else counted from 0
    host_start, host_end   shape (n,), ns: the annotation on the host
    start, end             shape (n,), ns: extended to the end of the device work that the step launched
    labels                 shape (n,): the annotation that marks the step
    """

    rule: str
    names: tuple[str, ...]
    host_start: Int64
    host_end: Int64
    start: Int64
    end: Int64
    notes: tuple[Note, ...] = ()
    labels: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True)
class StepChoice:
    """What a person asked for: one of the rules, or a regular expression that names of annotations match."""

    rule: str | None = None
    pattern: str | None = None


@dataclass(frozen=True)
class HostSteps:
    names: list[str]
    start: Int64
    end: Int64
    labels: list[str]


@dataclass(frozen=True)
class _Host:
    """What the rules look at."""

    trace: Trace
    tree: CallTree

    def annotations(self, wanted: Callable[[str], object]) -> Int32:
        """Rows of the annotations of one thread with a name that is wanted, in time order.

        The same steps may be marked on several threads; the thread with most of them is taken.
        """
        events = self.trace.events
        rows = np.flatnonzero(events.category == Category.USER_ANNOTATION)
        named = self.trace.strings.where(wanted, events.name[rows])
        rows = rows[named[events.name[rows]]]
        tracks, counts = np.unique(events.track[rows], return_counts=True)
        if len(tracks) > 1:
            rows = rows[events.track[rows] == tracks[np.argmax(counts)]]
        return rows[np.argsort(events.start[rows], kind="stable")].astype(np.int32)

    def steps(self, rows: Int32, names: list[str] | None = None) -> HostSteps | None:
        """Steps of annotations; one that begins inside the one before it is not a step of its own."""
        if not len(rows):
            return None
        events = self.trace.events
        latest = np.maximum.accumulate(events.end[rows])
        outer = np.concatenate(([True], events.start[rows][1:] >= latest[:-1]))
        labels = [self.trace.strings[code] for code in events.name[rows].tolist()]
        chosen = np.flatnonzero(outer)
        return HostSteps(
            [names[i] for i in chosen.tolist()] if names else [str(i) for i in range(len(chosen))],
            events.start[rows[chosen]],
            events.end[rows[chosen]],
            [labels[i] for i in chosen.tolist()],
        )


def _profiler_step(host: _Host) -> HostSteps | None:
    """`ProfilerStep#N` of torch.profiler's schedule; never the copies of it on the device."""
    rows = host.annotations(PROFILER_STEP.fullmatch)
    texts = [host.trace.strings[code] for code in host.trace.events.name[rows].tolist()]
    return host.steps(rows, [text.removeprefix("ProfilerStep#") for text in texts])


def _inference_engine(host: _Host) -> HostSteps | None:
    """What vLLM, SGLang and xDiT write around one pass of the model."""
    return host.steps(host.annotations(ENGINE_STEP.match))


def _training_framework(host: _Host) -> HostSteps | None:
    """What Lightning, Transformers and MMEngine write around one batch."""
    return host.steps(host.annotations(FRAMEWORK_STEP.search))


def _repeated_annotation(host: _Host) -> HostSteps | None:
    """The annotation that repeats at the top of a thread and covers most of it, at least half."""
    events, tree = host.trace.events, host.tree
    top = (tree.parent < 0) & (tree.category == Category.USER_ANNOTATION)
    by_torch = host.trace.strings.where(is_annotation_name, tree.name[top])
    rows = tree.row[top & ~by_torch[tree.name]]
    whole = _whole_trace(host)
    if not len(rows) or whole is None:
        return None
    names, place, counts = np.unique(events.name[rows], return_inverse=True, return_counts=True)
    covered = np.bincount(place, weights=events.duration[rows])
    covered[counts < 2] = 0
    best = int(np.argmax(covered))
    if covered[best] < (int(whole.end[0]) - int(whole.start[0])) * REPEATED_SHARE:
        return None
    text = host.trace.strings[int(names[best])]
    return host.steps(host.annotations(lambda name: name == text))


def _whole_trace(host: _Host) -> HostSteps | None:
    """No step is marked: everything from the first to the last operator is one step.

    With the operators count the annotations that torch itself writes, such as collectives and the DataLoader: a
    program may begin or end with them.
    """
    trace, events = host.trace, host.trace.events
    annotations = np.flatnonzero(events.category == Category.USER_ANNOTATION)
    by_torch = trace.strings.where(is_annotation_name, events.name[annotations])
    marked = (events.category == Category.USER_ANNOTATION) & by_torch[events.name]
    complete = events.phase == Phase.COMPLETE
    for chosen in (
        (events.category == Category.OPERATOR) | marked,
        one_of(events.category, (Category.USER_ANNOTATION, Category.RUNTIME, Category.DRIVER)),
        one_of(events.category, DEVICE_WORK),
    ):
        rows = np.flatnonzero(complete & chosen)
        if len(rows):
            start, end = events.start[rows].min(keepdims=True), events.end[rows].max(keepdims=True)
            return HostSteps(["0"], start, end, ["whole trace"])
    return None


Rule = Callable[[_Host], HostSteps | None]

RULES: dict[str, Rule] = {
    "profiler_step": _profiler_step,
    "inference_engine": _inference_engine,
    "training_framework": _training_framework,
    "repeated_annotation": _repeated_annotation,
    "whole_trace": _whole_trace,
}

#: `Steps.rule` of steps found by a person's own pattern
PATTERN_RULE = "pattern"


def find_steps(trace: Trace, tree: CallTree, device: DeviceLinks, choice: StepChoice | None = None) -> Steps:
    """The steps of a trace, by the chosen rule or the first that fits; empty when nothing in it has a duration.

    A choice that finds no step falls back to the rules, with a note. Raises ValueError for an unknown rule, for a
    pattern that is not a regular expression, and for one that takes too long.
    """
    choice = choice or StepChoice()
    host = _Host(trace, tree)
    asked: dict[str, Rule] = {}
    notes: tuple[Note, ...] = ()
    if choice.pattern is not None:
        asked[PATTERN_RULE] = _matching(choice.pattern)
    elif choice.rule is not None:
        if choice.rule not in RULES:
            raise ValueError(f"no rule for steps is called {choice.rule!r}; there are {', '.join(RULES)}")
        asked[choice.rule] = RULES[choice.rule]
    for number, (rule, find) in enumerate([*asked.items(), *RULES.items()]):
        found = find(host)
        if found is not None:
            if asked and number >= len(asked):
                notes = (_not_found(choice),)
            steps = _with_device_work(trace, device, rule, found)
            return replace(steps, notes=(*notes, *steps.notes))
    nothing = np.empty(0, dtype=np.int64)
    return Steps("none", (), nothing, nothing, nothing, nothing)


def _matching(pattern: str) -> Rule:
    """A person's pattern, which may have come with a link, must not hold the server."""
    check_pattern(pattern)

    def find(host: _Host) -> HostSteps | None:
        return host.steps(host.annotations(searcher(pattern, PATTERN_SECONDS)))

    return find


def _not_found(choice: StepChoice) -> Note:
    asked = f"annotation matches {choice.pattern!r}" if choice.pattern is not None else f"step fits {choice.rule!r}"
    return Note(
        "chosen_steps_not_found",
        "warning",
        f"No {asked}; the usual rules were used.",
        touches=("overview",),
        values={"pattern": choice.pattern} if choice.pattern is not None else {"rule": choice.rule or ""},
    )


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
                    values={"step": dropped},
                )
            )
            n = keep
    return Steps(
        rule,
        tuple(host.names[:n]),
        host.start[:n],
        host.end[:n],
        start[:n],
        end[:n],
        tuple(notes),
        tuple(host.labels[:n]),
    )


@dataclass(frozen=True)
class _StepWork:
    """Per host step: how many pieces of device work its launches started, and when they ran.

    called, ran: of the calls that start work elsewhere in the trace, how many were made, and how many started some here
    """

    any: bool
    count: Int64
    called: Int64
    ran: Int64
    first: Int64
    last: Int64
    ends_outside: Int64

    @classmethod
    def of(cls, trace: Trace, device: DeviceLinks, host: HostSteps) -> _StepWork:
        events, work = trace.events, trace.device_work
        rows: Int32 = work.row
        is_work: Bool = one_of(events.category[rows], DEVICE_WORK)
        launched = np.flatnonzero(is_work & (device.launch >= 0))
        launch_rows = trace.launches.row[device.launch[launched]]
        begin, finish = events.start[launch_rows], events.end[launch_rows]
        step = window_of(host.start, host.end, begin, finish)
        inside = step >= 0
        n = len(host.names)
        count = np.bincount(step[inside], minlength=n)
        first = least_at(step[inside], events.start[rows[launched[inside]]], n)
        last = greatest_at(step[inside], events.end[rows[launched[inside]]], n)
        in_a_step = np.zeros(len(rows), dtype=np.bool_)
        in_a_step[launched[inside]] = True
        called, ran = _launches(trace, device.launch[launched], host)
        return cls(bool(inside.any()), count, called, ran, first, last, events.end[rows[is_work & ~in_a_step]])

    def end_of_earlier_work(self, before: int) -> int:
        """The end of the last work of no step that had ended before a time."""
        earlier = self.ends_outside[self.ends_outside < before]
        return int(earlier.max()) if len(earlier) else np.iinfo(np.int64).min

    def whole_steps(self) -> int:
        """How many steps remain when those without device work at the end, and one cut off, are left out.

        Cut off is not what does less than the step before it, but what launched more than was seen to run.
        """
        with_work = np.flatnonzero(self.count)
        if len(self.count) <= 1 or not len(with_work):
            return len(self.count)
        i = int(with_work[-1])
        usual = self.ran[:i].sum() / max(int(self.called[:i].sum()), 1)
        if i > 0 and self.ran[i] < usual * self.called[i] * WHOLE_STEP_SHARE:
            return i
        return i + 1


def _launches(trace: Trace, launched: Int32, host: HostSteps) -> tuple[Int64, Int64]:
    """Per host step: calls of an API that starts device work somewhere in the trace, and those that started some."""
    events, rows = trace.events, trace.launches.row
    n = len(host.names)
    started = np.zeros(len(rows), dtype=np.bool_)
    started[launched] = True
    starts_work = np.isin(events.name[rows], distinct(events.name[rows[started]]))
    begin, finish = events.start[rows], events.end[rows]
    step = window_of(host.start, host.end, begin, finish)
    inside = (step >= 0) & starts_work
    return np.bincount(step[inside], minlength=n), np.bincount(step[inside & started], minlength=n)
