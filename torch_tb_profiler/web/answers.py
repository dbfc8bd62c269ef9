"""Results of analyses in the shapes of the /api routes (docs/api.md)."""

from __future__ import annotations

from dataclasses import asdict

from torch_tb_profiler.analysis import definitions
from torch_tb_profiler.analysis.capture import capture
from torch_tb_profiler.analysis.health import health
from torch_tb_profiler.analysis.health.profiler import LOG_LEVELS, log_lines
from torch_tb_profiler.analysis.health.recording import NO_KERNELS
from torch_tb_profiler.analysis.kernels.table import KernelGrouping, kernels
from torch_tb_profiler.analysis.operators.table import OperatorGrouping, operators
from torch_tb_profiler.analysis.overview.overview import StepTimes, overview, step_gpu_busy
from torch_tb_profiler.insights import findings
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.steps import RULES
from torch_tb_profiler.web.known_operators import operator_table, operators_meta
from torch_tb_profiler.web.table_query import TableAnswer
from torch_tb_profiler.web.tables import Json, meta_of, note_of, plain, table_answer
from torch_tb_profiler.workspace import OpenTrace

#: of what the profiler logged; it may have done so for every step
MOST_LOG_LINES = 100
LONGEST_LOG_LINE = 1000


def overview_answer(model: Model, trace: OpenTrace) -> Json:
    found = overview(model)
    gpu = found.device_type == "GPU"
    busy = step_gpu_busy(model)
    return {
        "meta": meta_of(model, trace, "overview"),
        "steps": _steps(found.steps) | {"gpu_busy_ns": None if busy is None else plain(busy)},
        "average": asdict(found.average),
        "verdict": asdict(found.verdict) if found.verdict else None,
        "devices": [asdict(device) for device in found.devices],
        "workers": trace.workers_of_run,
        "findings": [asdict(finding) for finding in findings(model)],
        "top_operators": [
            {**asdict(operator), "device_self_ns": operator.device_self_ns if gpu else None}
            for operator in found.top_operators
        ],
        "top_kernels": [asdict(kernel) for kernel in found.top_kernels],
        "definitions": {key: defined.help for key, defined in definitions.OVERVIEW.items()},
    }


def operators_answer(model: Model, trace: OpenTrace, group_by: OperatorGrouping) -> TableAnswer:
    return operator_table(operators_meta(model, trace), operators(model, group_by))


def kernels_answer(model: Model, trace: OpenTrace, group_by: KernelGrouping) -> TableAnswer:
    found = kernels(model, group_by)
    copies = [*found.memcpy, *found.memset]
    meta = meta_of(model, trace, "kernels") | {
        "group_by": found.group_by,
        "device_ns": found.totals.kernel_ns + sum(copy.total_ns for copy in copies),
        "host_ns": None,
        "kernel_ns": found.totals.kernel_ns,
        "tensor_core_ns": found.totals.tensor_core_ns,
        "undecided_ns": found.totals.undecided_ns,
        "memcpy": [asdict(copy) for copy in found.memcpy],
        "memset": [asdict(copy) for copy in found.memset],
    }
    if not len(found):
        meta["notes"].append(note_of(NO_KERNELS))
    keys = [key for key in definitions.KERNELS if getattr(found, key) is not None]
    return table_answer(meta, found, keys, definitions.KERNELS, {"total_ns": found.totals.kernel_ns})


def health_answer(model: Model, trace: OpenTrace) -> Json:
    return {
        "meta": meta_of(model, trace, None),
        "notes": [note_of(note) for note in health(model)],
        "log": {
            level.lower(): [line[:LONGEST_LOG_LINE] for line in log_lines(model, level)[:MOST_LOG_LINES]]
            for level in LOG_LEVELS
        },
        "capture": {"bytes": trace.size, **asdict(capture(model))},
    }


def _steps(steps: StepTimes) -> Json:
    return {
        "rule": steps.rule,
        "rules": list(RULES),
        "labels": list(steps.labels),
        "names": steps.names,
        "start_ns": plain(steps.start_ns),
        "duration_ns": plain(steps.duration_ns),
        "categories": steps.categories,
        "category_ns": {category: plain(ns) for category, ns in steps.category_ns.items()},
    }
