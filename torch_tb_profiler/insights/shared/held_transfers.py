"""Whether collectives that nothing hides were launched long before they ran: then no call of the host holds them up."""

from __future__ import annotations

from typing import Literal

import msgspec

from torch_tb_profiler.analysis.exposed_communication import communication_kernels
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.model import Model

#: as in `analysis.exposed_communication`
Held = Literal["overtaken", "asynchronous", "queued"]

#: share of what nothing hides that has to be held up in a way for that to be said
_MOST = 0.5


class HeldTransfers(msgspec.Struct, frozen=True):
    """how: most of them are held up. delay_ns: from the end of a launch to the start of its kernel, the median."""

    how: Held
    delay_ns: float


def held_transfers(model: Model) -> HeldTransfers | None:
    """What holds up the collectives in the steps; None where that may be the host, or no launch is known."""
    kernels = communication_kernels(model.in_steps)
    least = _MOST * int(kernels.bare.sum())
    how = next((how for how, ns in kernels.ways.items() if least and int(ns.sum()) >= least), None)
    return None if how is None else HeldTransfers(how, median(kernels.delay))
