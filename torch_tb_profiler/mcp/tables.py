"""The tables that an agent can ask for, a line each: those of the Python API."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, get_args, get_type_hints

import msgspec

from torch_tb_profiler.analysis.compare.columns import COMPARE_KERNELS, COMPARE_OPERATORS
from torch_tb_profiler.analysis.copies import copies
from torch_tb_profiler.analysis.definition import Definition, by_key
from torch_tb_profiler.analysis.idle import Lanes, idle_times
from torch_tb_profiler.analysis.kernels.columns import KERNELS as KERNEL_COLUMNS
from torch_tb_profiler.analysis.kernels.question import KERNELS
from torch_tb_profiler.analysis.launch_delay import LaunchGrouping, launch_stats
from torch_tb_profiler.analysis.launch_queue import queue_lengths
from torch_tb_profiler.analysis.memory.columns import MEMORY
from torch_tb_profiler.analysis.memory.question import MEMORY_EVENTS, MEMORY_OPERATORS
from torch_tb_profiler.analysis.module_sources import module_sources
from torch_tb_profiler.analysis.modules.columns import MODULES
from torch_tb_profiler.analysis.modules.table import modules
from torch_tb_profiler.analysis.operators.columns import OPERATORS as OPERATOR_COLUMNS
from torch_tb_profiler.analysis.operators.question import OPERATORS
from torch_tb_profiler.analysis.overview.columns import OVERVIEW
from torch_tb_profiler.analysis.overview.overview import step_times
from torch_tb_profiler.analysis.program.columns import RANGES
from torch_tb_profiler.analysis.program.range_question import PROGRAM_RANGES
from torch_tb_profiler.analysis.question import AnyQuestion
from torch_tb_profiler.analysis.replay.question import PATH_PIECES_OF_STEP
from torch_tb_profiler.analysis.roofline.columns import ROOFLINE as ROOFLINE_COLUMNS
from torch_tb_profiler.analysis.roofline.question import ROOFLINE
from torch_tb_profiler.analysis.slices.columns import SLICES
from torch_tb_profiler.analysis.slices.table import slices
from torch_tb_profiler.analysis.stacks.columns import STACKS
from torch_tb_profiler.analysis.stacks.flame_graph import SMALLEST_SHARE, stacks
from torch_tb_profiler.analysis.table import PageMeta, Table
from torch_tb_profiler.analysis.tabular import Tabular
from torch_tb_profiler.analysis.waterfall.causes import ALL
from torch_tb_profiler.api.trace import TraceProfile
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.step_range import StepRange
from torch_tb_profiler.ranks.columns import DISTRIBUTED_OPERATIONS

#: events of a table that are looked at: the longest
_MOST_EVENTS = 10_000

Steps = tuple[str, str] | None


class NamedTable(msgspec.Struct, frozen=True):
    """A table.

    help    what a row is, in our words
    ask     the table of a trace: how it is grouped (None: as usual), and from which step to which
    groups  how it can be grouped
    defined what its columns mean, by key
    """

    help: str
    ask: Callable[[TraceProfile, str | None, Steps], Table[Any]]
    groups: Sequence[str] = ()
    defined: Mapping[str, Definition] | None = None


def _groups(question: AnyQuestion) -> tuple[str, ...]:
    """What the question can be grouped by."""
    found: tuple[str, ...] = get_args(get_type_hints(question.parameters)["group_by"])
    return found


def _asked(question: AnyQuestion) -> Callable[[TraceProfile, str | None, Steps], Table[Any]]:
    """The answer to a question that is a table."""

    def ask(trace: TraceProfile, group: str | None, steps: Steps) -> Table[Any]:
        parameters = {} if group is None else {"group_by": group}
        first, last = steps or (None, None)
        found: Table[Any] = trace.answer(question.name, from_step=first, to_step=last, **parameters)
        return found

    return ask


def _made(compute: Callable[..., Tabular], key: str = "") -> Callable[[TraceProfile, str | None, Steps], Table[Any]]:
    """The result of a function of the model."""

    def ask(trace: TraceProfile, group: str | None, steps: Steps) -> Table[Any]:
        more = {key: group} if group is not None and key else {}
        return trace.ask(lambda model: _table(compute(_of_steps(model, steps), **more)))

    return ask


def _of_steps(model: Model, steps: Steps) -> Model:
    return model if steps is None else model.of_steps(StepRange(*steps))


def _table(found: Tabular) -> Table[PageMeta]:
    grid = found.as_grid()
    return Table(PageMeta(), grid.columns, grid.values)


def _modules(model: Model) -> Tabular:
    named = module_sources(model)
    return modules(model, named[0] if named else "nn")


def _stacks(model: Model) -> Tabular:
    found = stacks(model, None, "bottom_up", "", 0, SMALLEST_SHARE)
    assert found is not None  # everything is always there
    return found


TABLES: Mapping[str, NamedTable] = {
    "steps": NamedTable("a step", _made(step_times), defined=OVERVIEW),
    "operators": NamedTable("an operator", _asked(OPERATORS), _groups(OPERATORS), OPERATOR_COLUMNS),
    "kernels": NamedTable("a kernel", _asked(KERNELS), _groups(KERNELS), KERNEL_COLUMNS),
    "roofline": NamedTable(
        "time beside the least that the device needs", _asked(ROOFLINE), _groups(ROOFLINE), ROOFLINE_COLUMNS
    ),
    "modules": NamedTable("a module of the model", _made(_modules), defined=MODULES),
    "stacks": NamedTable("a Python frame with who called it, by own time", _made(_stacks), defined=STACKS),
    "ranges": NamedTable("a range that the program named", _asked(PROGRAM_RANGES), defined=RANGES),
    "idle": NamedTable("idle time of a device by cause", _made(idle_times, "per"), get_args(Lanes)),
    "launches": NamedTable("calls that launch device work", _made(launch_stats, "group_by"), get_args(LaunchGrouping)),
    "queues": NamedTable("work that waited for a stream", _made(queue_lengths)),
    "copies": NamedTable("copies and fills of a kind", _made(copies)),
    "path": NamedTable("a piece of the critical path", _asked(PATH_PIECES_OF_STEP)),
    "allocators": NamedTable("what an operator allocated", _asked(MEMORY_OPERATORS), defined=MEMORY),
    "allocations": NamedTable("an allocation with its release", _asked(MEMORY_EVENTS), defined=MEMORY),
    "slices": NamedTable(
        f"one event, the longest {_MOST_EVENTS}", _made(partial(slices, limit=_MOST_EVENTS)), defined=SLICES
    ),
}

#: what else has definitions: of the tools compare and ranks, and the causes of the parts of a step
_OTHERS: Mapping[str, Mapping[str, Definition]] = {
    "compare": {**COMPARE_OPERATORS, **COMPARE_KERNELS},
    "communication": DISTRIBUTED_OPERATIONS,
    "causes": by_key("waterfall", *(Definition(m.cause, m.cause, "number", "ns", m.help) for m in ALL)),
}


def definitions_of(name: str) -> list[tuple[str, Definition]]:
    """Table and definition of each column or cause called so, or `table.column`; `_ms` stands for `_ns`."""
    groups = {**{table: each.defined or {} for table, each in TABLES.items()}, **_OTHERS}
    wanted = name.removesuffix("_ms")
    found = []
    for table, defined in groups.items():
        for key, each in defined.items():
            bare = key.removesuffix("_ns")
            if wanted in (key, bare, f"{table}.{key}", f"{table}.{bare}") or name == key:
                found.append((table, each))
    return found
