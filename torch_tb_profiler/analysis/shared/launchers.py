"""What started each piece of device work: an operator, an API call outside operators, or nothing in the trace."""

from __future__ import annotations

from typing import Annotated

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.result import column
from torch_tb_profiler.analysis.shared.owners import owner_names
from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.arrays.types import Int32
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import StringTable

NOT_RECORDED = "(launched before the recording)"


class Launchers(msgspec.Struct, frozen=True):
    """`code`: shape (device work,), parallel to `Model.device_work`; equal codes are the same launcher."""

    code: Int32
    strings: StringTable

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


class Unattributed(msgspec.Struct, frozen=True):
    """Device work that no operator launched, by its owner.

    owner      what the work belongs to, such as `graph replay of aten::mm` or `module: Linear_3`, or why that is not
               known
    how        how the owner is known: by what ran around the launch (compiled, annotated, annotation, module, frame,
               thread), the capture of the graph (graph_node), the same work in a recorded step (inferred), or none
    name       only the owner's name; null for none
    reason     why there is none: host_not_recorded, before_recording, no_correlation, launch_lost or
               ambiguous; null for others
    launcher   the API call in parentheses, or that it is not in the trace
    calls      how many kernels, copies and memsets
    device_ns  Σ of their durations
    """

    owner: Annotated[str, column("Owner")]
    how: Annotated[str, column("Known by")]
    name: str | None
    reason: str | None
    launcher: str
    calls: Annotated[int, column("Calls")]
    device_ns: Annotated[int, column("Device time")]


@cached
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
    owners = owner_names(model)
    chosen = np.flatnonzero(model.is_work & (model.device_links.operator_node < 0))
    code = owners.code[chosen]
    groups = group([code])
    rows = model.device_work.row[chosen]
    total, calls = groups.sum(np.maximum(model.trace.events.duration[rows], 0)), groups.count()
    found = []
    for g in descending(total).tolist():
        owner = owners.names[int(code[groups.first[g]])]
        launcher = NOT_RECORDED if owner.launcher is None else f"({owner.launcher})"
        found.append(
            Unattributed(owner.text, owner.how, owner.name, owner.reason, launcher, int(calls[g]), int(total[g]))
        )
    return tuple(found)
