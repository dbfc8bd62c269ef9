"""Which events are communication: calls on the host, and kernels.

A kernel is communication by the arguments of its collective, else when torch launched it directly in
`record_param_comms`, else by the family of its name. The names are in `communication_names`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from torch_tb_profiler.arrays.types import Bool, Int32
from torch_tb_profiler.model.communication_names import HOST_RANGE, PARAMETERS_OPERATOR, library_of_kernel
from torch_tb_profiler.trace import Category, Trace


def collective_calls(trace: Trace, rows: Int32) -> Int32:
    """Those of some rows that are named like the call of a collective, such as `nccl:all_reduce`."""
    return rows[named(trace, HOST_RANGE.match, trace.events.name[rows])]


def is_communication_work(trace: Trace, launched_in: Int32) -> Bool:
    """Shape (device work,): kernels of a collective.

    launched_in: the name (string code) of the innermost operator around the launch, 0 for none
    """
    events, work = trace.events, trace.device_work
    has_arguments = np.zeros(len(events), dtype=np.bool_)
    has_arguments[trace.collectives.row] = True
    in_parameters = launched_in == trace.strings.code(PARAMETERS_OPERATOR)
    by_name = named(trace, library_of_kernel, events.name[work.row])
    found: Bool = (events.category[work.row] == Category.KERNEL) & (has_arguments[work.row] | in_parameters | by_name)
    return found


def named(trace: Trace, wanted: Callable[[str], object], codes: Int32) -> Bool:
    """Of a column of names: where `wanted(name)` is true."""
    return trace.strings.where(wanted, codes)[codes]
