"""Modules, and the hooks of Lightning."""

from __future__ import annotations

from torch_tb_profiler.analysis.definition import Definition, by_key

MODULES = by_key(
    "modules",
    Definition("id", "Id", "number", None, "Number of the entry; entries are in the order of their first calls."),
    Definition("parent", "Parent", "number", None, "Id of the module that calls it; -1 at the top."),
    Definition(
        "name", "Module", "string", None, "Name of the module: its class and a number, or its path in Lightning."
    ),
    Definition(
        "module_id",
        "Module id",
        "number",
        None,
        "Which of the modules of that name it is, as recorded; -1 if it was not recorded.",
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

HOOKS = by_key(
    "hooks",
    Definition("name", "Hook", "string", None, "Name of the hook that Lightning called."),
    Definition("calls", "Calls", "number", "count", "How often."),
    Definition("host_total_ns", "Total", "number", "ns", "Σ durations on the host."),
    Definition("host_self_ns", "Self", "number", "ns", "Total − Σ of the hooks called directly inside it."),
    Definition("max_ns", "Max", "number", "ns", "Longest call."),
    Definition("min_ns", "Min", "number", "ns", "Shortest call."),
)
