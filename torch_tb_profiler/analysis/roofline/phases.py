"""The phase of what roofline counts: that of the view Program."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.flops.calls import counted
from torch_tb_profiler.analysis.program.kinds import CODE, Phase
from torch_tb_profiler.analysis.program.phases import device_phase, event_phase, phases
from torch_tb_profiler.arrays.types import Bool, Int8
from torch_tb_profiler.model import Model

_NOT_KNOWN = (CODE[Phase.OTHER], CODE[Phase.NO_LAUNCH])


@cached
def piece_phase(model: Model) -> Int8:
    """Shape (pieces,): the code of the phase that launched each piece; on the host that in which it begins."""
    found, program = counted(model), phases(model)
    if found.on_host:
        return event_phase(model, program, found.pieces.row)
    return device_phase(model, program)[found.pieces.place]


@cached
def call_phase(model: Model) -> Int8:
    """Shape (calls,): the code of the phase in which each call begins."""
    return event_phase(model, phases(model), counted(model).calls.row)


def tells_phases(phase: Int8) -> Bool:
    """Shape as `phase`: where it is more than OTHER and NO_LAUNCH."""
    return ~np.isin(phase, _NOT_KNOWN)
