"""What every reported number means. The UI shows these texts, and docs/views repeats them word for word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ColumnType = Literal["string", "number", "bool"]
Unit = Literal["ns", "bytes", "percent", "fraction", "count"]


@dataclass(frozen=True)
class Definition:
    """One reported quantity: the key of the HTTP interface, how to show it, and what it is."""

    key: str
    label: str
    type: ColumnType
    unit: Unit | None
    help: str


def _by_key(*definitions: Definition) -> dict[str, Definition]:
    return {d.key: d for d in definitions}


OVERVIEW = _by_key(
    Definition(
        "kernel",
        "Kernel",
        "number",
        "ns",
        "Time in which at least one compute kernel ran on a device. Communication kernels count as Communication.",
    ),
    Definition(
        "memcpy",
        "Memcpy",
        "number",
        "ns",
        "Time in which a device copied memory (to, from or within a device) and no compute kernel ran.",
    ),
    Definition(
        "memset",
        "Memset",
        "number",
        "ns",
        "Time in which a device filled memory and neither a compute kernel nor a copy ran.",
    ),
    Definition(
        "communication",
        "Communication",
        "number",
        "ns",
        "Communication not hidden behind compute, copies or fills: communication kernels, and on the host the "
        "ranges of collectives (nccl:…, gloo:…).",
    ),
    Definition(
        "runtime",
        "Runtime",
        "number",
        "ns",
        "Time in calls of the device's runtime or driver API (launches, waits) while none of the above ran.",
    ),
    Definition(
        "dataloader",
        "DataLoader",
        "number",
        "ns",
        "Time in which the training loop waited for the next batch of a DataLoader or DataPipe and none of the "
        "above ran.",
    ),
    Definition(
        "cpu_exec",
        "CPU Exec",
        "number",
        "ns",
        "Time in operators and optimizer steps on the host while none of the above ran.",
    ),
    Definition(
        "other",
        "Other",
        "number",
        "ns",
        "The rest of the step: Python between operators, and waiting for something the profiler does not record.",
    ),
    Definition(
        "step",
        "Step time",
        "number",
        "ns",
        "From the start of a step on the host to its end there, or to the end of the last device work it "
        "launched if that is later. A step starts where the one before ended at the earliest. The categories of a "
        "step add up to its time exactly.",
    ),
    Definition(
        "utilization",
        "GPU utilization",
        "number",
        "fraction",
        "Time in which at least one kernel ran on the device ÷ time from the start of the first step to the end "
        "of the last.",
    ),
    Definition(
        "sm_efficiency",
        "Est. SM efficiency",
        "number",
        "fraction",
        "How much of the device's multiprocessors (SMs) kernels could fill. At each moment the blocks per SM of "
        "the running kernels are added, at most 1; this is averaged over the time from the start of the first "
        "step to the end of the last. Estimated from launch configurations, not measured.",
    ),
    Definition(
        "achieved_occupancy",
        "Est. achieved occupancy",
        "number",
        "fraction",
        "Active warps ÷ most warps an SM can hold, as estimated by the profiler for each kernel; mean over the "
        "kernels within the steps, weighted by duration.",
    ),
    Definition(
        "tensor_core_share",
        "Kernel time using tensor cores",
        "number",
        "fraction",
        "Duration of kernels known by name to use tensor cores ÷ duration of all kernels of the device. Kernels "
        "whose name leaves it open (Triton, some CUTLASS) count as not using them here, so this is a lower bound.",
    ),
)

_STACK = Definition(
    "call_stack",
    "Call stack",
    "string",
    None,
    "The Python frames around the call, innermost first: as recorded with the operator, else from the Python "
    "functions that enclose it on the same thread.",
)

OPERATORS = _by_key(
    Definition("name", "Name", "string", None, "Name of the operator."),
    Definition(
        "input_shape",
        "Input shapes",
        "string",
        None,
        "Shapes of the inputs, one list per argument; recorded with record_shapes=True.",
    ),
    _STACK,
    Definition(
        "calls",
        "Calls",
        "number",
        "count",
        "How often it was called. An operator whose only nested operator has the same name counts once with it.",
    ),
    Definition(
        "device_self_ns",
        "Device self",
        "number",
        "ns",
        "Σ durations of the kernels, copies and fills launched by the operator itself, not by operators it "
        "called. Work that runs at the same time on several streams is added up.",
    ),
    Definition(
        "device_total_ns",
        "Device total",
        "number",
        "ns",
        "Device self of the operator and of all operators it called.",
    ),
    Definition(
        "kernels",
        "Kernels",
        "number",
        "count",
        "Kernels launched by the operator itself, not by operators it called.",
    ),
    Definition(
        "host_self_ns",
        "Host self",
        "number",
        "ns",
        "Duration on the host − Σ of the operators directly inside it − Σ of its own calls "
        "of the device's API.",
    ),
    Definition(
        "host_total_ns",
        "Host total",
        "number",
        "ns",
        "Σ durations on the host. A call inside another call of the same operator counts in both.",
    ),
    Definition(
        "tensor_core_eligible",
        "Tensor cores eligible",
        "bool",
        None,
        "Whether the operator multiplies matrices or convolves and so can use tensor cores, or calls one that "
        "does, or was seen using them.",
    ),
    Definition(
        "tensor_core_self",
        "Tensor cores self",
        "number",
        "percent",
        "Duration of its own kernels known to use tensor cores ÷ device self.",
    ),
    Definition(
        "tensor_core_total",
        "Tensor cores total",
        "number",
        "percent",
        "Duration of kernels known to use tensor cores, launched by it or by operators it called ÷ device total.",
    ),
    Definition(
        "has_call_stack",
        "Has call stacks",
        "bool",
        None,
        "Whether Python frames are known for at least one of its calls.",
    ),
    Definition(
        "unattributed_device_ns",
        "Unattributed device time",
        "number",
        "ns",
        "Device work that no operator launched: launched outside any operator, replayed by a graph, or launched "
        "before the recording began. Σ Device self + this = Σ of all kernels, copies and fills, exactly.",
    ),
)

KERNELS = _by_key(
    Definition("name", "Name", "string", None, "Name of the kernel."),
    Definition(
        "operator",
        "Operator",
        "string",
        None,
        "The innermost operator that launched it; empty when it was launched outside any operator.",
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
        "Whether the kernel uses tensor cores, judged by its name; unknown where the name leaves it open.",
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
        "Active warps ÷ most warps an SM can hold, as estimated by the profiler. Mean over the calls, weighted by "
        "duration.",
    ),
)
