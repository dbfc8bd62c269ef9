"""Arguments of one event, as they stand in the file."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from torch_tb_profiler.trace import TraceError, read_trace
from torch_tb_profiler.trace.excerpts import place_of, raw_args, raw_args_at

BIG = 2**63 + 1


def text_of(events: int) -> bytes:
    """More than one chunk of them; every third has no arguments."""
    made = [
        {"ph": "X", "cat": "cpu_op", "name": f"op{i}", "pid": 1, "tid": 1, "ts": i, "dur": 1}
        | ({"args": {"My own": [i, {"a": None}], "big": BIG + i}} if i % 3 else {})
        for i in range(events)
    ]
    return json.dumps({"traceEvents": made}, indent=1).encode()


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_every_event_is_found(pack: type[bytes]) -> None:
    stored = pack(text_of(6000))
    trace = read_trace(io.BytesIO(stored))
    assert len(trace.chunks) > 2
    for row in (0, 1, 2, 2999, 3001, 5999, *(int(row) for row in trace.chunks.first_row)):
        found = raw_args(trace, row, io.BytesIO(stored))
        expected = {"My own": [row, {"a": None}], "big": BIG + row} if row % 3 else None
        assert (None if found is None else json.loads(found)) == expected


@pytest.mark.slow
def test_samples(samples: Path) -> None:
    for path in sorted(samples.glob("*/*.gz")):
        with path.open("rb") as stream:
            trace = read_trace(stream)
        events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
        for row in range(0, len(events), max(1, len(events) // 10)):
            with path.open("rb") as stream:
                found = raw_args(trace, row, stream)
            assert (None if found is None else json.loads(found)) == events[row].get("args"), (path, row)


def test_what_cannot_be_told_is_said() -> None:
    stored = text_of(6000)
    trace = read_trace(io.BytesIO(stored))
    for changed, row in ((stored.replace(b"op2000", b"po2000"), 2000), (stored[:-20_000], 5990)):
        with pytest.raises(TraceError, match="damaged around this event"):
            raw_args(trace, row, io.BytesIO(changed))


@pytest.mark.parametrize(
    "place", [{"offset": -(2**40)}, {"offset": 2**60}, {"length": -5}, {"offset": -1, "length": 2**60}]
)
def test_a_place_that_columns_made_up_is_refused(place: dict[str, int]) -> None:
    stored = gzip.compress(text_of(60))
    made_up = replace(place_of(read_trace(io.BytesIO(stored)), 7), **place)
    with pytest.raises(TraceError, match="damaged around this event"):
        raw_args_at(made_up, io.BytesIO(stored))
