"""What the /api routes have in common: who is answered about, and tables of columns (docs/api.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from torch_tb_profiler.analysis.definitions import Definition
from torch_tb_profiler.analysis.health import troubles
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Note
from torch_tb_profiler.web.table_query import WHOLE, TableAnswer
from torch_tb_profiler.workspace import OpenTrace

Json = dict[str, Any]


def table_of(
    meta: Json,
    found: Any,
    keys: Iterable[str],
    defined: Mapping[str, Definition],
) -> Json:
    """`found` has a column of each key; `defined` says what the keys mean."""
    keys = list(keys)
    return {
        "meta": meta,
        "columns": [{**vars(defined[key])} for key in keys],
        "rows": {key: plain(getattr(found, key)) for key in keys},
    }


def table_answer(
    meta: Json,
    found: Any,
    keys: Iterable[str],
    defined: Mapping[str, Definition],
    totals: Mapping[str, int | None] | None = None,
    averages: Iterable[str] = (),
    whole: int = WHOLE,
) -> TableAnswer:
    """The same, to be sorted, filtered and paged. `totals`, `averages`, `whole`: see `TableAnswer`."""
    columns = [defined[key] for key in keys]
    values = {column.key: getattr(found, column.key) for column in columns}
    for key in getattr(found, "missing_below_zero", ()):
        if key in values and (values[key] < 0).any():
            values[key] = np.ma.masked_less(values[key], 0)
    return TableAnswer(meta, columns, values, totals or {}, tuple(averages), whole)


def meta_of(model: Model, trace: OpenTrace, view: str | None) -> Json:
    """`view`: whose notes to name, None for all. What was not recorded the view itself says, where it is empty."""
    return {
        "run": trace.run,
        "worker": trace.worker,
        "span": trace.span,
        "device_type": "GPU" if model.has_device_work or model.has_runtime else "CPU",
        "notes": [note_of(note) for note in troubles(model) if view is None or view in note.touches],
    }


def note_of(note: Note) -> Json:
    return {
        "kind": note.kind,
        "severity": note.severity,
        "count": note.count,
        "text": note.text,
        "values": note.values,
        "touches": note.touches,
        "remedy": note.remedy,
        "first_offset": note.first_offset,
    }


def plain(values: Any) -> list[Any]:
    """A column as Python values."""
    return values.tolist() if isinstance(values, np.ndarray) else list(values)
