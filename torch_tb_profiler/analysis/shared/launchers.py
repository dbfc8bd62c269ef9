"""Who started each piece of device work: an operator, an API call outside operators, or nobody in the trace."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.remember import remembered
from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.arrays.types import Int32
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Strings

NOT_RECORDED = "(launched before the recording)"


@dataclass(frozen=True)
class Launchers:
    """`code`: shape (device work,), parallel to `Model.device_work`; equal codes are the same launcher."""

    code: Int32
    strings: Strings

    def text(self, code: int) -> str:
        """An operator's name; in parentheses what is no operator, such as `(cudaGraphLaunch)`."""
        strings = self.strings
        if code < len(strings):
            return str(strings[code])
        if code == len(strings):
            return NOT_RECORDED
        return f"({strings[code - len(strings) - 1]})"

    def is_operator(self, code: int) -> bool:
        return code < len(self.strings)


@dataclass(frozen=True)
class Unattributed:
    """Device work that no operator launched, by what did.

    launcher   an API call, or why it is not known, in parentheses
    calls      how many pieces of work
    device_ns  Σ of their durations
    """

    launcher: str
    calls: int
    device_ns: int


@remembered
def launchers(model: Model) -> Launchers:
    trace = model.trace
    node, launch = model.device_links.operator_node, model.device_links.launch
    code = np.full(len(node), len(trace.strings), dtype=np.int32)
    called = launch >= 0
    code[called] = trace.events.name[model.launches.row[launch[called]]] + len(trace.strings) + 1
    owned = node >= 0
    code[owned] = model.tree.name[node[owned]]
    return Launchers(code, trace.strings)


def unattributed(model: Model) -> tuple[Unattributed, ...]:
    """By device time, descending; its sum and the operators' device self times are all device work."""
    known = launchers(model)
    chosen = np.flatnonzero(model.is_work & (model.device_links.operator_node < 0))
    code = known.code[chosen]
    groups = group([code])
    rows = model.device_work.row[chosen]
    total, calls = groups.sum(np.maximum(model.trace.events.duration[rows], 0)), groups.count()
    return tuple(
        Unattributed(known.text(int(code[groups.first[g]])), int(calls[g]), int(total[g]))
        for g in descending(total).tolist()
    )
