"""Runs of zero bytes, as a crash leaves them: the events around them are read, the hole is told."""

from __future__ import annotations

import json
from functools import cache
from io import BytesIO

import pytest

from torch_tb_profiler.trace import Trace, read_trace
from torch_tb_profiler.trace.excerpts import examine, with_events
from torch_tb_profiler.trace.text import CHUNK_BYTES

pytestmark = pytest.mark.slow

COUNT = 12_000


@cache
def text(indent: int | None, **more: str) -> bytes:
    shape = {"Input Dims": [[2, 3]], "x": [{"a": 1}, {"b": 2}]}
    events = [
        {
            "ph": "X",
            "cat": "cpu_op",
            "name": f"aten::op{i}",
            "pid": 1,
            "tid": 1,
            "ts": 1000 + i,
            "dur": 1,
            "args": shape,
        }
        for i in range(COUNT)
    ]
    return json.dumps({"traceEvents": events} | more, indent=indent).encode()


def with_hole(content: bytes, begin: int, length: int) -> bytes:
    return content[:begin] + bytes(length) + content[begin + length :]


def names(trace: Trace) -> list[str]:
    return [trace.strings[code] for code in trace.events.name.tolist()]


def whole_events(content: bytes, hole: int, length: int) -> int:
    """Of the events before and after the hole, those it does not touch."""
    before, after = content[:hole].count(b'"ph"'), content[hole + length :].count(b'"ph"')
    return before + after - 1 - (content[hole:].find(b'"ph"') > length)


@pytest.mark.parametrize("indent", [None, 1], ids=["one line", "indented"])
@pytest.mark.parametrize("length", [64, 300, 4096, 3 * CHUNK_BYTES])
@pytest.mark.parametrize("share", [0.001, 0.3, 0.3001, 0.30015, 0.5])
def test_what_is_around_a_hole_is_read(indent: int | None, length: int, share: float) -> None:
    content = text(indent, traceName="x")
    begin = int(len(content) * share)
    damaged = with_hole(content, begin, length)
    trace = read_trace(BytesIO(damaged))
    assert [(note.kind, note.count, note.first_offset) for note in trace.notes] == [("holes", 1, begin)]
    assert str(length) in next(iter(trace.notes)).text
    found = names(trace)
    assert len(set(found)) == len(found)
    assert set(found) <= {f"aten::op{i}" for i in range(COUNT)}
    assert len(found) >= whole_events(damaged, begin, length) - 1


def test_several_holes() -> None:
    content = text(1)
    holes = [int(len(content) * share) for share in (0.1, 0.2, 0.2005, 0.7)]
    for begin in holes:
        content = with_hole(content, begin, 512)
    trace = read_trace(BytesIO(content))
    (note,) = trace.notes
    assert (note.kind, note.count, note.first_offset, note.values) == ("holes", 4, holes[0], {"bytes": 2048})
    assert len(trace.events) > COUNT - 4 * 6


def test_a_file_that_ends_in_zeros() -> None:
    content = text(1)
    half = len(content) // 2
    trace = read_trace(BytesIO(content[:half] + bytes(80 * 1024 * 1024)))
    assert [note.kind for note in trace.notes] == ["holes", "truncated"]
    assert len(trace.events) == content[:half].count(b"\n  },\n")


def test_a_hole_is_left_out_of_what_is_written_again() -> None:
    content = text(1)
    damaged = with_hole(content, len(content) // 2, 4096)
    assert not examine(BytesIO(damaged)).whole
    written = json.loads(b"".join(with_events(BytesIO(damaged), (), whole=False)))
    assert [event["name"] for event in written["traceEvents"]] == names(read_trace(BytesIO(damaged)))


@pytest.mark.parametrize("indent", [None, 1], ids=["one line", "indented"])
def test_a_quote_that_is_missing_costs_one_event(indent: int | None) -> None:
    content = text(indent)
    at = content.index(b'aten::op6000"') + len(b"aten::op6000")
    trace = read_trace(BytesIO(content[:at] + content[at + 1 :]))
    found = names(trace)
    assert len(found) >= COUNT - 2
    assert [(note.kind, note.count) for note in trace.notes if note.severity == "error"] == [("dropped_events", 1)]
