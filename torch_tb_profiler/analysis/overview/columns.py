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
        "The period of a step: from the end of the previous step to its own end. A step ends when its mark on the "
        "host, the last device work launched in it, and the previous step have ended. The first begins with its "
        "mark, when the streams it uses have finished work launched before it, or, where it waited for work that is "
        "not recorded, as far behind its mark as the device is behind that of the second step. The categories of a "
        "step add up to its time exactly.",
    ),
    Definition(
        "kind",
        "Kind",
        "string",
        None,
        "The kind of the step, where steps run unlike programs: training has a backward pass or an optimizer step; "
        "means over all steps are over several programs.",
    ),
    Definition(
        "busy",
        "Device busy",
        "number",
        "fraction",
        "Time of the steps in which at least one kernel, copy or fill ran on the device ÷ time of the steps; mean over "
        "the devices that ran kernels.",
    ),
    Definition(
        "computing",
        "Computing",
        "number",
        "fraction",
        "Time of the steps in which at least one compute kernel ran on the device ÷ time of the steps; mean over the "
        "devices that ran kernels. Communication, copies and fills do not count.",
    ),
    Definition(
        "communicating",
        "Communicating",
        "number",
        "fraction",
        "Time of the steps in which at least one communication kernel ran on the device ÷ time of the steps, "
        "hidden behind compute or not; mean over the devices that ran kernels. Empty if communication is known "
        "only from calls on the host (gloo, MPI).",
    ),
    Definition(
        "exposed_communication",
        "Exposed communication",
        "number",
        "fraction",
        "Time of the steps in which communication kernels ran on the device and no compute kernel did ÷ time of "
        "the steps; mean over the devices that ran kernels. Copies do not hide communication. Empty if "
        "communication is known only from calls on the host (gloo, MPI).",
    ),
    Definition(
        "sm_efficiency",
        "Est. SM efficiency",
        "number",
        "fraction",
        "How much of the device's multiprocessors (SMs) compute kernels could fill. At each moment the blocks per SM "
        "of the running compute kernels are added, at most 1; this is averaged over the time of the steps. Estimated "
        "from launch configurations, not measured.",
    ),
    Definition(
        "achieved_occupancy",
        "Est. achieved occupancy",
        "number",
        "fraction",
        "Active warps ÷ the maximum number of warps of an SM, as estimated by the profiler for each kernel, otherwise "
        "computed from the launch (compute capabilities 7.0, 7.5, 8.0 and 9.0); mean over the compute kernels for "
        "which it is known, weighted by duration.",
    ),
    Definition(
        "occupancy_known_share",
        "Occupancy known",
        "number",
        "fraction",
        "Duration of the compute kernels whose occupancy is known ÷ duration of all compute kernels.",
    ),
    Definition(
        "tensor_cores_yes",
        "Tensor cores used",
        "number",
        "fraction",
        "Duration of the compute kernels known by name to use tensor cores ÷ duration of all compute kernels; empty if "
        "it is known for none of them.",
    ),
    Definition(
        "tensor_cores_no",
        "Tensor cores not used",
        "number",
        "fraction",
        "Duration of the compute kernels known by name not to use tensor cores ÷ duration of all compute kernels; "
        "empty if it is known for none of them.",
    ),
    Definition(
        "tensor_cores_unknown",
        "Tensor cores unknown",
        "number",
        "fraction",
        "Duration of the compute kernels whose name does not show whether they use tensor cores ÷ duration of all "
        "compute kernels.",
    ),
)
