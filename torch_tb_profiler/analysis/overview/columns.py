"""Steps and their categories, and how devices were used."""

from __future__ import annotations

from torch_tb_profiler.analysis.definition import Definition, by_key

OVERVIEW = by_key(
    "overview",
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
