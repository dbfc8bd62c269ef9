"""The program: its steps and what they went to, and its modules."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from torch_tb_profiler.analysis.module_sources import module_sources
from torch_tb_profiler.analysis.modules import ModuleTable, modules
from torch_tb_profiler.analysis.overview.overview import CATEGORIES, StepTimes, step_times
from torch_tb_profiler.model import Model
from torch_tb_profiler.tables.sql.columns import SqlColumn, Texts, Values, known, of_definition
from torch_tb_profiler.tables.sql.tables.shared import START, STEP
from torch_tb_profiler.tables.sql.tables.table import SqlTable


def _steps(model: Model) -> Mapping[str, Values]:
    found = step_times(model)
    unknown = known(np.full(len(found), -1, np.int64))
    return {
        "step": Texts.of(found.names),
        "label": Texts.of(found.labels),
        "kind": Texts.of(found.kind or [None] * len(found)),
        "start_ns": found.start_ns,
        "duration_ns": found.duration_ns,
        "end_ns": found.start_ns + found.duration_ns,
        **{f"{each}_ns": found.category_ns.get(each, unknown) for each in CATEGORIES},
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

_KEYS = tuple(ModuleTable.columns)


def _modules(model: Model) -> Mapping[str, Values]:
    found = [modules(model, source) for source in module_sources(model)]
    numbers = {key: [np.asarray(getattr(table, key)) for table in found] for key in _KEYS if key != "name"}
    columns = {key: np.concatenate(parts) if parts else np.zeros(0, np.int64) for key, parts in numbers.items()}
    return {
        "source": Texts.of([table.source for table in found for _ in table.name]),
        "name": Texts.of([name for table in found for name in table.name]),
        **{key: known(v) if key in ModuleTable.missing_below_zero else v for key, v in columns.items()},
    }


_MISSING = {"parent": "it is called by no module", "module_id": "it was not recorded"}
MODULES = SqlTable(
    "modules",
    "a module as it is called from one place, all calls together",
    (
        SqlColumn("source", "string", "", "who named it: nn (Python frames) or lightning", "analysis.module_sources"),
        *(of_definition(ModuleTable.columns[key], _MISSING.get(key, "")) for key in _KEYS),
    ),
    _modules,
)
