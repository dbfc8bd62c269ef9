"""What a user should know about how launches and device work were joined."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model.launch_of_work import Link
from torch_tb_profiler.model.launches import DeviceLinks
from torch_tb_profiler.model.processes import Processes
from torch_tb_profiler.trace import Note, note

_TOUCHES = ("operators", "kernels")


def link_notes(
    links: DeviceLinks, is_work: Bool, correlation: Int64, calls_recorded: bool, processes: Processes | None
) -> Iterator[Note]:
    """links, is_work, correlation: parallel; processes: of the whole trace."""
    count = np.bincount(links.link[is_work], minlength=len(Link))
    matched, unowned = int(count[Link.ORDER]), int(count[Link.AMBIGUOUS])
    if processes is not None:
        yield note(
            "merged_processes",
            "warning" if processes.collide else "info",
            touches=("overview", *_TOUCHES),
            values={"processes": processes.count, "collide": processes.collide, "unowned": unowned},
        )
    elif matched or unowned:
        yield note(
            "shared_correlation", "info", matched + unowned, _TOUCHES, values={"matched": matched, "unowned": unowned}
        )
    flow, external = int(count[Link.FLOW]), int(count[Link.EXTERNAL_ID])
    if flow or external:
        yield note(
            "linked_without_correlation",
            "info",
            flow + external,
            _TOUCHES,
            values={"flow": flow, "external_id": external},
        )
    without = is_work & (links.link == Link.NONE)
    unnamed = calls_recorded & without & (correlation <= 0)
    if unjoined := int(np.count_nonzero(unnamed)) + int(count[Link.FLOW_ONLY]):
        yield note("no_correlation", "info", unjoined, _TOUCHES)
    if unlaunched := int(np.count_nonzero(without & ~unnamed)):
        yield note("no_launch", "info", unlaunched, _TOUCHES, values={"calls_recorded": calls_recorded})
