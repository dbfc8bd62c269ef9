"""Traces that torch did not name: told by their content, called by their header or their name."""

from __future__ import annotations

import gzip
import io
import json
from typing import Any

import pytest
import zstandard

from tests.tiny import events
from tests.unit.test_discovery import NOT_OURS, found
from torch_tb_profiler.discovery import Content, examine, guess
from torch_tb_profiler.discovery.content import picture
from torch_tb_profiler.words.sentences import because
from torch_tb_profiler.workspace.listing.sniff import TEXT_BYTES, examine_stream

TRACE = Content()
#: as export_memory_timeline writes it
PICTURE_PAGE = b"""<html>
<head><meta charset="utf-8" /><title>GPU Memory Timeline HTML</title></head>
<body>
  <img src='data:image/png;base64,iVBORw0KGgo='>
</body>
</html>"""


def workers(contents: dict[str, Content]) -> dict[str, tuple[str, str]]:
    """File name → worker and span of one run."""
    (run,) = found(*(f"run/{name}" for name in contents), contents={f"run/{n}": c for n, c in contents.items()}).runs
    return {t.entry.path.removeprefix("run/"): (t.worker, t.span) for t in run.traces}


def dump(document: Any) -> bytes:
    return json.dumps(document, indent=1).encode()


# content ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "document",
    [
        {"traceEvents": events()},
        {"schemaVersion": 1, "traceEvents": []},
        events(),
        [{}, *events()],
        {"otherData": {"a": [1, 2]}, "traceEvents": [{}, *events()]},
    ],
)
def test_traces(document: Any) -> None:
    assert examine(dump(document), whole=True) == TRACE
    assert examine(b"\xef\xbb\xbf  \n" + json.dumps(document).encode(), whole=False) == TRACE


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"\x80\x04\x95", "is a pickle, but not a memory snapshot"),
        (b"hello", "is not JSON"),
        ('{"traceEvents": []}'.encode("utf-16"), "is text in UTF-16: JSON is UTF-8"),
        ('{"traceEvents": []}'.encode("utf-16-le"), "is text in UTF-16: JSON is UTF-8"),
        ('[{"ph": "X"}]'.encode("utf-16-be"), "is text in UTF-16: JSON is UTF-8"),
        (b"{}", "is JSON, but not a trace: it has no traceEvents"),
        (b"[]", "is JSON, but not a trace: it has no events"),
        (b'{"learning_rate": 1}', "is JSON, but not a trace: it has no traceEvents"),
        (b'{"traceEvents": 3}', "is JSON, but not a trace: it has no traceEvents"),
        (b'{"note": "\\"traceEvents\\": []"}', "is JSON, but not a trace: it has no traceEvents"),
        (b'[{"ph": 7.2, "name": "lake"}]', "is JSON, but not a trace: it has no events"),
        (b"[1, 2]", str(because("numbers"))),
        (b"[[-1, 1, 512, 7], [-1, 1, 512, 7]]", str(because("numbers"))),
        (PICTURE_PAGE, str(picture())),
        (b"<html><title>Memory Timeline</title></html>", "is a page without a memory snapshot in it"),
        (
            b'{"schema": "1.1.1-chakra.0.0.4", "pid": 7, "time": "2024", "start_ts": 1, "nodes": [',
            "is a Chakra execution trace (ExecutionTraceObserver): it belongs to a trace, but is not a trace itself",
        ),
        (
            b'{"segments": [{"device": 0, "address": 1, "total_size": 2, "allocated_size": 1, "blocks": []}]}',
            "is a memory snapshot (torch.cuda.memory): it is not a trace",
        ),
        (
            b'{"rocprofiler-sdk-tool": [{"metadata": {"pid": 1}}]}',
            "is an output of rocprofv3: it is not a trace of torch.profiler",
        ),
        (
            b'{"$schema": "https://www.speedscope.app/file-format-schema.json", "profiles": []}',
            "is a profile of the host alone, for speedscope.app: it is not a trace of torch.profiler",
        ),
    ],
)
def test_what_is_no_trace_says_what_it_is(text: bytes, reason: str) -> None:
    found = examine(text, whole=True)
    assert (str(found.reason), found.rank) == (reason, None)


def test_a_long_text_without_events() -> None:
    text = b'{"weights": [' + b"1, " * 100_000
    assert (
        str(examine_stream(io.BytesIO(text)).reason) == "is JSON, but not a trace: no traceEvents in its first 256 KiB"
    )
    listed = b"[" + b'{"question": 1}, ' * 100_000
    assert str(examine_stream(io.BytesIO(listed)).reason) == "is JSON, but not a trace: no events in its first 256 KiB"


def test_the_header_of_a_large_job_is_longer_than_what_is_looked_at() -> None:
    groups = [{"pg_name": str(i), "ranks": list(range(1024))} for i in range(100)]
    info = {"backend": "nccl", "rank": 77, "world_size": 1024, "pg_config": groups}
    text = dump({"schemaVersion": 1, "distributedInfo": info, "traceEvents": events()})
    assert len(text) > 2 * TEXT_BYTES
    assert examine_stream(io.BytesIO(text)) == Content(rank=77)


@pytest.mark.parametrize(
    ("info", "rank"),
    [
        ({"backend": "nccl", "rank": 3, "world_size": 8}, 3),
        ({"rank": 0}, 0),
        ({}, None),
        ({"rank": "three"}, None),
        ({"rank": 1.5}, None),
        ({"pg_config": [{"rank": 5}]}, None),
    ],
)
def test_the_rank_of_the_header(info: dict[str, Any], rank: int | None) -> None:
    assert examine(dump({"distributedInfo": info, "traceEvents": events()}), whole=True).rank == rank


def test_a_rank_among_the_events_is_not_the_header() -> None:
    text = dump({"traceEvents": [{"ph": "X", "args": {"distributedInfo": {"rank": 3}}}]})
    assert examine(text, whole=True).rank is None


def pzstd(text: bytes) -> bytes:
    """As `pzstd` packs: before each frame its size, in a frame to be skipped."""
    frame = zstandard.compress(text)
    return (0x184D2A50).to_bytes(4, "little") + (4).to_bytes(4, "little") + len(frame).to_bytes(4, "little") + frame


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress, pzstd])
def test_packed_files_are_judged_by_their_text(pack: Any) -> None:
    info = {"distributedInfo": {"rank": 2}, "traceEvents": events(3000)}
    assert examine_stream(io.BytesIO(pack(dump(info)))) == Content(rank=2)
    assert str(examine_stream(io.BytesIO(pack(b"{}"))).reason) == "is JSON, but not a trace: it has no traceEvents"
    assert str(examine_stream(io.BytesIO(pack(b""))).reason) == "is empty"
    assert str(examine_stream(io.BytesIO(pack(gzip.compress(b"{}")))).reason) == "was packed twice: unpack it once"


def test_damaged_packing() -> None:
    whole = gzip.compress(dump({"traceEvents": events(2000)}))
    assert examine_stream(io.BytesIO(whole[: len(whole) // 2])) == TRACE
    assert str(examine_stream(io.BytesIO(whole[:12])).reason) == "cannot be read: the gzip data is cut off"
    assert str(examine_stream(io.BytesIO(b"\x1f\x8b" + b"nonsense" * 9)).reason).startswith("cannot be read: ")


# names -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "worker"),
    [
        ("rank0_trace.json", "rank0"),
        ("rank-3.json.gz", "rank3"),
        ("trace_rank_12.json", "rank12"),
        ("RANK07.json", "rank7"),
        ("exp-rank[5].1795164719909293321.json", "rank5"),
        ("dp0_pp0_tp1_dcp0_ep1_rank1.1795164719909293321.json.gz", "rank1"),
        ("local_rank_0-rank_9.json", "rank9"),
        ("prof_start_0_end_1_rank_4.json", "rank4"),
        ("1795164719.9092-TP-0.trace.json.gz", "TP-0"),
        ("1795164719.9092-TP-1-DP-2-PP-0-EP-3.trace.json.gz", "TP-1-DP-2-PP-0-EP-3"),
        ("1795164719-TP-0-DECODE.trace.json.gz", "TP-0"),
        ("worker_02.trace.json", "worker2"),
        ("frank3.json", ""),
        ("step3.json", ""),
        ("trace.json", ""),
    ],
)
def test_workers_in_names(name: str, worker: str) -> None:
    assert guess(name).worker == worker


@pytest.mark.parametrize(
    ("name", "rest"),
    [
        ("vm_26073.1795164672255701191.json", "vm_26073"),
        ("vm_26073.trace.json.gz", "vm_26073"),
        ("1795164672255.json", "trace"),
        (".json", "trace"),
        ("trace_2024-01-31_12-30-59_resnet.JSON.zst", "trace-resnet"),
        ("profile_100.json", "profile_100"),
        ("w.PT.TRACE.JSON", "w"),
    ],
)
def test_what_is_left_of_a_name(name: str, rest: str) -> None:
    assert guess(name).rest == rest


def test_times_in_names_compare_whatever_their_unit() -> None:
    names = ["1795164672.json", "1795164672.5.json", "1795164673000.json", "1795164674000000.json"]
    orders = [guess(f"a-{name}").order for name in [*names, "1795164675000000000.json"]]
    assert None not in orders
    assert orders == sorted(orders, key=lambda order: order or ())
    assert guess("20240131_123059.json").order == guess("2024-01-31T12:30:59.json").order
    assert guess("epoch_12.json").order is None


# runs ------------------------------------------------------------------------------------------------------


def test_the_rank_of_the_header_is_the_worker() -> None:
    assert workers(
        {"a.json": Content(rank=1), "rank7.json": Content(rank=0), "rank5.json": TRACE, "b.json": TRACE}
    ) == {
        "rank7.json": ("rank0", "default"),
        "a.json": ("rank1", "default"),
        "rank5.json": ("rank5", "default"),
        "b.json": ("b", "default"),
    }


def test_two_servers_have_a_rank_0_each() -> None:
    names = [f"1795164719.9-TP-{tp}-DP-{dp}.trace.json.gz" for dp in (0, 1) for tp in (0, 1)]
    contents = {name: Content(rank=i % 2) for i, name in enumerate(names)}
    assert [worker for worker, _ in workers(contents).values()] == ["TP-0-DP-0", "TP-0-DP-1", "TP-1-DP-0", "TP-1-DP-1"]


def test_files_of_one_worker_are_spans_in_the_order_of_their_times() -> None:
    named = ["rank0-1795164720.1.json", "rank0-1795164719.9.json", "x_rank0.json", "a_rank0.json"]
    assert workers(dict.fromkeys(named, TRACE)) == {
        "rank0-1795164719.9.json": ("rank0", "1"),
        "rank0-1795164720.1.json": ("rank0", "2"),
        "a_rank0.json": ("rank0", "3"),
        "x_rank0.json": ("rank0", "4"),
    }


def test_names_that_torch_gave_keep_their_spans() -> None:
    assert workers(
        {"rank0.9.pt.trace.json": NOT_OURS, "rank0.pt.trace.json.zst": NOT_OURS, "rank0-1795164719.9.json": TRACE}
    ) == {
        "rank0.9.pt.trace.json": ("rank0", "1"),
        "rank0.pt.trace.json.zst": ("rank0", "default"),
        "rank0-1795164719.9.json": ("rank0", "2"),
    }


def test_one_of_several_packings_is_taken() -> None:
    contents = dict.fromkeys(("a.json.zst", "a.json.gz", "b.json", "b.JSON.GZ", "b.json.gz"), TRACE)
    (run,) = found(*contents, contents=contents).runs
    assert sorted(t.entry.path for t in run.traces) == ["a.json.gz", "b.JSON.GZ", "b.json"]
    assert [(s.file, str(s.reason)) for s in run.skipped] == [
        ("a.json.zst", "is the same recording as a.json.gz, which is shown"),
        ("b.json.gz", "is the same recording as b.json, which is shown"),
    ]
