"""Shapes of the answers of /api/…; those of dataclasses that are sent as they are come from the dataclasses."""

from __future__ import annotations

from typing import Any

import msgspec

from torch_tb_profiler.analysis import capture, utilization
from torch_tb_profiler.analysis.definitions import Definition
from torch_tb_profiler.analysis.kernels.table import Transfers
from torch_tb_profiler.analysis.memory.operators import MemoryChange
from torch_tb_profiler.analysis.overview import overview
from torch_tb_profiler.analysis.run_metrics.metrics import Figures
from torch_tb_profiler.analysis.shared import launchers
from torch_tb_profiler.analysis.slices.table import CategorySlices
from torch_tb_profiler.insights import Finding
from torch_tb_profiler.timeline import details, enclosing, totals, tree
from torch_tb_profiler.trace import Note
from torch_tb_profiler.web.openapi.schema import (
    ANY_JSON,
    BYTES,
    COMPONENT,
    COUNT,
    NS,
    NS_PARTS,
    NUMBER,
    TEXT,
    TRUTH,
    WHOLE,
    Json,
    closed,
    list_of,
    map_of,
    maybe,
    one_of,
    ref,
    said,
)

CLASSES: tuple[type[Any], ...] = (
    Note,
    Definition,
    Finding,
    overview.AverageStep,
    overview.Verdict,
    utilization.DeviceUse,
    overview.TopKernel,
    capture.Capture,
    Figures,
    Transfers,
    launchers.Unattributed,
    MemoryChange,
    CategorySlices,
    enclosing.Reference,
    details.Details,
    totals.CategoryTotal,
    totals.DeviceTotal,
    tree.Account,
)

NOTES = list_of(ref("Note"), "what a person should know about this answer")
FRACTION = said(NUMBER, "0…1")


def of_classes() -> dict[str, Json]:
    """Components for `CLASSES` and what they hold, every field always there."""
    _, found = msgspec.json.schema_components(
        CLASSES, ref_template=COMPONENT.format(kind="schemas", name="{name}"), schema_hook=lambda _: ANY_JSON
    )
    made = {name: _as_sent(schema) for name, schema in found.items()}
    recorded, one = made.pop("Capture"), made.pop("Details")
    made["RecordedCapture"] = _widened(recorded, {"bytes": said(BYTES, "of the file as stored")})
    of_slice = {key: schema for key, schema in one["properties"].items() if key != "slice"}
    more = {"track": said(COUNT, "its track"), "step": said(maybe(TEXT), "in which it begins")}
    made["Slice"] = _widened(made["Reference"], of_slice | more)
    return made


def _widened(schema: Json, more: dict[str, Json]) -> Json:
    return closed({**schema["properties"], **more})


def _as_sent(schema: Json) -> Json:
    properties = {
        name: {key: value for key, value in field.items() if key != "default"}
        for name, field in schema.get("properties", {}).items()
    }
    described = {"description": " ".join(schema["description"].split())} if "description" in schema else {}
    return {**closed(properties), **described} if properties else {**schema, **described}


def with_meta(fields: dict[str, Json], meta: dict[str, Json] | None = None, optional: Any = None) -> Json:
    """An answer about one trace."""
    return closed({"meta": envelope(meta, optional), **fields})


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


def table(meta: Json, more: dict[str, Json] | None = None) -> Json:
    """Rows as parallel lists, see the component Table; `meta` and `more` are of the route."""
    return closed({"meta": meta, **_TABLE, **(more or {})})


CELL: Json = {"type": ["string", "number", "boolean", "null"]}
_TABLE = {
    "columns": list_of(ref("Column")),
    "rows": ref("Rows"),
}

PAGED = {
    "total": said(COUNT, "rows of the table"),
    "matched": said(COUNT, "rows that pass the filter"),
    "offset": COUNT,
}
_MEMORY_META = {"devices": list_of(TEXT)}
_MEMORY_AT = ref("MemoryInUse")
_HOLDS = list_of(BYTES, "bytes, from time_ns of the same place on")
_DELTAS = {
    f"{side}{key}": said(NS, "nanoseconds; experiment − baseline" if side == "delta_" else "nanoseconds")
    for key in ("duration_ns", "device_ns", "total_ns")
    for side in ("", "exp_", "delta_")
}
_TRAIL = {"path": TEXT, "name": maybe(TEXT), "exp_name": maybe(TEXT), "kind": TEXT}
_WHY = maybe(closed({"kind": TEXT, "values": map_of(ANY_JSON)}))
_SKIPPED = list_of(
    closed({"file": TEXT, "reason": TEXT, "why": _WHY, "unlisted": TRUTH}), "JSON files that are no traces, and why"
)

_STATE = one_of("queued", "loading", "ready", "failed")
_TRACE_STATUS = closed(
    {
        "worker": TEXT,
        "span": TEXT,
        "file": TEXT,
        "size": BYTES,
        "state": _STATE,
        "bytes_done": BYTES,
        "bytes_total": BYTES,
        "events": said(maybe(COUNT), "null until something is known"),
        "reason": maybe(TEXT),
        "why": _WHY,
        "notes": COUNT,
        "views": list_of(TEXT),
        "rank": maybe(WHOLE),
        "world_size": maybe(WHOLE),
        "host_name": maybe(TEXT),
    }
)

STATUS = closed(
    {
        "version": TEXT,
        "logdir": TEXT,
        "scanning": TRUTH,
        "error": maybe(TEXT),
        "why": _WHY,
        "runs": list_of(
            closed(
                {
                    "name": TEXT,
                    "state": one_of("loading", "ready", "failed"),
                    "traces": list_of(_TRACE_STATUS),
                    "skipped": _SKIPPED,
                }
            )
        ),
        "skipped": _SKIPPED,
    }
)

_PER_STEP = list_of(NS, "of each step, ns")
OVERVIEW = with_meta(
    {
        "steps": closed(
            {
                "rule": TEXT,
                "rules": list_of(TEXT),
                "labels": list_of(TEXT),
                "names": list_of(TEXT),
                "start_ns": _PER_STEP,
                "duration_ns": _PER_STEP,
                "categories": list_of(TEXT),
                "category_ns": map_of(_PER_STEP, "by category; they add up to duration_ns"),
                "gpu_busy_ns": maybe(_PER_STEP),
            }
        ),
        "average": ref("AverageStep"),
        "verdict": maybe(ref("Verdict")),
        "devices": list_of(ref("DeviceUse")),
        "workers": COUNT,
        "findings": list_of(ref("Finding")),
        "top_operators": list_of(
            closed({"name": TEXT, "host_self_ns": NS, "device_self_ns": maybe(NS), "calls": COUNT})
        ),
        "top_kernels": list_of(ref("TopKernel")),
        "definitions": map_of(TEXT, "what each number means"),
    }
)

HEALTH = with_meta(
    {
        "notes": NOTES,
        "log": map_of(list_of(TEXT), "lines of the profiler's own log, by level"),
        "capture": ref("RecordedCapture"),
    }
)

OPERATORS = table(
    envelope(
        {
            "group_by": TEXT,
            "device_ns": maybe(NS),
            "host_ns": NS,
            "unattributed_device_ns": maybe(NS),
            "unattributed": list_of(ref("Unattributed")),
            **PAGED,
        }
    )
)
LAUNCHED = table(envelope({"group_by": TEXT, "device_ns": NS, "host_ns": {"type": "null"}, **PAGED}))
KERNELS = table(
    envelope(
        {
            "group_by": TEXT,
            "device_ns": NS,
            "host_ns": {"type": "null"},
            "kernel_ns": NS,
            "tensor_core_ns": NS,
            "undecided_ns": NS,
            "memcpy": list_of(ref("Transfers")),
            "memset": list_of(ref("Transfers")),
            **PAGED,
        }
    )
)

MEMORY_CURVE = with_meta(
    {
        "start_ns": NS,
        "end_ns": NS,
        "devices": list_of(
            closed(
                {
                    "device": TEXT,
                    "records": COUNT,
                    "peak": _MEMORY_AT,
                    "peak_in_range": _MEMORY_AT,
                    "before": closed({"allocated": BYTES, "reserved": BYTES}),
                    "device_bytes": maybe(BYTES),
                    "baseline": BYTES,
                    "unrecorded": BYTES,
                    "time_ns": list_of(NS),
                    "allocated_min": _HOLDS,
                    "allocated_max": _HOLDS,
                    "allocated": _HOLDS,
                    "reserved_max": _HOLDS,
                    "reserved": _HOLDS,
                }
            )
        ),
    },
    _MEMORY_META,
)
MEMORY_EVENTS = table(envelope({**_MEMORY_META, "group_by": {"type": "null"}, **PAGED}))
MEMORY_OPERATORS = table(
    envelope(
        {**_MEMORY_META, "group_by": TEXT, "device": maybe(TEXT), **PAGED},
        {"unattributed": ref("MemoryChange"), "all": ref("MemoryChange")},
    )
)
MEMORY_ALIVE = table(
    envelope(
        {**_MEMORY_META, "group_by": {"type": "null"}, "device": maybe(TEXT), "total": COUNT},
        {"at": _MEMORY_AT, "known_bytes": BYTES, "unknown_bytes": BYTES},
    )
)

_STEPS_OF_RANK = closed(
    {
        "names": list_of(TEXT),
        **{
            f"{key}_ns": _PER_STEP
            for key in ("duration", "computation", "overlap", "exposed_communication", "other", "transfer", "wait")
        },
        "outside": closed({"transfer_ns": NS, "wait_ns": NS}),
    }
)
_DEVICE = closed({"id": WHOLE, "name": maybe(TEXT), "memory_bytes": maybe(BYTES), "compute_capability": maybe(TEXT)})
DISTRIBUTED = closed(
    {
        "meta": closed({"run": TEXT, "span": TEXT, "notes": NOTES}),
        "workers": list_of(
            closed(
                {
                    "worker": TEXT,
                    "rank": maybe(WHOLE),
                    "world_size": maybe(WHOLE),
                    "node": TEXT,
                    "process": TEXT,
                    "backend": maybe(TEXT),
                    "devices": list_of(_DEVICE),
                    "steps": _STEPS_OF_RANK,
                }
            )
        ),
        "groups": list_of(
            closed(
                {
                    "name": TEXT,
                    "description": TEXT,
                    "ranks": list_of(WHOLE),
                    "size": maybe(WHOLE),
                    "present": COUNT,
                }
            )
        ),
        "definitions": list_of(ref("Definition")),
        "operations": ref("Table"),
    }
)

MODULES = table(envelope({"source": TEXT, "sources": list_of(TEXT), "total": COUNT}), {"hooks": maybe(ref("Table"))})
STACKS = table(
    envelope(
        {
            "weight": one_of("device", "host"),
            "weights": list_of(TEXT),
            "direction": one_of("top_down", "bottom_up"),
            "files": TEXT,
            "root": WHOLE,
            "whole_ns": NS,
            "all_ns": NS,
            "no_stack_ns": NS,
            "entries": COUNT,
            "limit_ns": NS_PARTS,
            "has_frames": TRUTH,
            "above": maybe(ref("Rows")),
        }
    )
)
COMPARE = with_meta(
    {"totals": closed(_DELTAS), "parts": ref("Table"), "operators": ref("Table"), "kernels": ref("Table")},
    {
        "exp": envelope(),
        "path": TEXT,
        "name": maybe(TEXT),
        "exp_name": maybe(TEXT),
        "kind": maybe(TEXT),
        "trail": list_of(closed(_TRAIL)),
        "steps": COUNT,
        "exp_steps": COUNT,
    },
)
FIGURES = with_meta({"figures": ref("Figures")})
TRACES = table(closed({"of": TEXT, "notes": NOTES, **PAGED}))
TRACES_BY_NAME = table(
    closed(
        {
            "of": TEXT,
            "what": TEXT,
            "measure": TEXT,
            "per": one_of("step", "all"),
            "traces": list_of(closed({"run": TEXT, "worker": TEXT, "span": TEXT})),
            "left_out": COUNT,
            "notes": NOTES,
            **PAGED,
        }
    )
)
SLICES = table(
    envelope(
        {
            "total": COUNT,
            "group_by": {"type": "null"},
            "offset": COUNT,
            "duration_ns": NS,
            "categories": list_of(ref("CategorySlices")),
        }
    )
)

SHARED: dict[str, Json] = {
    "Column": {
        **closed(
            {
                "key": said(TEXT, "its name in rows, with the unit at its end"),
                "label": TEXT,
                "type": one_of("string", "number", "bool"),
                "unit": {"enum": ["ns", "bytes", "percent", "bytes_per_second", "fraction", "count", None]},
                "help": said(TEXT, "definition and formula"),
            },
            {
                "total": said(NUMBER, "what shares of this column refer to"),
                "average": said(TRUTH, "makes sense divided by calls"),
                "largest": said(NUMBER, "largest magnitude, of tables of more than 20,000 rows"),
                "sum": said(NUMBER, "of all rows, of tables of more than 20,000 rows"),
            },
        ),
        "description": "One column of a table.",
    },
    "Rows": map_of(list_of(CELL), "By column key: a list each, all of the same length."),
    "Table": {**closed(_TABLE), "description": "Rows as parallel lists."},
    "MemoryInUse": closed({"time_ns": NS, "allocated": BYTES, "reserved": BYTES}),
}
