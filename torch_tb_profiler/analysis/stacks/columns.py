"""Entries of a tree of call stacks."""

from __future__ import annotations

from torch_tb_profiler.analysis.definition import Definition, by_key

STACKS = by_key(
    "stacks",
    Definition(
        "id",
        "Id",
        "number",
        None,
        "Identifies the names from the top down to it; it is the same for the same stack in every trace.",
    ),
    Definition("parent", "Parent", "number", None, "Row of the entry around it; -1 at the top."),
    Definition(
        "name",
        "Name",
        "string",
        None,
        "The innermost entry: file(line): function for a Python frame, otherwise the name of the module, operator, "
        "annotation or device work.",
    ),
    Definition(
        "kind",
        "Kind",
        "string",
        None,
        "frame (Python function), builtin (function in C), module (call of nn.Module), annotation, operator, device "
        "(kernel, copy or fill), other (an API call outside all these), smaller (entries folded together).",
    ),
    Definition(
        "role",
        "Role",
        "string",
        None,
        "What device work does: compute, communication (a kernel of a collective), copy (copies and fills). "
        "Communication also for calls of torch.distributed on the host. Empty for all others.",
    ),
    Definition(
        "short_name",
        "Short name",
        "string",
        None,
        "For device work, the name without parameters and most template arguments, as in GPU Kernel; empty for others.",
    ),
    Definition(
        "self_ns",
        "Self",
        "number",
        "ns",
        "Host: time in which it was innermost. Device: Σ durations of the kernels, copies and fills of this name "
        "launched from there.",
    ),
    Definition("total_ns", "Total", "number", "ns", "Self + Σ total of the entries directly below."),
    Definition("calls", "Calls", "number", "count", "How often it began there, or ran on the device."),
    Definition(
        "folded",
        "Folded",
        "number",
        "count",
        "How many entries were folded into this one, because each has less than the smallest share; 0 for all others.",
    ),
)
