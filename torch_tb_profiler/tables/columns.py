"""What the columns of tables mean. Those of the pages are defined beside their analyses, the others here."""

from __future__ import annotations

from collections.abc import Mapping

from torch_tb_profiler.analysis.definition import ColumnType, Definition, Unit
from torch_tb_profiler.analysis.kernels.table import KernelTable
from torch_tb_profiler.analysis.memory.columns import MEMORY, MEMORY_MODULES
from torch_tb_profiler.analysis.modules.columns import HOOKS, MODULES
from torch_tb_profiler.analysis.operators.columns import OPERATORS
from torch_tb_profiler.analysis.overview.columns import OVERVIEW
from torch_tb_profiler.analysis.program.columns import GRAPHS, RANGES
from torch_tb_profiler.analysis.roofline.columns import ROOFLINE
from torch_tb_profiler.analysis.slices.columns import SLICES
from torch_tb_profiler.analysis.stacks.columns import STACKS
from torch_tb_profiler.ranks.columns import DISTRIBUTED_OPERATIONS, RANK_RANGES


def _column(key: str, label: str, unit: Unit | None, text: str, kind: ColumnType = "number") -> Definition:
    return Definition(key, label, kind, unit, text)


STEP_NAME = _column("name", "Step", None, "Name of the step.", "string")
STEP_START = _column("start_ns", "Start", "ns", "From the start of the trace.")
DEPTH = _column("depth", "Depth", None, "How many rows are around this one.")

_LANE = (
    _column("device", "Device", None, "Number of the device."),
    _column("stream", "Stream", None, "Number of the stream; missing for gaps of a whole device."),
    _column(
        "cause",
        "Cause",
        None,
        "host_wait (the next work was launched late), kernel_wait (it was queued and began soon), other (it was "
        "queued, and something else delayed it), unknown (its launch is not in the trace, or nothing tells why it "
        "began so late).",
        "string",
    ),
)

_IDLE = (
    *_LANE,
    _column("gaps", "Gaps", "count", "How many gaps of this cause."),
    _column("total_ns", "Total", "ns", "Σ durations of the gaps."),
    _column("share", "Share", "fraction", "Total ÷ all idle time of the device or stream."),
    _column("mean_ns", "Mean", "ns", "Total ÷ gaps."),
    _column("median_ns", "Median", "ns", "Median of the durations."),
    _column("max_ns", "Max", "ns", "Longest gap."),
)

_GAPS = (
    *_LANE,
    _column("duration_ns", "Duration", "ns", "From the end of the work before to the start of the work after."),
    STEP_START,
    _column("step", "Step", None, "The step in which it begins; missing outside all steps.", "string"),
    _column("before", "Before", None, "The work that ended last before the gap.", "string"),
    _column("after", "After", None, "The work that ends the gap.", "string"),
)

_LAUNCHES = (
    _column("name", "Name", None, "The call, or the innermost operator around it; empty outside operators.", "string"),
    _column("calls", "Calls", "count", "Calls that started device work."),
    _column("pieces", "Pieces", "count", "Kernels, copies and fills that they started."),
    _column("host_ns", "Host", "ns", "Σ durations of the calls."),
    _column("host_mean_ns", "Host mean", "ns", "Mean duration of a call."),
    _column("host_median_ns", "Host median", "ns", "Median duration of a call."),
    _column("host_p99_ns", "Host p99", "ns", "99th percentile of the durations of calls."),
    _column("host_max_ns", "Host max", "ns", "Longest call."),
    _column("device_ns", "Device", "ns", "Σ durations of the work they started."),
    _column("delay_mean_ns", "Delay mean", "ns", "Mean time from the end of the call to the start of its first work."),
    _column("delay_median_ns", "Delay median", "ns", "Median of the same."),
    _column("delay_p99_ns", "Delay p99", "ns", "99th percentile of the same."),
    _column("delay_max_ns", "Delay max", "ns", "Longest of the same."),
    _column("short", "Short", "count", "Calls that took longer than the one piece of work they started."),
    _column("slow", "Slow", "count", "Calls longer than 50 µs."),
    _column("late", "Late", "count", "Calls whose work waited longer than 100 µs."),
)

_COPIES = (
    _column("device", "Device", None, "Number of the device."),
    _column("kind", "Kind", None, "Kind and direction of the copies.", "string"),
    _column("calls", "Calls", "count", "How many copies or fills."),
    _column("bytes", "Bytes", "bytes", "Σ bytes of those that say how many."),
    _column("total_ns", "Total", "ns", "Σ durations."),
    _column("active_ns", "Active", "ns", "Time with at least one running."),
    _column("bandwidth", "Bandwidth", "bytes_per_second", "Bytes ÷ durations of those that say how many."),
    _column(
        "max_bandwidth",
        "Max bandwidth",
        "bytes_per_second",
        "The largest sum of the bandwidths of copies that ran at the same time.",
    ),
    _column("pageable", "Pageable", "count", "How many copied from or to memory that is not pinned."),
)

#: by table and key. Answers to questions have these and those that are derived from them.
COLUMNS: Mapping[str, Mapping[str, Definition]] = {
    "steps": OVERVIEW,
    "operators": OPERATORS,
    "kernels": KernelTable.columns,
    "roofline": ROOFLINE,
    "modules": MODULES,
    "hooks": HOOKS,
    "stacks": STACKS,
    "ranges": RANGES,
    "idle": {each.key: each for each in _IDLE},
    "gaps": {each.key: each for each in _GAPS},
    "launches": {each.key: each for each in _LAUNCHES},
    "copies": {each.key: each for each in _COPIES},
    "communication": DISTRIBUTED_OPERATIONS,
    "rank-ranges": RANK_RANGES,
    "allocators": MEMORY,
    "allocations": MEMORY,
    "module-memory": MEMORY_MODULES,
    "slices": SLICES,
    "graphs": GRAPHS,
}
