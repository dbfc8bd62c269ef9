"""No step is marked, and nothing repeats: the whole trace is one step."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.model.steps.host import Host
from torch_tb_profiler.model.steps.types import HostSteps


def whole_trace(host: Host) -> HostSteps | None:
    """Everything from the first to the last operator is one step."""
    extent = host.extent()
    if extent is None:
        return None
    return HostSteps(["0"], np.array(extent[:1]), np.array(extent[1:]), ["whole trace"])
