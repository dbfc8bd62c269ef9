"""Shapes of the answers of /api/timeline… that are JSON (docs/timeline-protocol.md)."""

from __future__ import annotations

from torch_tb_profiler.web.json_schema import (
    COUNT,
    LANE,
    NS,
    NUMBER,
    ROW,
    TEXT,
    TRUTH,
    WHOLE,
    Json,
    closed,
    described,
    list_of,
    nullable,
    one_of,
    ref,
)
from torch_tb_profiler.web.openapi.operation import BINARY
from torch_tb_profiler.web.openapi.shapes import envelope

_PARALLEL_NS = list_of(NS, "ns, by place")
_COUNTS = list_of(COUNT)
_ID: Json = {"type": ["integer", "string", "null"], "description": "as in the file"}

_STEPS = closed({"rule": TEXT, "names": list_of(TEXT), "start_ns": _PARALLEL_NS, "duration_ns": _PARALLEL_NS})
STEPS = closed({"meta": envelope(), "steps": _STEPS})

_LEVEL = closed({"level": COUNT, "width_ns": NS, "tile_ns": NS})
_TRACK = closed(
    {
        "id": COUNT,
        "parent": nullable(WHOLE),
        "kind": TEXT,
        "name": TEXT,
        "pid": _ID,
        "tid": _ID,
        "device": nullable(WHOLE),
        "slices": COUNT,
        "instants": COUNT,
        "busy_ns": NS,
        "begin_ns": NS,
        "end_ns": NS,
    }
)
_LANES = closed(
    {
        "track": list_of(WHOLE),
        "band": list_of(TEXT),
        "depth": _COUNTS,
        "slices": _COUNTS,
        "busy_ns": _PARALLEL_NS,
        "begin_ns": _PARALLEL_NS,
        "end_ns": _PARALLEL_NS,
    }
)
_COUNTER = closed(
    {
        "id": TEXT,
        "kind": TEXT,
        "name": TEXT,
        "device": TEXT,
        "unit": one_of("fraction", "bytes", "count", "bytes/s"),
        "min": NUMBER,
        "max": NUMBER,
    }
)
TIMELINE = closed(
    {
        "meta": envelope(),
        "steps": _STEPS,
        "version": described(TEXT, "for the parameter v"),
        "begin_ns": NS,
        "end_ns": NS,
        "origin_ns": described(TEXT, "of time 0, ns since the epoch or the file's own zero"),
        "events": ref("Account"),
        "names": COUNT,
        "categories": list_of(TEXT),
        "levels": list_of(_LEVEL),
        "tracks": list_of(_TRACK),
        "lanes": _LANES,
        "counters": list_of(_COUNTER),
    }
)

TILE = described(BINARY, "Little-endian columns: docs/timeline-protocol.md, GET /api/timeline/tiles.")
EXACT_SLICES = described(BINARY, "Little-endian columns: docs/timeline-protocol.md, GET /api/timeline/slices.")
COUNTERS = described(BINARY, "Little-endian columns: docs/timeline-protocol.md, GET /api/timeline/counters.")

NAMES = closed({"total": COUNT, "ids": _COUNTS, "names": list_of(TEXT)})
ARGS = closed({"row": ROW, "args": described(nullable(TEXT), "JSON text, as in the file"), "length": COUNT})
NEXT = closed({"slice": nullable(ref("Reference"))})

_OF_NAME: dict[str, Json] = {"name_id": COUNT, "name": TEXT, "count": COUNT, "total_ns": NS, "longest_row": ROW}
SEARCH = closed(
    {
        "names": list_of(closed(_OF_NAME)),
        "names_total": COUNT,
        "count": COUNT,
        "total_ns": NS,
        "hits": closed(
            {
                "row": list_of(ROW),
                "lane": list_of(LANE),
                "name_id": _COUNTS,
                "start_ns": _PARALLEL_NS,
                "duration_ns": _PARALLEL_NS,
            }
        ),
        "density": closed({"from_ns": NS, "to_ns": NS, "counts": _COUNTS}),
    }
)
RANGE = closed(
    {
        "from_ns": NS,
        "to_ns": NS,
        "slices": COUNT,
        "instants": COUNT,
        "by_name": list_of(closed({**_OF_NAME, "category": TEXT})),
        "names_total": COUNT,
        "rest": closed({"count": COUNT, "total_ns": NS}),
        "by_category": list_of(ref("CategoryTotal")),
        "devices": list_of(ref("DeviceTotal")),
    }
)
FLOWS = closed(
    {
        "total": COUNT,
        "loose": COUNT,
        "kind": list_of(TEXT),
        "from_row": list_of(ROW),
        "from_lane": list_of(LANE),
        "from_ns": _PARALLEL_NS,
        "to_row": list_of(ROW),
        "to_lane": list_of(LANE),
        "to_ns": _PARALLEL_NS,
    }
)

_PART = list_of({"type": "integer", "minimum": 0, "maximum": 255}, "of each bin, 255 is all")
RANKS = closed(
    {
        "run": TEXT,
        "span": TEXT,
        "begin_ns": NS,
        "end_ns": NS,
        "aligned": TRUTH,
        "workers": list_of(
            closed(
                {
                    "worker": TEXT,
                    "rank": nullable(WHOLE),
                    "host_name": nullable(TEXT),
                    "state": TEXT,
                    "version": TEXT,
                    "events": COUNT,
                    "slices": COUNT,
                    "offset_ns": NS,
                    "begin_ns": NS,
                    "end_ns": NS,
                    "device": _PART,
                    "host": _PART,
                    "communication": _PART,
                    "step_ns": list_of(NS, "starts of steps, in the worker's time"),
                }
            )
        ),
        "absent": list_of(closed({"worker": TEXT, "state": TEXT, "reason": nullable(TEXT)})),
    }
)
COLLECTIVE = closed(
    {
        "name": TEXT,
        "kind": TEXT,
        "group": TEXT,
        "total": COUNT,
        "members": list_of(
            closed({"worker": TEXT, "row": nullable(ROW), "lane": nullable(LANE), "start_ns": NS, "duration_ns": NS})
        ),
    }
)
