"""Attributes of objects as columns: the fast ways against the obvious ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from io import BytesIO

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.trace import column_buffers, read_trace
from torch_tb_profiler.trace.column_buffers import (
    JsonTextBuffer,
    KeyCodes,
    NumberBuffer,
    NumberField,
    TextBuffer,
    TextCodes,
    getter,
    integers,
    pack_floats,
    unpack_floats,
)
from torch_tb_profiler.trace.times import exact_ns

NUMBERS = st.one_of(st.floats(), st.none())


@dataclass
class Thing:
    a: object = None
    b: object = None


def obvious(value: float | str | None) -> float:
    try:
        return math.nan if value is None else float(value)
    except ValueError:
        return math.nan


@given(st.lists(st.lists(NUMBERS, max_size=40), max_size=4))
def test_numbers_come_back_and_none_is_nan(pieces: list[list[float | None]]) -> None:
    found = unpack_floats([pack_floats(piece) for piece in pieces])
    assert np.array_equal(found, [obvious(x) for piece in pieces for x in piece], equal_nan=True)


@pytest.mark.parametrize("count", [0, 1, 15, 16, 65_535, 65_536])
def test_any_count(count: int) -> None:
    values = [float(i) for i in range(count)]
    assert unpack_floats([pack_floats(values), pack_floats(values)]).tolist() == values + values


@given(st.lists(st.one_of(NUMBERS, st.text(max_size=12), st.sampled_from(["0x55a3c0", "12345678", "7.5", "NaN"]))))
def test_text_among_numbers(values: list[float | str | None]) -> None:
    found = unpack_floats([pack_floats(values, texts=True)])
    assert np.array_equal(found, [obvious(x) for x in values], equal_nan=True)


def test_integers() -> None:
    values = np.array([0.0, -3.0, 2.0**53, 1e30, -1e30, np.inf, np.nan])
    assert integers(values).tolist() == [0, -3, 2**53, -1, -1, -1, -1]
    assert integers(values, missing=0).tolist() == [0, -3, 2**53, 0, 0, 0, 0]


def test_number_attributes_become_columns() -> None:
    numbers = NumberBuffer("a", NumberField("b", real=True))
    numbers.add([Thing(1.0, 0.5), Thing(None, None)])
    numbers.add([Thing(3.0, 2.5)])
    taken = numbers.take()
    assert taken["a"].tolist() == [1, -1, 3]
    assert np.array_equal(taken["b"], [0.5, np.nan, 2.5], equal_nan=True)
    assert [len(column) for column in numbers.take().values()] == [0, 0]


@given(st.lists(st.lists(st.tuples(st.sampled_from(["", "[]", "[1,\n 2]", '"é"']), st.sampled_from(["", "x"])))))
def test_text_attributes_become_codes(chunks: list[list[tuple[str, str]]]) -> None:
    known: list[bytes] = []

    def code(text: bytes) -> int:
        if text not in known:
            known.append(text)
        return known.index(text)

    texts = JsonTextBuffer(code, "a", "b")
    for chunk in chunks:
        texts.add([Thing(msgspec.Raw(a.encode()), msgspec.Raw(b.encode())) for a, b in chunk])
    taken = texts.take()
    found = [(known[a].decode(), known[b].decode()) for a, b in zip(taken["a"], taken["b"], strict=True)]
    assert found == [pair for chunk in chunks for pair in chunk]


@given(st.lists(st.lists(st.tuples(st.none() | st.text(max_size=2), st.none() | st.text(max_size=2)))))
def test_plain_text_attributes_become_codes(chunks: list[list[tuple[str | None, str | None]]]) -> None:
    codes = TextCodes()
    texts = TextBuffer(codes.code, "a", "b")
    for chunk in chunks:
        texts.add([Thing(a, b) for a, b in chunk])
    taken = texts.take()
    found = [(codes.texts[a], codes.texts[b]) for a, b in zip(taken["a"], taken["b"], strict=True)]
    assert found == [(a or "", b or "") for chunk in chunks for a, b in chunk]
    assert len(set(codes.texts)) == len(codes.texts)
    assert all(len(column) == 0 for column in texts.take().values())


def test_codes_are_forgotten_and_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(column_buffers, "_KEPT_BYTES", 100)
    made: list[int] = []

    def make(key: int) -> bytes:
        made.append(key)
        return b"%d" % key

    codes = KeyCodes(make, lambda _: 10)
    for _ in range(2):
        assert [codes[key] for key in range(30)] == [b"%d" % key for key in range(30)]
    assert len(codes) <= 10
    assert len(made) == 60
    assert codes[29] == b"29"
    assert len(made) == 60


def test_a_getter_reads_one_attribute() -> None:
    assert getter("b")([Thing(1, 2), Thing(3, 4)]) == [2, 4]


# times that do not fit a double ---------------------------------------------------------------------------


def ns(texts: list[str]) -> list[int | None]:
    found, missing = exact_ns([msgspec.Raw(text.encode()) for text in texts])
    return [None if gone else int(value) for value, gone in zip(found, missing, strict=True)]


@given(st.lists(st.integers(0, 10**15 - 1), min_size=1), st.integers(0, 999))
def test_times_of_one_length(whole: list[int], fraction: int) -> None:
    texts = [f"{value:015d}.{fraction:03d}" for value in whole]
    assert ns(texts) == [int(Decimal(text) * 1000) for text in texts]


@given(st.lists(st.decimals(-(10**15), 10**15, places=3), min_size=1))
def test_times_of_any_length(values: list[Decimal]) -> None:
    assert ns([f"{value:f}" for value in values]) == [int(value * 1000) for value in values]


def test_times_written_in_other_ways() -> None:
    assert ns(
        ["1712196637123456.789", "1712196637123456.7", '"1712196637123456.78"', "null", "1.5e3", "", "1e400"]
    ) == [
        1712196637123456789,
        1712196637123456700,
        1712196637123456780,
        None,
        1_500_000,
        None,
        None,
    ]
    # of one length, but no three decimals
    assert ns(["12345.6789", "1234567.89", "123456e-10"])[:2] == [12345678, 1234567890]
    assert ns(["1234.5x7", "1234.567"]) == [None, 1234567]


def test_a_time_over_several_lines_costs_its_event_alone() -> None:
    """Where times are kept as text: too long for a double."""
    events = [
        f'{{"ph":"X","cat":"cpu_op","name":"op{each}","pid":1,"tid":1,"ts":1761646256901{each}34.123,"dur":1}}'
        for each in range(4)
    ]
    events[2] = events[2].replace("1761646256901234.123", "[\n1,\n5\n]")
    trace = read_trace(BytesIO(('{"traceEvents":[' + ",\n".join(events) + "]}").encode()))
    assert (np.diff(trace.events.start[[0, 1, 3]]) == [100_000, 200_000]).all()
    assert [(note.kind, note.count) for note in trace.notes if note.kind == "missing_time"] == [("missing_time", 1)]


def test_what_lists_an_attribute_is_made_once() -> None:
    assert getter("a") is getter("a")
    assert getter("a")([Thing(1, 2), Thing(3)]) == [1, 3]
    assert getter("b")([Thing(1, 2), Thing(3)]) == [2, None]
