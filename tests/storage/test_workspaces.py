"""A log directory in a store, watched: what appears, changes, fails and comes back."""

from __future__ import annotations

import gzip
import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from werkzeug.test import Client

from tests.served import client_of, get
from tests.storage.proxy import Fault
from tests.storage.stores import Store, error_body
from tests.tiny import events, wait_until
from torch_tb_profiler.discovery import parse_logdir, parse_logdir_spec
from torch_tb_profiler.storage import remote
from torch_tb_profiler.web import PREFETCHED
from torch_tb_profiler.workspace import TraceStatus, Workspace, open_workspace
from torch_tb_profiler.workspace.listing import run_index

NAMED, OTHER = "run/w.1.pt.trace.json", "run/sub/trace_rank3.json.gz"


def trace(steps: int = 2, rank: int | None = None) -> bytes:
    header = {} if rank is None else {"distributedInfo": {"rank": rank, "world_size": 8}}
    return json.dumps({"schemaVersion": 1, **header, "traceEvents": events(steps)}).encode()


@pytest.fixture(autouse=True)
def _no_long_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(run_index, "FIRST_RETRY_SECONDS", 0.3)
    # worker processes are no part of this one
    monkeypatch.setenv("PYTHONPATH", "")


@contextmanager
def opened(url: str, cache: Path, interval: float = 0.3) -> Iterator[Workspace]:
    found = open_workspace(parse_logdir_spec(url), cache, 1, interval, PREFETCHED)
    try:
        yield found
    finally:
        found.close()


def traces(watched: Workspace) -> dict[str, TraceStatus]:
    return {f"{run.name}/{each.file}": each for run in watched.status().runs for each in run.traces}


def until(watched: Workspace, path: str, met: Callable[[TraceStatus], bool]) -> TraceStatus:
    wait_until(lambda: path in traces(watched) and met(traces(watched)[path]), f"{path}: {traces(watched)}")
    return traces(watched)[path]


def settle(watched: Workspace) -> dict[str, TraceStatus]:
    wait_until(lambda: not watched.status().loading, "everything is read")
    return traces(watched)


def test_runs_are_found_and_read_and_known_after_a_restart(store: Store, cache: Path) -> None:
    store.put(f"logs/{NAMED}", trace())
    store.put(f"logs/{OTHER}", gzip.compress(trace(3, rank=3)))
    store.put("logs/run/config.json", b'{"lr": 1}')
    store.put("logs2/run/w.1.pt.trace.json", trace())
    with opened(store.url("logs"), cache, interval=0) as watched:
        found = settle(watched)
        assert {path: (t.state, t.events, t.worker, t.rank) for path, t in found.items()} == {
            NAMED: ("ready", 8, "w", None),
            OTHER: ("ready", 12, "rank3", 3),
        }
        assert [s.file for s in watched.run("run").skipped] == ["config.json"]
        reply = get(client_of(watched), "/api/operators?run=run&worker=w&span=1")
        assert reply["columns"]
        assert store.proxy.count("list") == 1
    store.proxy.clear()
    with opened(store.url("logs"), cache, interval=0) as watched:
        assert settle(watched) == found
        assert [s.file for s in watched.run("run").skipped] == ["config.json"]
        assert get(client_of(watched), "/api/operators?run=run&worker=w&span=1") == reply
        # One listing, and nothing is looked at, let alone fetched.
        assert store.proxy.kinds() == ["list"]


def test_the_stored_bytes_are_given_back_from_the_store(store: Store, cache: Path) -> None:
    content = gzip.compress(trace())
    store.put("run/w.1.pt.trace.json.gz", content)
    with opened(store.url(), cache, interval=0) as watched:
        settle(watched)
        client: Client = client_of(watched)
        asked = "run=run&worker=w&span=1"
        assert client.get(f"/api/trace/download?{asked}").data == content
        assert b'"ProfilerStep#0"' in client.get(f"/trace?{asked}").data
        store.put("run/w.1.pt.trace.json.gz", gzip.compress(trace(3)))
        gone = client.get(f"/api/trace/download?{asked}")
        assert gone.status_code == 422
        assert "has changed since it was read" in gone.json["error"]


def test_what_is_written_appears_by_itself(store: Store, cache: Path) -> None:
    with opened(store.url(), cache) as watched:
        settle(watched)
        store.put("a/w.1.pt.trace.json", trace())
        until(watched, "a/w.1.pt.trace.json", lambda t: t.state == "ready")
        store.put("a/w.2.pt.trace.json", trace())
        store.put("a/v.1.pt.trace.json", trace())
        store.put("b/w.1.pt.trace.json", trace())
        wait_until(lambda: len(traces(watched)) == 4, "a span, a worker and a run more")
        assert {(t.worker, t.span) for t in watched.run("a").traces} == {("v", "1"), ("w", "1"), ("w", "2")}
        store.delete("b/w.1.pt.trace.json")
        wait_until(lambda: len(watched.status().runs) == 1, "the run is gone")


def test_a_changed_file_is_read_again(store: Store, cache: Path) -> None:
    store.put(NAMED, trace(2))
    with opened(store.url(), cache) as watched:
        until(watched, NAMED, lambda t: t.events == 8)
        store.put(NAMED, trace(5))
        until(watched, NAMED, lambda t: t.state == "ready" and t.events == 20)


def test_a_file_that_is_still_being_uploaded_is_read_when_it_has_grown(store: Store, cache: Path) -> None:
    whole = trace(3)
    store.put(NAMED, whole[:20])
    with opened(store.url(), cache) as watched:
        assert "no traceEvents" in str(until(watched, NAMED, lambda t: t.state == "failed").reason)
        store.put(NAMED, whole)
        until(watched, NAMED, lambda t: t.state == "ready" and t.events == 12)


def test_a_file_that_is_replaced_while_it_is_read_is_read_from_its_start(store: Store, cache: Path) -> None:
    store.put(NAMED, trace(2))
    # The worker process asks for what was listed, and by then there is another.
    store.proxy.fail(Fault("get", before=lambda: store.put(NAMED, trace(7))))
    with opened(store.url(), cache) as watched:
        until(watched, NAMED, lambda t: t.state == "ready" and t.events == 28)


def test_trouble_with_one_file_is_said_beside_it_and_passes(store: Store, cache: Path) -> None:
    store.put(NAMED, trace())
    store.put("other/w.1.pt.trace.json", trace())
    store.proxy.fail(Fault("get", path="run", times=1000, status=403, body=store.denied))
    with opened(store.url(), cache) as watched:
        reason = str(until(watched, NAMED, lambda t: t.state == "failed").reason)
        assert "permission denied" in reason
        until(watched, "other/w.1.pt.trace.json", lambda t: t.state == "ready")
        time.sleep(2)
        assert store.proxy.count("get") < 8  # it is not asked for all the time
        store.proxy.clear()
        until(watched, NAMED, lambda t: t.state == "ready")


def test_a_store_that_fails_keeps_its_runs_and_is_asked_less_and_less(store: Store, cache: Path) -> None:
    store.put(NAMED, trace())
    with opened(store.url(), cache, interval=0.2) as watched:
        until(watched, NAMED, lambda t: t.state == "ready")
        store.proxy.clear()
        store.proxy.fail(Fault("list", times=1000, status=503, body=error_body(store.scheme, "SlowDown")))
        wait_until(lambda: watched.status().error, "the listing fails")
        error = str(watched.status().error)
        assert f"{store.url()} cannot be listed: the store asks for fewer requests" in error
        time.sleep(2)
        assert traces(watched)[NAMED].state == "ready"
        assert store.proxy.count("list") <= 5 * remote.TRIES
        store.proxy.clear()
        wait_until(lambda: watched.status().error is None, "the store answers again")


def test_local_and_remote_directories_together(store: Store, cache: Path, tmp_path: Path) -> None:
    store.put("deep/logs/w.1.pt.trace.json", trace())
    (tmp_path / "logs" / "run").mkdir(parents=True)
    (tmp_path / "logs" / "run" / "w.1.pt.trace.json").write_bytes(trace(3))
    spec = f"near:{tmp_path / 'logs'},far:{store.url('deep')},{store.url('deep')}/,gone:{store.url()}-not-there"
    with opened(spec, cache, interval=0) as watched:
        assert {path: t.events for path, t in settle(watched).items()} == {
            "near/run/w.1.pt.trace.json": 12,
            "far/logs/w.1.pt.trace.json": 8,
            "deep/logs/w.1.pt.trace.json": 8,
        }
        (problem,) = watched.status().skipped
        assert problem.file == "gone"
        assert "cannot be listed: it is not there" in problem.reason.text
        assert watched.status().error is None


def test_secrets_are_nowhere(store: Store, cache: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    store.put(NAMED, trace())
    store.put(OTHER, gzip.compress(trace()))
    store.put("bad/w.1.pt.trace.json", b"{}")
    store.proxy.fail(Fault("get", path="bad", times=1000, status=403, body=store.denied))
    with opened(store.url(), cache) as watched:
        settle(watched)
        seen = client_of(watched).get("/api/status").text + repr(watched.status())
    written = [path for path in cache.rglob("*") if path.is_file()]
    assert len(written) > 4
    ours = [r.getMessage() for r in caplog.records if r.name.startswith("torch_tb_profiler")]
    for secret in store.secrets:
        assert secret not in seen
        assert not [text for text in ours if secret in text]
        assert not [path for path in written if secret in str(path) or secret.encode() in path.read_bytes()]


def test_one_way_to_write_a_root() -> None:
    assert [root.url for root in parse_logdir("s3://bucket/logs//")] == ["s3://bucket/logs"]
    assert [root.url for root in parse_logdir("s3://")] == ["s3://"]
    signed = "https://a.blob.core.windows.net/c/logs?sv=1&sig=secret%2F"
    assert [(root.name, root.url) for root in parse_logdir_spec(f"x:s3://b,{signed}")] == [
        ("x", "s3://b"),
        ("logs", signed),
    ]
