"""What tells that the cause of a finding is gone: metrics of `check`, added up, by rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.change.figures import RecordingFigures
from torch_tb_profiler.analysis.change.metrics import metric_of
from torch_tb_profiler.arrays.types import Float64
from torch_tb_profiler.insights.rule import Finding

MeasureUnit = Literal["ns", "count"]
#: in place of a metric: calls of the operator of the finding, its time, and the time of the kernels that show it
_CALLS, _OPERATOR, _KERNELS = "calls of the operator", "time of the operator", "time of the kernels"

_INPUT = ("idle.input", "host.data")
_COPIES = ("exposed_copy", "compute.copy", "idle.sync", "host.sync")
_HOST = ("idle.host", "idle.launch_latency", "idle.slow_launch")
_PYTHON = ("idle.host.python", "host.python")
_OPERATORS = ("idle.host.operator", "host.operator", *_PYTHON)
_COMMUNICATION = (
    "exposed_communication",
    "idle.dependency.communication",
    "idle.host.collective",
    "host.dependency.communication",
    "host.collective",
)
_ALLOCATOR = ("idle.allocator", "host.allocator")

#: what each rule measures; None: nothing that two recordings can be compared by
MEASURES: Mapping[str, tuple[str, ...] | None] = {
    **dict.fromkeys(
        ("dataloader", "input_annotation", "synchronous_dataloader", "worker_stalls", "dataloader_restart"), _INPUT
    ),
    **dict.fromkeys(("pageable_input", "exposed_copies", "pageable_output", "device_copies"), _COPIES),
    **dict.fromkeys(("sync_points", "logging_reads", "dynamic_shapes", "barriers", "object_collectives"), (_CALLS,)),
    **dict.fromkeys(("launch_blocking", "anomaly_mode"), _HOST),
    **dict.fromkeys(("launch_bound", "host_dispatch", "device_idle"), _HOST),
    "api_calls": ("idle.host.api", "host.api", *_ALLOCATOR),
    "first_launches": ("idle.slow_launch", "host.slow_launch"),
    "garbage_collection": ("idle.host.gc", "host.gc"),
    **dict.fromkeys(("host_code", "checkpoint_saves"), _PYTHON),
    "profiler_overhead": ("idle.profiler", "host.profiler"),
    **dict.fromkeys(("optimizer_share", "expert_loop", "gathered_experts"), _OPERATORS),
    **dict.fromkeys(("tensor_loop", "zero_grad", "tiny_copies"), (_CALLS,)),
    **dict.fromkeys(
        ("tf32", "tensor_cores", "misaligned_products", "slow_products", "skinny_products", "few_blocks"), (_KERNELS,)
    ),
    **dict.fromkeys(
        ("low_occupancy", "pointwise_chain", "unfused_norm", "unfused_attention", "attention_math", "layout"),
        (_KERNELS,),
    ),
    **dict.fromkeys(("conv_bias", "convolution_tuning"), (_KERNELS,)),
    # its kernels have the names of others, and the annotation that shows it is none
    "unfused_optimizer": ("kernels_per_step",),
    **dict.fromkeys(("double_precision", "top_operators"), (_OPERATOR,)),
    "graph_breaks": ("graph_breaks",),
    "recompiles": ("compilations",),
    **dict.fromkeys(("allocator_churn", "host_allocation"), _ALLOCATOR),
    **dict.fromkeys(
        ("communication", "slow_communication", "tiny_collectives", "data_parallel", "distributed_backend"),
        _COMMUNICATION,
    ),
    **dict.fromkeys(
        ("fp32_gradients", "unused_parameters", "late_gathers", "resharding", "sync_batchnorm", "uneven_accumulation"),
        _COMMUNICATION,
    ),
    **dict.fromkeys(("slow_compiled", "recompute", "memory_limit", "unused_memory", "fragmentation"), None),
    **dict.fromkeys(("memory_growth", "step_jitter", "step_gaps", "grad_recorded", "thread_contention"), None),
    "clock_throttling": None,
}


#: what is measured in place of these if they are less than half of what the finding saves
_WIDER: Mapping[tuple[str, ...], tuple[str, ...]] = {_PYTHON: _OPERATORS}


class Measure(msgspec.Struct, frozen=True):
    """The sum of some metrics of `check`.

    metrics  their names, such as `idle.input` and `calls(aten::item)`
    unit     ns or count
    """

    metrics: Sequence[str]
    unit: MeasureUnit

    def of(self, figures: RecordingFigures) -> Float64 | None:
        """Return the measure of each kept step, shape (steps,); None if the recording says nothing of it."""
        metrics = [metric_of(name) for name in self.metrics]
        known = [values for metric in metrics if metric is not None and (values := metric.values(figures)) is not None]
        return np.sum(np.array(known, np.float64), axis=0) if known else None


def measure_of(finding: Finding, figures: RecordingFigures | None = None) -> Measure | None:
    """Return what tells that the cause of a finding is gone; None where nothing does. figures: where it was found."""
    parts = MEASURES[finding.id]
    if parts is None:
        return None
    if parts in _WIDER and figures is not None and finding.saving is not None:
        values = Measure(parts, "ns").of(figures)
        if values is not None and 2 * float(values.mean()) < (finding.saving.alone_ns or 0):
            parts = _WIDER[parts]
    shown = list(dict.fromkeys(instance.name for instance in finding.instances))
    operator = None if finding.where is None else finding.where.operator
    around = [operator] if operator is not None else shown
    # calls of a library are no operators, but have names, too
    named = {_CALLS: ("calls", around), _OPERATOR: ("operator", around), _KERNELS: ("kernel", shown)}
    if parts[0] in named:
        kind, names = named[parts[0]]
        return Measure([f"{kind}({name})" for name in names], "count" if kind == "calls" else "ns") if names else None
    is_count = all(metric is not None and metric.unit == "count" for metric in map(metric_of, parts))
    return Measure(parts, "count" if is_count else "ns")
