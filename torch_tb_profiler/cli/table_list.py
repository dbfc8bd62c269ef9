"""The tables that commands print, a line each. `work/sources.py` and `work/of_runs.py` have what makes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Choice(NamedTuple):
    """An option that a table has of its own.

    values  what it may be; empty for any text
    """

    name: str
    values: Sequence[str]
    help: str


def _grouped(*values: str) -> Choice:
    return Choice("group_by", values, f"what makes a row (default: {values[0]})")


class TableOfCommand:
    """A table.

    name     of the command
    help     what a row is, in a line
    shown    keys of the columns that are shown as text; with --columns others
    options  of its own
    sort     its order, unless --sort says another; "" for that in which it is made
    of_run   it is about all traces of a run, or of all runs, not about one
    """

    def __init__(
        self, name: str, text: str, shown: str, *options: Choice, sort: str = "", of_run: bool = False
    ) -> None:
        self.name = name
        self.help = text
        self.shown = shown.split()
        self.options = options
        self.sort = sort
        self.of_run = of_run


_DEVICE = Choice("device", (), "of this device, as the table names it (default: the first)")

TABLES: Mapping[str, TableOfCommand] = {
    command.name: command
    for command in (
        TableOfCommand(
            "steps",
            "List the steps of a trace and where the time of each went.",
            "step kernel memcpy memset communication runtime dataloader cpu_exec other name",
        ),
        TableOfCommand(
            "operators",
            "List the operators of a trace: calls, time on the host and on devices.",
            "calls device_self_ns device_self_share device_total_ns host_self_ns host_total_ns name input_shape",
            _grouped("name", "name_shape", "name_stack"),
            sort="-device_self_ns,-host_self_ns",
        ),
        TableOfCommand(
            "kernels",
            "List the kernels of a trace: calls, time, use of tensor cores.",
            "calls total_ns total_share mean_ns max_ns tensor_cores_used kind short_name operator",
            _grouped("name", "name_op_launch"),
            sort="-total_ns",
        ),
        TableOfCommand(
            "idle",
            "Add up when devices had nothing to do, by cause.",
            "device stream gaps total_ns share mean_ns median_ns max_ns cause",
            _grouped("device", "stream"),
            sort="device,stream,-total_ns",
        ),
        TableOfCommand(
            "gaps",
            "List the gaps in which a device had nothing to do, with the work before and after.",
            "duration_ns start_ns device stream cause step before after",
            _grouped("device", "stream"),
            sort="-duration_ns",
        ),
        TableOfCommand(
            "modules",
            "List the modules of a model: calls, time of forward and backward.",
            "calls host_total_ns host_self_ns device_total_ns device_self_ns backward_device_ns name",
            Choice("source", ("nn", "lightning"), "who named the modules (default: the first that did)"),
        ),
        TableOfCommand(
            "hooks",
            "List Lightning's hooks: calls and time.",
            "calls host_total_ns host_self_ns max_ns min_ns name",
        ),
        TableOfCommand(
            "stacks",
            "List call stacks, with the time that each took.",
            "total_ns self_ns calls kind name",
            Choice("weight", ("device", "host"), "whose time (default: that of devices where there are any)"),
            Choice("direction", ("top_down", "bottom_up"), "from callers to called, or the other way"),
            Choice("files", (), "only frames of files with one of these words in their names, none of those after a -"),
            sort="-self_ns",
        ),
        TableOfCommand(
            "launches",
            "List the calls that launched device work: what they cost, and how long the work waited.",
            "calls pieces host_ns host_mean_ns host_p99_ns delay_median_ns delay_p99_ns slow late name",
            _grouped("api", "operator"),
            sort="-host_ns",
        ),
        TableOfCommand(
            "copies",
            "List copies and fills by kind: bytes, time, bandwidth.",
            "device calls bytes total_ns active_ns bandwidth max_bandwidth pageable kind",
            sort="-active_ns",
        ),
        TableOfCommand(
            "communication",
            "List the communication of every rank of a run: calls, bytes, transfer and waiting.",
            "calls total_bytes latency_ns transfer_ns wait_ns busbw worker group name",
            sort="-latency_ns",
            of_run=True,
        ),
        TableOfCommand(
            "ranges",
            "List the annotations of a program, and the ranges that frameworks name.",
            "calls host_total_ns host_self_ns device_ns exposed_ns median_ns writer name",
        ),
        TableOfCommand(
            "roofline",
            "List operators beside the least time that their device needs for them.",
            "calls time_ns roof_ns lost_ns roof_share bound name input_shape",
            _grouped("operator", "operator_shape", "kernel", "module", "line", "element", "phase"),
            sort="-lost_ns",
        ),
        TableOfCommand(
            "path",
            "List the pieces of the critical path: what the steps could not have been shorter without.",
            "duration_ns start_ns step part track name",
            sort="-duration_ns",
        ),
        TableOfCommand(
            "slices",
            "List the longest events of a trace.",
            "duration_ns start_ns row category track name",
            Choice("name", (), "of this name only"),
            Choice("category", (), "of this category only, such as kernel"),
            sort="-duration_ns",
        ),
        TableOfCommand(
            "allocations",
            "List allocations with their releases, as a trace recorded them.",
            "bytes duration_ns alloc_ns release_ns device operator",
            _DEVICE,
            sort="-bytes",
        ),
        TableOfCommand(
            "allocators",
            "List what operators allocated, as a trace recorded it.",
            "calls self_size_increase size_increase self_allocation_size self_allocation_count name",
            _DEVICE,
            sort="-self_allocation_size",
        ),
        TableOfCommand(
            "graphs",
            "List the graphs that devices replayed (CUDA Graphs and the like).",
            "graph replays nodes device_ns span_ns inside_ns between_ns",
            sort="-device_ns",
        ),
        TableOfCommand(
            "traces",
            "List the traces below a directory, with the figures of each.",
            "steps step busy computing exposed_communication peak_bytes trace",
            of_run=True,
        ),
    )
}
