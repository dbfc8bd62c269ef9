"""/trace and /api/trace/download over a real workspace."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import zstandard
from werkzeug.test import Client, TestResponse

from tests import tiny
from tests.attack.ends import packed_ends
from tests.served import client_of, everything_read
from tests.tracegen import Config, write_run
from torch_tb_profiler.storage import StorageError
from torch_tb_profiler.web import trace_file
from torch_tb_profiler.workspace import Workspace
from torch_tb_profiler.workspace.status import Original

PLAIN = {"Accept-Encoding": "identity"}
PACKED = {"Accept-Encoding": "gzip"}
DAMAGED = Path(__file__).parent.parent / "damaged"


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    logs = tmp_path_factory.mktemp("trace_file") / "logs"
    document = json.dumps({"traceEvents": tiny.events()}, indent=1).encode()
    tiny.write_trace(logs / "run" / "gpu.pt.trace.json")
    tiny.write_trace(logs / "run" / "packed.pt.trace.json.gz")
    tiny.write_trace(logs / "run" / "cpu.pt.trace.json", gpu=False)
    tiny.write_trace(logs / "run" / "cpu_packed.pt.trace.json.gz", gpu=False)
    half = len(document) // 2
    (logs / "run" / "members.pt.trace.json.gz").write_bytes(
        gzip.compress(json.dumps({"traceEvents": tiny.events(gpu=False)}).encode()[:100])
        + gzip.compress(json.dumps({"traceEvents": tiny.events(gpu=False)}).encode()[100:])
    )
    (logs / "run" / "zstd.pt.trace.json.gz").write_bytes(zstandard.compress(document))
    (logs / "run" / "list.pt.trace.json").write_text(json.dumps(tiny.events()))
    (logs / "run" / "cut.pt.trace.json").write_bytes(document[: half + 200])
    (logs / "run" / "gone.pt.trace.json").write_bytes(document)
    (logs / "run" / "größe.pt.trace.json").write_bytes(document)
    for path in DAMAGED.iterdir():
        name, _, ending = path.name.partition(".")
        (logs / "damaged").mkdir(exist_ok=True)
        (logs / "damaged" / f"{name}.pt.trace.{ending}").write_bytes(path.read_bytes())
    write_run(Config(steps=2, layers=1, ranks=2), logs / "generated")
    return logs


@pytest.fixture(scope="module")
def workspace(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    with everything_read(logs, tmp_path_factory.mktemp("cache"), questions="") as workspace:
        yield workspace


def trace(client: Client, worker: str, headers: dict[str, str] = PLAIN, run: str = "run") -> TestResponse:
    response = client.get(f"/trace?run={run}&worker={worker}", headers=headers)
    assert response.status_code == 200, response.text
    assert response.content_type == "application/json"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    return response


def events_of(text: bytes) -> tuple[list[Any], list[Any]]:
    """Counters and all others."""
    document = json.loads(text, parse_constant=pytest.fail)
    events = document if isinstance(document, list) else document["traceEvents"]
    counters = [e for e in events if isinstance(e, dict) and e.get("ph") == "C"]
    assert events[: len(counters)] == counters
    return counters, events[len(counters) :]


@pytest.mark.parametrize("worker", ["gpu", "packed", "zstd", "list"])
def test_counters_are_added(client: Client, worker: str) -> None:
    counters, others = events_of(trace(client, worker).data)
    assert others == tiny.events()
    assert {e["name"] for e in counters} == {"GPU 0 Utilization"}
    assert sum(e["args"]["GPU Utilization"] for e in counters) == 7.0
    response = trace(client, worker, PACKED)
    assert response.headers["Content-Encoding"] == "gzip"
    assert events_of(gzip.decompress(response.data)) == (counters, others)


def test_what_lies_between_two_times(client: Client) -> None:
    # The columns say which those are.
    url = "/api/trace/window?run=run&worker=packed"
    times = [event["ts"] for event in tiny.events() if event["ph"] != "M"]
    first, last = min(times), max(times)
    middle = (first + last) // 2
    response = client.get(f"{url}&start_ns={1000 * (middle - first)}&end_ns={1000 * (last - first)}", headers=PACKED)
    assert response.headers["Content-Encoding"] == "gzip"
    found = json.loads(gzip.decompress(response.data))["traceEvents"]
    assert found == [e for e in tiny.events() if e["ph"] == "M" or e["ts"] + e.get("dur", 0) >= middle]
    assert 0 < len(found) < len(tiny.events())
    assert client.get(url, headers={"If-None-Match": response.headers["ETag"]}).status_code == 200
    assert json.loads(client.get(url).data)["traceEvents"] == tiny.events()
    assert client.get(f"{url}&start_ns=2&end_ns=1").status_code == 400
    assert client.get("/api/trace/window?run=run&worker=nobody").status_code == 404


def test_nothing_to_add(client: Client, logs: Path) -> None:
    stored = (logs / "run" / "cpu.pt.trace.json").read_bytes()
    packed = (logs / "run" / "cpu_packed.pt.trace.json.gz").read_bytes()
    assert trace(client, "cpu").data == stored
    assert gzip.decompress(trace(client, "cpu", PACKED).data) == stored
    assert trace(client, "cpu_packed", PACKED).data == packed
    assert trace(client, "cpu_packed").data == stored


def test_several_members_are_packed_anew(client: Client, logs: Path) -> None:
    stored = (logs / "run" / "members.pt.trace.json.gz").read_bytes()
    served = trace(client, "members", PACKED).data
    assert served != stored
    assert gzip.decompress(served) == gzip.decompress(stored)


@pytest.mark.parametrize("gpu", [True, False])
def test_whatever_stands_at_the_end_of_the_file(gpu: bool, tmp_path: Path) -> None:
    ends = packed_ends(json.dumps({"traceEvents": tiny.events(gpu=gpu)}).encode())
    (tmp_path / "run").mkdir()
    for name, stored in ends.items():
        (tmp_path / "run" / f"{name}.pt.trace.json").write_bytes(stored)
    with everything_read(tmp_path, tmp_path / "cache", questions="") as workspace:
        client = client_of(workspace)
        for name in ends:
            for path in ("/trace", "/api/trace/window"):
                url = f"{path}?run=run&worker={name}"
                plain = client.get(url, headers=PLAIN).data
                assert events_of(plain)[1] == tiny.events(gpu=gpu), url
                # a client that unpacks it checks the sums
                assert gzip.decompress(client.get(url, headers=PACKED).data) == plain, url


def test_a_stream_that_breaks_off_is_one_line_in_the_log(
    client: Client, workspace: Workspace, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The status has been sent: the connection is dropped, so that what came is not taken for the whole."""

    class Stops(BytesIO):
        reads = 0

        def read(self, size: int | None = -1) -> bytes:
            self.reads += 1
            if self.reads > 1:
                raise StorageError("the store does not answer", "unreachable")
            return super().read(size)

    monkeypatch.setattr(workspace, "original", lambda _: Original("gpu.pt.trace.json", 9, Stops(b"x" * 999_999)))
    with pytest.raises(ConnectionAbortedError):
        _ = client.get("/api/trace/download?run=run&worker=gpu").data
    assert "/api/trace/download was sent in part: the store does not answer" in caplog.text


def test_what_is_not_json_is_repaired_and_says_so(client: Client) -> None:
    response = trace(client, "cut")
    counters, others = events_of(response.data)
    assert counters
    assert 0 < len(others) < len(tiny.events())
    assert others == tiny.events()[: len(others)]
    assert "not valid JSON" in response.headers["X-Trace-Repaired"]
    assert "X-Trace-Repaired" not in trace(client, "gpu").headers


def test_all_damaged_files(client: Client, workspace: Workspace) -> None:
    run = workspace.run("damaged")
    ready = [t for t in run.traces if t.state == "ready"]
    assert len(ready) > 15
    for found in ready:
        _, others = events_of(trace(client, found.worker, run="damaged").data)
        assert len(others) == found.events, found.worker
    for found in run.traces:
        if found.state == "failed":
            assert client.get(f"/trace?run=damaged&worker={found.worker}").status_code == 422


def test_generated_traces(client: Client, workspace: Workspace, logs: Path) -> None:
    for found in workspace.run("generated").traces:
        original = json.loads(gzip.decompress((logs / "generated" / found.file).read_bytes()))
        served = json.loads(trace(client, found.worker, run="generated").data)
        events = served.pop("traceEvents")
        before = original.pop("traceEvents")
        assert served == original
        assert events[-len(before) :] == before
        added = events[: -len(before)]
        device = workspace.run("generated").traces.index(found)
        assert {e["name"] for e in added} == {f"GPU {device} Utilization", f"GPU {device} Est. SM Efficiency"}
        assert all(0 <= value <= 1 for e in added for value in e["args"].values())


def test_the_browser_may_keep_it(client: Client) -> None:
    response = trace(client, "gpu")
    etag = response.headers["ETag"]
    assert response.headers["Vary"] == "Accept-Encoding"
    assert trace(client, "gpu", PACKED).headers["ETag"] != etag
    for headers in (PLAIN, PACKED):
        again = client.get("/trace?run=run&worker=gpu", headers={**headers, "If-None-Match": etag})
        assert again.status_code == 304
        assert again.data == b""
    head = client.head("/trace?run=run&worker=gpu", headers=PLAIN)
    assert (head.status_code, head.data, head.headers["ETag"]) == (200, b"", etag)


def test_errors(client: Client) -> None:
    for route in ("/trace", "/api/trace/download"):
        assert client.get(route).status_code == 400
        assert client.get(f"{route}?run=run&worker=nobody").status_code == 404
        assert client.get(f"{route}?run=run&worker=gpu&span=7").status_code == 404


def test_a_file_that_is_gone(client: Client, logs: Path) -> None:
    (logs / "run" / "gone.pt.trace.json").unlink()
    for route in ("/trace", "/api/trace/download"):
        response = client.get(f"{route}?run=run&worker=gone")
        assert response.status_code == 422
        assert "gone.pt.trace.json cannot be read" in json.loads(response.data)["error"]


def test_a_file_that_has_changed(client: Client, logs: Path) -> None:
    path = logs / "run" / "gpu.pt.trace.json"
    stored = path.read_bytes()
    status = path.stat()
    path.write_bytes(stored + b"\n")
    try:
        response = client.get("/api/trace/download?run=run&worker=gpu")
        assert response.status_code == 422
        assert "has changed" in json.loads(response.data)["error"]
    finally:
        import os

        path.write_bytes(stored)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize("name", ["packed.pt.trace.json.gz", "zstd.pt.trace.json.gz", "cut.pt.trace.json"])
def test_download(client: Client, logs: Path, name: str) -> None:
    worker = name.partition(".")[0]
    stored = (logs / "run" / name).read_bytes()
    response = client.get(f"/api/trace/download?run=run&worker={worker}", headers=PACKED)
    assert response.data == stored
    assert "Content-Encoding" not in response.headers
    assert response.headers["Content-Length"] == str(len(stored))
    assert response.headers["Content-Disposition"] == f"attachment; filename=\"{name}\"; filename*=UTF-8''{name}"
    head = client.head(f"/api/trace/download?run=run&worker={worker}")
    assert (head.data, head.headers["Content-Length"]) == (b"", str(len(stored)))


def test_names_of_downloads() -> None:
    assert trace_file._attachment('a"b;\n/ö€.gz') == (
        "attachment; filename=\"a_b___o.gz\"; filename*=UTF-8''a%22b%3B%0A%2F%C3%B6%E2%82%AC.gz"
    )


def test_a_download_of_any_name(client: Client) -> None:
    response = client.get("/api/trace/download", query_string={"run": "run", "worker": "größe"})
    assert response.status_code == 200
    assert "gr%C3%B6%C3%9Fe" in response.headers["Content-Disposition"]


def test_health_has_two_names(client: Client) -> None:
    query = "?run=run&worker=cut"
    old, new = client.get(f"/health{query}"), client.get(f"/api/health{query}")
    assert old.data == new.data
    body = json.loads(new.data)
    kinds = {note["kind"] for note in body["notes"]}
    assert {"truncated", "no_memory", "no_modules"} <= kinds
    assert body["log"] == {"error": [], "warning": [], "info": []}
    status = json.loads(client.get("/api/status").data)
    listed = next(t for r in status["runs"] for t in r["traces"] if t["worker"] == "cut")
    assert listed["notes"] == len(body["notes"])
