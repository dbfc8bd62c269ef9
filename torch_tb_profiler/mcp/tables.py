"""The tables that an agent can ask for, as the list of tables has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from torch_tb_profiler.analysis.compare.question import ComparedKernels, ComparedOperators
from torch_tb_profiler.analysis.definition import Definition, by_key
from torch_tb_profiler.analysis.table import PageMeta, Table
from torch_tb_profiler.analysis.waterfall.causes import ALL
from torch_tb_profiler.api.trace import TraceProfile
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.selection import StepRange
from torch_tb_profiler.tables.columns import COLUMNS
from torch_tb_profiler.tables.listing import FOR_AGENTS, Agents, ListedTable
from torch_tb_profiler.tables.results import RESULTS


class NamedTable(msgspec.Struct, frozen=True):
    """A table.

    help    what a row is, in our words
    ask     the table of a trace: how it is grouped (None: as usual), and from which step to which
    groups  how it can be grouped
    defined what its columns mean, by key
    """

    help: str
    ask: Callable[[TraceProfile, str | None, StepRange | None], Table[Any]]
    groups: Sequence[str]
    defined: Mapping[str, Definition]


def _ask(
    of: ListedTable, agents: Agents, trace: TraceProfile, group: str | None, steps: StepRange | None
) -> Table[Any]:
    own = {**agents.own} if group is None else {**agents.own, "group_by": group}
    if of.question:
        ends = {} if steps is None else {"from_step": steps.first, "to_step": steps.last}
        answer: Table[Any] = trace.answer(of.question, **ends, **own)
        return answer

    def made(model: Model) -> Table[Any]:
        grid = RESULTS[of.name](model if steps is None else model.of_steps(steps), own).as_grid()
        return Table(PageMeta(), grid.columns, grid.values)

    return trace.ask(made)


def _columns(name: str) -> Mapping[str, Definition]:
    if name not in COLUMNS:
        raise LookupError(f"tables/listing.py gives agents the table {name}, of which tables/columns.py has no line")
    return COLUMNS[name]


TABLES: Mapping[str, NamedTable] = {
    name: NamedTable(agents.row, partial(_ask, of, agents), of.groups, _columns(name))
    for name, (of, agents) in FOR_AGENTS.items()
}

#: what else has definitions: of the tools compare and ranks, and the causes of the parts of a step
_OTHERS: Mapping[str, Mapping[str, Definition]] = {
    "compare": {**ComparedOperators.columns, **ComparedKernels.columns},
    "communication": COLUMNS["communication"],
    "causes": by_key("waterfall", *(Definition(m.cause, m.cause, "number", "ns", m.help) for m in ALL)),
}


def definitions_of(name: str) -> list[tuple[str, Definition]]:
    """Table and definition of each column or cause called so, or `table.column`; `_ms` stands for `_ns`."""
    groups = {**{table: each.defined for table, each in TABLES.items()}, **_OTHERS}
    wanted = name.removesuffix("_ms")
    found = []
    for table, defined in groups.items():
        for key, each in defined.items():
            bare = key.removesuffix("_ns")
            if wanted in (key, bare, f"{table}.{key}", f"{table}.{bare}") or name == key:
                found.append((table, each))
    return found
