"""Trace files with events added: valid JSON whatever was stored, in memory that does not grow with the file."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tests.properties import examples
from tests.tracegen import Config, write_run
from torch_tb_profiler.trace import TraceError, read_trace
from torch_tb_profiler.trace.excerpts import between, examine, window_text, with_events

DAMAGED = Path(__file__).parent.parent / "damaged"
ADDED = [{"ph": "C", "name": "a"}, {"ph": "C", "name": "b"}, {"ph": "C", "name": "c"}]
PIECES = [b'{"ph": "C", "name": "a"}, {"ph": "C", "name": "b"}', b'{"ph": "C", "name": "c"}']


def rewritten(stored: bytes, pieces: list[bytes] | None = None) -> bytes:
    state = examine(BytesIO(stored))
    return b"".join(with_events(BytesIO(stored), PIECES if pieces is None else pieces, state.whole))


def no_constant(text: str) -> Any:
    raise AssertionError(f"{text} is not JSON")


def parsed(text: bytes) -> Any:
    return json.loads(text.decode(), parse_constant=no_constant)


@pytest.mark.parametrize(
    "text",
    [
        '{"traceEvents": []}',
        '{"traceEvents":[ \n ], "schemaVersion": 1}',
        '{"schemaVersion": 1, "traceEvents" : [{"ph": "X", "name": "traceEvents\\": ["}]}',
        '[{"ph": "X"}]',
        "[\n{},\n{}]",
        ' \n {"a": {"b": [1]}, "traceEvents": [{"ph": "X", "name": "x"}, {"ph": "X"}], "c": "d"} \n',
        json.dumps({"traceEvents": [{"ph": "X", "name": "é" * 100, "ts": i} for i in range(3000)], "z": [1] * 9}),
        json.dumps({"x": "y" * 600_000, "traceEvents": [{"ph": "X"}]}),
        json.dumps({"traceEvents": [{"ph": "X"}], "x": {"y": ["z" * 500, {}] * 1200}}, indent=1),
    ],
)
def test_valid_text_keeps_every_byte(text: str) -> None:
    for stored in (text.encode(), gzip.compress(text.encode()), zstandard.compress(text.encode())):
        assert examine(BytesIO(stored)).whole
        assert examine(BytesIO(stored)).length == len(text.encode())
        assert rewritten(stored, []).decode() == text
        before, after = json.loads(text), parsed(rewritten(stored))
        if isinstance(before, list):
            before, after = {"traceEvents": before}, {"traceEvents": after}
        assert after == before | {"traceEvents": ADDED + before["traceEvents"]}


@pytest.mark.parametrize("path", sorted(DAMAGED.iterdir()), ids=lambda path: path.name)
def test_damaged_files_are_served_whole(path: Path) -> None:
    try:
        trace = read_trace(BytesIO(path.read_bytes()))
    except TraceError:
        return
    document = parsed(rewritten(path.read_bytes()))
    events = document if isinstance(document, list) else document["traceEvents"]
    assert events[:3] == ADDED
    assert len(events) - 3 == len(trace.events)
    names = [e.get("name") if isinstance(e, dict) else "" for e in events[3:]]
    expected = [trace.strings[code] for code in trace.events.name.tolist()]
    assert [name if isinstance(name, str) else "" for name in names] == expected


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        (b'\xef\xbb\xbf{"traceEvents": [{}]}', False),
        (b'{"x": NaN, "traceEvents": [{}]}', False),
        (b'{"traceEvents": [{}], "x": NaN}', False),
        (b'{"traceEvents": [{}], "x": 1', False),
        (b'{"traceEvents": [{}]} and more', False),
        (b'{"traceEvents": [{"a": "\xff"}]}', False),
        (b'{"x": "\xff", "traceEvents": [{}]}', False),
        (b'{"traceEvents": [{},]}', False),
        (b'{"traceEvents": [{"a": 1e999}]}', True),
        (b'{"traceEvents": [1, "a", null, {}]}', True),
    ],
)
def test_damage_outside_of_events_is_seen(text: bytes, whole: bool) -> None:
    assert examine(BytesIO(text)).whole is whole
    document = parsed(rewritten(text))
    assert document["traceEvents"][:3] == ADDED
    assert len(document["traceEvents"]) >= 4
    if document.get("x") is not None:
        assert document["x"] in (1, "\ufffd")


def test_what_is_no_trace() -> None:
    with pytest.raises(TraceError, match="no traceEvents"):
        examine(BytesIO(b'{"a": 1}'))


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("generated")
    write_run(Config(steps=1, layers=1), folder)
    return gzip.decompress(next(folder.iterdir()).read_bytes())


def within(content: bytes, start_ns: int = -(2**61), end_ns: int = 2**61) -> Any:
    """The document of what lies between two times of the trace."""
    wanted = window_text(read_trace(BytesIO(content)), start_ns, end_ns)
    return parsed(b"".join(between(BytesIO(content), wanted)))


def is_between(event: Any, start: float, end: float) -> bool:
    if event["ph"] == "M":
        return True
    return bool(event["ts"] <= end and event["ts"] + event.get("dur", 0) >= start)


def test_events_between_two_times(generated: bytes) -> None:
    events = parsed(generated)["traceEvents"]
    times = sorted(event["ts"] for event in events if "ts" in event and event["ph"] != "M")
    start, end = times[len(times) // 3], times[len(times) // 2]
    origin = read_trace(BytesIO(generated)).origin_ns - (parsed(generated).get("baseTimeNanoseconds") or 0)
    found = within(generated, round(1000 * start) - origin, round(1000 * end) - origin)
    assert {key: value for key, value in parsed(generated).items() if key != "traceEvents"}.items() <= found.items()
    assert found["traceEvents"] == [event for event in events if is_between(event, start, end)]
    assert 0 < len(found["traceEvents"]) < len(events)
    everything = within(generated)
    assert everything["traceEvents"] == events


@pytest.mark.parametrize("path", sorted(DAMAGED.iterdir()), ids=lambda path: path.name)
def test_of_damaged_files_as_well(path: Path) -> None:
    try:
        read_trace(BytesIO(path.read_bytes()))
    except TraceError:
        return
    whole = parsed(rewritten(path.read_bytes(), []))
    events = whole if isinstance(whole, list) else whole["traceEvents"]
    found = within(path.read_bytes())["traceEvents"]
    assert all(event in events for event in found)
    timed = [e for e in events if isinstance(e, dict) and isinstance(e.get("ts"), int | float) and "ph" in e]
    usual = [event for event in timed if abs(event["ts"]) < 10**300]
    assert [event for event in found if event in usual] == usual


@examples(40)
@given(st.data())
def test_a_trace_cut_anywhere(generated: bytes, data: st.DataObject) -> None:
    start = generated.index(b"traceEvents") + 100
    text = generated[: data.draw(st.integers(start, len(generated) - 1))]
    try:
        events = len(read_trace(BytesIO(text)).events)
    except TraceError:
        return
    whole = json.loads(generated)["traceEvents"]
    served = parsed(rewritten(text))["traceEvents"]
    assert served[:3] == ADDED
    assert served[3:] == whole[:events]


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["", "cut"])
@pytest.mark.parametrize("indent", [True, False])
def test_memory_does_not_grow_with_the_file(damage: str, indent: bool) -> None:
    one = json.dumps({"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1.5, "dur": 2})
    separator = ",\n  " if indent else ", "
    text = ('{"traceEvents": [' + separator.join([one] * (50_000_000 // (len(one) + 4)))).encode()
    text += b"" if damage else b"]}"
    assert len(text) > 48_000_000
    tracemalloc.start()
    try:
        state = examine(BytesIO(text))
        base, _ = tracemalloc.get_traced_memory()
        length = sum(len(piece) for piece in with_events(BytesIO(text), PIECES, state.whole))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert state.whole is not bool(damage)
    assert length > 48_000_000
    # a BytesIO shares the bytes it was made of
    assert peak - base < 5_000_000
