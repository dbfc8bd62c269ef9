"""Shapes that answers of the Trace view have in common with those of questions."""

from __future__ import annotations

from torch_tb_profiler.web.json_schema import TEXT, Json, closed, list_of, one_of, ref

NOTES = list_of(ref("Note"), "what a person should know about this answer")


def envelope(more: dict[str, Json] | None = None, optional: dict[str, Json] | None = None) -> Json:
    """`meta`, with fields of its own."""
    common = {
        "run": TEXT,
        "worker": TEXT,
        "span": TEXT,
        "device_type": one_of("GPU", "CPU"),
        "notes": NOTES,
    }
    return closed({**common, **(more or {})}, optional)
