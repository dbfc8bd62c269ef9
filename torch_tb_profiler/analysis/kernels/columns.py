"""Columns of the kernels."""

from __future__ import annotations

from torch_tb_profiler.analysis.definition import Definition, by_key

KERNELS = by_key(
    "kernels",
    Definition("name", "Name", "string", None, "Name of the kernel."),
    Definition(
        "short_name",
        "Short name",
        "string",
        None,
        "The name without parameters and most template arguments. The parts that show what the kernel does are "
        "kept: functor, tile, element type.",
    ),
    Definition(
        "kind",
        "Kind",
        "string",
        None,
        "Kind of work, by the kernel's name: gemm, conv, attention, communication, norm, pointwise and others. A "
        "helper prepares or finishes the work of another kernel. Empty if the name is not known.",
    ),
    Definition(
        "library",
        "Library",
        "string",
        None,
        "The library that the kernel comes from, by its name; several if their kernels have the same names. Empty "
        "if the name does not show it.",
    ),
    Definition(
        "operator",
        "Operator",
        "string",
        None,
        "The innermost operator that launched it; in parentheses another owner: what captured it into a graph, an "
        "annotation, a module, a Python frame, a thread.",
    ),
    Definition("grid", "Grid", "string", None, "Blocks of the launch, [x, y, z]."),
    Definition("block", "Block", "string", None, "Threads of a block, [x, y, z]."),
    Definition("registers_per_thread", "Registers per thread", "number", "count", "Registers each thread uses."),
    Definition("shared_memory_bytes", "Shared memory", "number", "bytes", "Shared memory each block uses."),
    Definition(
        "operator_tensor_core_eligible",
        "Operator eligible",
        "bool",
        None,
        "Whether the operator that launched it multiplies matrices or convolves, by its name.",
    ),
    Definition(
        "tensor_cores_used",
        "Tensor cores used",
        "bool",
        None,
        "Whether the kernel uses tensor cores, judged by its name. If the name does not show it: no, if the device "
        "has none for the types of the operator's inputs, otherwise unknown.",
    ),
    Definition("calls", "Calls", "number", "count", "How often it ran."),
    Definition("total_ns", "Total", "number", "ns", "Σ durations of its calls."),
    Definition("mean_ns", "Mean", "number", "ns", "Total ÷ calls."),
    Definition("max_ns", "Max", "number", "ns", "Longest call."),
    Definition("min_ns", "Min", "number", "ns", "Shortest call."),
    Definition(
        "mean_blocks_per_sm",
        "Mean blocks per SM",
        "number",
        None,
        "Blocks of the launch ÷ multiprocessors (SMs) of the device; below 1 some SMs stay empty. Mean over the "
        "calls, weighted by duration.",
    ),
    Definition(
        "mean_achieved_occupancy",
        "Mean est. achieved occupancy",
        "number",
        "percent",
        "Active warps ÷ the maximum number of warps of an SM, as estimated by the profiler, otherwise computed from "
        "the launch (compute capabilities 7.0, 7.5, 8.0 and 9.0). Mean over the calls for which it is known, weighted "
        "by duration. Empty if it is known for none.",
    ),
    Definition(
        "occupancy_known_share",
        "Occupancy known",
        "number",
        "fraction",
        "Duration of the calls whose occupancy is known ÷ duration of all its calls.",
    ),
    Definition(
        "flop_rate",
        "FLOP/s",
        "number",
        "flop_per_second",
        "Its share, by time, of the matrix FLOP of the calls that launched it ÷ its time. Empty for kernels "
        "without FLOP, or if the shapes do not determine them.",
    ),
    Definition(
        "byte_rate",
        "Bytes/s",
        "number",
        "bytes_per_second",
        "Its share, by time, of the minimum that the calls that launched it read and write ÷ its time. Empty if "
        "the shapes do not determine it.",
    ),
)
