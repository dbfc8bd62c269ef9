"""All events of the file."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.model import Model
from torch_tb_profiler.tables.sql.columns import SqlColumn, Texts, Values
from torch_tb_profiler.tables.sql.tables.shared import (
    CATEGORY,
    NAME,
    ROW,
    STEP,
    THREAD,
    TIMES,
    category_values,
    event_values,
    thread_values,
)
from torch_tb_profiler.tables.sql.tables.table import SqlTable
from torch_tb_profiler.trace.schema import Phase


def _fill(model: Model) -> Mapping[str, Values]:
    rows = np.arange(len(model.trace.events), dtype=np.int32)
    phase = model.trace.events.phase.astype(np.int64)
    return {
        **event_values(model, rows),
        "phase": Texts(phase, [each.name.lower() for each in Phase]),
        "category": category_values(model, rows),
        "track": thread_values(model, rows),
    }


_PHASE = SqlColumn("phase", "string", "", f"one of {', '.join(phase.name.lower() for phase in Phase)}", "ph")
_TRACK = replace(THREAD, name="track", meaning="host thread or stream of a device that it is on")

EVENTS = SqlTable(
    "events",
    "an event of the file, of whatever kind",
    (ROW, _PHASE, CATEGORY, NAME, _TRACK, *TIMES, STEP),
    _fill,
)
