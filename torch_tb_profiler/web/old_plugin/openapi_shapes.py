"""Shapes of the old plugin's answers: microseconds, HTML where it had HTML."""

from __future__ import annotations

from torch_tb_profiler.analysis.json_schema import (
    ANY_JSON,
    COUNT,
    NUMBER,
    TEXT,
    TRUTH,
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


def _text(description: str) -> Json:
    return described(TEXT, description)


def _us(description: str) -> Json:
    return described(NUMBER, f"{description} (microseconds)")


def _count(description: str) -> Json:
    return described(COUNT, description)


def _percent(description: str) -> Json:
    return described(NUMBER, f"{description} (%)")


def _metadata(properties: dict[str, Json]) -> Json:
    return described(closed(properties), "what the old page showed around the answer")


_TITLE = _text("what the old page called it")
_SORT = _text("the column that the old page sorted by")
_DEFAULT_DEVICE = _text("the device that the old page showed first")

_COLUMN = closed(
    {"type": described(one_of("string", "number"), "of its cells")},
    {
        "name": _text("what the old page called it, with the unit in parentheses"),
        "tooltip": _text("what it means"),
        "key": _text("its name for programs"),
        "role": _text("tooltip: the cells are HTML about those of the column before"),
        "p": map_of(TEXT, "properties for the charts of the old page"),
    },
)
_COLUMNS = list_of(ref("OldColumn"), "the columns, in order")
_ROWS = list_of(list_of(ANY_JSON), "cells in the order of the columns")
_TABLE = {"columns": _COLUMNS, "rows": _ROWS}
_BY_DEVICE = map_of(_ROWS, "by device")


def _titled(description: str) -> Json:
    return list_of(closed({"title": _text("what it is"), "value": _text("the value, as shown")}), description)


RUNS = closed(
    {
        "runs": list_of(TEXT, "names of the runs that can be looked at"),
        "loading": described(TRUTH, "whether a trace is still being read"),
    }
)
NAMES = list_of(TEXT)

_PERFORMANCE = {
    "name": _text("of the category; the first is the step itself"),
    "description": _text("always empty"),
    "value": described(WHOLE, "mean time per step (microseconds)"),
    "extra": _percent("part of the average step"),
}
OVERVIEW = closed(
    {
        "steps": described(ref("OldTable"), "times of the steps by category (microseconds), with tooltips"),
        "performance": list_of(
            closed({**_PERFORMANCE, "children": list_of(closed(_PERFORMANCE), "the categories")}), "the average step"
        ),
        "recommendations": _text("advice as HTML"),
        "environments": _titled("number of workers, type of device"),
    },
    {
        "gpu_metrics": described(
            closed({"title": _TITLE, "data": _titled("device by device"), "tooltip": _text("what the numbers mean")}),
            "how devices were used; not there without devices",
        )
    },
)


def _pie(description: str) -> Json:
    return described(nullable(closed({"title": _TITLE, **_TABLE})), description)


OPERATION = closed(
    {
        "device_total_time": _pie("operators by device total time (microseconds); null if it is 0"),
        "device_self_time": _pie("operators by device self time (microseconds); null if it is 0"),
        "host_total_time": _pie("operators by host total time (microseconds); null if it is 0"),
        "host_self_time": _pie("operators by host self time (microseconds); null if it is 0"),
    }
)
_OPERATOR = {
    "name": _text("of the operator"),
    "calls": _count("how often it ran"),
    "host_self_duration": _us("time on the host without operators below it"),
    "host_total_duration": _us("time on the host"),
    "tc_eligible": described(one_of("Yes", "No"), "whether it can use tensor cores"),
    "tc_self_ratio": _percent("part of the device self time that used tensor cores"),
    "tc_total_ratio": _percent("part of the device total time that used tensor cores"),
}
_SOMETIMES = {
    "input_shape": _text("shapes of its inputs"),
    "device_self_duration": _us("device work that it launched itself"),
    "device_total_duration": _us("device work that it and operators below it launched"),
}


def _operators(last: dict[str, Json]) -> Json:
    metadata = _metadata({"sort": _SORT, "tooltips": map_of(TEXT, "what columns mean, by their key")})
    return closed(
        {"metadata": metadata, "data": list_of(closed({**_OPERATOR, **last}, _SOMETIMES), "one row of the table each")}
    )


OPERATION_TABLE = _operators({"has_call_stack": described(TRUTH, "whether /operation/stack knows call stacks of it")})
OPERATION_STACK = _operators({"call_stack": _text("frames separated by ;, innermost first")})

KERNEL = nullable(closed({"total": described(ref("OldTable"), "names and values, the parts of a pie")}))
KERNEL_TABLE = nullable(
    closed({"metadata": _metadata({"sort": _SORT}), "data": described(ref("OldTable"), "the kernels")})
)

_DEVICE = closed(
    {},
    {
        "Name": _text("as its vendor calls it"),
        "Memory": _text("memory of the device, in GB"),
        "Memory Raw": described(WHOLE, "memory of the device (bytes)"),
        "Compute Capability": _text("major.minor"),
    },
)
GPU_INFO = nullable(
    closed(
        {"metadata": _metadata({"title": _TITLE}), "data": map_of(map_of(map_of(_DEVICE)), "by node, process and GPU")}
    )
)
_PARTS = list_of(_us("in the order of metadata.legends"))
OF_STEPS = closed(
    {
        "metadata": _metadata(
            {"title": _TITLE, "legends": list_of(TEXT, "what the parts are"), "units": _text("of the parts: always us")}
        ),
        "data": map_of(map_of(_PARTS), "by step (all: the mean) and worker"),
    }
)
COMMUNICATION = closed({"metadata": _metadata({"title": _TITLE}), "data": map_of(ref("OldTable"), "by worker")})

MEMORY = closed(
    {
        "metadata": _metadata(
            {
                "title": _TITLE,
                "default_device": _DEFAULT_DEVICE,
                "search": _text("the column that the old page searched"),
                "sort": _SORT,
            }
        ),
        "columns": _COLUMNS,
        "rows": _BY_DEVICE,
    }
)
MEMORY_CURVE = closed(
    {
        "metadata": _metadata(
            {
                "default_device": _DEFAULT_DEVICE,
                "devices": list_of(TEXT, "those that have rows"),
                "peaks": map_of(TEXT, "most memory in use, as shown, by device"),
                "totals": map_of(ANY_JSON, "always empty"),
                "first_ts": _us("where the trace begins, as the file counts time"),
                "time_metric": _text("unit of times in the rows"),
                "memory_metric": _text("unit of sizes in the rows"),
                "time_factor": described(NUMBER, "units of time in the rows per microsecond"),
                "memory_factor": described(NUMBER, "units of size in the rows per byte (1 ÷ bytes)"),
            }
        ),
        "columns": _COLUMNS,
        "rows": _BY_DEVICE,
    }
)
MEMORY_EVENTS = closed(
    {
        "metadata": _metadata({"title": _TITLE, "default_device": _DEFAULT_DEVICE}),
        "columns": _COLUMNS,
        "rows": _BY_DEVICE,
    }
)

MODULE = closed({"columns": _COLUMNS, "data": list_of(ref("OldModule"), "the outermost modules")})

_AGGREGATE = closed(
    {
        "name": _text("of the operator"),
        "calls": _count("how often it ran"),
        "host_duration": _us("time on the host"),
        "device_duration": _us("device work that it and operators below it launched"),
        "self_host_duration": _us("time on the host without operators below it"),
        "self_device_duration": _us("device work that it launched itself"),
    }
)
_SIDES = {
    "left": described(ref("OldSide"), "of the first trace"),
    "right": described(ref("OldSide"), "of the second trace"),
}

SHARED: dict[str, Json] = {
    "OldColumn": _COLUMN,
    "OldTable": closed(_TABLE),
    "OldModule": closed(
        {
            "name": _text("of the module"),
            "id": described(nullable(WHOLE), "number of the module among those of its name"),
            "occurences": _count("how often it was called"),
            "operators": _count("how many operators ran in all calls"),
            "host_duration": _us("time on the host"),
            "self_host_duration": _us("time on the host without modules below it"),
            "device_duration": _us("device work launched in it"),
            "self_device_duration": _us("device work launched in it and in no module below it"),
            "avg_duration": _us("host time ÷ calls"),
            "children": list_of(ref("OldModule"), "the modules that it called"),
        }
    ),
    "OldNode": closed(
        {
            "name": _text("of the operator, call or kernel"),
            "start_time": _us("where it begins, as the file counts time"),
            "end_time": _us("where it ends, as the file counts time"),
            "type": _text("what it is"),
            "tid": described(ANY_JSON, "the thread, as the file names it"),
            "children": list_of(ref("OldNode"), "what it called"),
        }
    ),
    "OldSide": closed(
        {
            "name": _text("of the part; Blank for nothing, CompositeNodes for several nodes"),
            "duration": _us("time on the host"),
            "device_duration": _us("device work launched there"),
            "total_duration": _us("device_duration, or duration where that is 0, summed over its nodes"),
            "aggs": list_of(_AGGREGATE, "its operators by name"),
        }
    ),
    "OldDifference": closed({**_SIDES, "children": list_of(ref("OldDifference"), "the parts of this part")}),
    "OldDifferenceAtPath": closed(
        {**_SIDES, "path": _text("leads to this part from the root: 0-2 is the third part of everything")},
        {"children": list_of(ref("OldDifferenceAtPath"), "the parts of this part")},
    ),
}
