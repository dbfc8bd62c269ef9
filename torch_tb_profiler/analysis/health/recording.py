"""Rules about what was not recorded, kernels among it, and which line of code records it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np

from torch_tb_profiler.analysis.program.engine_names import recording_engine
from torch_tb_profiler.analysis.shared.operator_times import module_sources
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
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
