"""Ranks and their communication."""

from __future__ import annotations

from torch_tb_profiler.analysis.definition import Definition, by_key
from torch_tb_profiler.analysis.overlap_columns import OVERLAP

DISTRIBUTED = OVERLAP | by_key(
    "ranks",
    Definition(
        "exposed_communication_ns",
        "Exposed communication",
        "number",
        "ns",
        "Time of the step in which communication kernels ran on a device and no compute kernel did; copies do not "
        "hide it. Mean over the devices. Empty if communication is known only from calls on the host (gloo, MPI).",
    ),
    Definition(
        "transfer_ns",
        "Data transfer time",
        "number",
        "ns",
        "Time in which operations that the step called moved data: for each operation its last part, as long as "
        "the shortest time that any rank needed for it. The rank that arrives last does not wait. Unknown if no "
        "operation could be matched with another rank's.",
    ),
    Definition(
        "wait_ns",
        "Synchronizing time",
        "number",
        "ns",
        "Time in which operations that the step called ran − data transfer time − unmatched time: waiting for "
        "ranks that arrived later. Unknown if no operation could be matched with another rank's.",
    ),
    Definition(
        "unmatched_ns",
        "Unmatched time",
        "number",
        "ns",
        "Time in which operations that the step called ran that could not be matched with another rank's, while no "
        "matched one moved data: waiting or transfer, it is unknown which.",
    ),
)
