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
        "Time of the step in which communication kernels ran on a device and no compute kernel did; copies do not hide "
        "it. Mean over the devices. Empty where communication is only known from calls on the host (gloo, MPI).",
    ),
    Definition(
        "transfer_ns",
        "Data transfer time",
        "number",
        "ns",
        "Time in which operations that the step called moved data: of each operation the last part, as long as the "
        "shortest time that any rank needed for it. The rank that arrives last does not wait. Not known where no "
        "operation could be matched with another rank's.",
    ),
    Definition(
        "wait_ns",
        "Synchronizing time",
        "number",
        "ns",
        "Time in which operations that the step called ran − data transfer time − unmatched time: waiting for ranks "
        "that came later. Not known where no operation could be matched with another rank's.",
    ),
    Definition(
        "unmatched_ns",
        "Unmatched time",
        "number",
        "ns",
        "Time in which operations that the step called ran that could not be matched with another rank's, and no "
        "matched one moved data: waiting or transfer, which of them is not known.",
    ),
)

DISTRIBUTED_OPERATIONS = by_key(
    "operations",
    Definition("worker", "Worker", "string", None, "The rank whose trace it is."),
    Definition("name", "Name", "string", None, "Library and collective, as called on the host or by the kernel."),
    Definition("kind", "Kind", "string", None, "What it does, whatever the library calls it."),
    Definition("group", "Process group", "string", None, "Description and name; empty when the trace does not say."),
    Definition("dtype", "Data type", "string", None, "Type of the elements, as the trace writes it."),
    Definition("calls", "Calls", "number", "count", "How often the rank took part in it."),
    Definition(
        "matched",
        "Matched calls",
        "number",
        "count",
        "Calls that another rank's trace has, too, so that waiting can be told from transferring.",
    ),
    Definition(
        "total_bytes",
        "Total size",
        "number",
        "bytes",
        "Σ bytes that the rank put in: elements × bytes of an element. Calls of unknown size are left out.",
    ),
    Definition("mean_bytes", "Average size", "number", "bytes", "Total size ÷ calls of known size."),
    Definition(
        "latency_ns",
        "Total latency",
        "number",
        "ns",
        "Time in which at least one of the calls ran: its kernels; of libraries without kernels the call on the host.",
    ),
    Definition("mean_latency_ns", "Average latency", "number", "ns", "Total latency ÷ calls."),
    Definition(
        "transfer_ns",
        "Data transfer time",
        "number",
        "ns",
        "The part of the latency that was not waiting: of each call the last part, as long as the shortest time that "
        "any rank needed for the same operation. Not known where no call was matched.",
    ),
    Definition("mean_transfer_ns", "Average data transfer time", "number", "ns", "Data transfer time ÷ matched calls."),
    Definition(
        "wait_ns",
        "Synchronizing time",
        "number",
        "ns",
        "Total latency − data transfer time − unmatched time. Not known where no call was matched.",
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
        "Σ S ÷ Σ data transfer time, over matched calls whose size and time are known; where there is none, over the "
        "whole time of the others, which may hold waiting, so that it is a lower bound. S is the size as nccl-tests "
        "counts it: of all ranks together for all-gather, reduce-scatter, gather and scatter, else of one rank.",
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
        "What says that it is communication: arguments of the collective on the kernel or on the host, a range on the "
        "host, or only the name of the kernel.",
    ),
)

RANK_RANGES = by_key(
    "rank_ranges",
    Definition("name", "Range", "string", None, "Name; digits, addresses and keys that differ are shown as …."),
    Definition("ranks", "Ranks", "number", "count", "How many ranks call it."),
    Definition("lacking", "Ranks without", "number", "count", "How many ranks surely do not call it."),
    Definition("calls", "Calls", "number", "count", "Calls in all steps, median of the ranks."),
    Definition(
        "host_ns",
        "Host",
        "number",
        "ns",
        "Σ durations in a step that calls it: median of the steps, then of the ranks. Calls inside calls of the same "
        "name count once.",
    ),
    Definition("host_least_ns", "Shortest on the host", "number", "ns", "The same of the rank where it is least."),
    Definition("host_most_ns", "Longest on the host", "number", "ns", "The same of the rank where it is most."),
    Definition("most_worker", "Longest on", "string", None, "The rank where it takes longest on the host."),
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
        "Time of the step in which it holds things up, as in Program: median of the steps, then of the ranks.",
    ),
    Definition(
        "far_worker",
        "Outlier",
        "string",
        None,
        "The rank that differs most from the others: by 8 robust deviations, 10 % of the median and 0.1 % of a step, "
        "among four ranks at least. In a range that waits for other ranks the late rank is the one that takes least.",
    ),
    Definition("far_rank", "Its number", "number", None, "Number of that rank; empty where its trace does not say."),
    Definition("far_time", "Outlier in", "string", None, "host, device or exposed: which time of it differs."),
    Definition("far_ns", "Difference", "number", "ns", "That time of the rank − the median of the ranks."),
    Definition("far_z", "Deviations", "number", None, "How many robust deviations of the ranks that is."),
)

RANGE_OF_RANKS = by_key(
    "range_of_ranks",
    Definition("worker", "Worker", "string", None, "The rank whose trace it is."),
    Definition("rank", "Rank", "number", None, "Its number; empty where the trace does not say."),
    Definition("host", "On", "string", None, "Name of the host that it ran on."),
    Definition("steps", "Steps", "number", "count", "In how many steps it is called."),
    Definition("calls", "Calls", "number", "count", "Calls in these steps."),
    Definition("host_ns", "Host", "number", "ns", "Σ durations in a step that calls it, median of the steps."),
    Definition("host_least_ns", "Host, shortest step", "number", "ns", "The same of the step where it is least."),
    Definition("host_most_ns", "Host, longest step", "number", "ns", "The same of the step where it is most."),
    Definition(
        "device_ns", "Device", "number", "ns", "Σ durations of device work launched inside, median of the steps."
    ),
    Definition("exposed_ns", "Exposed", "number", "ns", "Time in which it holds the step up, median of the steps."),
    Definition("difference_ns", "To the median", "number", "ns", "Host − that of the median rank."),
    Definition(
        "z",
        "Deviations",
        "number",
        None,
        "How many robust deviations of the ranks that is; empty with fewer than four ranks.",
    ),
)
