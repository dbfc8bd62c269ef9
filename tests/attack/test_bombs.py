"""Text that is made to be slow or large to read: what is done, and what is held, grows no faster than the text."""

from __future__ import annotations

import contextlib
import tracemalloc
from collections.abc import Callable
from io import BytesIO

import pytest

from tests.attack.bombs import BOMBS
from torch_tb_profiler.trace import TraceError, read_trace, repair

SIZE = 150_000
#: bytes that may be held for a byte of text, and besides
SHARE, BASE = 96, 3_000_000


def read(text: bytes) -> None:
    """Whatever comes of it."""
    with contextlib.suppress(TraceError):
        assert len(read_trace(BytesIO(text)).events)


@pytest.mark.parametrize("name", BOMBS)
def test_memory_grows_with_the_text(name: str) -> None:
    text = BOMBS[name](SIZE)
    read(text[:1000])  # what is made once
    tracemalloc.start()
    try:
        read(text)
        held = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert held < SHARE * len(text) + BASE


@pytest.mark.parametrize("name", ["strings that do not close", "events without an end", "escaped quotes", "quotes"])
def test_each_place_where_an_event_may_begin_is_looked_at_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = BOMBS[name](SIZE)
    end_of_object: Callable[[bytes, int], int | None] = repair.end_of_object
    looked = 0

    def counted(within: bytes, start: int) -> int | None:
        nonlocal looked
        end = end_of_object(within, start)
        looked += (len(within) if end is None else end) - start
        return end

    monkeypatch.setattr(repair, "end_of_object", counted)
    read(text)
    assert looked <= 3 * repair._MAX_CUT_OFF * len(text)


def test_bytes_that_are_not_utf_8_are_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    content = b"a" * 1000 + b"\xff" * 20_000 + "é€😀".encode() + b"\xe2\x82" * 1000 + b"\xf0\x9f"
    decoded = 0

    class Counting:
        @staticmethod
        def utf_8_decode(window: memoryview, errors: str, final: bool) -> tuple[str, int]:
            nonlocal decoded
            decoded += len(window)
            return codecs.utf_8_decode(window, errors, final)

    codecs = repair.codecs
    monkeypatch.setattr(repair, "codecs", Counting)
    fixed, (found,) = repair.repair_text(content)
    assert fixed == content.decode("utf-8", "replace").encode()
    assert (found.kind, found.count, found.first) == ("bad_utf8", 21_001, 1000)
    assert decoded < 22_000 * repair._WINDOW + 2 * len(content)


@pytest.mark.parametrize("at", range(repair._WINDOW - 4, repair._WINDOW + 2))
def test_characters_at_the_border_of_what_is_decoded_at_once(at: int) -> None:
    content = b"a" * at + "😀".encode() + b"\xff" + "é".encode()
    assert repair.repair_text(content)[0] == content.decode("utf-8", "replace").encode()


def test_where_a_repair_was_made_behind_others_of_other_kinds() -> None:
    text = b'["\\x \\x \xff\xff", NaN, "\xff", Infinity, ]'
    fixed, repairs = repair.repair_text(text)
    assert fixed == '["\\\\x \\\\x \ufffd\ufffd", null, "\ufffd", null ]'.encode()
    assert {each.kind: (each.count, each.first) for each in repairs} == {
        "bad_escapes": (2, text.index(b"\\")),
        "bad_utf8": (3, text.index(b"\xff")),
        "bare_words": (2, text.index(b"NaN")),
        "trailing_commas": (1, text.rindex(b",")),
    }
