"""Columns of the operators."""

from __future__ import annotations

from torch_tb_profiler.analysis.definition import Definition, by_key

CALL_STACK = Definition(
    "call_stack",
    "Call stack",
    "string",
    None,
    "The Python frames around the call, innermost first: as recorded with the operator, otherwise from the Python "
    "functions that enclose it on the same thread.",
)

OPERATORS = by_key(
    "operators",
    Definition("name", "Name", "string", None, "Name of the operator."),
    Definition(
        "is_communication", "Communication", "bool", None, "Whether it is a call of torch.distributed, by its name."
    ),
    Definition(
        "input_shape",
        "Input shapes",
        "string",
        None,
        "Shapes of the inputs, one list per argument; recorded with record_shapes=True.",
    ),
    CALL_STACK,
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
        "api_self_ns",
        "Blocked in API",
        "number",
        "ns",
        "Σ of its own calls of the device's runtime or driver API: launches, copies, allocations, and waiting in them. "
        "Host self + this + operators inside it = its duration.",
    ),
    Definition(
        "tensor_core_eligible",
        "Tensor cores eligible",
        "bool",
        None,
        "Whether the operator multiplies matrices or convolves, so that it can use tensor cores, or launched "
        "kernels that do, or calls an operator for which this is true.",
    ),
    Definition(
        "tensor_core_self",
        "Tensor cores self",
        "number",
        "percent",
        "Duration of its own kernels known to use tensor cores ÷ device self; empty if it is known for none of them.",
    ),
    Definition(
        "tensor_core_total",
        "Tensor cores total",
        "number",
        "percent",
        "Duration of kernels known to use tensor cores, launched by it or by operators it called ÷ device total; "
        "empty if it is known for none of them.",
    ),
    Definition(
        "flop_rate",
        "FLOP/s",
        "number",
        "flop_per_second",
        "Matrix FLOP by the shapes of its inputs ÷ time of its own kernels. Empty for operators without FLOP, or "
        "if the shapes do not determine them.",
    ),
    Definition(
        "byte_rate",
        "Bytes/s",
        "number",
        "bytes_per_second",
        "The minimum that it reads and writes, by the shapes of its inputs ÷ time of its own kernels. Empty if the "
        "shapes do not determine it.",
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
