"""Where in the program something is: the longest call of a name, and its line of code."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.slices import slices
from torch_tb_profiler.api.trace import TraceProfile
from torch_tb_profiler.insights.places import common_place
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.step_range import StepRange

#: events that have the name as a part of theirs, among which the longest of exactly this name is looked for
_LOOKED_AT = 1_000


class Call(msgspec.Struct, frozen=True):
    """One event.

    row                    its number
    start_ns, duration_ns  since the start of the trace, and how long
    where                  in the program; None if it is not known
    """

    row: int
    start_ns: int
    duration_ns: int
    where: str | None


def longest_call(trace: TraceProfile, name: str, step: str | None = None) -> Call | None:
    """The longest event called so, in a step or in all."""

    def found(model: Model) -> Call | None:
        chosen = model if step is None else model.of_steps(StepRange(step, step))
        events = slices(chosen, name=name, limit=_LOOKED_AT)
        at = next((at for at, each in enumerate(events.name) if each == name), None)
        if at is None:
            return None
        row = int(events.row[at])
        where = common_place(model, np.array([row], np.int32))
        start, duration = int(events.start_ns[at]), int(events.duration_ns[at])
        return Call(row, start, duration, None if where is None else where.text)

    return trace.ask(found)
