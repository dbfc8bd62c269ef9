"""Hostile values in every field of events: the file is read, every other event is as it was, every answer is sound."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BytesIO
from urllib.parse import urlencode

import pytest
from werkzeug.test import Client

from tests.attack.contents import harmed, hostile
from tests.attack.logdir import ALONE, HOSTILE, places_to_ask, write_logs
from tests.attack.requests import Asked, hostile_requests, parameters_of
from tests.openapi_requests import fill, requests_to
from tests.served import client_of, everything_read
from torch_tb_profiler.trace import read_trace
from torch_tb_profiler.web.openapi import document

DOCUMENT = document()
SMALL = [{"run": ALONE, "worker": "worker0"}, *({"run": run, "worker": "w"} for run in ("tiny", "cpu", "broken"))]
TRACES: list[dict[str, str]] = []


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    folder = tmp_path_factory.mktemp("attack")
    TRACES[:] = write_logs(folder / "logs", range(6))
    with everything_read(folder / "logs", folder / "cache") as workspace:
        yield client_of(workspace)


@pytest.fixture(scope="module")
def places(client: Client) -> dict[str, str]:
    return places_to_ask(client)


@pytest.mark.parametrize("seed", [*range(24), 79, 550])
def test_other_events_are_unharmed(seed: int) -> None:
    assert harmed(hostile(seed)) == []


def test_every_answer_about_hostile_traces(client: Client, places: dict[str, str]) -> None:
    asked = Asked()
    for path in sorted(parameters_of(DOCUMENT)):
        for request in requests_to(path)[:1]:
            for trace in [each for each in TRACES if each["run"] == HOSTILE and "run" in request]:
                asked.ask(client, f"{path}?{urlencode(fill(request, places) | trace)}")
    assert asked.complaints == []
    assert asked.statuses[200] > 200


@pytest.mark.parametrize("trace", SMALL, ids=lambda trace: trace["run"])
def test_every_answer_about_small_runs(client: Client, places: dict[str, str], trace: dict[str, str]) -> None:
    """Of one rank, without communication, without a device, unreadable."""
    asked = Asked()
    for path in sorted(parameters_of(DOCUMENT)):
        for request in requests_to(path)[:1]:
            if "run" in request:
                asked.ask(client, f"{path}?{urlencode(fill(request, places) | trace)}")
    assert asked.complaints == []


def test_a_report_of_hostile_traces_holds_no_markup_of_them(client: Client) -> None:
    page = client.get(f"/api/report?{urlencode({'run': HOSTILE})}").text
    assert "<script>alert" not in page
    assert "onerror" not in page
    assert "hostile &lt;b&gt;&quot;&amp;" in page


def test_hostile_requests(client: Client, places: dict[str, str]) -> None:
    asked = Asked()
    for url in hostile_requests(DOCUMENT, places, TRACES, count=600, seed=1):
        asked.ask(client, url)
    assert asked.complaints == []
    assert asked.statuses[400] > 100


@pytest.mark.parametrize(
    "number", ["1e999999999", "-1e999999999", "1e-999999999", "9" * 400, "NaN", "9223372036854775.808"]
)
@pytest.mark.parametrize("path", ["/memory", "/memory_events"])
def test_decimal_numbers_of_any_size(client: Client, path: str, number: str) -> None:
    asked = Asked()
    for name in ("start_ts", "end_ts"):
        asked.ask(client, f"{path}?{urlencode(TRACES[0] | {name: number})}")
    assert asked.complaints == []


@pytest.mark.parametrize("start", ["1e308", "9007199254740993", "18446744073709551615", "-1e17", "1e-300", '"x"'])
def test_an_impossible_time_moves_no_other_event(start: str) -> None:
    """The first event with a time is what starts are relative to."""
    names = [("odd", start, 5.0), ("a", "2345678901236.001", 0.007), ("b", "2345678901237", 1e300)]
    events = ",".join(
        f'{{"ph":"X","cat":"cpu_op","name":"{name}","pid":1,"tid":1,"ts":{at},"dur":{duration}}}'
        for name, at, duration in names
    )
    trace = read_trace(BytesIO(f'{{"traceEvents":[{events}]}}'.encode()))
    starts = (trace.events.start + trace.origin_ns).tolist()
    assert starts[1:] == [2345678901236001, 2345678901237000]
    assert trace.events.duration.tolist() == [5000, 7, 0]
    assert {note.kind for note in trace.notes} >= {"missing_duration"}
    assert int(trace.events.end.max()) >= int(trace.events.start.max())


@pytest.mark.parametrize("value", ["1e999", "9" * 30, "[1,2]", '{"a":1}', "null", "true", '"\\ud800"'])
def test_a_process_whose_name_is_no_text(value: str) -> None:
    named = f'{{"ph":"M","name":"process_name","pid":1,"tid":1,"args":{{"name":{value},"labels":{value}}}}}'
    event = '{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1}'
    trace = read_trace(BytesIO(f'{{"traceEvents":[{named},{event}]}}'.encode()))
    assert len(trace.events) == 2


@pytest.mark.parametrize("value", [2**62, -(2**62), 2**70, True, "1", None])
def test_a_base_time_that_no_clock_shows_is_none(value: object) -> None:
    event = {"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}
    content = {"baseTimeNanoseconds": value, "traceEvents": [event]}
    assert read_trace(BytesIO(json.dumps(content).encode())).origin_ns == 1000
