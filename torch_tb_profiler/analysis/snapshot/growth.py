"""What grows from step to step: allocations of a stack that are made in every step and stay."""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Bytes, BytesMean, Count
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.snapshot.curves import History, histories
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.snapshot.schema import NO_TIME, Annotations

StepRule = Literal["profiler_step", "optimizer", "none"]

#: a stack grows when it leaves something behind in this many steps
LEAST_STEPS = 3

_STEP = lazy_pattern(r"ProfilerStep\*?#\d+")
_OPTIMIZER = lazy_pattern(r"Optimizer\.step#")


class StepEnds(msgspec.Struct, frozen=True):
    """Where steps end. time: ns since the start of the recording, ascending; rule: what says so."""

    rule: StepRule
    time: Int64


class Growing(msgspec.Struct, frozen=True):
    """A stack whose memory in use grows with every step.

    stack    id of its stack, -1 where none was recorded
    bytes    requested, per step
    blocks   how many it left over all steps that count
    steps    in how many it left something: how many steps
    """

    stack: int
    bytes: BytesMean
    blocks: Count
    steps: Count


class Growth(msgspec.Struct, frozen=True):
    """What grows on one device.

    device    number of the device
    rule      what says where steps end
    steps     how many there are; the first warms up and is not counted
    per_step  bytes requested that each step leaves behind; None if there are too few steps to say
    reserved  bytes by which reserved grows per step while the peak of what is requested does not; None as above
    stacks    those that grow, the most bytes first
    """

    device: int
    rule: StepRule
    steps: Count
    per_step: Bytes | None
    reserved: Bytes | None
    stacks: tuple[Growing, ...]


@cached
def step_ends(model: Model) -> StepEnds:
    """By ProfilerStep annotations, else by the ends of Optimizer.step."""
    table = model.trace.table(Annotations)
    names = model.trace.strings.texts(table.name)
    for rule, pattern in (("profiler_step", _STEP), ("optimizer", _OPTIMIZER)):
        chosen = np.array([pattern.match(name) is not None for name in names], np.bool_) & (table.end != NO_TIME)
        if chosen.any():
            return StepEnds("profiler_step" if rule == "profiler_step" else "optimizer", np.sort(table.end[chosen]))
    return StepEnds("none", np.empty(0, np.int64))


@cached
def growth(model: Model) -> tuple[Growth, ...]:
    """Of each device."""
    ends = step_ends(model)
    return tuple(growth_of(history, ends) for history in histories(model))


def growth_of(history: History, ends: StepEnds) -> Growth:
    time = history.device.records.time
    if not len(time) or not (time != NO_TIME).all():
        return Growth(history.device.number, ends.rule, 0, None, None, ())
    within = ends.time[(ends.time >= time[0])]
    last = np.unique(np.searchsorted(time, within, "right") - 1)
    steps = len(last)
    if steps < LEAST_STEPS or history.lives.missing:
        return Growth(history.device.number, ends.rule, steps, None, None, ())
    lives, end = history.lives, int(last[-1])
    stays = np.flatnonzero((lives.born >= 0) & (lives.born <= end) & (lives.released > end))
    step = np.searchsorted(last, lives.born[stays], "left")
    groups = group([lives.stack[stays]])
    found = []
    for number in range(len(groups)):
        mine = groups.of == number
        in_steps = np.unique(step[mine])
        if len(in_steps) < LEAST_STEPS:
            continue
        later = stays[mine & (step > 0)]
        bytes_ = int(lives.requested[later].sum()) / (steps - 1)
        found.append(Growing(int(lives.stack[stays[groups.first[number]]]), bytes_, len(later), len(in_steps)))
    found.sort(key=lambda each: -each.bytes)
    whole = round(sum(each.bytes for each in found))
    return Growth(history.device.number, ends.rule, steps, whole, _reserved(history, last), tuple(found))


def _reserved(history: History, last: Int64) -> int:
    """By how much reserved grows per step from the end of the first, where the peaks of requested do not.

    In so many steps as a stack must grow in, the last among the later half of them: a cache that fills is none.
    """
    reserved, requested = history.curves.reserved[last + 1], history.curves.requested
    grown = int(reserved[-1] - reserved[0])
    rises = np.flatnonzero(np.diff(reserved) > 0)
    if len(rises) < LEAST_STEPS or 2 * (int(rises[-1]) + 1) <= len(last):
        return 0
    peaks = [int(requested[a + 1 : b + 2].max()) for a, b in zip(last[:-1].tolist(), last[1:].tolist(), strict=True)]
    return grown // (len(last) - 1) if grown > 0 and peaks[-1] <= peaks[0] else 0
