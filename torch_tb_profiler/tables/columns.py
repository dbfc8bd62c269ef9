"""What the columns of tables mean. Those of the pages are defined beside their analyses, the others here."""

from __future__ import annotations

from collections.abc import Mapping

from torch_tb_profiler.analysis.copies import Copies
from torch_tb_profiler.analysis.critical_path import Pieces
from torch_tb_profiler.analysis.definition import ColumnType, Definition, Unit
from torch_tb_profiler.analysis.idle import IdleTimes
from torch_tb_profiler.analysis.kernels.table import KernelTable
from torch_tb_profiler.analysis.launch_delay import LaunchStats
from torch_tb_profiler.analysis.launch_queue import QueueLengths
from torch_tb_profiler.analysis.memory.blocks import BlockTable
from torch_tb_profiler.analysis.memory.module_categories import MemoryModules
from torch_tb_profiler.analysis.memory.operators import MemoryOperators
from torch_tb_profiler.analysis.modules.table import HookTable, ModuleTable
from torch_tb_profiler.analysis.operators.table import OperatorTable
from torch_tb_profiler.analysis.overview.overview import OVERVIEW
from torch_tb_profiler.analysis.program.ranges import RangeTable
from torch_tb_profiler.analysis.program.replayed import GraphTable
from torch_tb_profiler.analysis.roofline.table import RooflineTable
from torch_tb_profiler.analysis.slices.table import SliceTable
from torch_tb_profiler.analysis.stacks.stack_table import StackTable
from torch_tb_profiler.ranks.distributed import OperationTable
from torch_tb_profiler.ranks.ranges import RankRangeTable


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

_GAPS = (
    *_LANE,
    _column("duration_ns", "Duration", "ns", "From the end of the work before to the start of the work after."),
    STEP_START,
    _column("step", "Step", None, "The step in which it begins; missing outside all steps.", "string"),
    _column("before", "Before", None, "The work that ended last before the gap.", "string"),
    _column("after", "After", None, "The work that ends the gap.", "string"),
)

#: by table and key. Answers to questions have these and those that are derived from them.
COLUMNS: Mapping[str, Mapping[str, Definition]] = {
    "steps": OVERVIEW,
    "operators": OperatorTable.columns,
    "kernels": KernelTable.columns,
    "roofline": RooflineTable.columns,
    "modules": ModuleTable.columns,
    "hooks": HookTable.columns,
    "stacks": StackTable.columns,
    "ranges": RangeTable.columns,
    "idle": IdleTimes.columns,
    "gaps": {each.key: each for each in _GAPS},
    "launches": LaunchStats.columns,
    "queues": QueueLengths.columns,
    "path": Pieces.columns,
    "copies": Copies.columns,
    "communication": OperationTable.columns,
    "rank-ranges": RankRangeTable.columns,
    "allocators": MemoryOperators.columns,
    "allocations": BlockTable.columns,
    "module-memory": MemoryModules.columns,
    "slices": SliceTable.columns,
    "graphs": GraphTable.columns,
}
