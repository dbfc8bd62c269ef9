"""Makes the tables that are no answers to questions: results of the Python API, a line each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from torch_tb_profiler.analysis.copies import copies
from torch_tb_profiler.analysis.idle import idle_gaps, idle_times
from torch_tb_profiler.analysis.launch_delay import launch_stats
from torch_tb_profiler.analysis.launch_queue import queue_lengths
from torch_tb_profiler.analysis.module_sources import module_sources
from torch_tb_profiler.analysis.modules import ModuleTable, hooks, modules
from torch_tb_profiler.analysis.overview.overview import step_times
from torch_tb_profiler.analysis.program.graphs import graphs
from torch_tb_profiler.analysis.slices import SliceTable, slices
from torch_tb_profiler.analysis.stacks.flame_graph import stacks
from torch_tb_profiler.analysis.stacks.stack_table import StackTable
from torch_tb_profiler.analysis.tabular import Tabular
from torch_tb_profiler.model import Model

#: all slices: what is asked for without a limit
_ALL = 2**31 - 1

#: the options of a table by name, as texts
Own = Mapping[str, str]
R = TypeVar("R", bound=Tabular)


def _alone(compute: Callable[[Model], R]) -> Callable[[Model, Own], R]:
    """Of a table without options."""
    return lambda model, _: compute(model)


def _grouped(compute: Callable[..., R]) -> Callable[[Model, Own], R]:
    """`group_by` is the second parameter."""
    return lambda model, own: compute(model, own["group_by"]) if "group_by" in own else compute(model)


def _modules(model: Model, own: Own) -> ModuleTable:
    named = module_sources(model)
    return modules(model, own.get("source") or (named[0] if named else "nn"))  # type: ignore[arg-type]


def _stacks(model: Model, own: Own) -> StackTable:
    asked: Any = {key: own[key] for key in ("weight", "direction", "files") if key in own}
    found = stacks(model, **asked)
    assert found is not None  # only of a root that is not there, and none is asked for
    return found


def _slices(model: Model, own: Own) -> SliceTable:
    return slices(model, own.get("name"), own.get("category"), limit=int(own.get("most", _ALL)))


#: by the name of the table. Each may raise ValueError for an option that a trace has nothing of.
RESULTS: Mapping[str, Callable[[Model, Own], Tabular]] = {
    "steps": _alone(step_times),
    "modules": _modules,
    "hooks": _alone(hooks),
    "stacks": _stacks,
    "idle": _grouped(idle_times),
    "gaps": _grouped(idle_gaps),
    "launches": _grouped(launch_stats),
    "queues": _alone(queue_lengths),
    "copies": _alone(copies),
    "slices": _slices,
    "graphs": _alone(graphs),
}
