"""The routes about memory, over a real workspace: parameters, units, pages, what is missing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from werkzeug.test import Client

from tests.events import Event, memory, model_of, op
from tests.served import client_of, everything_read, get
from torch_tb_profiler.analysis.memory.question import (
    MEMORY_ALIVE,
    MEMORY_CURVE,
    MEMORY_EVENTS,
    MEMORY_OPERATORS,
    AliveAt,
    CurveWindow,
    OnDevice,
)
from torch_tb_profiler.analysis.memory.records import missing

BASE_NS = 1_700_000_000_000_000_000
CPU = (0, -1)
DEVICES = [{"id": 0, "name": "H100", "totalGlobalMem": 2**36}]

TRACES: dict[str, list[Event]] = {
    "new": [
        op("aten::zeros", 1000, 10),
        op("aten::empty", 1002, 2),
        memory(1003, 2048, 1, 2048, 4096),
        memory(1004, 8, 1, 8, 0, CPU),
        memory(1050, 1024, 2, 3072, 4096),
        memory(1060, -2048, 1, 1024, 4096),
    ],
    "old": [op("aten::empty", 1002, 2), memory(1003, 2048, None)],
    "none": [op("aten::empty", 1002, 2)],
    "many": [op("aten::empty", 1000, 5000), *(memory(1001 + i, 512, 1 + i, 512 * i, 2**21) for i in range(1200))],
}
NEW = "run=logs&worker=new&span=default"
OLD_ROUTES = ("/memory", "/memory_curve", "/memory_events")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    root = tmp_path_factory.mktemp("memory")
    (root / "logs").mkdir()
    for name, events in TRACES.items():
        document = {"baseTimeNanoseconds": BASE_NS, "deviceProperties": DEVICES, "traceEvents": events}
        (root / "logs" / f"{name}.pt.trace.json").write_text(json.dumps(document))
    with everything_read(root / "logs", root / "cache", 1) as workspace:
        yield client_of(workspace)


def notes(answer: dict[str, Any]) -> list[str]:
    return [note["text"] for note in answer["meta"]["notes"]]


def test_the_view_is_listed_where_there_is_memory(client: Client) -> None:
    assert get(client, "/views?run=logs") == ["Overview", "Operator", "Trace", "Memory"]
    assert get(client, "/workers?run=logs&view=Memory") == ["many", "new", "old"]


def test_operators(client: Client) -> None:
    answer = get(client, f"/api/memory/operators?{NEW}")
    meta = answer["meta"]
    assert (meta["device"], meta["devices"], meta["total"]) == ("GPU0", ["GPU0", "CPU"], 2)
    assert meta["unattributed"] == {"size_increase": -1024, "allocation_count": 1, "allocation_size": 1024}
    assert meta["all"] == {"size_increase": 1024, "allocation_count": 2, "allocation_size": 3072}
    assert answer["rows"]["name"] == ["aten::empty", "aten::zeros"]
    assert answer["rows"]["self_size_increase"] == [2048, 0]
    assert [column["unit"] for column in answer["columns"]][:3] == [None, "count", "bytes"]
    on_cpu = get(client, f"/api/memory/operators?{NEW}&device=CPU")
    assert on_cpu["rows"]["allocation_size"] == [8]
    assert get(client, f"/api/memory/operators?{NEW}&start_ns=4000&end_ns=9000")["rows"]["name"] == []


def test_events(client: Client) -> None:
    answer = get(client, f"/api/memory/events?{NEW}")
    assert answer["rows"] == {
        "device": ["GPU0", "CPU", "GPU0"],
        "operator": ["aten::empty", "aten::zeros", ""],
        "parent": ["aten::zeros", "", ""],
        "bytes": [2048, 8, 1024],
        "alloc_ns": [3000, 4000, 50000],
        "release_ns": [60000, None, None],
        "duration_ns": [57000, None, None],
    }
    page = get(client, f"/api/memory/events?{NEW}&sort=-bytes&offset=1&limit=1&device=GPU0")
    assert (page["rows"]["bytes"], page["meta"]["total"], page["meta"]["offset"]) == ([1024], 2, 1)
    some = get(client, f"/api/memory/events?{NEW}&sort=bytes&filter=bytes%3E=8+bytes%3C=2KB+aten&search=operator")
    assert (some["rows"]["bytes"], some["meta"]["matched"], some["meta"]["total"]) == ([8, 2048], 2, 3)
    ended = get(client, f"/api/memory/events?{NEW}&sort=release_ns")
    assert ended["rows"]["release_ns"] == [60000, None, None]


def test_curve(client: Client) -> None:
    answer = get(client, f"/api/memory/curve?{NEW}&start_ns=10000")
    gpu, cpu = answer["devices"]
    assert (answer["start_ns"], answer["end_ns"]) == (10000, 60000)
    assert (gpu["device_bytes"], cpu["device_bytes"]) == (2**36, None)
    assert gpu["peak"] == {"time_ns": 50000, "allocated": 3072, "reserved": 4096}
    assert gpu["before"] == {"allocated": 2048, "reserved": 4096}
    assert (gpu["time_ns"], gpu["allocated"]) == ([50000, 60000], [3072, 1024])
    assert (cpu["time_ns"], cpu["before"]["allocated"], cpu["peak_in_range"]["allocated"]) == ([], 8, 8)
    one = get(client, f"/api/memory/curve?{NEW}&bins=1")["devices"][0]
    assert (one["allocated_min"], one["allocated_max"], one["allocated"]) == ([1024], [3072], [1024])


def test_alive(client: Client) -> None:
    peak = get(client, f"/api/memory/alive?{NEW}")
    assert peak["meta"]["at"] == {"time_ns": 50000, "allocated": 3072, "reserved": 4096}
    assert (peak["meta"]["known_bytes"], peak["meta"]["unknown_bytes"]) == (3072, 0)
    assert peak["rows"]["bytes"] == [2048, 1024]
    later = get(client, f"/api/memory/alive?{NEW}&at_ns=60000&limit=1")
    assert (later["rows"]["bytes"], later["rows"]["operator"]) == ([1024], [""])


def test_what_is_missing_is_said(client: Client) -> None:
    for route in ("curve", "events", "operators", "alive"):
        assert notes(get(client, f"/api/memory/{route}?run=logs&worker=none")) == [missing("no_memory").text]
    assert notes(get(client, "/api/memory/curve?run=logs&worker=old")) == [missing("no_memory_totals").text]
    assert get(client, "/api/memory/operators?run=logs&worker=old")["rows"]["name"] == ["aten::empty"]
    for route in OLD_ROUTES:
        assert get(client, f"{route}?run=logs&worker=none", 404)["error"] == missing("no_memory").text
    assert get(client, "/memory_curve?run=logs&worker=old")["rows"] == {}


def test_bad_values_of_memory_routes(client: Client) -> None:
    for route in OLD_ROUTES:
        get(client, f"{route}?{NEW}&memory_metric=x", 400)
    for route in ("/memory", "/memory_events"):
        for value in ("x", "", "nan", "inf", "1e99"):
            get(client, f"{route}?{NEW}&start_ts={value}", 400)
    for query in ("time_metric=x", "time_metric=minutes"):
        get(client, f"/memory_curve?{NEW}&{query}", 400)
    for query in ("start_ns=x", "end_ns=1.5", "bins=0", "bins=2001"):
        get(client, f"/api/memory/curve?{NEW}&{query}", 400)
    for query in (
        "sort=x",
        "sort=--bytes",
        "filter=sizes>1",
        "offset=-1",
        "limit=0",
        "start_ns=99999999999999999999",
    ):
        get(client, f"/api/memory/events?{NEW}&{query}", 400)
    for route in ("events", "operators", "alive"):
        get(client, f"/api/memory/{route}?{NEW}&device=GPU7", 404)


def test_a_step_that_does_not_exist(client: Client) -> None:
    for worker in ("new", "none"):
        for route in ("curve", "events", "operators"):
            url = f"/api/memory/{route}?run=logs&worker={worker}&from_step=77&to_step=77"
            assert "no step '77'" in get(client, url, 404)["error"]


def test_what_is_precomputed() -> None:
    """The page names the first device, others who ask mean it."""
    with_memory, without = model_of(TRACES["new"]), model_of(TRACES["none"])
    assert MEMORY_ALIVE.precomputed(with_memory) == [AliveAt("GPU0", limit=10_000), AliveAt()]
    for question in (MEMORY_EVENTS, MEMORY_OPERATORS):
        assert question.precomputed(with_memory) == [OnDevice(device="GPU0"), OnDevice()]
        assert question.precomputed(without) == []
    assert MEMORY_ALIVE.precomputed(without) == []
    assert MEMORY_CURVE.precomputed(without) == (CurveWindow(),)


def test_old_times_are_those_of_the_file(client: Client) -> None:
    """Without `baseTimeNanoseconds`; the ends of a range belong to it; fractions are allowed."""
    rows = get(client, f"/memory_events?{NEW}&start_ts=1003&end_ts=1049.5&time_metric=us&memory_metric=")["rows"]
    assert rows == {
        "GPU0": [["aten::zeros (aten::empty)", 2048.0, 3.0, None, None]],
        "CPU": [["aten::zeros", 8.0, 4.0, None, None]],
    }
    assert get(client, f"/memory_curve?{NEW}")["metadata"]["first_ts"] == 1000
    table = get(client, f"/memory?{NEW}&start_ts=1004&memory_metric=B")
    assert table["columns"][2]["name"] == "Size Increase (B)"
    assert list(table["rows"]) == ["CPU"]


def test_many_allocations_come_in_pages(client: Client) -> None:
    of = "/api/memory/events?run=logs&worker=many&span=default"
    first = get(client, of)
    assert (first["meta"]["total"], first["meta"]["matched"], len(first["rows"]["bytes"])) == (1200, 1200, 1000)
    rest = get(client, f"{of}&offset=1000")
    assert len(rest["rows"]["bytes"]) == 200
    whole = get(client, f"{of}&limit=all")
    assert whole["rows"]["alloc_ns"] == first["rows"]["alloc_ns"] + rest["rows"]["alloc_ns"]
