"""Rules about what was not recorded, kernels that are missing or implausible, impossible times, steps unlike others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np

from torch_tb_profiler.analysis.program.engine_names import recording_engine
from torch_tb_profiler.analysis.program.graphs import capture_spans
from torch_tb_profiler.analysis.shared.operator_times import module_sources
from torch_tb_profiler.analysis.step_kinds import step_kinds, warm_up_ratio
from torch_tb_profiler.arrays.distinct import isin
from torch_tb_profiler.arrays.types import Bool
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.kernel_names.short import short_name
from torch_tb_profiler.reason import Value
from torch_tb_profiler.trace import Category, EventPhase, Note, Severity, note

TOUCHES = ("overview", "operators", "kernels")
# Launches only: copies and sets of nothing call the API and run nothing, in every healthy trace.
LAUNCH_NAME = lazy_pattern(r"Launch.*Kernel|Kernel.*Launch")


@cache
def nothing_shown() -> Note:
    """Return the note that there are no kernels in a trace that shows no use of a device."""
    return note("no_kernels", "info", touches=("kernels",))


def no_kernels(model: Model) -> Note | None:
    """Return `nothing_shown()` itself unless the program used a device; None for a trace that has kernels."""
    whole, evidence = model.whole, model.unrecorded_device
    if evidence is not None:
        is_called = whole.has_runtime and evidence != "ascend"
        severity: Severity = "info" if evidence == "properties" else "warning"
        return note("no_kernels", severity, touches=TOUCHES, values={"evidence": evidence, "called": is_called})
    if whole.has_kernels:
        return None
    name = whole.trace.events.name[whole.launches.row]
    if whole.has_device_work and whole.trace.strings.where(LAUNCH_NAME.search, name)[name].any():
        return note("no_kernels", "warning", touches=TOUCHES, values={"evidence": "copies", "called": True})
    return nothing_shown()


_EVERY_VIEW = ("overview", "steps", "operators", "kernels", "trace", "stacks", "memory", "distributed", "modules")


@cache
def no_modules() -> Note:
    return note("no_modules", "info", touches=("modules",))


@cache
def no_stacks() -> Note:
    return note("no_stacks", "info", touches=("operators",))


def foreign(program: str) -> Note:
    """Return the note on a trace of another program; `program` is empty if unknown."""
    return note(
        "foreign_trace",
        "warning",
        touches=tuple(view for view in _EVERY_VIEW if view != "trace"),
        values={"program": program},
    )


def _no_events(model: Model) -> Iterator[Note]:
    events = model.trace.events
    lasts = np.isin(events.phase, (EventPhase.COMPLETE, EventPhase.BEGIN, EventPhase.COUNTER)) & (
        events.category != Category.SPAN
    )
    if not lasts.any() and not (events.category == Category.MEMORY).any():
        yield note("no_events", "error", touches=_EVERY_VIEW, values={"entries": len(events)})


def _no_operators(model: Model) -> Iterator[Note]:
    if not _has_operators(model):
        yield note("no_operators", "info", touches=("overview", "operators"))


def _no_kernels(model: Model) -> Iterator[Note]:
    if no_kernels(model) is nothing_shown():
        yield nothing_shown()


def _no_shapes(model: Model) -> Iterator[Note]:
    operators = model.trace.operators
    if _has_operators(model) and not operators.input_dims.any():
        yield note("no_shapes", "info", touches=("operators",))


def _no_stacks(model: Model) -> Iterator[Note]:
    if _has_operators(model) and not model.has_stacks:
        yield no_stacks()


def _no_memory(model: Model) -> Iterator[Note]:
    if not len(model.memory):
        yield note("no_memory", "info", touches=("memory",))


def _no_modules(model: Model) -> Iterator[Note]:
    if not module_sources(model):
        yield no_modules()


def _no_steps(model: Model) -> Iterator[Note]:
    if model.steps.rule == "whole_trace":
        yield note("no_steps", "info", touches=("overview",))


def _no_device_properties(model: Model) -> Iterator[Note]:
    if model.has_kernels and not model.trace.header.devices:
        yield note("no_device_properties", "info", touches=("overview", "memory"))


def _no_distributed_info(model: Model) -> Iterator[Note]:
    communicates = bool(model.device_links.is_communication.any()) or len(model.communication_rows) > 0
    if communicates and not model.trace.header.distributed:
        yield note("no_distributed_info", "info", touches=("distributed",))


#: the argument of `profile(...)` that records what a note says is missing
_ARGUMENTS = {"no_shapes": "record_shapes", "no_stacks": "with_stack", "no_memory": "profile_memory"}


def _by_server(model: Model) -> Iterator[Note]:
    engine = recording_engine(model)
    if engine is None:
        return
    missing = [each for rule in (_no_shapes, _no_stacks, _no_memory) for each in rule(model)]
    recordable = [each for each in missing if _ARGUMENTS[each.kind] in engine.options]
    if recordable:
        yield note(
            "recorded_by_server",
            "info",
            touches=tuple(dict.fromkeys(view for each in recordable for view in each.touches)),
            remedy=engine.told_to_record(_ARGUMENTS[each.kind] for each in recordable),
            values={"server": engine.name},
        )


def _has_operators(model: Model) -> bool:
    return len(model.rows_of(Category.OPERATOR)) > 0


NOT_RECORDED: tuple[Callable[[Model], Iterator[Note]], ...] = (
    _no_events,
    _no_operators,
    _no_kernels,
    _no_shapes,
    _no_stacks,
    _no_memory,
    _no_modules,
    _no_steps,
    _no_device_properties,
    _no_distributed_info,
    _by_server,
)


_GRAPH_NAME = lazy_pattern(r"GraphLaunch")

#: CUDA 12.6 Update 2, whose number does not tell it from 12.6, up to the last before 13.1
_ZERO_TIMESTAMPS = range(12060, 13010)


def _lost_kernels(model: Model) -> Iterator[Note]:
    """Report launches without a kernel: before the first that has one, after the last, and between."""
    events, launches = model.trace.events, model.launches
    called = _named(model, LAUNCH_NAME) & (launches.correlation > 0)
    done = called & isin(launches.correlation, model.device_work.correlation[model.is_work])
    launch = model.device_links.launch
    done |= called & (np.bincount(launch[launch >= 0], minlength=len(launches)) > 0)
    if not done.any():
        return
    start = events.start[launches.row]
    # a driver call inside a runtime call of another correlation is the same launch
    lost = called & ~done & ((model.launch_links.duration > 0) | (events.duration[launches.row] <= 0))
    # what is called in a capture becomes a part of a graph, and runs nothing
    lost[lost] = ~capture_spans(model).at(events.track[launches.row[lost]], start[lost])
    before = lost & (start < start[done].min())
    after = lost & (start > start[done].max())
    between = lost & ~before & ~after
    if before.any():
        yield note(
            "kernels_lost_at_start",
            "warning",
            int(before.sum()),
            TOUCHES,
            values={"zero_timestamps": _has_zero_timestamps(model)},
        )
    if between.any():
        graphs = bool(_named(model, _GRAPH_NAME).any())
        yield note(
            "kernels_lost", "info" if graphs else "warning", int(between.sum()), TOUCHES, values={"graphs": graphs}
        )
    if after.any():
        yield note("kernels_after_end", "info", int(after.sum()), TOUCHES)


def _unverifiable(model: Model) -> Iterator[Note]:
    """Report that without launches missing kernels cannot be recognised."""
    if model.has_kernels and not model.has_runtime and _has_zero_timestamps(model):
        yield note("kernels_may_be_lost", "info", touches=TOUCHES)


def _before_launch(model: Model) -> Iterator[Note]:
    events, links = model.trace.events, model.device_links
    known = links.launch >= 0
    work = model.device_work.row[known]
    early = events.start[work] < events.start[model.launches.row[links.launch[known]]]
    if early.any():
        yield note("before_launch", "warning", int(early.sum()), ("overview", "kernels"))


def _overruns(model: Model) -> Iterator[Note]:
    trace, overruns = model.trace, model.trace.overruns
    if not len(overruns):
        return
    at = int(overruns.recorded.argmax())
    row, recorded, cut, successors = (
        int(column[at]) for column in (overruns.row, overruns.recorded, overruns.duration, overruns.successors)
    )
    yield note(
        "impossible_durations",
        "error",
        len(overruns),
        (*TOUCHES, "trace"),
        values={
            "name": short_name(trace.strings[int(trace.events.name[row])]),
            "start_ns": int(trace.events.start[row]),
            "recorded_ns": recorded,
            "successors": successors,
            "cut_ns": cut,
            "more": len(overruns) - 1,
        },
    )


def _named(model: Model, name: re.Pattern[str]) -> Bool:
    """Return which launches have such a name."""
    codes = model.trace.events.name[model.launches.row]
    named: Bool = model.trace.strings.where(name.search, codes)[codes]
    return named


def _has_zero_timestamps(model: Model) -> bool:
    version = model.trace.header.raw.get("cuda_runtime_version")
    return isinstance(version, int) and version in _ZERO_TIMESTAMPS


DEVICE_RULES: tuple[Callable[[Model], Iterator[Note]], ...] = (
    _lost_kernels,
    _unverifiable,
    _before_launch,
    _overruns,
)


DAY_NS = 24 * 3600 * 10**9

_TOUCHES = ("overview", "operators", "kernels")
#: kinds of steps in a sentence
_MOST_KINDS = 5


def _far_off(model: Model) -> Iterator[Note]:
    events = model.trace.events
    start = events.start[events.phase == EventPhase.COMPLETE]
    if not len(start):
        return
    middle = np.partition(start, len(start) // 2)[len(start) // 2]
    far = int(np.count_nonzero(np.abs(start - middle) > DAY_NS))
    if far:
        yield note("far_timestamps", "error", far, _TOUCHES)


def _huge_durations(model: Model) -> Iterator[Note]:
    huge = int(np.count_nonzero(model.trace.events.duration > DAY_NS))
    if huge:
        yield note("huge_durations", "warning", huge, _TOUCHES)


def _without_ends(model: Model) -> Iterator[Note]:
    pairs, asynchronous = model.trace.pairs, model.trace.events.phase == EventPhase.ASYNC
    left = len(pairs.unended) + len(pairs.unbegun) + int(np.count_nonzero(asynchronous))
    if left:
        yield note("begin_and_end", "warning", left, _TOUCHES)


def _empty_kernels(model: Model) -> Iterator[Note]:
    rows = model.device_work.row[model.device_category == Category.KERNEL]
    empty = int(np.count_nonzero(model.trace.events.duration[rows] == 0))
    if not empty:
        return
    if _in_whole_microseconds(model):
        yield note("rounded_kernels", "info", empty, ("kernels",))
    else:
        yield note("empty_kernels", "warning", empty, _TOUCHES)


def _warm_up(model: Model) -> Iterator[Note]:
    ratio = warm_up_ratio(model.steps, step_kinds(model).of)
    if ratio is None:
        return
    yield note("slow_first_step", "info", touches=("overview",), values={"ratio": ratio})


def _unlike_steps(model: Model) -> Iterator[Note]:
    kinds, steps = step_kinds(model), model.steps
    if not kinds.are_several:
        return
    parts: list[dict[str, Value]] = []
    for number, kind in enumerate(kinds.kinds[:_MOST_KINDS]):
        at = np.flatnonzero(kinds.of == number)
        mean = float((steps.end - steps.start)[at].mean())
        part = {**kind.values, "count": len(at), "mean_ns": mean}
        if kinds.is_range(number):
            part |= {"from": steps.names[at[0]], "to": steps.names[at[-1]]}
        parts.append(part)
    yield note(
        "unlike_steps",
        "info",
        touches=("overview", "program", "roofline"),
        listed={"parts": parts},
        values={
            **{f"{key}_{number}": value for number, part in enumerate(parts, 1) for key, value in part.items()},
            "kinds": len(kinds.kinds),
            "more": len(kinds.kinds) - len(parts),
            "ranges": any("from" in part for part in parts),
        },
    )


def _in_whole_microseconds(model: Model) -> bool:
    events = model.trace.events
    chosen = events.phase == EventPhase.COMPLETE
    return not ((events.duration[chosen] % 1000).any() or (np.diff(events.start[chosen]) % 1000).any())


TIME_RULES: tuple[Callable[[Model], Iterator[Note]], ...] = (
    _far_off,
    _huge_durations,
    _without_ends,
    _empty_kernels,
    _warm_up,
    _unlike_steps,
)
