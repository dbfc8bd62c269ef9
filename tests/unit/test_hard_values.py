"""Values that no decoder takes: the event is kept without them, or dropped alone and told; the file is read."""

from __future__ import annotations

import gzip
import json
from io import BytesIO
from pathlib import Path

import msgspec
import pytest
import zstandard

from torch_tb_profiler.analysis.change.figures import RecordingFigures, recording_figures
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Trace, read_to_file, read_trace
from torch_tb_profiler.trace.excerpts import examine, with_events

COUNT = 8


def events(changed: str) -> list[str]:
    """JSON text of events, of which the fourth is changed: a key replaced or added."""
    found = []
    for number in range(COUNT):
        event = f'"ph":"X","cat":"cpu_op","name":"aten::op{number}","pid":1,"tid":1,"ts":{1000 + 10 * number},"dur":5'
        found.append("{" + event + (f",{changed}" if changed and number == 3 else "") + "}")
    return found


def text(changed: str, between: str) -> bytes:
    return ('{"schemaVersion": 1, "traceEvents": [' + between.join(events(changed)) + "]}").encode()


def names(trace: Trace) -> list[str]:
    return [trace.strings[code] for code in trace.events.name.tolist()]


def all_but(number: int) -> list[str]:
    return [f"aten::op{i}" for i in range(COUNT) if i != number]


BEYOND_64_BITS = "9" * 30
MANY_DIGITS = "9" * 5000


@pytest.mark.parametrize("field", ["pid", "tid", "id", "ts", "dur"])
@pytest.mark.parametrize("value", [BEYOND_64_BITS, MANY_DIGITS, f'"{MANY_DIGITS}"', "-" + BEYOND_64_BITS])
def test_a_number_that_is_too_large_costs_no_event(field: str, value: str, tmp_path: Path) -> None:
    trace = read_to_file(BytesIO(text(f'"{field}":{value}', ",\n")), tmp_path / "columns")
    assert names(trace) == [f"aten::op{i}" for i in range(COUNT)]


def test_a_number_that_is_not_kept_is_told() -> None:
    trace = read_trace(BytesIO(text(f'"args":{{"External id":{MANY_DIGITS}}}', ",\n")))
    assert [(note.kind, note.count) for note in trace.notes] == [("odd_fields", 1)]


def test_metadata_with_large_numbers(tmp_path: Path) -> None:
    values = ", ".join(f'"{key}": {BEYOND_64_BITS}' for key in ("pid", "tid"))
    named = f'{{"ph":"M","name":"thread_sort_index",{values},"args":{{"sort_index":{BEYOND_64_BITS}}}}}'
    content = f'{{"traceEvents": [{named}, {events("")[0]}]}}'.encode()
    trace = read_to_file(BytesIO(content), tmp_path / "columns")
    assert [(track.pid, track.tid, track.sort_index) for track in trace.tracks] == [
        (BEYOND_64_BITS, BEYOND_64_BITS, 0),
        (1, 1, 0),
    ]


@pytest.mark.parametrize("between", [",\n", ", "])
@pytest.mark.parametrize("nested", ["[" * 3000 + "]" * 3000, '{"args":' * 3000 + "{}" + "}" * 3000])
def test_arguments_nested_too_deep_cost_their_event(nested: str, between: str) -> None:
    content = text(f'"args":{{"Input Dims":{nested}}}', between)
    trace = read_trace(BytesIO(content))
    assert names(trace) == all_but(3)
    (note,) = trace.notes
    assert (note.kind, note.count, note.first_offset) == (
        "dropped_events",
        1,
        content.index(events("")[3][:-1].encode()),
    )


@pytest.mark.parametrize("key", ["schemaVersion", "traceName"])
@pytest.mark.parametrize("value", ["[" * 3000 + "]" * 3000, MANY_DIGITS])
def test_a_header_that_cannot_be_decoded_costs_no_event(key: str, value: str) -> None:
    before, after = (f'"{key}": {value}, ', "") if key == "schemaVersion" else ("", f', "{key}": {value}')
    trace = read_trace(BytesIO(f'{{{before}"traceEvents": [{", ".join(events(""))}]{after}}}'.encode()))
    assert len(trace.events) == COUNT
    assert [note.kind for note in trace.notes] == ["damaged_header" if before else "damaged_tail"]


def test_a_file_with_what_cannot_be_decoded_is_written_again_without_it() -> None:
    content = text('"args":{"x":' + "[" * 3000 + "]" * 3000 + "}", ",\n")
    assert not examine(BytesIO(content)).whole
    written = json.loads(b"".join(with_events(BytesIO(content), (), whole=False)))
    assert [event["name"] for event in written["traceEvents"]] == all_but(3)


@pytest.mark.parametrize("number", [BEYOND_64_BITS, f"-{BEYOND_64_BITS}", str(2**64), str(-(2**63) - 1)])
@pytest.mark.parametrize("place", ["before", "behind"])
@pytest.mark.parametrize(
    "key", ["schemaVersion", "baseTimeNanoseconds", "deviceProperties", "distributedInfo", "other"]
)
def test_numbers_beside_the_events_that_nothing_holds_are_left_out_and_told(
    tmp_path: Path, key: str, place: str, number: str
) -> None:
    held = f'"{key}": [{{"id": {number}, "name": "A100"}}]'
    content = text("", ",\n").decode()
    changed = content.replace('"schemaVersion": 1', held) if place == "before" else content[:-1] + f",{held}}}"
    for trace in (read_trace(BytesIO(changed.encode())), read_to_file(BytesIO(changed.encode()), tmp_path / "columns")):
        assert names(trace) == all_but(-1)
        assert trace.header.raw[key] == [{"id": None, "name": "A100"}]
        assert [(note.kind, note.count) for note in trace.notes] == [("huge_numbers", 1)]


@pytest.mark.parametrize("number", [2**64 - 1, -(2**63)])
def test_numbers_beside_the_events_of_64_bits_are_kept(tmp_path: Path, number: int) -> None:
    content = text("", ",\n").decode().replace('"schemaVersion": 1', f'"schemaVersion": {number}')
    trace = read_to_file(BytesIO(content.encode()), tmp_path / "columns")
    assert trace.header.raw["schemaVersion"] == number
    assert not trace.notes


def test_numbers_are_found_however_deep_they_are(tmp_path: Path) -> None:
    content = text("", ",\n").decode()
    changed = content.replace('"schemaVersion": 1', f'"deep": {"[" * 900}{BEYOND_64_BITS}{"]" * 900}')
    trace = read_to_file(BytesIO(changed.encode()), tmp_path / "columns")
    assert names(trace) == all_but(-1)
    assert [(note.kind, note.count) for note in trace.notes] == [("huge_numbers", 1)]


_DOCUMENT = text("", ", ")


@pytest.mark.parametrize(
    ("content", "at"),
    [
        (_DOCUMENT + _DOCUMENT, len(_DOCUMENT)),
        (_DOCUMENT + b"\n" + _DOCUMENT, len(_DOCUMENT)),
        (_DOCUMENT + b" oops", len(_DOCUMENT)),
        (_DOCUMENT[:-1] + b", " + _DOCUMENT[1:], len(_DOCUMENT) + 1),
        (gzip.compress(_DOCUMENT) * 2, len(_DOCUMENT)),
        (_DOCUMENT + b" \r\n\t" + bytes(5000), None),
        (_DOCUMENT[:-1] + b', "traceEvents": null}', None),
    ],
)
def test_what_stands_behind_a_trace_is_told(content: bytes, at: int | None) -> None:
    trace = read_trace(BytesIO(content))
    assert len(trace.events) == COUNT
    assert [(note.kind, note.first_offset) for note in trace.notes] == ([] if at is None else [("more_behind", at)])


_GZIP, _ZSTD = gzip.compress(_DOCUMENT), zstandard.compress(_DOCUMENT)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (_GZIP + bytes(70_000), None),
        (_GZIP + b"oops", "the gzip data is damaged: unknown data after a member"),
        (_GZIP + b"\0", None),
        (_GZIP + b"x", "the gzip data is damaged: unknown data after a member"),
        (_GZIP + bytes(70_001) + _GZIP, "the gzip data is damaged: unknown data after a member"),
        (_GZIP[:-3], "the gzip data is cut off"),
        (_ZSTD + b"oops", "the Zstandard data is damaged: unknown data after a frame"),
        (_ZSTD + b"oo", "the Zstandard data is cut off"),
    ],
)
def test_what_cannot_be_read_behind_a_trace_is_told(content: bytes, why: str | None) -> None:
    trace = read_trace(BytesIO(content))
    assert len(trace.events) == COUNT
    told = [(note.kind, note.text) for note in trace.notes]
    text = f"The trace is whole; what the file has after its end could not be read ({why})."
    assert told == ([] if why is None else [("unread_end", text)])


def test_of_a_second_trace_that_is_cut_off_its_beginning_is_told() -> None:
    trace = read_trace(BytesIO(_GZIP + _GZIP[:-20]))
    assert len(trace.events) == COUNT
    assert [(note.kind, note.first_offset) for note in trace.notes] == [("more_behind", len(_DOCUMENT))]


@pytest.mark.parametrize("number", ["1e309", "-1e999", "[0, 1e400]"])
def test_keys_behind_the_events_with_a_number_beyond_a_double(number: str) -> None:
    """JSON has none, so an answer that says it could not be read again."""
    trace = read_trace(BytesIO(text("", ", ")[:-1] + f', "cuda_driver_version": {number}}}'.encode()))
    assert len(trace.events) == COUNT
    assert [(note.kind, note.count) for note in trace.notes] == [("huge_numbers", 1)]
    figures = recording_figures(Model(trace), "run")
    assert msgspec.json.decode(msgspec.json.encode(figures), type=RecordingFigures) == figures


@pytest.mark.parametrize("kind", ["process_name", "process_labels", "thread_name"])
def test_bytes_that_are_no_text_in_the_name_of_a_process_cost_those_bytes_alone(kind: str) -> None:
    key = "labels" if kind == "process_labels" else "name"
    named = b'{"ph": "M", "name": "%s", "pid": 1, "tid": 1, "args": {"%s": "a\xf9b"}}' % (kind.encode(), key.encode())
    event = b'{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 1, "dur": 5}'
    trace = read_trace(BytesIO(b'{"traceEvents": [%s, %s]}' % (event, named)))
    assert len(trace.events) == 2
    (track,) = trace.tracks
    assert {track.process_name, track.process_labels, track.thread_name} == {"", "a\ufffdb"}
