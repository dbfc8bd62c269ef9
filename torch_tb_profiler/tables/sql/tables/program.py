"""The program: its steps and modules, blocks of memory, and the ranks of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.memory.blocks import BlockTable, memory_events
from torch_tb_profiler.analysis.modules import ModuleTable, modules
from torch_tb_profiler.analysis.overview import CATEGORIES, StepTimes, step_times
from torch_tb_profiler.analysis.shared.operator_times import module_sources
from torch_tb_profiler.model import Model
from torch_tb_profiler.ranks.reduction import RunResult
from torch_tb_profiler.ranks.run.answers import RunRanks
from torch_tb_profiler.ranks.run.group_answers import CollectiveRow
from torch_tb_profiler.tables.sql.columns import (
    ROW,
    START,
    STEP,
    RunTable,
    SqlColumn,
    SqlTable,
    SqlTexts,
    SqlValues,
    known,
    of_answer,
    of_definition,
)


def _steps(model: Model) -> Mapping[str, SqlValues]:
    times = step_times(model)
    unknown = known(np.full(len(times), -1, np.int64))
    return {
        "step": SqlTexts.of(times.names),
        "label": SqlTexts.of(times.labels),
        "kind": SqlTexts.of(times.kind or [None] * len(times)),
        "start_ns": times.start_ns,
        "duration_ns": times.duration_ns,
        "end_ns": times.start_ns + times.duration_ns,
        **{f"{each}_ns": times.category_ns.get(each, unknown) for each in CATEGORIES},
    }


STEPS = SqlTable(
    "steps",
    "a step; its parts add up to duration_ns exactly",
    (
        SqlColumn("step", "string", "", "its name, as other tables have it", STEP.origin),
        SqlColumn(
            "label", "string", "", "the annotation that marks it, or what repeats", "model.steps", "nothing does"
        ),
        of_definition(StepTimes.columns["kind"], "all steps are of one kind"),
        START,
        of_definition(StepTimes.columns["step"]).called("duration_ns"),
        SqlColumn("end_ns", "number", "ns", "start_ns + duration_ns", "model.steps"),
        *(
            of_definition(StepTimes.columns[each], "nothing of the kind was recorded").called(f"{each}_ns")
            for each in CATEGORIES
        ),
    ),
    _steps,
)

_MODULE_KEYS = tuple(ModuleTable.columns)


def _modules(model: Model) -> Mapping[str, SqlValues]:
    found = [modules(model, source) for source in module_sources(model)]
    numbers = {key: [np.asarray(getattr(table, key)) for table in found] for key in _MODULE_KEYS if key != "name"}
    columns = {key: np.concatenate(parts) if parts else np.zeros(0, np.int64) for key, parts in numbers.items()}
    return {
        "source": SqlTexts.of([table.source for table in found for _ in table.name]),
        "name": SqlTexts.of([name for table in found for name in table.name]),
        **{key: known(v) if key in ModuleTable.missing_below_zero else v for key, v in columns.items()},
    }


_MODULE_MISSING = {"parent": "it is called by no module", "module_id": "it was not recorded"}
MODULES = SqlTable(
    "modules",
    "a module as it is called from one place, all calls together",
    (
        SqlColumn("source", "string", "", "who named it: nn (Python frames) or lightning", "analysis.module_sources"),
        *(of_definition(ModuleTable.columns[key], _MODULE_MISSING.get(key, "")) for key in _MODULE_KEYS),
    ),
    _modules,
)


_MEMORY_TEXTS = ("device", "operator", "parent")
_MEMORY_NUMBERS = ("bytes", "alloc_ns", "release_ns", "duration_ns", "alloc_row", "release_row")
_MEMORY_MISSING = {
    "operator": "it was made outside operators, or before the recording",
    "parent": "nothing encloses that operator",
    "alloc_ns": "it was allocated before the recording",
    "release_ns": "its release was not recorded",
    "duration_ns": "one of its ends was not recorded",
}


def _memory(model: Model) -> Mapping[str, SqlValues]:
    found = memory_events(model)
    numbers = {name: getattr(found, name) for name in _MEMORY_NUMBERS}
    return {
        **{name: SqlTexts.of(getattr(found, name)) for name in _MEMORY_TEXTS},
        **{
            name: known(values) if name in BlockTable.missing_below_zero else values for name, values in numbers.items()
        },
    }


MEMORY = SqlTable(
    "memory",
    "a block of memory, with its allocation and its release; recorded with profile_memory",
    (
        *(
            of_definition(BlockTable.columns[name], _MEMORY_MISSING.get(name, ""))
            for name in (*_MEMORY_TEXTS, *_MEMORY_NUMBERS[:4])
        ),
        *(
            SqlColumn(
                f"{end}_row", "number", "row", f"{ROW.meaning}: the {event}", ROW.origin, _MEMORY_MISSING[f"{end}_ns"]
            )
            for end, event in (("alloc", "allocation"), ("release", "release"))
        ),
    ),
    _memory,
)


#: of a collective, in the order of the table
_COLLECTIVE_COLUMNS = (
    *("name", "kind", "group", "group_number", "link", "dtype", "bytes", "ranks", "size", "calls", "matched"),
    *("transfer_ns", "wait_ns", "algbw", "busbw", "algorithm", "peak", "peak_share", "culprit", "culprit_worker"),
    *("culprit_share", "worker", "row"),
)


def _ranks(found: RunResult) -> Mapping[str, Sequence[object]]:
    return msgspec.structs.asdict(found.overview.ranks)


def _collectives(found: RunResult) -> Mapping[str, Sequence[object]]:
    return {name: [getattr(row, name) for row in found.collectives] for name in _COLLECTIVE_COLUMNS}


RANKS = RunTable("ranks", "a rank; times are medians over its steps", of_answer(RunRanks), _ranks)

COLLECTIVES = RunTable(
    "collectives",
    "collectives of one name, group, size and element type, matched across the ranks",
    of_answer(CollectiveRow, _COLLECTIVE_COLUMNS),
    _collectives,
)
