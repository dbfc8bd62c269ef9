"""Tables that answer no question: their functions of a model, and the meaning of the columns of all tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from torch_tb_profiler.analysis.answer import Definition
from torch_tb_profiler.analysis.api_calls import LaunchStats, QueueLengths, launch_stats, queue_lengths
from torch_tb_profiler.analysis.copies import Copies, copies
from torch_tb_profiler.analysis.critical_path import PathPieces
from torch_tb_profiler.analysis.idle import IdleGaps, IdleTimes, idle_gaps, idle_times
from torch_tb_profiler.analysis.kernels import KernelTable
from torch_tb_profiler.analysis.memory.blocks import BlockTable
from torch_tb_profiler.analysis.memory.module_categories import MemoryModules
from torch_tb_profiler.analysis.memory.operators import MemoryOperators
from torch_tb_profiler.analysis.modules import ModuleTable, hooks, modules
from torch_tb_profiler.analysis.operators.table import OperatorTable
from torch_tb_profiler.analysis.overview import OVERVIEW, step_times
from torch_tb_profiler.analysis.program.graphs import graphs
from torch_tb_profiler.analysis.program.ranges import RangeTable
from torch_tb_profiler.analysis.result import Result, column, column_of
from torch_tb_profiler.analysis.roofline.table import RooflineTable
from torch_tb_profiler.analysis.shared.operator_times import module_sources
from torch_tb_profiler.analysis.slices import SliceTable, slices
from torch_tb_profiler.analysis.stacks.flame_graph import stacks
from torch_tb_profiler.analysis.stacks.stack_table import StackTable
from torch_tb_profiler.analysis.tabular import Tabular
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.ranks.distributed import OperationTable

#: the limit that returns all slices
_ALL = 2**31 - 1

#: the options of a table by name, as texts
Params = Mapping[str, str]
R = TypeVar("R", bound=Tabular)


def _without_options(compute: Callable[[Model], R]) -> Callable[[Model, Params], R]:
    """Make the function of a table without options."""
    return lambda model, _: compute(model)


def _grouped(compute: Callable[..., R]) -> Callable[[Model, Params], R]:
    """Make the function of a table with the option `group_by`."""
    return lambda model, params: compute(model, params["group_by"]) if "group_by" in params else compute(model)


def _modules(model: Model, params: Params) -> ModuleTable:
    named = module_sources(model)
    return modules(model, params.get("source") or (named[0] if named else "nn"))  # type: ignore[arg-type]


def _stacks(model: Model, params: Params) -> StackTable:
    options: Any = {key: params[key] for key in ("weight", "direction", "files") if key in params}
    found = stacks(model, **options)
    assert found is not None  # None is only the answer for an unknown root, and there is no root here
    return found


def _slices(model: Model, params: Params) -> SliceTable:
    return slices(model, params.get("name"), params.get("category"), limit=int(params.get("most", _ALL)))


#: by the name of the table. Each may raise ValueError for an option without data in the trace.
RESULTS: Mapping[str, Callable[[Model, Params], Tabular]] = {
    "steps": _without_options(step_times),
    "modules": _modules,
    "hooks": _without_options(hooks),
    "stacks": _stacks,
    "idle": _grouped(idle_times),
    "gaps": _grouped(idle_gaps),
    "launches": _grouped(launch_stats),
    "queues": _without_options(queue_lengths),
    "copies": _without_options(copies),
    "slices": _slices,
    "graphs": _without_options(graphs),
}


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


#: by table and key. Answers to questions have these columns and the ones derived from them.
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
    "path": PathPieces.columns,
    "copies": Copies.columns,
    "communication": OperationTable.columns,
    "allocators": MemoryOperators.columns,
    "allocations": BlockTable.columns,
    "module-memory": MemoryModules.columns,
    "slices": SliceTable.columns,
}
