"""How the time of a step is shared between computation and communication."""

from __future__ import annotations

from torch_tb_profiler.analysis.definition import Definition, by_key

OVERLAP = by_key(
    "overlap",
    Definition(
        "computation_ns",
        "Computation",
        "number",
        "ns",
        "Time of the step in which a compute kernel ran on a device and no communication. In a trace without compute "
        "kernels: an operator computed on the host; calls of communication and hooks of autograd do not.",
    ),
    Definition(
        "overlap_ns",
        "Overlapping",
        "number",
        "ns",
        "Time of the step in which computation and communication ran at the same time.",
    ),
    Definition(
        "communication_only_ns",
        "Communication",
        "number",
        "ns",
        "Time of the step in which communication ran and no computation, on any device of the rank. Communication "
        "is its kernels, or, for libraries without kernels (gloo, MPI), the calls on the host.",
    ),
    Definition(
        "other_ns",
        "Other",
        "number",
        "ns",
        "Time of the step with neither of them. Computation + Overlapping + Communication + Other = step time, "
        "exactly.",
    ),
)
