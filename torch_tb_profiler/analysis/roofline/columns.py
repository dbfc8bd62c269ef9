"""Columns of the roofline."""

from __future__ import annotations

from torch_tb_profiler.analysis.definition import Definition, by_key

ROOFLINE = by_key(
    "roofline",
    Definition(
        "name",
        "Name",
        "string",
        None,
        "Operator, kernel, module, line, element type or phase, depending on the grouping.",
    ),
    Definition("input_shape", "Input shapes", "string", None, "Shapes of the inputs, one list per argument."),
    Definition(
        "element",
        "Multiplies",
        "string",
        None,
        "The element type that kernels multiply, by their names, otherwise by the inputs: its peak is the roof. "
        "Empty if no matrices are multiplied. If there are several, the one with the most FLOP.",
    ),
    Definition(
        "calls",
        "Calls",
        "number",
        "count",
        "Calls of operators that own device work, and copies. For kernels: how often they ran.",
    ),
    Definition(
        "time_ns",
        "Time",
        "number",
        "ns",
        "Σ durations of the kernels, copies and fills that belong to it, communication left out.",
    ),
    Definition(
        "flops",
        "FLOP",
        "number",
        "flop",
        "Matrix FLOP by the shapes of the inputs: a multiplication with its addition counts two, softmax, bias and "
        "activation none; with a causal mask, only the part that it leaves. The kernels of a call share its FLOP "
        "by their durations.",
    ),
    Definition(
        "least_flops",
        "FLOP at least",
        "number",
        "flop",
        "For attention over packed sequences, whose lengths were not recorded: FLOP if all have the same length, "
        "plus the known FLOP of the row. Empty for other rows.",
    ),
    Definition(
        "most_flops",
        "FLOP at most",
        "number",
        "flop",
        "The same, if each query sees as many keys as the longest sequence has.",
    ),
    Definition(
        "bytes",
        "Bytes",
        "number",
        "bytes",
        "The minimum that is read and written: each different element of the inputs and of the result once. For "
        "copies, as recorded.",
    ),
    Definition("intensity", "FLOP/byte", "number", None, "FLOP ÷ bytes, where both are known; empty without FLOP."),
    Definition(
        "flop_rate", "FLOP/s", "number", "flop_per_second", "FLOP ÷ time, where FLOP are known; empty without FLOP."
    ),
    Definition("byte_rate", "Bytes/s", "number", "bytes_per_second", "Bytes ÷ time, where bytes are known."),
    Definition(
        "roof_ns",
        "Time at the roof",
        "number",
        "ns",
        "Σ of the least time of each call: the longer of FLOP ÷ peak of the element type and bytes ÷ bandwidth of "
        "the memory (for copies from and to the host, of the link); at least 2 µs if the call takes that long.",
    ),
    Definition(
        "lost_ns",
        "Lost",
        "number",
        "ns",
        "Σ of the time that each call takes beyond its time at the roof. The losses of kernels that run at the "
        "same time are added up.",
    ),
    Definition(
        "lost_here_ns",
        "Lost against its best",
        "number",
        "ns",
        "The same against what this trace itself reaches (95th percentiles) instead of the peaks: the bandwidth of "
        "at least 10 elementwise kernels above 64 MB, the FLOP/s of at least 3 products above 50 µs. If there are "
        "fewer, the peaks count.",
    ),
    Definition(
        "roof_share",
        "Of the roof",
        "number",
        "fraction",
        "Time at the roof ÷ time, where both are known. Above 1: see `above`.",
    ),
    Definition(
        "mfu",
        "MFU",
        "number",
        "fraction",
        "FLOP that the model needs ÷ peak of their element types ÷ time. Empty without FLOP, or if less than 60 % "
        "of the time of products is known.",
    ),
    Definition(
        "hfu",
        "HFU",
        "number",
        "fraction",
        "The same for the FLOP that are executed, including those that are computed again in the backward pass.",
    ),
    Definition(
        "bound",
        "Bound by",
        "string",
        None,
        "What determines the time at the roof, for most of the time: compute, memory, link, or launch (less than 2 "
        "µs).",
    ),
    Definition(
        "tensor_cores",
        "Tensor cores",
        "string",
        None,
        "For products, for most of the time: used, or why not, although the device has tensor cores: fp32 (TF32 is "
        "off, or the device has none), fp64, alignment (rows do not begin at 16 bytes), groups, small, other.",
    ),
    Definition(
        "below_wave",
        "Below one wave",
        "number",
        "fraction",
        "Part of the time in kernels with fewer blocks than the device has multiprocessors.",
    ),
    Definition(
        "advice",
        "Sizes",
        "string",
        None,
        "What may be wrong with the sizes of products that reach less than 75 % of the roof, for most of their time: "
        "alignment (rows do not begin at 16 bytes), few_rows (at most 16, bound by the memory), split_k (fewer tiles "
        "than multiprocessors, and a sum more than 8 times as long as the result), last_wave (1 to 4 rounds of tiles "
        "of which more than 15 % is lost), edges (more than 15 % of the tiles lies beyond the result), merge (2 to 7 "
        "in a row with an input of the same size), batch (8 or more equal ones in a row, below 10 µs).",
    ),
    Definition(
        "above",
        "Above the roof",
        "string",
        None,
        "Why calls are more than 5 % faster than the roof, if there are any: algorithm (Winograd, FFT), cache (the "
        "data fits into the last level), strides (not recorded: inputs may be expanded), model (unknown).",
    ),
    Definition("known", "Known", "number", "fraction", "Part of the time for which the time at the roof is known."),
    Definition(
        "sure",
        "Known by",
        "string",
        None,
        "The least certain way in which FLOP and bytes are known: exact (arguments), derived (another event), "
        "bound (at least or at most that), estimate, recorded.",
    ),
    Definition(
        "worst_row",
        "Worst event",
        "number",
        None,
        "Number of the event of the kernel or copy that loses most, or of the longest one if that is not known.",
    ),
    Definition("worst_start_ns", "Worst start", "number", "ns", "Its start, since the start of the trace."),
    Definition("worst_ns", "Worst duration", "number", "ns", "Its duration."),
)
