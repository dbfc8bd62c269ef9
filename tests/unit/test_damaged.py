"""Every symptom that users report of files that do not parse, each with a small file in tests/damaged."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

import pytest
import zstandard

from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Limits, Trace, TraceError, read_trace

DAMAGED = Path(__file__).parent.parent / "damaged"
ALL = [f"aten::op{i}" for i in range(5)]


@dataclass(frozen=True)
class Kept:
    """names: of the events that remain. notes: kind → (count, text at the first offset or None)."""

    names: list[str] = field(default_factory=lambda: ALL)
    notes: dict[str, tuple[int, bytes | None]] = field(default_factory=dict)


def renamed(row: int, name: str) -> list[str]:
    return [*ALL[:row], name, *ALL[row + 1 :]]


KEPT = {
    "bad_utf8.json": Kept(renamed(2, "aten::\ufffd\ufffd\ufffdop2"), {"bad_utf8": (3, b"\xff\xfe\x80")}),
    "bare_na.json": Kept(notes={"bare_words": (1, b"N/A,")}),
    "bare_na_and_quoted_na.json": Kept(renamed(3, "op N/A,"), {"bare_words": (1, b"N/A,")}),
    "broken_event.json": Kept([*ALL[:2], *ALL[3:]], {"dropped_events": (1, b"{")}),
    "byte_order_mark.json": Kept(),
    "concatenated_members.json.gz": Kept(),
    "control_characters.json": Kept(renamed(2, "aten :: op2 "), {"control_characters": (3, b"\x01")}),
    "damaged_keys_after_the_events.json": Kept(notes={"damaged_tail": (1, b'"traceName": node0oops')}),
    "damaged_keys_before_the_events.json": Kept(notes={"damaged_header": (1, b'{\n "schemaVersion"')}),
    "duplicate_keys.json": Kept(),
    "half_surrogate.json": Kept(renamed(2, "aten::\ufffdop2"), {"half_surrogates": (1, rb"\ud800op2")}),
    "huge_integers.json": Kept(ALL[:3], {"odd_fields": (1, None), "missing_duration": (1, None)}),
    "list_form.json": Kept(),
    "lone_backslash.json": Kept(renamed(2, r"C:\path\qux"), {"bad_escapes": (2, rb"\path")}),
    "missing_fields.json": Kept(
        ["", *ALL[1:], "aten::op5"], {"missing_time": (1, None), "missing_duration": (1, None)}
    ),
    "nan_and_infinity.json": Kept(notes={"bare_words": (3, b"NaN")}),
    "not_objects.json": Kept(["", "", "", "", "aten::op0", ""], {"odd_fields": (5, None)}),
    "odd_fields.json": Kept(
        ["aten::op0", "", "aten::op2", "aten::op3", "aten::op4", "", "aten::op6"],
        {"odd_fields": (5, None), "missing_duration": (1, None)},
    ),
    "one_line.json": Kept(),
    "repaired_keys_after_the_events.json": Kept(
        notes={"bare_words": (1, b"Infinity"), "trailing_commas": (2, b",\n ]")}
    ),
    "repaired_keys_before_the_events.json": Kept(
        renamed(2, "aten::op2 "), {"bad_escapes": (1, rb"\qux"), "control_characters": (2, b"\x02")}
    ),
    "string_timestamps.json": Kept(),
    "trailing_commas.json": Kept(notes={"trailing_commas": (2, b",")}),
    "truncated.json": Kept(ALL[:3], {"truncated": (1, None)}),
}

REFUSED = {
    "blank.json": "is empty",
    "empty.json": "is empty",
    "no_events.json": "holds no events: none were recorded, its traceEvents is empty",
    "no_readable_events.json": "holds no events: none of its 2 events can be read",
    "not_a_trace.json": "is not a PyTorch trace: it has no traceEvents",
    "not_json.json": "is a zip archive",
    "truncated_inside_the_header.json": "is not a PyTorch trace",
}

#: tested on its own below
OTHERS = {"corrupt.json.gz", "truncated.json.gz"}


def read(content: bytes, limits: Limits | None = None) -> Trace:
    return read_trace(BytesIO(content), limits=limits)


def test_every_file_is_tested() -> None:
    assert {p.name for p in DAMAGED.iterdir()} == set(KEPT) | set(REFUSED) | OTHERS


@pytest.mark.parametrize("name", KEPT)
def test_what_can_be_read_is_kept_and_the_rest_is_counted(name: str) -> None:
    content = (DAMAGED / name).read_bytes()
    trace = read(content)
    expected = KEPT[name]
    assert [trace.strings[code] for code in trace.events.name.tolist()] == expected.names
    assert {note.kind: note.count for note in trace.notes} == {k: count for k, (count, _) in expected.notes.items()}
    for note in trace.notes:
        _, text = expected.notes[note.kind]
        if text is not None:
            assert note.first_offset is not None
            assert content[note.first_offset :].startswith(text), note
    Model(trace).steps  # noqa: B018 - what is left is a trace that analyses can work on


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_trace_is_refused_with_a_reason(name: str) -> None:
    with pytest.raises(TraceError, match=REFUSED[name]):
        read((DAMAGED / name).read_bytes())


def test_a_gzip_file_cut_off_keeps_every_event_before_the_cut() -> None:
    trace = read((DAMAGED / "truncated.json.gz").read_bytes())
    names = [trace.strings[code] for code in trace.events.name.tolist()]
    assert len(names) > 100
    assert [n.split("-")[0] for n in names] == [f"aten::op{i}" for i in range(len(names))]
    assert [n.kind for n in trace.notes] == ["truncated"]
    assert "the gzip data is cut off" in trace.notes[0].text


def test_zstandard_whole_and_cut_off() -> None:
    events = [
        {"ph": "X", "cat": "cpu_op", "name": f"op{i}", "pid": 1, "tid": 1, "ts": i, "dur": 1} for i in range(9999)
    ]
    packed = zstandard.compress(json.dumps({"traceEvents": events}).encode())
    assert len(read(packed).events) == len(events)
    assert read(packed).notes == ()
    cut = read(packed[: len(packed) * 2 // 3])
    assert 0 < len(cut.events) < len(events)
    assert [n.kind for n in cut.notes] == ["truncated"]


# too much of a good thing ------------------------------------------------------------------------------------

MEGABYTE = 1 << 20


def bomb(filling: bytes, members: int) -> bytes:
    """A gzip file of `members` times `filling`, as small as gzip makes it."""
    return gzip.compress(filling, 9) * members


def test_a_megabyte_that_unpacks_to_a_gigabyte_of_blanks_is_refused_early() -> None:
    packed = bomb(b" " * (16 * MEGABYTE), 64)
    assert len(packed) < 1.1 * MEGABYTE
    with pytest.raises(TraceError, match="no traceEvents in its first 64 MiB"):
        read(packed)


def test_a_megabyte_that_unpacks_to_a_gigabyte_of_events_is_stopped_at_the_limit() -> None:
    event = b'{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":1},\n'
    head = gzip.compress(b'{"traceEvents": [\n')
    packed = head + bomb(event * (16 * MEGABYTE // len(event)), 64)
    assert len(packed) < 4 * MEGABYTE
    trace = read(packed, Limits(expansion=50, free_bytes=8 * MEGABYTE))
    assert trace.text_bytes < 40 * MEGABYTE
    assert [n.kind for n in trace.notes] == ["truncated"]
    assert "unpacks to more than 50 times its size" in trace.notes[0].text


def test_changed_gzip_data_is_read_as_far_as_it_goes_and_its_checksum_is_told() -> None:
    trace = read((DAMAGED / "corrupt.json.gz").read_bytes())
    assert len(trace.events) == 93
    assert [n.kind for n in trace.notes] == ["control_characters", "dropped_events", "wrong_checksum", "truncated"]
