"""Shapes of the old plugin's answers: microseconds, HTML where it had HTML."""

from __future__ import annotations

from torch_tb_profiler.web.json_schema import (
    ANY_JSON,
    BYTES,
    COUNT,
    NUMBER,
    TEXT,
    TRUTH,
    US,
    WHOLE,
    Json,
    closed,
    described,
    list_of,
    map_of,
    nullable,
    one_of,
    ref,
)

_COLUMN = closed(
    {"type": one_of("string", "number")},
    {"name": TEXT, "tooltip": TEXT, "key": TEXT, "role": TEXT, "p": map_of(TEXT)},
)
_ROWS = list_of(list_of(ANY_JSON), "cells in the order of the columns")
_TABLE = {"columns": list_of(ref("OldColumn")), "rows": _ROWS}
_BY_DEVICE = map_of(_ROWS, "by device")
_TITLED = closed({"title": TEXT, "value": TEXT})

RUNS = closed({"runs": list_of(TEXT), "loading": TRUTH})
NAMES = list_of(TEXT)

_PERFORMANCE = {
    "name": TEXT,
    "description": TEXT,
    "value": described(WHOLE, "microseconds"),
    "extra": described(NUMBER, "%"),
}
OVERVIEW = closed(
    {
        "steps": ref("OldTable"),
        "performance": list_of(closed({**_PERFORMANCE, "children": list_of(closed(_PERFORMANCE))})),
        "recommendations": described(TEXT, "HTML"),
        "environments": list_of(_TITLED),
    },
    {"gpu_metrics": closed({"title": TEXT, "data": list_of(_TITLED), "tooltip": TEXT})},
)

_PIE = nullable(closed({"title": TEXT, **_TABLE}))
OPERATION = closed(dict.fromkeys(("device_total_time", "device_self_time", "host_total_time", "host_self_time"), _PIE))
_OPERATOR = {
    "name": TEXT,
    "calls": COUNT,
    "host_self_duration": US,
    "host_total_duration": US,
    "tc_eligible": one_of("Yes", "No"),
    "tc_self_ratio": described(NUMBER, "%"),
    "tc_total_ratio": described(NUMBER, "%"),
}
_SOMETIMES = {"input_shape": TEXT, "device_self_duration": US, "device_total_duration": US}


def _operators(last: dict[str, Json]) -> Json:
    metadata = closed({"sort": TEXT, "tooltips": map_of(TEXT)})
    return closed({"metadata": metadata, "data": list_of(closed({**_OPERATOR, **last}, _SOMETIMES))})


OPERATION_TABLE = _operators({"has_call_stack": TRUTH})
OPERATION_STACK = _operators({"call_stack": described(TEXT, "frames separated by ;, innermost first")})

KERNEL = nullable(closed({"total": ref("OldTable")}))
KERNEL_TABLE = nullable(closed({"metadata": closed({"sort": TEXT}), "data": ref("OldTable")}))

_DEVICE = closed({}, {"Name": TEXT, "Memory": TEXT, "Memory Raw": BYTES, "Compute Capability": TEXT})
GPU_INFO = nullable(
    closed({"metadata": closed({"title": TEXT}), "data": map_of(map_of(map_of(_DEVICE)), "by node, process and GPU")})
)
_PARTS = list_of(US, "in the order of metadata.legends, microseconds")
OF_STEPS = closed(
    {
        "metadata": closed({"title": TEXT, "legends": list_of(TEXT), "units": TEXT}),
        "data": map_of(map_of(_PARTS), "by step (all: the mean) and worker"),
    }
)
COMMUNICATION = closed({"metadata": closed({"title": TEXT}), "data": map_of(ref("OldTable"), "by worker")})

_COLUMNS = list_of(ref("OldColumn"))
MEMORY = closed(
    {
        "metadata": closed({"title": TEXT, "default_device": TEXT, "search": TEXT, "sort": TEXT}),
        "columns": _COLUMNS,
        "rows": _BY_DEVICE,
    }
)
MEMORY_CURVE = closed(
    {
        "metadata": closed(
            {
                "default_device": TEXT,
                "devices": list_of(TEXT),
                "peaks": map_of(TEXT),
                "totals": map_of(ANY_JSON),
                "first_ts": US,
                "time_metric": TEXT,
                "memory_metric": TEXT,
                "time_factor": NUMBER,
                "memory_factor": NUMBER,
            }
        ),
        "columns": _COLUMNS,
        "rows": _BY_DEVICE,
    }
)
MEMORY_EVENTS = closed(
    {"metadata": closed({"title": TEXT, "default_device": TEXT}), "columns": _COLUMNS, "rows": _BY_DEVICE}
)

MODULE = closed({"columns": _COLUMNS, "data": list_of(ref("OldModule"))})

SHARED: dict[str, Json] = {
    "OldColumn": _COLUMN,
    "OldTable": closed(_TABLE),
    "OldModule": closed(
        {
            "name": TEXT,
            "id": nullable(WHOLE),
            "occurences": COUNT,
            "operators": COUNT,
            "host_duration": US,
            "self_host_duration": US,
            "device_duration": US,
            "self_device_duration": US,
            "avg_duration": US,
            "children": list_of(ref("OldModule")),
        }
    ),
    "OldNode": closed(
        {
            "name": TEXT,
            "start_time": US,
            "end_time": US,
            "type": TEXT,
            "tid": ANY_JSON,
            "children": list_of(ref("OldNode")),
        }
    ),
    "OldSide": closed(
        {
            "name": TEXT,
            "duration": US,
            "device_duration": US,
            "total_duration": US,
            "aggs": list_of(
                closed(
                    {
                        "name": TEXT,
                        "calls": COUNT,
                        "host_duration": US,
                        "device_duration": US,
                        "self_host_duration": US,
                        "self_device_duration": US,
                    }
                )
            ),
        }
    ),
    "OldDifference": closed(
        {"left": ref("OldSide"), "right": ref("OldSide"), "children": list_of(ref("OldDifference"))}
    ),
    "OldDifferenceAtPath": closed(
        {"left": ref("OldSide"), "right": ref("OldSide"), "path": TEXT},
        {"children": list_of(ref("OldDifferenceAtPath"))},
    ),
}
