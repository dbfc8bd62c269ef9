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

DISTRIBUTED_OPERATIONS = by_key(
    "operations",
    Definition("worker", "Worker", "string", None, "The rank whose trace it is."),
    Definition("name", "Name", "string", None, "Library and collective, as called on the host or by the kernel."),
    Definition("kind", "Kind", "string", None, "What it does, independent of the name that the library uses."),
    Definition("group", "Process group", "string", None, "Description and name; empty if they are not in the trace."),
    Definition("dtype", "Data type", "string", None, "Type of the elements, as the trace writes it."),
    Definition("calls", "Calls", "number", "count", "How often the rank took part in it."),
    Definition(
        "matched",
        "Matched calls",
        "number",
        "count",
        "Calls that are also in the trace of another rank, so that waiting and transfer can be distinguished.",
    ),
    Definition(
        "total_bytes",
        "Total size",
        "number",
        "bytes",
        "Σ bytes of the rank's input: elements × bytes of an element. Calls of unknown size are left out.",
    ),
    Definition("mean_bytes", "Average size", "number", "bytes", "Total size ÷ calls of known size."),
    Definition(
        "latency_ns",
        "Total latency",
        "number",
        "ns",
        "Time in which at least one of the calls ran: its kernels, or, for libraries without kernels, the call on "
        "the host.",
    ),
    Definition(
        "mean_latency_ns",
        "Average latency",
        "number",
        "ns",
        "Mean duration of a call. Calls that overlap count in full, so that it can exceed total latency ÷ calls.",
    ),
    Definition(
        "transfer_ns",
        "Data transfer time",
        "number",
        "ns",
        "The part of the latency that was not waiting: for each call its last part, as long as the shortest time "
        "that any rank needed for the same operation. Unknown if no call was matched.",
    ),
    Definition(
        "mean_transfer_ns",
        "Average data transfer time",
        "number",
        "ns",
        "Mean over matched calls of the shortest time that any rank needed for the same operation.",
    ),
    Definition(
        "wait_ns",
        "Synchronizing time",
        "number",
        "ns",
        "Total latency − data transfer time − unmatched time. Unknown if no call was matched.",
    ),
    Definition(
        "unmatched_ns",
        "Unmatched time",
        "number",
        "ns",
        "The part of the latency in which calls ran that were not matched, and no matched one moved data.",
    ),
    Definition(
        "algbw",
        "Algorithm bandwidth",
        "number",
        "bytes_per_second",
        "Σ S ÷ Σ data transfer time, over matched calls whose size and time are known. If there are none, over the "
        "whole time of the other calls, which may include waiting, so that it is a lower bound. S is the size as "
        "nccl-tests counts it: of all ranks together for all-gather, reduce-scatter, gather and scatter, otherwise "
        "of one rank.",
    ),
    Definition(
        "busbw",
        "Bus bandwidth",
        "number",
        "bytes_per_second",
        "Algorithm bandwidth × 2(n−1)/n for all-reduce, × (n−1)/n for reduce-scatter, all-gather, all-to-all, gather "
        "and scatter, × 1 for the others; n is the size of the process group. Comparable with the speed of the link.",
    ),
    Definition(
        "recognised",
        "Recognized by",
        "string",
        None,
        "How it was recognized as communication: by arguments of the collective on the kernel or on the host, by a "
        "range on the host, or only by the name of the kernel.",
    ),
)

RANK_RANGES = by_key(
    "rank_ranges",
    Definition("name", "Range", "string", None, "Name; digits, addresses and keys that differ are shown as …."),
    Definition("ranks", "Ranks", "number", "count", "How many ranks call it."),
    Definition("lacking", "Ranks without", "number", "count", "How many ranks certainly do not call it."),
    Definition("calls", "Calls", "number", "count", "Calls in all steps, as the median of the ranks."),
    Definition(
        "host_ns",
        "Host",
        "number",
        "ns",
        "Σ durations in a step that calls it: median of the steps, then of the ranks. Calls inside calls of the same "
        "name count once.",
    ),
    Definition("host_least_ns", "Shortest on the host", "number", "ns", "The same for the rank where it is shortest."),
    Definition("host_most_ns", "Longest on the host", "number", "ns", "The same for the rank where it is longest."),
    Definition("most_worker", "Longest on", "string", None, "The rank where it takes the longest time on the host."),
    Definition(
        "device_ns",
        "Device",
        "number",
        "ns",
        "Σ durations of device work launched inside: median of the steps, then of the ranks.",
    ),
    Definition(
        "exposed_ns",
        "Exposed",
        "number",
        "ns",
        "Time of the step that it delays, as in Program: median of the steps, then of the ranks.",
    ),
    Definition(
        "far_worker",
        "Outlier",
        "string",
        None,
        "The rank that differs most from the others: by 8 robust deviations, 10 % of the median and 0.1 % of a "
        "step, among at least four ranks. In a range that waits for other ranks, the late rank takes the shortest "
        "time.",
    ),
    Definition("far_rank", "Its number", "number", None, "Number of that rank; empty if it is not in its trace."),
    Definition("far_time", "Outlier in", "string", None, "Which time differs: host, device or exposed."),
    Definition("far_ns", "Difference", "number", "ns", "This time on the rank − the median of the ranks."),
    Definition("far_z", "Deviations", "number", None, "The difference in robust deviations of the ranks."),
)

RANGE_OF_RANKS = by_key(
    "range_of_ranks",
    Definition("worker", "Worker", "string", None, "The rank whose trace it is."),
    Definition("rank", "Rank", "number", None, "Its number; empty if it is not in the trace."),
    Definition("host", "On", "string", None, "Name of the host that it ran on."),
    Definition("steps", "Steps", "number", "count", "In how many steps it is called."),
    Definition("calls", "Calls", "number", "count", "Calls in these steps."),
    Definition("host_ns", "Host", "number", "ns", "Σ durations in a step that calls it, median of the steps."),
    Definition("host_least_ns", "Host, shortest step", "number", "ns", "The same for the step where it is shortest."),
    Definition("host_most_ns", "Host, longest step", "number", "ns", "The same for the step where it is longest."),
    Definition(
        "device_ns", "Device", "number", "ns", "Σ durations of device work launched inside, median of the steps."
    ),
    Definition("exposed_ns", "Exposed", "number", "ns", "Time of the step that it delays, median of the steps."),
    Definition("difference_ns", "To the median", "number", "ns", "Host − that of the median rank."),
    Definition(
        "z",
        "Deviations",
        "number",
        None,
        "The difference in robust deviations of the ranks; empty with fewer than four ranks.",
    ),
)
