"""Packed files whose checksum is wrong: all of their text is read, and the checksum is told."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from io import BytesIO

import pytest
import zstandard

from torch_tb_profiler.trace import Trace, TraceError, read_trace, unpack

COUNT = 5000


def text() -> bytes:
    event = {"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "dur": 5}
    events = [event | {"name": f"aten::op{i}", "ts": 1000 + 10 * i} for i in range(COUNT)]
    return json.dumps({"traceEvents": events}, indent=1).encode()


@pytest.fixture(params=["isal", "zlib"])
def inflater(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "zlib":
        monkeypatch.setattr(unpack, "_isal", None)
        monkeypatch.setattr(unpack, "_INFLATE_ERRORS", (zlib.error,))
    elif unpack._isal is None:
        pytest.skip("isal is not installed")


def flipped(data: bytes, place: int) -> bytes:
    changed = bytearray(data)
    changed[place] ^= 1
    return bytes(changed)


def zstd(content: bytes, **options: bool) -> bytes:
    return zstandard.ZstdCompressor(**options).compress(content)


def noted(trace: Trace) -> list[tuple[str, int, int | None]]:
    return [(note.kind, note.count, note.first_offset) for note in trace.notes]


def read(data: bytes) -> Trace:
    trace = read_trace(BytesIO(data))
    assert len(trace.events) == COUNT
    return trace


@pytest.mark.usefixtures("inflater")
@pytest.mark.parametrize("place", [-8, -1], ids=["checksum", "length"])
def test_a_wrong_sum_of_gzip(place: int) -> None:
    assert noted(read(flipped(gzip.compress(text(), mtime=0), place))) == [("wrong_checksum", 1, 0)]


@pytest.mark.usefixtures("inflater")
def test_members_are_checked_one_by_one() -> None:
    content = text()
    pieces = [content[begin : begin + 100_000] for begin in range(0, len(content), 100_000)]
    members = [gzip.compress(piece, mtime=0) for piece in pieces]
    members[1], members[3] = flipped(members[1], -5), flipped(members[3], -5)
    assert noted(read(b"".join(members) + bytes(1000))) == [("wrong_checksum", 2, 100_000)]


def test_a_wrong_checksum_of_zstandard() -> None:
    assert noted(read(flipped(zstd(text(), write_checksum=True), -1))) == [("wrong_checksum", 1, 0)]


@pytest.mark.parametrize("write_checksum", [False, True])
@pytest.mark.parametrize("write_content_size", [False, True])
def test_frames_one_after_the_other(write_checksum: bool, write_content_size: bool) -> None:
    content = text()
    skippable = (0x184D2A53).to_bytes(4, "little") + (70_000).to_bytes(4, "little") + bytes(70_000)
    frames = [
        zstd(piece, write_checksum=write_checksum, write_content_size=write_content_size)
        for piece in (content[:100], b"", content[100:250_000], content[250_000:])
    ]
    assert noted(read(skippable.join([b"", *frames, b""]))) == []


def test_blocks_before_a_damaged_one_are_kept() -> None:
    content = text()
    packed = zstd(content)
    trace = read_trace(BytesIO(packed[: len(packed) // 2]))
    assert [note.kind for note in trace.notes] == ["truncated"]
    assert "the Zstandard data is cut off" in next(iter(trace.notes)).text
    assert len(trace.events) > COUNT // 4


def headers() -> Iterator[bytes]:
    """gzip headers with each optional field (RFC 1952)."""
    fields = {4: b"\x03\x00abc", 8: b"name\x00", 16: b"comment\x00", 2: b"\x12\x34"}
    for flags in range(0, 32, 2):
        yield b"\x1f\x8b\x08" + bytes([flags]) + bytes(6) + b"".join(fields[bit] for bit in fields if flags & bit)


@pytest.mark.usefixtures("inflater")
def test_every_kind_of_gzip_header() -> None:
    packed = gzip.compress(text(), mtime=0)[10:]
    for header in headers():
        assert noted(read(header + packed)) == []


@pytest.mark.usefixtures("inflater")
@pytest.mark.parametrize("header", [b"\x1f\x8b\x07" + bytes(7), b"\x1f\x8b\x08\x80" + bytes(6), b"\x1f\x8b\x08"])
def test_a_header_that_is_none(header: bytes) -> None:
    with pytest.raises(TraceError, match="gzip data is"):
        read_trace(BytesIO(header))
