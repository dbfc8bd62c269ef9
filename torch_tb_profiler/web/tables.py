"""What the /api routes have in common: who is answered about (docs/api.md)."""

from __future__ import annotations

from typing import Any

import numpy as np

from torch_tb_profiler.analysis.health import troubles
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Note
from torch_tb_profiler.workspace import OpenTrace

Json = dict[str, Any]


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
