"""What the columns of tables mean. Those of the pages are defined beside their analyses, the others here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch_tb_profiler.analysis.copies import Copies
from torch_tb_profiler.analysis.critical_path import Pieces
from torch_tb_profiler.analysis.definition import Definition
from torch_tb_profiler.analysis.idle import IdleGaps, IdleTimes
from torch_tb_profiler.analysis.kernels import KernelTable
from torch_tb_profiler.analysis.launch_delay import LaunchStats
from torch_tb_profiler.analysis.launch_queue import QueueLengths
from torch_tb_profiler.analysis.memory.blocks import BlockTable
from torch_tb_profiler.analysis.memory.module_categories import MemoryModules
from torch_tb_profiler.analysis.memory.operators import MemoryOperators
from torch_tb_profiler.analysis.modules import ModuleTable
from torch_tb_profiler.analysis.operators.table import OperatorTable
from torch_tb_profiler.analysis.overview.overview import OVERVIEW
from torch_tb_profiler.analysis.program.ranges import RangeTable
from torch_tb_profiler.analysis.result import Result, column, column_of
from torch_tb_profiler.analysis.roofline.table import RooflineTable
from torch_tb_profiler.analysis.slices import SliceTable
from torch_tb_profiler.analysis.stacks.stack_table import StackTable
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.ranks.distributed import OperationTable

STEP_NAME = Definition("name", "Step", "string", None, "Name of the step.")
STEP_START = IdleGaps.columns["start_ns"]
DEPTH = Definition("depth", "Depth", "number", None, "How many rows are around this one.")


class NamedGaps(Result):
    """`IdleGaps` with the names of what is around them."""

    device: Int64 = column_of(IdleTimes, "device")
    stream: Int64 = column_of(IdleTimes, "stream")
    cause: Sequence[str] = column_of(IdleTimes, "cause")
    duration_ns: Int64 = column_of(IdleGaps, "duration_ns")
    start_ns: Int64 = column_of(IdleGaps, "start_ns")
    step: Sequence[str | None] = column("Step", "The step in which it begins; missing outside all steps.")
    before: Sequence[str] = column("Before", "The work that ended last before the gap.")
    after: Sequence[str] = column("After", "The work that ends the gap.")


#: by table and key. Answers to questions have these and those that are derived from them.
COLUMNS: Mapping[str, Mapping[str, Definition]] = {
    "steps": OVERVIEW,
    "operators": OperatorTable.columns,
    "kernels": KernelTable.columns,
    "roofline": RooflineTable.columns,
    "modules": ModuleTable.columns,
    "stacks": StackTable.columns,
    "ranges": RangeTable.columns,
    "idle": IdleTimes.columns,
    "gaps": NamedGaps.columns,
    "launches": LaunchStats.columns,
    "queues": QueueLengths.columns,
    "path": Pieces.columns,
    "copies": Copies.columns,
    "communication": OperationTable.columns,
    "allocators": MemoryOperators.columns,
    "allocations": BlockTable.columns,
    "module-memory": MemoryModules.columns,
    "slices": SliceTable.columns,
}
