"""The reader against `json.loads`: every event, every column, however the text is laid out or damaged."""

from __future__ import annotations

import gzip
import io
import json
import math
import zlib
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tracegen import Config, generate
from torch_tb_profiler.trace import Category, EventPhase, ReadProgress, Trace, TraceError, read_trace, unpack
from torch_tb_profiler.trace.schema import TRACE_TABLES, Events


def nanoseconds(microseconds: float) -> int:
    """From the digits that were written: the product of doubles would be off by one for absolute times."""
    return round(Decimal(str(microseconds)) * 1000)


def read(text: str | bytes) -> Trace:
    return read_trace(io.BytesIO(text.encode() if isinstance(text, str) else text))


def kinds(trace: Trace) -> dict[str, int]:
    return {note.kind: note.count for note in trace.notes}


@pytest.fixture(scope="module")
def generated() -> dict[str, Any]:
    trace, _ = generate(Config(steps=2, layers=2))
    return trace


def check_events(trace: Trace, events: list[dict[str, Any]]) -> None:
    """Every event of the file is a row, in order, with its name, times and thread."""
    table = trace.events
    assert len(table) == len(events)
    names = [trace.strings[code] for code in table.name.tolist()]
    assert names == [e.get("name", "") for e in events]
    base = trace.header.base_time_ns or 0
    for row, event in enumerate(events):
        if event.get("ph") == "M":
            continue
        absolute = int(table.start[row]) + trace.origin_ns - base
        assert absolute == nanoseconds(event["ts"]), (row, event)
        expected = nanoseconds(event["dur"]) if event.get("ph") == "X" else -1
        assert int(table.duration[row]) == expected, (row, event)
        track = trace.tracks[table.track[row]]
        assert (str(track.pid), str(track.tid)) == (str(event["pid"]), str(event["tid"]))


def check_arguments(trace: Trace, events: list[dict[str, Any]]) -> None:
    """Numbers and texts of the arguments, table by table."""

    def of(row: int, *names: str) -> Any:
        args = events[row].get("args", {})
        return next((args[name] for name in names if name in args), None)

    def number(value: Any, missing: int = -1) -> int:
        return missing if value is None else int(value)

    strings = trace.strings
    for i, row in enumerate(trace.operators.row.tolist()):
        assert number(of(row, "External id", "external id")) == trace.operators.external_id[i]
        assert number(of(row, "Sequence number")) == trace.operators.sequence[i]
        dims = of(row, "Input Dims", "Input dims")
        text = strings[trace.operators.input_dims[i]]
        assert (json.loads(text) if text else None) == dims
        assert strings[trace.operators.call_stack[i]] == (of(row, "Call stack") or "")
    for i, row in enumerate(trace.launches.row.tolist()):
        assert number(of(row, "correlation")) == trace.launches.correlation[i]
    work = trace.device_work
    for i, row in enumerate(work.row.tolist()):
        assert number(of(row, "correlation")) == work.correlation[i]
        stream = number(of(row, "stream"))
        assert (-1 if stream == 2**32 - 1 else stream) == work.stream[i]
        assert number(of(row, "registers per thread")) == work.registers[i]
        assert number(of(row, "bytes")) == work.bytes[i]
        occupancy = of(row, "est. achieved occupancy %")
        assert math.isnan(work.occupancy[i]) if occupancy is None else work.occupancy[i] == float(occupancy)
        bandwidth = of(row, "memory bandwidth (GB/s)")
        assert math.isnan(work.bandwidth[i]) if bandwidth is None else work.bandwidth[i] == bandwidth
        grid = strings[work.grid[i]]
        assert (json.loads(grid) if grid else None) == of(row, "grid")
    for i, row in enumerate(trace.memory.row.tolist()):
        assert number(of(row, "Addr")) == trace.memory.address[i]
        assert number(of(row, "Bytes"), 0) == trace.memory.bytes[i]
        assert number(of(row, "Total Reserved")) == trace.memory.total_reserved[i]
    for i, row in enumerate(trace.python_frames.row.tolist()):
        assert number(of(row, "Python id")) == trace.python_frames.python_id[i]
        assert number(of(row, "Python module id")) == trace.python_frames.module_id[i]


LAYOUTS = {
    "torch": lambda t: json.dumps(t, indent=2),
    "one line": lambda t: json.dumps(t, separators=(",", ":")),
    "python": json.dumps,
    "deep indent": lambda t: json.dumps(t, indent=4),
    "list": lambda t: json.dumps(t["traceEvents"]),
    "list first": lambda t: json.dumps({"traceEvents": t["traceEvents"], **t}),
    "byte order mark": lambda t: "\ufeff" + json.dumps(t),
    "crlf": lambda t: json.dumps(t, indent=2).replace("\n", "\r\n"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_every_event(generated: dict[str, Any], layout: str) -> None:
    trace = read(LAYOUTS[layout](generated))
    check_events(trace, generated["traceEvents"])
    check_arguments(trace, generated["traceEvents"])
    assert trace.notes == ()
    if layout != "list":
        assert trace.header.devices == generated["deviceProperties"]


@pytest.mark.parametrize("legacy", [False, True])
def test_old_and_new_spellings_become_one_vocabulary(legacy: bool) -> None:
    generated, expected = generate(Config(steps=2, layers=1, legacy=legacy))
    trace = read(json.dumps(generated))
    found = {c: int((trace.events.category == c).sum()) for c in Category}
    assert found[Category.KERNEL] == sum(calls for calls, _ in expected.kernels.values())
    assert found[Category.OPERATOR] == sum(op.calls for op in expected.ops.values())
    assert found[Category.USER_ANNOTATION] == sum(calls for calls, _ in expected.annotations.values())
    assert len(trace.events) == expected.events


def test_header_keys_before_and_after_the_events() -> None:
    trace = read('{"schemaVersion": 1, "traceEvents": [{"ph":"X","name":"a","ts":1,"dur":2}], "traceName": "x"}')
    assert trace.header.raw == {"schemaVersion": 1, "traceName": "x"}


def test_names_full_of_punctuation_do_not_mislead_the_cut() -> None:
    event = {"ph": "X", "cat": "cpu_op", "name": '},{"ph": "X"}, {\\" ] [', "pid": 1, "tid": 1, "ts": 1.5, "dur": 2}
    events = [dict(event, ts=i + 0.5) for i in range(20_000)]
    trace = read(json.dumps({"traceEvents": events}, separators=(",", ":")))
    check_events(trace, events)
    assert trace.notes == ()


def test_absolute_times_with_a_fraction_are_exact() -> None:
    text = (
        '{"traceEvents": [{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1712196637123456.789,"dur":0.001},'
        '{"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":1,"ts":1712196637123456.790,"dur":1}]}'
    )
    trace = read(text)
    assert trace.origin_ns == 1712196637123456789
    assert trace.events.start.tolist() == [0, 1]
    assert trace.events.duration.tolist() == [1, 1000]


def test_times_and_numbers_written_as_text() -> None:
    trace = read(
        '[{"ph":"X","cat":"kernel","name":"k","pid":"0","tid":"7","ts":"10.5","dur":"2.25",'
        '"args":{"correlation":"12","stream":"7"}}]'
    )
    assert trace.events.duration.tolist() == [2250]
    assert (trace.tracks[0].pid, trace.tracks[0].tid) == (0, 7)
    assert trace.device_work.correlation.tolist() == [12]
    assert trace.device_work.stream.tolist() == [7]


@pytest.mark.parametrize("spellings", [3, 1000], ids=["few", "a new one in each event"])
def test_any_spelling_of_phase_and_category_is_read(spellings: int) -> None:
    events = [
        {"ph": "X", "cat": f"Kind {i % spellings}", "name": "a", "pid": 1, "tid": 1, "ts": i, "dur": 1}
        for i in range(10_000)
    ]
    events[100]["ph"] = "?"
    events[200]["cat"] = None
    events[9000]["cat"] = "KERNEL"
    del events[9001]["ph"], events[9001]["cat"]
    trace = read(json.dumps(events))
    assert trace.events.category.tolist() == [Category.OTHER] * 9000 + [Category.KERNEL] + [Category.OTHER] * 999
    phases = [EventPhase.COMPLETE] * 10_000
    phases[100] = phases[9001] = EventPhase.OTHER
    assert trace.events.phase.tolist() == phases
    assert trace.notes == ()


def test_one_odd_event_costs_only_its_odd_field() -> None:
    events = [{"ph": "X", "cat": "cpu_op", "name": f"op{i}", "pid": 1, "tid": 1, "ts": i, "dur": 1} for i in range(100)]
    events[50]["args"] = {"External id": [1, 2], "Sequence number": 7}
    trace = read(json.dumps({"traceEvents": events}))
    check_events(trace, events)
    assert trace.operators.sequence[50] == 7
    assert trace.operators.external_id[50] == -1
    assert kinds(trace) == {"odd_fields": 1}


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "N/A", "inf"])
def test_bare_words_become_missing(word: str) -> None:
    event = '{"ph":"X","cat":"kernel","name":"is N/A, NaN","pid":0,"tid":7,"ts":1,"dur":1,"args":{"blocks per SM": %s}}'
    trace = read('{"traceEvents": [' + event % word + "," + event % "2.5" + "]}")
    assert trace.strings[trace.events.name[0]] == "is N/A, NaN"
    assert math.isnan(trace.device_work.blocks_per_sm[0])
    assert trace.device_work.blocks_per_sm[1] == 2.5


def test_trailing_comma() -> None:
    trace = read('{"traceEvents": [{"ph":"X","cat":"cpu_op","name":"a,]","pid":1,"tid":1,"ts":1,"dur":1},]}')
    assert [trace.strings[c] for c in trace.events.name] == ["a,]"]


def test_one_unreadable_event_is_dropped_and_counted() -> None:
    good = '{"ph":"X","cat":"cpu_op","name":"good","pid":1,"tid":1,"ts":1,"dur":1}'
    bad = '{"ph":"X", "name": 12oops, "ts": 3}'
    trace = read(f'{{"traceEvents": [{good},\n{bad},\n{good}]}}')
    assert len(trace.events) == 2
    note = next(n for n in trace.notes if n.kind == "dropped_events")
    assert (note.count, note.severity) == (1, "error")
    assert note.first_offset is not None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "is empty"),
        (b"   \n", "is empty"),
        (b"hello", "is not JSON"),
        ('{"traceEvents": []}'.encode("utf-16"), "is text in UTF-16"),
        ('{"traceEvents": []}'.encode("utf-16-le"), "is text in UTF-16"),
        ('[{"ph": "X"}]'.encode("utf-16-be"), "is text in UTF-16"),
        (gzip.compress(gzip.compress(b"{}", mtime=0), mtime=0), "was packed twice"),
        (b'{"a": 1}', "is not a PyTorch trace"),
        (b'{"traceEvents": []}', "holds no events"),
        (b'{"traceEvents": [', "cut off before its first event"),
        (gzip.compress(b"", mtime=0), "is empty"),
        (b"\x1f\x8b\x08garbage", "gzip"),
        (b" [\n [\n  -1,\n  1,\n  512,\n  7\n ]]", "torch-tb-profiler memory FILE"),
        (gzip.compress(json.dumps([[-1, 1, 512, 7]] * 9000).encode(), mtime=0), "torch-tb-profiler memory FILE"),
        (b"[[1795439397195311, 1795439397195319], [[0, 5, 0, 0, 0, 0, 0, 0, 0]]]", "a list of numbers"),
    ],
)
def test_what_is_no_trace_is_refused_with_a_reason(text: bytes, reason: str) -> None:
    with pytest.raises(TraceError, match=reason):
        read(text)


@pytest.fixture(params=["isal", "zlib"])
def inflater(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to gunzip; the second is for platforms without isal."""
    if request.param == "zlib":
        monkeypatch.setattr(unpack, "_new_deflated", unpack._ZlibDeflated)
        monkeypatch.setattr(unpack, "_INFLATE_ERRORS", (zlib.error,))
    else:
        pytest.importorskip("isal")


@pytest.mark.usefixtures("inflater")
def test_gzip_by_content_and_members_one_after_the_other(generated: dict[str, Any]) -> None:
    text = json.dumps(generated, indent=1).encode()
    half = len(text) // 2
    for padding in (b"", b"\0" * 512):
        trace = read(gzip.compress(text[:half]) + gzip.compress(text[half:]) + padding)
        check_events(trace, generated["traceEvents"])
        assert trace.notes == ()


@pytest.mark.usefixtures("inflater")
def test_a_gzip_file_cut_off_keeps_what_came_before(generated: dict[str, Any]) -> None:
    packed = gzip.compress(json.dumps(generated).encode())
    trace = read(packed[: len(packed) // 2])
    assert 0.2 < len(trace.events) / len(generated["traceEvents"]) < 0.8
    assert kinds(trace)["truncated"] == 1


SMALL = [
    {"ph": "X", "cat": "cpu_op", "name": f"op }}, {i}", "pid": 1, "tid": 1, "ts": i, "dur": 1, "args": {"a": [{}]}}
    for i in range(5)
]


@given(st.data(), st.sampled_from([None, 1, 2]))
def test_a_trace_cut_anywhere_keeps_every_event_before_the_cut(data: st.DataObject, indent: int | None) -> None:
    text = json.dumps({"schemaVersion": 1, "traceEvents": SMALL, "traceName": "x"}, indent=indent)
    cut = data.draw(st.integers(0, len(text)))
    whole = 0
    decoder = json.JSONDecoder()
    position = text.index("[") + 1
    for _ in SMALL:
        position = text.index("{", position)
        position = decoder.raw_decode(text, position)[1]
        whole += position <= cut
    try:
        trace = read(text[:cut])
    except TraceError:
        assert whole == 0
        return
    assert len(trace.events) == whole


def test_progress_counts_the_stored_bytes_and_the_events(tmp_path: Path) -> None:
    events = [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": i, "dur": 1} for i in range(100_000)]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    seen: list[ReadProgress] = []
    with path.open("rb") as stream:
        read_trace(stream, seen.append)
    assert seen[-1] == ReadProgress(path.stat().st_size, 100_000)
    assert len(seen) >= 2
    assert [p.bytes_done for p in seen] == sorted(p.bytes_done for p in seen)


def test_chunks_cover_every_event(generated: dict[str, Any]) -> None:
    text = json.dumps(generated, indent=1).encode()
    trace = read(text)
    total = 0
    for offset, length, first in zip(
        trace.chunks.offset.tolist(), trace.chunks.length.tolist(), trace.chunks.first_row.tolist(), strict=True
    ):
        events = json.loads(b"[" + text[offset : offset + length] + b"]")
        assert first == total
        assert events == generated["traceEvents"][first : first + len(events)]
        total += len(events)
    assert total == len(trace.events)


def test_every_column_is_documented_and_typed() -> None:
    trace = read('[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1}]')
    for kind in TRACE_TABLES:
        table = trace.table(kind)
        for column in kind.schema():
            assert getattr(table, column.name).dtype == column.dtype
            assert column.unit
            assert column.meaning or column.source or column.name == "row" or kind.table_name == "chunks"
            assert len(getattr(table, column.name)) == len(table)
    assert Events.column_names()[0] == "phase"
