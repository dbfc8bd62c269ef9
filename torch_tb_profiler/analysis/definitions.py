"""What every reported number means. The UI shows these texts, and docs/views repeats them word for word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ColumnType = Literal["string", "number", "bool"]
Unit = Literal["ns", "bytes", "bytes_per_second", "percent", "fraction", "count"]


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
        "Communication not hidden behind compute, copies or fills: the kernels of collectives. A library without "
        "kernels in the trace (gloo, MPI) communicates while its calls on the host last (gloo:…).",
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
        "Time within the steps in which at least one kernel ran on the device ÷ time of the steps.",
    ),
    Definition(
        "sm_efficiency",
        "Est. SM efficiency",
        "number",
        "fraction",
        "How much of the device's multiprocessors (SMs) kernels could fill. At each moment the blocks per SM of "
        "the running kernels are added, at most 1; this is averaged over the time of the steps. Estimated from "
        "launch configurations, not measured.",
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
        "Duration on the host − Σ of the operators directly inside it − Σ of its own calls of the device's API.",
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
        "The innermost operator that launched it; in parentheses the API call when that was outside any operator.",
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

MEMORY = _by_key(
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
        "Σ bytes allocated by the operator and everything it called; releases are not taken away.",
    ),
    Definition(
        "self_allocation_size",
        "Self allocated size",
        "number",
        "bytes",
        "Σ bytes allocated by the operator itself, not by operators it called; releases are not taken away.",
    ),
    Definition(
        "unattributed",
        "Outside operators",
        "number",
        "bytes",
        "Allocations and releases outside of every operator, such as releases when Python drops a tensor. Σ self + "
        "this = everything recorded on the device, exactly.",
    ),
    Definition("device", "Device", "string", None, "Where the memory is: CPU, or type and number of the device."),
    Definition(
        "operator",
        "Operator",
        "string",
        None,
        "The innermost operator that made the allocation; empty when it was made outside of operators, or before "
        "the recording began.",
    ),
    Definition(
        "parent",
        "Called by",
        "string",
        None,
        "The operator or annotation that encloses that operator; tells what an aten::empty was for.",
    ),
    Definition("bytes", "Size", "number", "bytes", "Bytes of the allocation, as the allocator counts them."),
    Definition(
        "alloc_ns",
        "Allocated at",
        "number",
        "ns",
        "Time of the allocation since the start of the trace; empty when it happened before the recording began.",
    ),
    Definition(
        "release_ns",
        "Released at",
        "number",
        "ns",
        "Time of the release since the start of the trace; empty when it was not recorded. The allocator may keep "
        "what is released as reserved memory.",
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
        "Memory that the caching allocator holds of the device, in use or not; 0 on the CPU, where nothing is kept.",
    ),
    Definition(
        "device_bytes",
        "Device total",
        "number",
        "bytes",
        "Memory the device has (totalGlobalMem of the trace's deviceProperties).",
    ),
    Definition(
        "peak",
        "Peak",
        "number",
        "bytes",
        "Most memory in use at once, and when that was first reached. Taken from every record, not from what is drawn.",
    ),
    Definition(
        "baseline",
        "Before the recording",
        "number",
        "bytes",
        "Memory in use before the first record: parameters, optimizer state, whatever was there already. Memory in "
        "use at the end = this + Σ allocated − Σ released, exactly, unless something changed without a record.",
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
        "Memory in use at the time − Σ of the blocks known to be alive: what was allocated before the recording began.",
    ),
)

DISTRIBUTED = _by_key(
    Definition(
        "computation_ns",
        "Computation",
        "number",
        "ns",
        "Time of the step in which a compute kernel ran on a device and no communication. In a trace without compute "
        "kernels: an operator or optimizer step on the host.",
    ),
    Definition(
        "overlap_ns",
        "Overlapping",
        "number",
        "ns",
        "Time of the step in which computation and communication ran at the same time.",
    ),
    Definition(
        "communication_ns",
        "Communication",
        "number",
        "ns",
        "Exposed communication: time of the step in which communication ran and no computation. Communication is its "
        "kernels; of libraries without kernels (gloo, MPI) it is the calls on the host.",
    ),
    Definition(
        "other_ns",
        "Other",
        "number",
        "ns",
        "Time of the step with neither. Computation + Overlapping + Communication + Other = step time, exactly.",
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

DISTRIBUTED_OPERATIONS = _by_key(
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

MODULES = _by_key(
    Definition("id", "Id", "number", None, "Number of the entry; entries stand in the order of first calls."),
    Definition("parent", "Parent", "number", None, "Id of the module that calls it; -1 at the top."),
    Definition(
        "name", "Module", "string", None, "Name of the module: its class and a number, or its path in Lightning."
    ),
    Definition(
        "module_id", "Module id", "number", None, "Which of the modules of that name, as recorded; -1 if it is not."
    ),
    Definition("calls", "Calls", "number", "count", "How often its forward was called from there."),
    Definition("operators", "Operators", "number", "count", "Operators that it called itself, not nested modules."),
    Definition("host_total_ns", "Host total", "number", "ns", "Σ durations of its forward on the host."),
    Definition(
        "host_self_ns",
        "Host self",
        "number",
        "ns",
        "Host total − Σ of the operators and modules directly inside − Σ of its own calls of the device's API: its "
        "Python.",
    ),
    Definition(
        "device_total_ns",
        "Device total",
        "number",
        "ns",
        "Σ durations of the kernels, copies and fills launched during its forward.",
    ),
    Definition(
        "device_self_ns", "Device self", "number", "ns", "Device total − Σ device total of the modules nested in it."
    ),
    Definition(
        "backward_host_ns",
        "Backward host",
        "number",
        "ns",
        "Σ durations on the host of the autograd nodes whose forward ran in it or in a module nested in it, with the "
        "accumulation of gradients that follows each.",
    ),
    Definition(
        "backward_device_ns",
        "Backward device",
        "number",
        "ns",
        "Σ durations of the kernels, copies and fills launched by these autograd nodes.",
    ),
    Definition("mean_host_ns", "Host per call", "number", "ns", "(Host total + backward host) ÷ calls."),
    Definition("mean_device_ns", "Device per call", "number", "ns", "(Device total + backward device) ÷ calls."),
)

HOOKS = _by_key(
    Definition("name", "Hook", "string", None, "What Lightning called, as it names it."),
    Definition("calls", "Calls", "number", "count", "How often."),
    Definition("host_total_ns", "Total", "number", "ns", "Σ durations on the host."),
    Definition("host_self_ns", "Self", "number", "ns", "Total − Σ of the hooks called directly inside it."),
    Definition("max_ns", "Max", "number", "ns", "Longest call."),
    Definition("min_ns", "Min", "number", "ns", "Shortest call."),
)


STACKS = _by_key(
    Definition(
        "id",
        "Id",
        "number",
        None,
        "Stands for the names from the top down to it; the same stack has it in every trace.",
    ),
    Definition("parent", "Parent", "number", None, "Row of what is around it; -1 at the top."),
    Definition(
        "name",
        "Name",
        "string",
        None,
        "What is innermost: file(line): function of a Python frame, else the name of the module, operator, annotation "
        "or device work.",
    ),
    Definition(
        "kind",
        "Kind",
        "string",
        None,
        "frame (Python function), builtin (function in C), module (call of nn.Module), annotation, operator, device "
        "(kernel, copy or fill), other (an API call outside of all these), smaller (entries folded together).",
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
        "Entries that are together this one, because each has less than the smallest share; 0 for all others.",
    ),
)


def _of_both(*definitions: Definition) -> dict[str, Definition]:
    """Baseline, experiment and change of each."""
    found: list[Definition] = []
    for d in definitions:
        found += (
            Definition(d.key, f"Baseline {d.label}", d.type, d.unit, f"Baseline: {d.help}"),
            Definition(f"exp_{d.key}", f"Experiment {d.label}", d.type, d.unit, f"Experiment: {d.help}"),
            Definition(f"delta_{d.key}", f"Δ {d.label}", d.type, d.unit, f"Experiment − baseline: {d.help}"),
        )
    return _by_key(*found)


COMPARE_PARTS = {
    **_by_key(
        Definition("path", "Path", "string", None, "Where the part is: 0 is everything, 0-2 its third part."),
        Definition(
            "name",
            "Baseline",
            "string",
            None,
            "Name of the part in the baseline; of several that stand between two pairs the first and the last; "
            "empty when the baseline has nothing there.",
        ),
        Definition("exp_name", "Experiment", "string", None, "The same in the experiment."),
        Definition(
            "kind",
            "Kind",
            "string",
            None,
            "What it is on both sides (module, backward, dataloader, optimizer, step, label, communication, operator), "
            "or group.",
        ),
        Definition("has_parts", "Has parts", "bool", None, "Whether it consists of parts that belong together."),
    ),
    **_of_both(
        Definition("duration_ns", "Host", "number", "ns", "Σ durations on the host."),
        Definition(
            "device_ns", "Device", "number", "ns", "Σ durations of the kernels, copies and fills launched in it."
        ),
        Definition(
            "total_ns", "Time", "number", "ns", "Σ of the device time of each node, of nodes without any the duration."
        ),
    ),
}

COMPARE_OPERATORS = {
    "name": OPERATORS["name"],
    **_of_both(
        *(OPERATORS[key] for key in ("calls", "host_self_ns", "host_total_ns", "device_self_ns", "device_total_ns"))
    ),
}

COMPARE_KERNELS = {"name": KERNELS["name"], **_of_both(KERNELS["calls"], KERNELS["total_ns"])}

SLICES = _by_key(
    Definition("row", "Event", "number", None, "Number of the event in the file, counted from 0."),
    Definition("name", "Name", "string", None, "Name of the event, as the file has it."),
    Definition(
        "category", "Category", "string", None, "What the event is, in one vocabulary for files of all versions."
    ),
    Definition("track", "Track", "string", None, "Where it ran: process and thread of the host, or device and stream."),
    Definition("start_ns", "Start", "number", "ns", "Time since the start of the trace."),
    Definition(
        "duration_ns", "Duration", "number", "ns", "From its start to its end, with everything that ran inside of it."
    ),
)
