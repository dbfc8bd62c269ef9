"""Memory: operators, allocations and curves."""

from __future__ import annotations

from torch_tb_profiler.analysis.definition import Definition, by_key

MEMORY = by_key(
    "memory",
    Definition("name", "Operator", "string", None, "Name of the operator."),
    Definition(
        "calls",
        "Calls",
        "number",
        "count",
        "How often it was called while the time range lasted, whether a call changed memory or not; over the whole "
        "trace as in the operator view.",
    ),
    Definition(
        "size_increase",
        "Size increase",
        "number",
        "bytes",
        "Σ bytes allocated − Σ bytes released by the operator and everything it called. Negative when it released "
        "more. A call inside another call of the same operator counts once.",
    ),
    Definition(
        "self_size_increase",
        "Self size increase",
        "number",
        "bytes",
        "Σ bytes allocated − Σ bytes released by the operator itself, not by operators it called.",
    ),
    Definition(
        "allocation_count",
        "Allocations",
        "number",
        "count",
        "Allocations by the operator and everything it called.",
    ),
    Definition(
        "self_allocation_count",
        "Self allocations",
        "number",
        "count",
        "Allocations by the operator itself, not by operators it called.",
    ),
    Definition(
        "allocation_size",
        "Allocated size",
        "number",
        "bytes",
        "Σ bytes allocated by the operator and everything it called; releases are not subtracted.",
    ),
    Definition(
        "self_allocation_size",
        "Self allocated size",
        "number",
        "bytes",
        "Σ bytes allocated by the operator itself, not by operators it called; releases are not subtracted.",
    ),
    Definition(
        "unattributed",
        "Outside operators",
        "number",
        "bytes",
        "Allocations and releases outside all operators, such as releases when Python drops a tensor. Σ self + "
        "this = everything recorded on the device, exactly.",
    ),
    Definition("device", "Device", "string", None, "Where the memory is: CPU, or type and number of the device."),
    Definition(
        "operator",
        "Operator",
        "string",
        None,
        "The innermost operator that made the allocation; empty if it was made outside operators, or before the "
        "recording began.",
    ),
    Definition(
        "parent",
        "Called by",
        "string",
        None,
        "The operator or annotation that encloses that operator; it shows what an aten::empty was for.",
    ),
    Definition("bytes", "Size", "number", "bytes", "Bytes of the allocation, as the allocator counts them."),
    Definition(
        "alloc_ns",
        "Allocated at",
        "number",
        "ns",
        "Time of the allocation since the start of the trace; empty if it was before the recording began.",
    ),
    Definition(
        "release_ns",
        "Released at",
        "number",
        "ns",
        "Time of the release since the start of the trace; empty if it was not recorded. The allocator may keep "
        "released memory as reserved memory.",
    ),
    Definition("duration_ns", "Lifetime", "number", "ns", "Released at − allocated at."),
    Definition("time_ns", "Time", "number", "ns", "Time since the start of the trace."),
    Definition(
        "allocated",
        "Allocated",
        "number",
        "bytes",
        "Memory in use by tensors, as the device's allocator counts it; on the CPU plus shared memory, which "
        "DataLoader workers use and the allocator does not count.",
    ),
    Definition(
        "reserved",
        "Reserved",
        "number",
        "bytes",
        "Memory that the caching allocator has reserved on the device, in use or not; 0 on the CPU, which has no "
        "caching allocator.",
    ),
    Definition(
        "device_bytes",
        "Device total",
        "number",
        "bytes",
        "Memory of the device (totalGlobalMem of the trace's deviceProperties).",
    ),
    Definition(
        "peak",
        "Peak",
        "number",
        "bytes",
        "The highest memory in use, and when it was first reached. Taken from every record, not from the drawing.",
    ),
    Definition(
        "baseline",
        "Before the recording",
        "number",
        "bytes",
        "Memory in use before the first record: parameters, optimizer state and anything else already allocated. "
        "Memory in use at the end = this + Σ allocated − Σ released, exactly, unless something changed without a "
        "record.",
    ),
    Definition(
        "unrecorded",
        "Changed without a record",
        "number",
        "bytes",
        "Σ of the changes between what the allocator counted and what its records add up to; 0 in a complete "
        "recording.",
    ),
    Definition(
        "unknown_bytes",
        "Allocated before the recording",
        "number",
        "bytes",
        "Memory in use at the time − Σ of the blocks known to be alive: memory allocated before the recording began.",
    ),
)


def _category(key: str, label: str, text: str) -> Definition:
    return Definition(key, label, "number", "bytes", f"Bytes in use at the peak: {text}.")


MEMORY_MODULES = by_key(
    "memory.modules",
    Definition(
        "module",
        "Module",
        "string",
        None,
        "The innermost module in whose forward it was allocated, or in the backward of one of its operators; empty "
        "outside modules.",
    ),
    Definition("bytes", "Size", "number", "bytes", "Σ bytes of its blocks in use at the peak."),
    Definition("blocks", "Blocks", "number", "count", "The number of these blocks."),
    _category("gradient", "Gradients", "allocated in backward and not released in it"),
    _category("optimizer_state", "Optimizer state", "allocated in a step of the optimizer and not released in one"),
    _category("saved_for_backward", "Saved for backward", "allocated in forward and released in backward"),
    _category(
        "kept_from_forward", "Kept from forward", "allocated in forward and released neither there nor in backward"
    ),
    _category("forward_temporary", "Forward, temporary", "allocated and released in forward"),
    _category("backward_temporary", "Backward, temporary", "allocated and released in backward"),
    _category("optimizer_temporary", "Optimizer, temporary", "allocated and released in a step of the optimizer"),
    _category("in_use", "In use", "in a trace with neither backward nor optimizer"),
)
