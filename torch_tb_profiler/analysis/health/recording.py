"""What was not recorded, and which line of code records it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from torch_tb_profiler.analysis.health.kernels import ACTIVITIES, NO_KERNELS, no_kernels
from torch_tb_profiler.analysis.module_sources import module_sources
from torch_tb_profiler.analysis.program.engine_options import recording_engine
from torch_tb_profiler.analysis.shared.unrecorded import FOREIGN
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category, Note, Phase

_EVERY_VIEW = ("overview", "steps", "operators", "kernels", "trace", "stacks", "memory", "distributed", "modules")

NO_MODULES = Note(
    "no_modules",
    "info",
    "No modules are recorded in this trace.",
    touches=("modules",),
    remedy="profile(with_modules=True) or profile(with_stack=True)",
)


NO_STACKS = Note(
    "no_stacks",
    "info",
    "Call stacks are not recorded: which line of code called an operator is not known.",
    touches=("operators",),
    remedy="profile(with_stack=True)",
)


def foreign(program: str) -> Note:
    """Of a trace of another program; `program` is empty where it is not known."""
    looks = f" It looks like one of {program}." if program else ""
    return Note(
        "foreign_trace",
        "warning",
        f"{FOREIGN}{looks} The Trace view shows it; nothing is computed from it.",
        touches=tuple(view for view in _EVERY_VIEW if view != "trace"),
        values={"program": program},
    )


def _no_events(model: Model) -> Iterator[Note]:
    events = model.trace.events
    lasts = np.isin(events.phase, (Phase.COMPLETE, Phase.BEGIN, Phase.COUNTER)) & (events.category != Category.SPAN)
    if not lasts.any() and not (events.category == Category.MEMORY).any():
        yield Note(
            "no_events",
            "error",
            f"No events were recorded: none of the {len(events)} entries of the file has a duration or a value. They "
            "name processes and threads, or mark moments of the recording.",
            touches=_EVERY_VIEW,
            remedy="prof.step()  # at the end of every iteration",
            values={"entries": len(events)},
        )


def _no_operators(model: Model) -> Iterator[Note]:
    if not _has_operators(model):
        yield Note(
            "no_operators",
            "info",
            "The trace contains no operators: the host was not recorded, so device work belongs to none.",
            touches=("overview", "operators"),
            remedy=ACTIVITIES,
        )


def _no_kernels(model: Model) -> Iterator[Note]:
    if no_kernels(model) is NO_KERNELS:
        yield NO_KERNELS


def _no_shapes(model: Model) -> Iterator[Note]:
    operators = model.trace.operators
    if _has_operators(model) and not operators.input_dims.any():
        yield Note(
            "no_shapes",
            "info",
            "The shapes of the inputs of operators are not recorded: operators cannot be grouped by shape.",
            touches=("operators",),
            remedy="profile(record_shapes=True)",
        )


def _no_stacks(model: Model) -> Iterator[Note]:
    if _has_operators(model) and not model.has_stacks:
        yield NO_STACKS


def _no_memory(model: Model) -> Iterator[Note]:
    if not len(model.memory):
        yield Note(
            "no_memory",
            "info",
            "Allocations of memory are not recorded.",
            touches=("memory",),
            remedy="profile(profile_memory=True)",
        )


def _no_modules(model: Model) -> Iterator[Note]:
    if not module_sources(model):
        yield NO_MODULES


def _no_steps(model: Model) -> Iterator[Note]:
    if model.steps.rule == "whole_trace":
        yield Note(
            "no_steps",
            "info",
            "No steps are marked: the whole trace is shown as one.",
            touches=("overview",),
            remedy="prof.step()  # at the end of every iteration",
        )


def _no_device_properties(model: Model) -> Iterator[Note]:
    if model.has_kernels and not model.trace.header.devices:
        yield Note(
            "no_device_properties",
            "info",
            "The file does not describe its devices: their name, memory and compute capability are not known.",
            touches=("overview", "memory"),
        )


def _no_distributed_info(model: Model) -> Iterator[Note]:
    communicates = bool(model.device_links.is_communication.any()) or len(model.communication_rows) > 0
    if communicates and not model.trace.header.distributed:
        yield Note(
            "no_distributed_info",
            "info",
            "The trace holds communication but does not say which rank it is or which groups there are: PyTorch "
            "writes it since 2.5. The rank is taken from the name of the file.",
            touches=("distributed",),
            remedy="torch.distributed.init_process_group()  # before the profiler starts",
        )


#: the argument of `profile(...)` that records what a note says is missing
_ARGUMENTS = {"no_shapes": "record_shapes", "no_stacks": "with_stack", "no_memory": "profile_memory"}


def _by_server(model: Model) -> Iterator[Note]:
    engine = recording_engine(model)
    if engine is None:
        return
    missing = [note for rule in (_no_shapes, _no_stacks, _no_memory) for note in rule(model)]
    asked = [note for note in missing if _ARGUMENTS[note.kind] in engine.options]
    if asked:
        yield Note(
            "recorded_by_server",
            "info",
            f"{engine.name} starts the profiler itself. What is missing here is recorded with an option of the server, "
            "not with an argument of profile(...) in a program.",
            touches=tuple(dict.fromkeys(view for note in asked for view in note.touches)),
            remedy=engine.told_to_record(_ARGUMENTS[note.kind] for note in asked),
            values={"server": engine.name},
        )


def _has_operators(model: Model) -> bool:
    return len(model.rows_of(Category.OPERATOR)) > 0


RULES: tuple[Callable[[Model], Iterator[Note]], ...] = (
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
