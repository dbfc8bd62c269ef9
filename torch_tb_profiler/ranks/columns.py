"""Ranks and their communication."""

from __future__ import annotations

from torch_tb_profiler.analysis.definition import Definition, by_key
from torch_tb_profiler.analysis.overlap_columns import OVERLAP

DISTRIBUTED = OVERLAP | by_key(
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
        "shortest time that any rank needed for it. The rank that comes last waits for nobody.",
    ),
    Definition(
        "wait_ns",
        "Synchronizing time",
        "number",
        "ns",
        "Time in which operations that the step called ran − data transfer time: waiting for ranks that came later.",
    ),
)

DISTRIBUTED_OPERATIONS = by_key(
    Definition("worker", "Worker", "string", None, "The rank whose trace it is."),
    Definition("name", "Name", "string", None, "Library and collective, as called on the host or by the kernel."),
    Definition("kind", "Kind", "string", None, "What it does, whatever the library calls it."),
    Definition("group", "Process group", "string", None, "Description and name; empty when the trace does not say."),
    Definition("dtype", "Data type", "string", None, "Type of the elements, as the trace writes it."),
    Definition("calls", "Calls", "number", "count", "How often the rank took part in it."),
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
        "any rank needed for the same operation.",
    ),
    Definition("mean_transfer_ns", "Average data transfer time", "number", "ns", "Data transfer time ÷ calls."),
    Definition("wait_ns", "Synchronizing time", "number", "ns", "Total latency − data transfer time."),
    Definition(
        "algbw",
        "Algorithm bandwidth",
        "number",
        "bytes_per_second",
        "Σ S ÷ Σ data transfer time, over calls whose size and time are known. S is the size as nccl-tests counts it: "
        "of all ranks together for all-gather, reduce-scatter, gather and scatter, else of one rank.",
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
        "Recognised by",
        "string",
        None,
        "What says that it is communication: arguments of the collective on the kernel or on the host, a range on the "
        "host, or only the name of the kernel.",
    ),
)
