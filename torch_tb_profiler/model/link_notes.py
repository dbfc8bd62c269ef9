"""What a user should know about how launches and device work were joined."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model.launch_of_work import Link
from torch_tb_profiler.model.launches import DeviceLinks
from torch_tb_profiler.model.processes import Processes
from torch_tb_profiler.trace import Note

_TOUCHES = ("operators", "kernels")


def link_notes(
    links: DeviceLinks, is_work: Bool, correlation: Int64, calls_recorded: bool, processes: Processes | None
) -> Iterator[Note]:
    """links, is_work, correlation: parallel; processes: of the whole trace."""
    count = np.bincount(links.link[is_work], minlength=len(Link))
    if processes is not None:
        yield _merged(processes, int(count[Link.AMBIGUOUS]))
    elif count[Link.ORDER] or count[Link.AMBIGUOUS]:
        yield _shared(int(count[Link.ORDER]), int(count[Link.AMBIGUOUS]))
    if count[Link.FLOW] or count[Link.EXTERNAL_ID]:
        yield _without_correlation(int(count[Link.FLOW]), int(count[Link.EXTERNAL_ID]))
    without = is_work & (links.link == Link.NONE)
    unnamed = calls_recorded & without & (correlation <= 0)
    if unjoined := int(np.count_nonzero(unnamed)) + int(count[Link.FLOW_ONLY]):
        yield Note(
            "no_correlation",
            "info",
            "Kernels and copies of which no correlation says which call started them. Their time is in the totals but "
            "belongs to no operator.",
            count=unjoined,
            touches=_TOUCHES,
        )
    if unlaunched := int(np.count_nonzero(without & ~unnamed)):
        yield _no_launch(unlaunched, calls_recorded)


def _merged(processes: Processes, unowned: int) -> Note:
    collide = processes.collide
    paired = (
        "Their correlation ids collide, so device work was paired with the process that its place in the file, its "
        f"names and its ids point to; {unowned} kernels and copies remain without an operator. "
    )
    return Note(
        "merged_processes",
        "warning" if collide else "info",
        f"The file holds {processes.count} processes that call the device API: several traces were merged. "
        + (paired if collide else "")
        + "Open the ranks as separate files.",
        touches=("overview", *_TOUCHES),
        values={"processes": processes.count, "collide": collide, "unowned": unowned},
    )


def _shared(matched: int, unowned: int) -> Note:
    return Note(
        "shared_correlation",
        "info",
        "Several calls or kernels have one correlation, as the profiler writes it on ROCm, and merged traces have it: "
        f"{matched} kernels belong to calls without one, in their order; {unowned} kernels and copies belong to no "
        "operator.",
        count=matched + unowned,
        touches=_TOUCHES,
        values={"matched": matched, "unowned": unowned},
    )


def _without_correlation(flow: int, external_id: int) -> Note:
    ways = [f"linked by {way} ({many})" for way, many in (("flow", flow), ("External id", external_id)) if many]
    return Note(
        "linked_without_correlation",
        "info",
        "The file has no correlation ids that join calls and device work. Kernels and copies were "
        f"{' and '.join(ways)}.",
        count=flow + external_id,
        touches=_TOUCHES,
        values={"flow": flow, "external_id": external_id},
    )


def _no_launch(count: int, calls_recorded: bool) -> Note:
    if calls_recorded:
        why = (
            "Kernels and copies whose launch is not in the trace, while that of others is: they were started before "
            "recording began, or the record of their launch was lost."
        )
        remedy = "torch.cuda.synchronize() before the recording, or schedule(wait=1, warmup=1, active=3)"
    else:
        why = "Kernels and copies without a launch: calls of the device API were not recorded."
        remedy = "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])"
    return Note(
        "no_launch",
        "info",
        f"{why} Their time is in the totals but belongs to no operator.",
        count=count,
        touches=_TOUCHES,
        remedy=remedy,
        values={"calls_recorded": calls_recorded},
    )
