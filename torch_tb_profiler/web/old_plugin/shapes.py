"""The answers of the old torch-tb-profiler, key by key: microseconds, rounded where it rounded, HTML where it had HTML.

Pure functions from the model to what the JSON encoder takes. The shapes are frozen; the numbers are those of
`analysis`, and where they differ from what the old plugin said, docs/differences.md says why.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from html import escape
from typing import Any

from torch_tb_profiler.analysis.json_schema import Json
from torch_tb_profiler.analysis.kernels import KernelTable, kernels, kernels_by_call
from torch_tb_profiler.analysis.operators.table import OperatorDetails, OperatorTable, operators
from torch_tb_profiler.analysis.overview import StepTimes, average_step, step_times
from torch_tb_profiler.arrays.grouping import descending
from torch_tb_profiler.insights import Finding, findings
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category
from torch_tb_profiler.web.old_plugin.distributed import gpu_metrics, tensor_core_share
from torch_tb_profiler.web.old_plugin.modules import microseconds, rounded_microseconds

#: the one value of `group_by` that the old plugin knew for operators; anything else groups by name
BY_SHAPE = "OperationAndInputShape"
#: and for kernels; anything else groups by name, operator and launch configuration
BY_KERNEL = "Kernel"

#: what the old plugin called the operator of kernels launched outside any operator
NO_OPERATOR = "CallTreeRoot"

_PIES = (
    ("device_total_time", "Device Total Time (us)", "device_total_ns"),
    ("device_self_time", "Device Self Time (us)", "device_self_ns"),
    ("host_total_time", "Host Total Time (us)", "host_total_ns"),
    ("host_self_time", "Host Self Time (us)", "host_self_ns"),
)


def overview(model: Model, workers: int) -> Json:
    """Answer /overview. `workers`: how many workers the run has."""
    causes = findings(model)
    model = model.of_overview()
    answer = {
        "steps": _steps(model),
        "performance": [_performance(model)],
        "recommendations": _recommendations(causes),
        "environments": [
            {"title": "Number of Worker(s)", "value": str(workers)},
            {"title": "Device Type", "value": "GPU" if model.has_device_work or model.has_runtime else "CPU"},
        ],
    }
    found = gpu_metrics(model)
    if found is not None:
        answer["gpu_metrics"] = found
    return answer


def operation(model: Model, group_by: str | None) -> Json:
    """Answer /operation: the four pies."""
    table = _operators(model, group_by)
    answer: Json = {}
    for key, title, column in _PIES:
        values = getattr(table, column)
        rows = [[table.name[i], microseconds(values[i])] for i in descending(values).tolist() if values[i] > 0]
        answer[key] = {"title": title, **_name_value(rows)} if rows else None
    return answer


def operation_table(model: Model, group_by: str | None) -> Json:
    """Answer /operation/table."""
    table = _operators(model, group_by)
    return _operation_envelope(table, [{"has_call_stack": bool(value)} for value in table.has_call_stack])


def operation_stack(
    details: OperatorDetails, op_name: str, group_by: str | None, input_shape: str | None
) -> Json | None:
    """Answer /operation/stack; None if there is no such operator (of that shape) or no call stack of it is known."""
    shape = None
    if group_by == BY_SHAPE:
        shapes = details.shapes_of(op_name)
        # as the trace writes it, from the old plugin's text of it
        shape = next((text for text in shapes if _python_text(text, missing="[]") == input_shape), None)
        if shape is None:
            return None
    table = details.stacks_of(op_name, shape)
    if not len(table):
        return None
    return _operation_envelope(table, [{"call_stack": text.replace("\n", ";")} for text in table.call_stack or ()])


def kernel(model: Model) -> Json | None:
    """Answer /kernel: the pie of kernels; None without kernels."""
    if not model.has_kernels:
        return None
    table = kernels(model)
    return {
        "total": _name_value([[name, microseconds(ns)] for name, ns in zip(table.name, table.total_ns, strict=True)])
    }


def kernel_table(model: Model, group_by: str | None) -> Json | None:
    """Answer /kernel/table; None without kernels."""
    if not model.has_kernels:
        return None
    by_name = group_by == BY_KERNEL
    table = kernels(model) if by_name else kernels_by_call(model)
    columns, cells = _kernels_by_name(table) if by_name else _kernels_by_launch(table)
    for key, label, values in (
        ("mean_blocks_per_sm", "Mean Blocks Per SM", table.mean_blocks_per_sm),
        ("mean_achieved_occupancy", "Mean Est. Achieved Occupancy (%)", table.mean_achieved_occupancy),
    ):
        if values is not None:
            columns.append(_column("number", label, KernelTable.columns[key].help))
            cells.append([0 if math.isnan(value) else round(value, 2) for value in values.tolist()])
    rows = [list(row) for row in zip(*cells, strict=True)]
    return {"metadata": {"sort": "Total Duration (us)"}, "data": {"columns": columns, "rows": rows}}


def kernel_tc_pie(model: Model) -> Json | None:
    """Answer /kernel/tc_pie; None without kernels."""
    if not model.has_kernels:
        return None
    share = tensor_core_share(model, model.device_category == Category.KERNEL) or 0.0
    return {"total": _name_value([["Using Tensor Cores", share], ["Not Using Tensor Cores", 1.0 - share]])}


# overview ---------------------------------------------------------------------------------------------------


def _steps(model: Model) -> Json:
    times = step_times(model)
    labels = [StepTimes.columns[category].label for category in times.categories]
    columns: list[Json] = [{"type": "string", "name": "Step"}]
    for label in labels:
        columns.append({"type": "number", "name": label})
        columns.append({"type": "string", "role": "tooltip", "p": {"html": "true"}})
    rows: list[list[Any]] = []
    parts = zip(*(times.category_ns[category].tolist() for category in times.categories), strict=True)
    for step, length, of_step in zip(times.names, times.duration_ns.tolist(), parts, strict=True):
        row: list[Any] = [step]
        head = _tooltip_of_step(step, length)
        for label, ns in zip(labels, of_step, strict=True):
            value = microseconds(ns)
            percent = round(100 * ns / length, 2) if length else 0.0
            row += [value, f"{head}<b>{label}: {value}us</b><br>Percentage: {percent}%</div>"]
        rows.append(row)
    return {"columns": columns, "rows": rows}


def _tooltip_of_step(step: str, length: int) -> str:
    """Return how the HTML of each tooltip of a step begins."""
    return (
        '<div class="visualization-tooltip" style="white-space: nowrap;">'
        f"Step {escape(step)}<br>Total: {microseconds(length)}us<br>"
    )


def _performance(model: Model) -> Json:
    average = average_step(model)

    def part(name: str, ns: float, share: float) -> Json:
        return {"name": name, "description": "", "value": round(ns / 1000), "extra": round(100 * share, 2)}

    children = [part(StepTimes.columns[c].label, ns, average.share(c)) for c, ns in average.category_ns.items()]
    root = part("Average Step Time", average.step_ns, 1.0)
    return {**root, "extra": 100, "children": children}


def _recommendations(found: Sequence[Finding]) -> str:
    """Return HTML; everything but the tags is escaped, because names in the texts come from the trace."""
    if not found:
        return "<ul><li>N/A</li></ul>"
    return "<ul>" + "".join(f"<li>{_recommendation(finding)}</li>" for finding in found) + "</ul>"


def _recommendation(finding: Finding) -> str:
    links = ", ".join(f'<a href="{escape(link.url)}" target="_blank">{escape(link.text)}</a>' for link in finding.links)
    return escape(f"{finding.detail} {finding.advice}") + (f" See {links}." if links else "")


# operators --------------------------------------------------------------------------------------------------


def _operators(model: Model, group_by: str | None) -> OperatorTable:
    return operators(model, "name_shape" if group_by == BY_SHAPE else "name")


def _operation_envelope(table: OperatorTable, last_key: Sequence[Json]) -> Json:
    tooltips = {
        "tc_eligible": OperatorTable.columns["tensor_core_eligible"].help,
        "tc_self_ratio": OperatorTable.columns["tensor_core_self"].help,
        "tc_total_ratio": OperatorTable.columns["tensor_core_total"].help,
    }
    sort = "device_self_duration" if table.has_device_work else "host_self_duration"
    return {
        "metadata": {"sort": sort, "tooltips": tooltips},
        "data": [{**_operator_row(table, i), **last} for i, last in enumerate(last_key)],
    }


def _operator_row(table: OperatorTable, i: int) -> Json:
    row: Json = {"name": table.name[i]}
    if table.input_shape is not None:
        row["input_shape"] = _python_text(table.input_shape[i], missing="[]")
    row["calls"] = int(table.calls[i])
    if table.has_device_work:
        row["device_self_duration"] = rounded_microseconds(table.device_self_ns[i])
        row["device_total_duration"] = rounded_microseconds(table.device_total_ns[i])
    row["host_self_duration"] = rounded_microseconds(table.host_self_ns[i])
    row["host_total_duration"] = rounded_microseconds(table.host_total_ns[i])
    row["tc_eligible"] = _yes(bool(table.tensor_core_eligible[i]))
    row["tc_self_ratio"] = _ratio(float(table.tensor_core_self[i]))
    row["tc_total_ratio"] = _ratio(float(table.tensor_core_total[i]))
    return row


# kernels ----------------------------------------------------------------------------------------------------


def _kernels_by_name(table: KernelTable) -> tuple[list[Json], list[list[Any]]]:
    columns = [
        _column("string", "Name"),
        _column("string", "Tensor Cores Used", KernelTable.columns["tensor_cores_used"].help),
        *_duration_columns(),
    ]
    cells: list[list[Any]] = [
        list(table.name),
        [_yes(used) for used in table.tensor_cores_used],
        table.calls.tolist(),
        [rounded_microseconds(ns) for ns in table.total_ns],
        [rounded_microseconds(ns) for ns in table.mean_ns],
        [rounded_microseconds(ns) for ns in table.max_ns],
        [rounded_microseconds(ns) for ns in table.min_ns],
    ]
    return columns, cells


def _kernels_by_launch(table: KernelTable) -> tuple[list[Json], list[list[Any]]]:
    columns = [
        _column("string", "Name"),
        _column("string", "Operator"),
        _column("string", "Grid"),
        _column("string", "Block"),
        _column("number", "Register Per Thread"),
        _column("number", "Shared Memory"),
        _column("string", "Kernel Uses Tensor Cores", KernelTable.columns["tensor_cores_used"].help),
        _column("string", "Op is Tensor Cores eligible", KernelTable.columns["operator_tensor_core_eligible"].help),
        *_duration_columns(),
    ]
    cells: list[list[Any]] = [
        list(table.name),
        [NO_OPERATOR if operator.startswith("(") else operator for operator in table.operator or ()],
        [_python_text(text, missing="None") for text in table.grid or ()],
        [_python_text(text, missing="None") for text in table.block or ()],
        _counts(table.registers_per_thread),
        _counts(table.shared_memory_bytes),
        [_yes(used) for used in table.tensor_cores_used],
        [_yes(bool(value)) for value in _list(table.operator_tensor_core_eligible)],
        table.calls.tolist(),
        [microseconds(ns) for ns in table.total_ns],
        [rounded_microseconds(ns) for ns in table.mean_ns],
        [microseconds(ns) for ns in table.max_ns],
        [microseconds(ns) for ns in table.min_ns],
    ]
    return columns, cells


def _duration_columns() -> list[Json]:
    names = ("Calls", "Total Duration (us)", "Mean Duration (us)", "Max Duration (us)", "Min Duration (us)")
    return [_column("number", name) for name in names]


def _counts(values: Any) -> list[str]:
    """Return numbers that the old plugin wrote as text, missing ones as zero."""
    return [str(max(value, 0)) for value in _list(values)]


# cells ------------------------------------------------------------------------------------------------------


def _column(kind: str, name: str, tooltip: str | None = None) -> Json:
    column = {"type": kind, "name": name}
    return column if tooltip is None else {**column, "tooltip": tooltip}


def _name_value(rows: list[list[Any]]) -> Json:
    return {"columns": [_column("string", "name"), _column("number", "value")], "rows": rows}


def _yes(value: bool | None) -> str:
    """Return Yes or No, the old plugin's two answers: unknown counts as No."""
    return "Yes" if value else "No"


def _ratio(percent: float) -> float:
    """Return percent with two digits; the int 0 when there was nothing to divide by, as the old plugin had it."""
    return 0 if math.isnan(percent) else round(percent, 2)


def _list(values: Any) -> list[Any]:
    return [] if values is None else list(values.tolist())


def _python_text(recorded: str, missing: str) -> str:
    """Write a JSON value of the trace as Python does."""
    if not recorded:
        return missing
    try:
        return str(json.loads(recorded))
    except ValueError:
        return recorded
