"""The recorded numbers of Holistic Trace Analysis, beside the repository in ../shared, and ours to the same questions.

Both are put into one form: {what: number}, times in microseconds. `what` names the stream, cause, kind and so on.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from torch_tb_profiler.analysis.api_calls import LONG_DELAY_NS, SLOW_CALL_NS, launched, stream_queues
from torch_tb_profiler.analysis.copies import bandwidth, copy_kinds
from torch_tb_profiler.analysis.device_time import device_time
from torch_tb_profiler.analysis.idle import CAUSES, GapCause, idle_gaps
from torch_tb_profiler.analysis.kernels import kernel_sequences, kernels
from torch_tb_profiler.analysis.shared.distribution import distribution
from torch_tb_profiler.arrays.grouping import Groups
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import read_trace

SHARED = Path(__file__).resolve().parents[3] / "shared"
GOLDENS = SHARED / "data" / "goldens" / "hta"
TRACES = SHARED / "data" / "traces"

#: data set → run and, where there are several, worker of each rank
DATA_SETS = {
    "amd_mi250": "HTA/minitoy_mi250",
    "cp_alexnet": "HTA/alexnet_a100_cuda_sync",
    "cp_event_sync": "HTA/event_sync_a100",
    "cp_event_sync_multi": "HTA/event_sync_multi_stream_a100",
    "cp_simple_add": "HTA/simple_add_a100",
    "cupti_profiler": "HTA/cupti_counters_a100",
    "df_index_resolver": "HTA/v100_ddp_profile_memory_rank1_of_2",
    "dlrm8": "param/dlrm_v100_8ranks",
    "kineto_resnet50": "kineto/resnet50_num_workers_0",
    "mtia_inference_trace": "HTA/mtia_inference",
    "nccl_parser_config": "HTA/nccl_a100_rank0_of_2",
    "ns_resolution_trace": "HTA/v100_absolute_ns_timestamps",
    "saf_a100_compile": "saf/amg_a100_inductor_cudagraph",
    "tl_h100_bert": "TraceLens/bert_small_h100",
    "tl_mi300_bert": "TraceLens/bert_small_mi300x",
    "tl_rocm_triton": "TraceLens/inductor_triton_mi300x",
    "tl_rocm_vllm_graph": "TraceLens/vllm_decode_hipgraph_mi300",
    "triton_example": "HTA/triton_a100",
}

Numbers = dict[str, float]


def configuration(versions: dict[str, Any], version: str) -> Any:
    """The value of the configuration of a version that rounds least and has most steps."""
    name = next(version + end for end in ("_exact", "_noround", "_last", "") if version + end in versions)
    value = versions[name]
    while isinstance(value, str):
        value = versions[value.removeprefix("same as ")]
    return value


@lru_cache(maxsize=16)
def _file(name: str) -> Any:
    return json.loads((GOLDENS / f"{name}.json").read_text())


def files(data_set: str) -> dict[int, Path]:
    """The file of each rank."""
    paths = sorted((TRACES / DATA_SETS[data_set]).glob("*.json*"))
    if len(paths) == 1:
        rank = re.search(r"rank(\d+)_of", DATA_SETS[data_set])
        return {1 if rank and rank[1] == "1" else 0: paths[0]}
    # of several recordings of one worker the first was asked about
    return {int(re.match(r"worker(\d+)", p.name)[1]): p for p in reversed(paths)}  # type: ignore[index]


@lru_cache(maxsize=1)
def model_of(path: Path) -> Model:
    with path.open("rb") as stream:
        return Model(read_trace(stream))


# theirs --------------------------------------------------------------------------------------------------


def theirs(question: str, data_set: str, version: str, rank: int) -> Numbers | None:
    """What was recorded; None where the call failed or nothing was asked."""
    file, read = _RECORDED[question]
    versions = _file(file).get(data_set)
    if versions is None:
        return None
    try:
        return {k: v for k, v in read(configuration(versions, version), rank) if v is not None}
    except _Failed:
        return None


class _Failed(Exception):
    pass


Pairs = Iterator[tuple[str, Any]]


def _rows(value: Any, key: str, rank: int) -> list[dict[str, Any]]:
    found = value.get(key)
    if isinstance(found, dict) and "error" in found:
        raise _Failed
    if isinstance(found, dict):
        found = found.get("breakdown", found.get(str(rank)))
    return [row for row in found or [] if row.get("rank", rank) == rank]


def _temporal(value: Any, rank: int) -> Pairs:
    for row in _rows(value, "temporal_breakdown", rank):
        for key in ("kernel", "idle", "compute", "non_compute"):
            yield key, row[f"{key}_time(us)"]


def _overlap(value: Any, rank: int) -> Pairs:
    for row in _rows(value, "comm_comp_overlap", rank):
        yield "percent", row["comp_comm_overlap_pctg"]


def _idle(value: Any, rank: int) -> Pairs:
    for row in _rows(value, "idle_time_breakdown", rank):
        yield f"{row['stream']} {row['idle_category']}", row["idle_time"]
    if not isinstance(value["idle_time_breakdown"], dict):
        return
    for row in value["idle_time_breakdown"].get("intervals", ()):
        if row["rank"] == rank and row["idle_category"] == "host_wait":
            for key in ("count", "max", "mean"):
                yield f"{row['stream']} host_wait {key}", row[key]


def _launches(value: Any, rank: int) -> Pairs:
    found = value["kernel_launch_stats"].get(str(rank), {})
    if "error" in value["kernel_launch_stats"] or not found.get("n"):
        raise _Failed
    for key in ("cpu_duration", "gpu_duration", "launch_delay"):
        for of in ("count", "sum", "mean", "std", "min", "p25", "p50", "p75", "p99", "max"):
            yield f"{key} {of}", found[key][of]
    yield "late", found["n_launch_delay_outlier(>100)"]
    yield "slow", found["n_runtime_outlier(cpu>50)"]
    yield "short", found["n_short_gpu(cpu<=50 & gpu<cpu)"]
    yield "kernels", value["kernel_launch_stats.no_memory"][str(rank)]


def _queue(value: Any, rank: int) -> Pairs:
    if "error" in value["queue_length.time_series"]:
        raise _Failed
    for stream, of in value["queue_length.time_series"].get(str(rank), {}).get("per_stream", {}).items():
        yield f"{stream} points", of["points"]
        yield f"{stream} max", of["max"]
        yield f"{stream} last", of["last"]
    for row in value["queue_length.blocked(max=4)"]:
        if row["rank"] == rank:
            yield f"{row['stream']} blocked", row["duration_at_max_queue_length"]


def _types(value: Any, rank: int) -> Pairs:
    found = value["kernel_breakdown.default"]
    if "error" in found:
        raise _Failed
    for row in found["kernel_type"]:
        parts = sorted(row["kernel_type"].split(" overlapping "))
        yield " and ".join(parts), row["sum"]


def _kernels(value: Any, rank: int) -> Pairs:
    found = value["kernel_breakdown.all_kernels"]
    if "error" in found:
        raise _Failed
    for row in found["top_by_sum"]:
        if row["rank"] == rank:
            for of in ("sum", "mean") if row["kernel_type"] == "MEMORY" else ("sum", "max", "min", "mean"):
                yield f"{row['name']} {of}", row[f"{of} (us)"]


def _totals(value: Any, rank: int) -> Pairs:
    found = value["kernel_breakdown.all_kernels"]
    if "error" in found:
        raise _Failed
    yield "names", found["n_rows"]
    yield "sum", found["sum_of_sums"]


def _copies(value: Any, rank: int) -> Pairs:
    found = value.get("memory_bw.summary")
    if isinstance(found, dict):
        raise _Failed
    for row in found or ():
        if row["rank"] == rank:
            for of in ("count", "mean", "max", "min"):
                yield f"{row['name']} {of}", row[f"memory_bw_gbps|{of}"]


def _operators(value: Any, rank: int) -> Pairs:
    found = value.get("aten_op_kernels_and_delay")
    if not isinstance(found, dict) or "error" in found:
        raise _Failed
    for row in found.get(str(rank), ()):
        what = f"{row['aten_op_name']}: {row['kernel_sequence']}"
        yield f"{what} calls", row["occurrence_count"]
        yield f"{what} launch", row["avg_aten_op_launch_delay"]
        yield f"{what} queue", row["avg_runtime_delay"]


_RECORDED: dict[str, tuple[str, Callable[[Any, int], Pairs]]] = {
    "temporal": ("temporal_breakdown", _temporal),
    "overlap": ("comm_comp_overlap", _overlap),
    "idle": ("idle_time_breakdown", _idle),
    "launches": ("kernel_launch_stats", _launches),
    "queue": ("queue_length", _queue),
    "kernel types": ("kernel_breakdown", _types),
    "kernels": ("kernel_breakdown", _kernels),
    "kernel totals": ("kernel_breakdown", _totals),
    "copies": ("memory_bw", _copies),
    "operators": ("aten_op_kernels_and_delay", _operators),
}
QUESTIONS = tuple(_RECORDED)
#: recorded as one sum over all ranks
OVER_RANKS = ("kernel types", "kernel totals")


def questions(data_set: str, version: str) -> Iterator[tuple[str, int, Numbers, Numbers]]:
    """Question, rank, their numbers and ours, wherever theirs exist; rank -1 for a sum over ranks."""
    sums: dict[str, Counter[str]] = {question: Counter() for question in OVER_RANKS}
    for rank, path in files(data_set).items():
        model = model_of(path)
        for question in QUESTIONS:
            if question in OVER_RANKS:
                sums[question].update(ours(question, model))
            elif (recorded := theirs(question, data_set, version, rank)) is not None:
                yield question, rank, recorded, ours(question, model)
    for question, found in sums.items():
        if (recorded := theirs(question, data_set, version, -1)) is not None:
            yield question, -1, recorded, dict(found)


# ours ----------------------------------------------------------------------------------------------------


def ours(question: str, model: Model) -> Numbers:
    found = _OURS[question](model)
    return {what: float(value) for what, value in found if not math.isnan(value)}


def _us(ns: Any) -> float:
    return float(ns) / 1000


def _our_temporal(model: Model) -> Pairs:
    found = device_time(model)
    if len(found):
        window, idle, compute = (_us(c.sum()) for c in (found.window_ns, found.idle_ns, found.computing_ns))
        yield "kernel", window
        yield "idle", idle
        yield "compute", compute
        yield "non_compute", window - compute - idle


def _our_overlap(model: Model) -> Pairs:
    found = device_time(model)
    if found.communicating_ns.sum():
        yield "percent", round(100 * found.hidden_communication_ns.sum() / found.communicating_ns.sum(), 2)


def _our_idle(model: Model) -> Pairs:
    gaps = idle_gaps(model, "stream")
    work = model.device_work
    for stream in np.unique(work.stream[model.is_work]).tolist():
        for cause in GapCause:
            kept = gaps.duration_ns[(gaps.stream == stream) & (gaps.cause == cause)]
            yield f"{stream} {CAUSES[cause]}", _us(kept.sum())
            if cause is GapCause.HOST_WAIT and len(kept):
                yield f"{stream} host_wait count", len(kept)
                yield f"{stream} host_wait max", _us(kept.max())
                yield f"{stream} host_wait mean", _us(kept.mean())


def _our_launches(model: Model) -> Pairs:
    found = launched(model)
    columns = {"cpu_duration": found.host_ns, "gpu_duration": found.device_ns, "launch_delay": found.delay_ns}
    for key, values in columns.items():
        of = _spread(values)
        for name in ("sum", "mean", "std", "min", "p25", "p50", "p75", "p99", "max"):
            yield f"{key} {name}", _us(getattr(of, name)[0])
        yield f"{key} count", len(found)
    yield "late", np.count_nonzero(found.delay_ns > LONG_DELAY_NS)
    yield "slow", np.count_nonzero(found.host_ns > SLOW_CALL_NS)
    yield "short", np.count_nonzero((found.host_ns <= SLOW_CALL_NS) & (found.device_ns < found.host_ns))
    yield "kernels", found.kernels.sum()


def _spread(values: Int64) -> Any:
    return distribution(Groups(np.zeros(len(values), np.int64), np.zeros(1, np.int64)), values)


def _our_queue(model: Model) -> Pairs:
    for queue in stream_queues(model):
        yield f"{queue.stream} points", 2 * queue.pieces
        yield f"{queue.stream} max", queue.length.max(initial=0)
        yield f"{queue.stream} last", 0
        if blocked := queue.time_at_least(4):
            yield f"{queue.stream} blocked", _us(blocked)


_TYPES = {
    "compute_only_ns": "COMPUTATION",
    "communication_only_ns": "COMMUNICATION",
    "copy_only_ns": "MEMORY",
    "compute_communication_ns": "COMMUNICATION and COMPUTATION",
    "compute_copy_ns": "COMPUTATION and MEMORY",
    "communication_copy_ns": "COMMUNICATION and MEMORY",
    "compute_communication_copy_ns": "COMMUNICATION and COMPUTATION and MEMORY",
}


def _our_types(model: Model) -> Pairs:
    found = device_time(model)
    for column, what in _TYPES.items():
        if total := getattr(found, column).sum():
            yield what, _us(total)


def _our_kernels(model: Model) -> Pairs:
    table = kernels(model)
    copies = [*table.memcpy, *table.memset]
    for i, name in enumerate(table.name):
        yield f"{name} sum", _us(table.total_ns[i])
        yield f"{name} max", _us(table.max_ns[i])
        yield f"{name} min", _us(table.min_ns[i])
        yield f"{name} mean", _us(table.mean_ns[i])
    for c in copies:
        yield f"{c.name} sum", _us(c.total_ns)
        yield f"{c.name} mean", _us(c.total_ns / c.calls)


def _our_totals(model: Model) -> Pairs:
    table = kernels(model)
    copies = [*table.memcpy, *table.memset]
    yield "names", len(table) + len(copies)
    yield "sum", _us(table.total_ns.sum() + sum(c.total_ns for c in copies))


def _our_copies(model: Model) -> Pairs:
    kinds = copy_kinds(model)
    for number, kind in enumerate(kinds.names):
        value = bandwidth(model, kinds.index[kinds.kind == number]).value
        if len(value):
            yield f"{kind} count", len(value)
            yield f"{kind} mean", value.mean()
            yield f"{kind} max", value.max()
            yield f"{kind} min", value.min()


def _our_operators(model: Model) -> Pairs:
    found = kernel_sequences(model, lambda name: name.startswith("aten::"))
    for i, operator in enumerate(found.operator):
        what = f"{operator}: {' -> '.join(found.kernels[i])}"
        yield f"{what} calls", found.calls[i]
        yield f"{what} launch", _us(found.launch_delay_ns[i])
        yield f"{what} queue", _us(found.queue_delay_ns[i])


_OURS: dict[str, Callable[[Model], Pairs]] = {
    "temporal": _our_temporal,
    "overlap": _our_overlap,
    "idle": _our_idle,
    "launches": _our_launches,
    "queue": _our_queue,
    "kernel types": _our_types,
    "kernels": _our_kernels,
    "kernel totals": _our_totals,
    "copies": _our_copies,
    "operators": _our_operators,
}
