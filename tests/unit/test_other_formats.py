"""Files of other programs are named, wherever they are met, and nothing else is taken for one of them."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import pickle
import sqlite3
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.tiny import write_trace
from torch_tb_profiler.cli import main
from torch_tb_profiler.discovery import parse_logdir
from torch_tb_profiler.other_formats import KINDS, other_format
from torch_tb_profiler.trace import read_trace
from torch_tb_profiler.trace.reader import TraceError
from torch_tb_profiler.workspace.listing.scanner import list_runs
from torch_tb_profiler.workspace.listing.sniff import examine_stream


def tar() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("rank0.json"))
    return out.getvalue()


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:  # stored: the text of the trace is in it as it is
        archive.writestr("rank0.json", '{"traceEvents": []}')
    return out.getvalue()


def database(*tables: str) -> bytes:
    connection = sqlite3.connect(":memory:")
    for table in tables:
        connection.execute(f"create table {table} (id integer)")
    content: bytes = (
        connection.serialize() if sys.version_info >= (3, 11) else b"SQLite format 3\0" + repr(tables).encode()
    )
    connection.close()
    return content


def message(*fields: bytes) -> bytes:
    """A message of protocol buffers as the first entry of a list."""
    body = b"".join(fields)
    return bytes((0x0A, len(body))) + body


FILES = {
    "packed_xz": lzma.compress(b"{}"),
    "packed_bzip2": bz2.compress(b"{}"),
    "packed_lz4": b"\x04\x22\x4d\x18" + bytes(20),
    "zip": zipped(),
    "tar": tar(),
    "nsys_sqlite": database("StringIds", "CUPTI_ACTIVITY_KIND_KERNEL"),
    "rocpd": database("rocpd_metadata_7"),
    "sqlite": database("users"),
    "ncu": b"NVR\0" + bytes(60),
    "xplane": message(b"\x12\x09/host:CPU"),
    "chakra_protobuf": b"\x07\x0a\x050.0.4I\x12",
    "perfetto": message(b"\x50\x01", b"\x40\x80\x01"),
    "flight_recorder": pickle.dumps({"version": "2.9", "pg_config": {}}, protocol=2),
    "chakra": b'{"schema": "1.1.1-chakra.0.0.4", "nodes": []}',
    "memory_snapshot": b'{"segments": [{"allocated_size": 1}]}',
    "rocprofv3": b'{"rocprofiler-sdk-tool": [{}]}',
    "rocprof": b'{"traceEvents": [{"ph": "X", "name": "k", "ts": 0, "args": {"BeginNs": "1", "EndNs": "2"}}]}',
    "speedscope": b'{"$schema": "https://www.speedscope.app/file-format-schema.json"}',
    "nccl_inspector": b'{"header": {"id": "0x7", "rank": 0, "n_ranks": 4}, "coll_perf": {}}\n',
    "torch_trace_log": b'V1129 08:00:00.123000 12 torch/_dynamo/x.py:22] {"str": "a"}\n',
    "metrics": b"# HELP DCGM_FI_DEV_POWER_USAGE Power draw (in W).\n# TYPE DCGM_FI_DEV_POWER_USAGE gauge\n",
    "nvidia_smi": b"timestamp, index, name, power.draw [W]\n2026/11/29 08:00:00.000, 0, NVIDIA H100, 400.00 W\n",
    "collapsed_stacks": b"main (train.py:140);step (train.py:88);forward 482\nmain (train.py:140);load 12\n",
}


@pytest.mark.parametrize("kind", FILES)
def test_its_first_bytes_name_a_file(kind: str) -> None:
    found = examine_stream(io.BytesIO(FILES[kind]))
    assert found.reason is not None
    assert found.reason.kind == kind


def test_every_format_has_a_sample() -> None:
    assert set(FILES) == KINDS


@pytest.mark.parametrize("kind", [kind for kind, text in FILES.items() if kind != "rocprof" and text[:1] != b"\x80"])
def test_the_reader_says_the_same_of_a_file_that_is_named_as_a_trace(kind: str) -> None:
    with pytest.raises(TraceError) as raised:
        read_trace(io.BytesIO(FILES[kind]))
    assert raised.value.reason.kind == kind


def test_a_directory_and_a_command_say_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_trace(tmp_path / "run" / "w.pt.trace.json")
    names = {
        "a.json.xz": "packed_xz",
        "b.tar": "tar",
        "c.pftrace": "perfetto",
        "d.sqlite": "nsys_sqlite",
        "e.zip": "zip",
        "g.bin": "ncu",
        "h.txt": "collapsed_stacks",
        "i.log": "nccl_inspector",
        "j.csv": "nvidia_smi",
        "k.tar.gz": "tar",
        "l.gz": "speedscope",
    }
    for name, kind in names.items():
        packed = gzip.compress(FILES[kind]) if name.endswith(".gz") else FILES[kind]
        (tmp_path / "run" / name).write_bytes(packed)
    (tmp_path / "run" / "f.nsys-rep").write_bytes(b"of this there is no public word")
    (tmp_path / "run" / "model.pb").write_bytes(b"\x08\x01 weights")
    (tmp_path / "run" / "notes.txt").write_bytes(b"epoch 1; loss 0.5\n")
    (tmp_path / "run" / "page.html").write_bytes(b"<!DOCTYPE html><html><body>report</body></html>")
    (tmp_path / "run" / "other.pickle").write_bytes(pickle.dumps({"lr": 0.1}, protocol=2))
    (run,) = list_runs(parse_logdir(str(tmp_path))).runs
    assert [trace.worker for trace in run.traces] == ["w"]
    skipped = {each.file: each.reason for each in run.skipped}
    assert {name: reason.kind for name, reason in skipped.items()} == names | {
        "f.nsys-rep": "nsys_report",
        "page.html": "no_snapshot",
        "other.pickle": "no_snapshot",
    }
    for name, reason in skipped.items():
        assert main(["summary", str(tmp_path / "run" / name)]) == 2
        assert f"{name} {reason}" in capsys.readouterr().err


def test_traces_and_other_texts_are_none_of_these() -> None:
    texts = [
        b"epoch;loss\n1;0.5\n2;0.4\n",
        b"# a heading\n\ntext\n",
        b"name, value\nx, 1\n",
        b'\n{"traceEvents": []}',
        b"0.0.4",
        json.dumps({"pg_config": 1}).encode(),
        json.dumps({"header": {"id": 1}}).encode(),
        bytes(range(256)),
    ]
    assert [other_format(text) for text in texts] == [None] * len(texts)
