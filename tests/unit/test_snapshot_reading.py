"""Reading memory snapshots: the same columns however they are written, and nothing but columns from hostile files."""

from __future__ import annotations

import base64
import gzip
import io
import pickle
import pickletools
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.snapshots import dumped, random_run, stack
from torch_tb_profiler.snapshot.schema import Records
from torch_tb_profiler.snapshot.state import write
from torch_tb_profiler.snapshot.unpickle_stream import SnapshotError, unpickle_bytes, unpickle_stream
from torch_tb_profiler.trace import Limits, Note, TraceError
from torch_tb_profiler.workspace.reading.child_processes import read_snapshot

pytestmark = pytest.mark.slow

#: of the children of these tests
SECONDS = 4


class _Tables:
    def __init__(self) -> None:
        self.found: dict[Any, Any] = {}

    def add(self, kind: Any, columns: Any) -> None:
        self.found[kind] = kind.from_columns(columns).columns()


def tables_of(content: bytes) -> tuple[dict[str, dict[str, list[Any]]], tuple[Note, ...]]:
    """All tables as lists, with texts and stacks in place of numbers that depend on the order of reading."""
    tables = _Tables()
    info = write(unpickle_bytes(content), tables, len(content))
    plain = {kind.table_name: {k: v.tolist() for k, v in columns.items()} for kind, columns in tables.found.items()}
    return _in_words(plain, info.strings), tuple(info.notes)


def _in_words(tables: dict[str, dict[str, list[Any]]], strings: list[str]) -> dict[str, dict[str, list[Any]]]:
    frames = tables.pop("snapshot_frames", {"name": [], "file": [], "line": []})
    inside = tables.pop("snapshot_stack_frames", {"frame": []})["frame"]
    stacks = tables.pop("snapshot_stacks", {"start": [], "depth": []})
    named = [
        (strings[n], strings[f], line)
        for n, f, line in zip(frames["name"], frames["file"], frames["line"], strict=True)
    ]
    told = [tuple(named[i] for i in inside[s : s + d]) for s, d in zip(stacks["start"], stacks["depth"], strict=True)]
    contexts = tables.pop("snapshot_contexts", None)
    for columns in tables.values():
        if "stack" in columns:
            columns["stack"] = [told[s] if s >= 0 else () for s in columns["stack"]]
        if "name" in columns:
            columns["name"] = [strings[code] for code in columns["name"]]
        if "context" in columns and contexts:
            rows = list(zip(*contexts.values(), strict=True))
            columns["context"] = [(strings[rows[c][0]], strings[rows[c][1]], *rows[c][2:]) for c in columns["context"]]
    return tables


SNAPSHOT = random_run(5, steps=6, streams=2, pools=2).snapshot()
EXPECTED = tables_of(dumped(SNAPSHOT))[0]


def test_what_a_snapshot_holds_is_in_the_columns() -> None:
    records = SNAPSHOT["device_traces"][0]
    columns = EXPECTED["snapshot_records"]
    assert columns["address"] == [record["addr"] for record in records]
    assert columns["bytes"] == [record["size"] for record in records]
    assert columns["time"][0] == 0
    assert columns["time"][-1] == (records[-1]["time_us"] - records[0]["time_us"]) * 1000
    assert columns["stack"][0] == tuple((f["name"], f["filename"], f["line"]) for f in records[0]["frames"])
    assert columns["context"][0][2:] == records[0]["pool_id"]
    assert EXPECTED["snapshot_segments"]["bytes"] == [s["total_size"] for s in SNAPSHOT["segments"]]
    blocks = [block for segment in SNAPSHOT["segments"] for block in segment["blocks"]]
    assert EXPECTED["snapshot_blocks"]["address"] == [block["address"] for block in blocks]
    assert EXPECTED["snapshot_annotations"]["name"] == [f"ProfilerStep#{step}" for step in range(6)]


def unframed(value: Any) -> bytes:
    """As the pickler of C++ writes: protocol 2, 8 bytes for every number, a memo of its own."""
    out = io.BytesIO()
    memo: dict[int, int] = {}

    def put(key: int) -> None:
        memo[key] = len(memo)
        out.write(b"r" + struct.pack("<I", memo[key]))

    def save(each: Any) -> None:
        if id(each) in memo and isinstance(each, list | dict):
            out.write(b"j" + struct.pack("<I", memo[id(each)]))
        elif isinstance(each, bool):
            out.write(b"\x88" if each else b"\x89")
        elif isinstance(each, int):
            out.write(b"\x8a\x08" + struct.pack("<q", each))
        elif isinstance(each, str):
            text = each.encode()
            out.write(b"X" + struct.pack("<I", len(text)) + text)
        elif isinstance(each, tuple | list):
            out.write(b"](" if isinstance(each, list) else b"(")
            for item in each:
                save(item)
            out.write(b"e" if isinstance(each, list) else b"t")
        else:
            out.write(b"}")
            put(id(each))
            out.write(b"(")
            for key, item in each.items():
                save(key)
                save(item)
            out.write(b"u")

    out.write(b"\x80\x02")
    save(value)
    out.write(b".")
    return out.getvalue()


def reordered() -> dict[str, Any]:
    found = dict(reversed(SNAPSHOT.items()))
    found["device_traces"] = [[dict(reversed(record.items())) for record in SNAPSHOT["device_traces"][0]]]
    return found


def with_lists() -> dict[str, Any]:
    traces = [[{**r, "pool_id": list(r["pool_id"])} for r in SNAPSHOT["device_traces"][0]]]
    segments = [{**s, "segment_pool_id": list(s["segment_pool_id"])} for s in SNAPSHOT["segments"]]
    return {**SNAPSHOT, "device_traces": traces, "segments": segments}


WAYS: dict[str, Callable[[], bytes]] = {
    "protocol 2": lambda: dumped(SNAPSHOT, 2),
    "protocol 3": lambda: dumped(SNAPSHOT, 3),
    "protocol 5": lambda: dumped(SNAPSHOT, 5),
    "C++": lambda: unframed(SNAPSHOT),
    "other order": lambda: dumped(reordered()),
    "lists for tuples": lambda: dumped(with_lists()),
    "no memo": lambda: pickletools.optimize(dumped(SNAPSHOT)),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_same_columns_however_it_is_written(way: str) -> None:
    assert tables_of(WAYS[way]())[0] == EXPECTED


@pytest.mark.parametrize("frame", [1, 300, 4096, 1 << 16])
def test_the_same_columns_however_long_its_frames_are(frame: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pickle._Pickler.__mro__[0], "framer", None, raising=False)
    monkeypatch.setattr(vars(pickle)["_Framer"], "_FRAME_SIZE_TARGET", frame)
    out = io.BytesIO()
    pickle._Pickler(out, 4).dump(SNAPSHOT)
    assert tables_of(out.getvalue())[0] == EXPECTED


def test_records_are_taken_while_the_file_is_read() -> None:
    """Batches of 1000 records, several frames, two devices; a list shared by record and block keeps its stack."""
    shared = stack("shared", "main")
    record = {"action": "alloc", "size": 512, "stream": 0, "time_us": 1, "frames": shared}
    first = [{**record, "addr": 512 * i} for i in range(12_000)]
    second = [{**record, "addr": 512 * i, "frames": stack("other")} for i in range(5_000)]
    block = {"address": 0, "size": 512, "requested_size": 512, "state": "active_allocated", "frames": shared}
    segment = {"device": 1, "address": 0, "total_size": 512, "stream": 0, "segment_type": "small", "blocks": [block]}
    for snapshot in (
        {"device_traces": [[], first, second], "segments": [segment]},
        {"segments": [segment], "device_traces": [[], first, second]},
    ):
        columns, notes = tables_of(dumped(snapshot))
        assert not notes
        records = columns["snapshot_records"]
        assert records["device"] == [1] * 12_000 + [2] * 5_000
        assert records["address"] == [record["addr"] for record in first + second]
        assert {len(each) for each in records["stack"]} == {2, 3}
        assert columns["snapshot_blocks"]["stack"][0] == records["stack"][0]


@pytest.mark.parametrize("protocol", [2, 4])
def test_a_file_cut_off_anywhere_gives_what_stands_before(protocol: int) -> None:
    content = dumped(random_run(1, steps=1).snapshot(), protocol)
    whole = tables_of(content)[0]["snapshot_records"]["address"]
    seen = set()
    for length in range(0, len(content), 13):
        try:
            columns, notes = tables_of(content[:length])
        except SnapshotError as error:
            assert error.reason.kind == "no_snapshot"  # noqa: PT017
            continue
        found = columns.get("snapshot_records", {"address": []})["address"]
        assert [note.kind for note in notes] == ["truncated"]
        assert found == whole[: len(found)]
        seen.add(len(found))
    assert max(seen) == len(whole)


def _nested() -> bytes:
    return b"\x80\x04" + b"]" * 1_000_000 + b"a" * 999_999 + b"."


HOSTILE: dict[str, tuple[bytes, str]] = {
    "a function": (b"\x80\x04\x8c\x08builtins\x8c\x05print\x93\x8c\x02hi\x85R.", "names builtins.print"),
    "an old name of a function": (b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00hi\x85R.", "names os.system"),
    "an instance": (b"(ios\nsystem\n.", "is not a pickle"),
    "an instance in protocol 2": (b"\x80\x02(ios\nsystem\n.", "names os.system"),
    "a registered class": (b"\x80\x02\x82\x01.", "is a pickle, but not a memory snapshot"),
    "a persistent object": (b"\x80\x02X\x01\x00\x00\x00aQ.", "names a persistent object"),
    "an object": (b"\x80\x04)}\x81.", "is a pickle, but not a memory snapshot"),
    "a call": (b"\x80\x04\x8c\x02hi)R.", "is a pickle, but not a memory snapshot"),
    "a state": (b"\x80\x04}}b.", "is a pickle, but not a memory snapshot"),
    "a buffer": (b"\x80\x05\x97.", "is a pickle, but not a memory snapshot"),
    "a list that holds itself": (b"\x80\x04]\x94h\x00a.", "is a pickle, but not a memory snapshot"),
    "lists in lists": (_nested(), "is a pickle, but not a memory snapshot"),
    "a list of words": (dumped(["one", "two"]), "is a pickle, but not a memory snapshot"),
    "other keys": (dumped({"weights": [1, 2]}), "is a pickle, but not a memory snapshot"),
    "nothing": (b"", "is not a pickle"),
    "text": (b"{}", "is not a pickle"),
    "a page": (b"<html></html>", "is a page without a memory snapshot in it"),
    "a memo of 2 GB": (b"\x80\x02]r" + struct.pack("<I", 2**27) + b".", "needs more memory"),
    "a text of 2^60 bytes": (b"\x80\x04}\x8d" + struct.pack("<Q", 2**60), "is a pickle, but not a memory snapshot"),
    "bytes of 2^40": (b"\x80\x05\x96" + struct.pack("<Q", 2**40), "needs more memory"),
    "a number of 2^30 bytes": (b"\x80\x02\x8b" + struct.pack("<i", 2**30), "is a pickle, but not a memory snapshot"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_file_is_refused_with_a_reason(what: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    content, reason = HOSTILE[what]
    with pytest.raises(TraceError) as caught:
        read(content, tmp_path)
    assert reason in str(caught.value)
    assert capfd.readouterr().out == ""
    assert list(tmp_path.iterdir()) == []


def read(content: bytes, folder: Path, limits: Limits | None = None) -> Any:
    target = folder / "x.columns"
    stream = io.BytesIO(content)
    return read_snapshot(stream, len(content), target, lambda _: None, limits or Limits(), seconds=SECONDS)


def test_a_child_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    same = 2**61 - 1  # multiples of it have the same hash, so that each key is compared with all before it
    keys = b"".join(b"\x8a\x0c" + (same * i).to_bytes(12, "little") + b"N" for i in range(1, 60_000))
    with pytest.raises(TraceError, match="took more than 1 s"):
        read_snapshot(io.BytesIO(b"\x80\x02}(" + keys + b"u."), 1, tmp_path / "x", lambda _: None, Limits(), seconds=1)


def test_what_another_server_writes_of_the_same_snapshot_stays(tmp_path: Path) -> None:
    other = tmp_path / "x.columns.1-2-3.part"
    other.touch()
    with pytest.raises(TraceError):
        read(b"no snapshot", tmp_path)
    assert list(tmp_path.iterdir()) == [other]


def test_packed_files_and_pages_of_memory_viz(tmp_path: Path) -> None:
    content = dumped(SNAPSHOT)
    padded = content + b"\0" * (3 - len(content) % 3)
    text = base64.b64encode(padded).decode()
    page = f'<!DOCTYPE html>\n<script>const local_files = [{{"name": "x.pickle", "base64": "{text}"}}]</script>'
    for stored in (gzip.compress(content), page.encode()):
        trace = read(stored, tmp_path)
        assert trace.table(Records).address.tolist() == EXPECTED["snapshot_records"]["address"]


def test_a_bomb_is_read_as_far_as_its_limit(tmp_path: Path) -> None:
    bomb = gzip.compress(b"\x80\x02}(X\x08\x00\x00\x00segments" + b"0" * (30 << 20), 1)
    with pytest.raises(TraceError, match=r"unpacks to more than|damaged|needs more memory|not a memory snapshot"):
        read(bomb, tmp_path, Limits(expansion=10, free_bytes=1 << 20))


def test_damaged_values_are_dropped_and_counted() -> None:
    good = {"action": "alloc", "addr": 2**55 + 1, "size": 512, "stream": 0, "time_us": 5, "frames": stack("a")}
    bad: list[Any] = [
        {**good, "addr": 2**80},
        {**good, "addr": "x"},
        {**good, "size": -1},
        {**good, "size": 1.5},
        {**good, "action": None},
        "text",
        None,
    ]
    odd = [
        {**good, "time_us": 2**70},
        {**good, "frames": [None, {"name": 3, "line": "x"}]},
        {**good, "user_metadata": {"a": [1]}, "compile_context": 7},
        {**good, "action": "something_new"},
    ]
    found = unpickle_stream(io.BytesIO(dumped({"segments": [], "device_traces": [[good, *bad, *odd]]})))  # type: ignore[arg-type]
    columns = found.records[0][1][0]
    assert columns["address"].tolist() == [2**55 + 1] * 5
    assert columns["action"].tolist() == [1, 1, 1, 1, 0]
    assert found.columns.dropped == len(bad)
    assert dict(found.columns.unknown) == {"something_new": 1}
    assert np.count_nonzero(columns["time"] == 5) == 4


def test_sizes_below_nothing_are_dropped_and_metadata_without_end_is_left_out() -> None:
    laughs: Any = "lol"
    for _ in range(40):
        laughs = [laughs, laughs]
    snapshot = random_run(1, steps=1).snapshot()
    records = snapshot["device_traces"][0]
    records[1] = {**records[1], "size": -records[1]["size"]}
    records[2] = {**records[2], "user_metadata": laughs}
    found = unpickle_bytes(dumped(snapshot))
    assert found.columns.dropped == 1
    ((_, pieces),) = found.records
    assert sum(len(piece["action"]) for piece in pieces) == len(records) - 1
    assert "lol" not in "".join(found.strings.texts)
