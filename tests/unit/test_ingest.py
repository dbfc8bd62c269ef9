"""All ranks of a job on this machine: the same for any number of processes, and whatever is wrong with a file."""

from __future__ import annotations

import gzip
import json
import shutil
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.rank_logs import columns_of, parts_in, write_ranks
from tests.served import client_of, get
from tests.tiny import wait_until, write_trace
from tests.tracegen.cluster_writer import write_job
from tests.tracegen.job import Job, Missing
from torch_tb_profiler.cli import main
from torch_tb_profiler.discovery import parse_logdir
from torch_tb_profiler.ingest.ingest import Ingested, Readers, ingest
from torch_tb_profiler.ingest.reading import Child, Children
from torch_tb_profiler.ingest.runner import IngestProgress, IngestRefused, RankLost
from torch_tb_profiler.ranks import reduction
from torch_tb_profiler.reason import OTHER, Reason, Why
from torch_tb_profiler.web import PREFETCHED
from torch_tb_profiler.workspace import open_workspace
from torch_tb_profiler.workspace.cache.stores import FolderStore
from torch_tb_profiler.workspace.reading.protocol import Done, Failed, Reading
from torch_tb_profiler.workspace.reading.protocol import Job as ReadingJob

pytestmark = pytest.mark.slow

Run = Callable[..., list[dict[str, Any]]]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    return tmp_path / "own" / "torch_tb_profiler"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command; what it ends with."""

    def ingested(*arguments: object, status: int = 0) -> list[dict[str, Any]]:
        assert main(["ingest", *map(str, arguments), "--json"]) == status
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return ingested


@pytest.mark.slow
def test_the_same_for_any_number_of_processes(tmp_path: Path, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    write_ranks(tmp_path / "logs" / "job", 5)
    told = []
    for processes in (1, 2):
        place = tmp_path / f"place{processes}"
        assert (
            main(["ingest", str(tmp_path / "logs"), "--cache-dir", str(place), "--workers", str(processes), "--json"])
            == 0
        )
        told.append(capsys.readouterr().out)
        assert not parts_in(place)
    assert told[0] == told[1]
    (found,) = map(json.loads, told[0].splitlines())
    assert (found["run"], found["read"], found["failed"], found["skipped"]) == ("job", 5, [], [])
    assert (found["ranks"]["present"], found["ranks"]["expected"]) == (5, 5)
    first, second = (columns_of(tmp_path / f"place{processes}") for processes in (1, 2))
    assert len(first) == 5
    assert first == second


def test_without_a_place_it_is_the_users_own_cache_and_private(tmp_path: Path, own_cache: Path, run: Run) -> None:
    write_ranks(tmp_path / "job", 2)
    run(tmp_path / "job")
    files = list(own_cache.iterdir())
    assert {path.suffix for path in files} == {".columns", ".json", ".rank", ".run"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    workspace = open_workspace(parse_logdir(str(tmp_path / "job")), workers=1)
    try:
        wait_until(lambda: not workspace.status().loading, "all is there")
        assert workspace.process_ids() == []  # nothing was read
    finally:
        workspace.close()


def test_what_is_there_is_not_read_again_wherever_it_lies_and_whenever_it_was_touched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_ranks(tmp_path / "here" / "job", 3)
    place = str(tmp_path / "place")
    assert ingest(str(tmp_path / "here"), place).there == 0
    shutil.copytree(tmp_path / "here", tmp_path / "there", copy_function=shutil.copyfile)
    monkeypatch.setattr(Child, "read", lambda *_: pytest.fail("a rank is read again"))
    found = ingest(str(tmp_path / "there"), place)
    assert (found.ranks, found.there) == (3, 3)


def test_whatever_is_wrong_with_a_file_is_said_beside_it(tmp_path: Path, run: Run) -> None:
    paths = write_ranks(tmp_path / "job", 4, world=6)
    whole = paths[1].read_bytes()
    (tmp_path / "job" / "node0_5.pt.trace.json.gz").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "job" / "node0_9.pt.trace.json").write_text("{}")
    (tmp_path / "job" / "config.json").write_text('{"hidden_size": 1}')
    paths[3].write_bytes(b"\x1f\x8b damaged")
    (found,) = run(tmp_path / "job")
    failed = {each["file"]: each["reason"] for each in found["failed"]}
    assert set(failed) == {"node0_9.pt.trace.json", paths[3].name}
    assert all(failed.values())
    assert [each["file"] for each in found["skipped"]] == ["config.json"]
    assert found["read"] == 4
    assert found["ranks"]["expected"] == 6


def test_ranks_that_belong_to_something_else_are_named(tmp_path: Path, run: Run) -> None:
    paths = write_ranks(tmp_path / "job", 4)
    duplicate = tmp_path / "job" / "copy_7.pt.trace.json.gz"
    shutil.copyfile(paths[2], duplicate)
    write_ranks(tmp_path / "other", 3, world=16)
    shutil.copyfile(tmp_path / "other" / paths[0].name, tmp_path / "job" / "else_0.pt.trace.json.gz")
    (found,) = run(tmp_path / "job")
    said = " ".join(found["notes"])
    assert "copy_7" in said or paths[2].name.partition(".")[0] in said
    assert "else_0" in said
    assert found["ranks"]["present"] == 4


def test_a_rank_that_fails_once_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_ranks(tmp_path / "job", 3)
    read, tries = Child.read, []

    def unlucky(child: Child, job: Any, told: Any) -> Any:
        tries.append(job.entry.url)
        if tries.count(job.entry.url) == 1 and job.entry.url.endswith("node0_1.pt.trace.json.gz"):
            return Failed(Reason("killed", "could not be read: the process that read it was killed"))
        return read(child, job, told)

    monkeypatch.setattr(Child, "read", unlucky)
    seen: list[IngestProgress] = []
    reporter = SimpleNamespace(show=seen.append, say=seen.append)
    found = ingest(str(tmp_path / "job"), reporter=reporter)
    assert (found.ranks, found.failed, len(tries)) == (3, 0, 4)
    assert seen[-1].ranks == seen[-1].of == 3
    assert seen[-1].bytes_done == seen[-1].bytes_of


def test_a_summary_that_is_damaged_in_the_place_is_made_again(tmp_path: Path) -> None:
    write_ranks(tmp_path / "job", 3)
    place = tmp_path / "place"
    ingest(str(tmp_path / "job"), str(place))
    damaged = min(place.glob("*.rank"))
    damaged.write_bytes(b"nonsense")
    for result in place.glob("*.run"):
        result.unlink()
    found = ingest(str(tmp_path / "job"), str(place))
    assert (found.ranks, found.failed) == (3, 0)
    assert damaged.read_bytes() != b"nonsense"


def test_columns_that_are_damaged_in_the_place_are_made_again(tmp_path: Path) -> None:
    write_ranks(tmp_path / "job", 2)
    place = tmp_path / "place"
    ingest(str(tmp_path / "job"), str(place))
    whole = columns_of(place)
    damaged = min(place.glob("*.columns"))
    damaged.write_bytes(b"nonsense")
    for summary in place.glob(f"{damaged.stem}.*.json"):
        summary.unlink()
    assert ingest(str(tmp_path / "job"), str(place)).there == 1
    assert columns_of(place) == whole


def test_two_at_once_end_with_the_same_whole_place(tmp_path: Path) -> None:
    write_ranks(tmp_path / "job", 6)

    def one(seed: int) -> Ingested:
        return ingest(str(tmp_path / "job"), str(tmp_path / "place"), Readers(processes=1, seed=seed))

    with ThreadPoolExecutor(2) as threads:
        both = list(threads.map(one, (1, 2)))
    assert [found.ranks for found in both] == [6, 6]
    assert len(columns_of(tmp_path / "place")) == 6
    assert not parts_in(tmp_path / "place")


def test_a_server_shows_a_shared_place_without_the_files(tmp_path: Path, own_cache: Path) -> None:
    logs = tmp_path / "logs"
    write_ranks(logs / "job", 3)
    (logs / "job" / "bad.pt.trace.json").write_text("{}")
    place = str(tmp_path / "place")
    (bad,) = ingest(str(logs), place).runs[0].failed
    kept = sorted(path.name for path in (tmp_path / "place").iterdir())
    shutil.rmtree(logs)
    for root in (str(logs), place):
        workspace = open_workspace(parse_logdir(root), place, 1, questions=PREFETCHED)
        try:
            wait_until(lambda w=workspace: not w.status().scanning and not w.status().loading, "all is there")
            (run,) = workspace.status().runs
            *ready, failed = run.traces
            assert [(t.worker, t.state, t.rank) for t in ready] == [
                (f"node0_{rank}", "ready", rank) for rank in range(3)
            ]
            assert (failed.file, failed.state) == (bad.file, "failed")
            assert (failed.reason, failed.why) == (bad.reason.text, Why.of(bad.reason))
            assert not run.skipped
            client = client_of(workspace)
            asked = f"run={run.name}&worker=node0_1"
            assert get(client, f"/api/kernels?{asked}")["columns"]
            assert "cannot be read" in get(client, f"/trace?{asked}", 422)["error"]
            (of_run,) = get(client, "/api/status")["runs"]
            assert (of_run["ready"], of_run["total"]) == (3, 4)
            page = get(client, f"/api/ranks?run={run.name}")
            assert page["tiles"]["failed"] == 1
            assert {note["kind"]: note["values"] for note in page["notes"]}["ranks_failed"]["names"] == bad.file
        finally:
            workspace.close()
    assert sorted(path.name for path in (tmp_path / "place").iterdir()) == kept
    assert list(own_cache.glob("*.columns"))


def test_the_page_of_a_run_is_what_ingest_has_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_ranks(tmp_path / "logs" / "job", 3)
    place = str(tmp_path / "place")
    ingest(str(tmp_path / "logs"), place)
    monkeypatch.setattr(reduction, "reduce_run", lambda *_: pytest.fail("it is reduced again"))
    workspace = open_workspace(parse_logdir(str(tmp_path / "logs")), place, 1)
    try:
        wait_until(lambda: not workspace.status().scanning and not workspace.status().loading, "all is there")
        assert get(client_of(workspace), "/api/ranks?run=job")["tiles"]["present"] == 3
    finally:
        workspace.close()


def test_a_page_opens_no_trace_and_is_kept(tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_ranks(tmp_path / "logs" / "job", 3)
    workspace = open_workspace(parse_logdir(str(tmp_path / "logs")), workers=1, questions=PREFETCHED)
    try:
        wait_until(lambda: not workspace.status().scanning and not workspace.status().loading, "all is read")
        monkeypatch.setattr(workspace, "ask", lambda *_: pytest.fail("a trace is opened"))
        page = get(client_of(workspace), "/api/ranks?run=job")
        assert [page["tiles"]["present"], page["ranks"]["worker"]] == [3, ["node0_0", "node0_1", "node0_2"]]
    finally:
        workspace.close()
    assert len(list(own_cache.glob("*.rank"))) == 3
    assert len(list(own_cache.glob("*.run"))) == 1


def test_findings_of_a_run_are_kept_by_a_server_for_the_next(
    tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_ranks(tmp_path / "logs" / "job", 3)

    def asked(forbidden: bool) -> list[object]:
        workspace = open_workspace(parse_logdir(str(tmp_path / "logs")), workers=1, questions=PREFETCHED)
        try:
            wait_until(lambda: not workspace.status().scanning and not workspace.status().loading, "all is read")
            if forbidden:
                monkeypatch.setattr(workspace, "ask", lambda *_: pytest.fail("a trace is opened"))
            client = client_of(workspace)
            return [get(client, f"/api/{name}?run=job") for name in ("run_findings", "ranks/clock")]
        finally:
            workspace.close()

    first = asked(forbidden=False)
    assert asked(forbidden=True) == first
    assert len(list(own_cache.glob("*.run"))) == 2


def test_what_cannot_begin_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_trace(tmp_path / "logs" / "w.pt.trace.json")
    (tmp_path / "file").touch()
    for arguments, told in (
        ([tmp_path / "none"], "cannot be listed"),
        ([tmp_path / "logs", "--cache-dir", tmp_path / "file" / "place"], "cannot be written"),
        ([tmp_path / "logs", "--workers", "0"], "--workers must be 1 or more"),
        ([tmp_path / "logs", "--scheduler", "a:1", "--scheduler-file", "b"], "use one of them"),
        ([tmp_path / "logs", "--scheduler-file", tmp_path / "file"], "has no address"),
    ):
        assert main(["ingest", *map(str, arguments)]) == 2
        assert told in capsys.readouterr().err
    (tmp_path / "logs" / "w.pt.trace.json").write_bytes(gzip.compress(b"{}"))
    assert main(["ingest", str(tmp_path / "logs")]) == 2
    written = capsys.readouterr()
    assert "no rank could be read" in written.err
    assert "w.pt.trace.json" in written.out


def test_one_rank_and_one_file_are_runs_too(tmp_path: Path, run: Run) -> None:
    (path,) = write_ranks(tmp_path / "job", 1)
    for where in (path, tmp_path / "job"):
        (found,) = run(where)
        assert (found["read"], found["ranks"]["present"]) == (1, 1)


def test_a_table_for_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_ranks(tmp_path / "job", 2)
    assert main(["ingest", str(tmp_path / "job")]) == 0
    written = capsys.readouterr()
    assert "ranks      2 of 2" in written.out
    assert "2 ranks are in" in written.out
    assert "2 of 2 ranks" in written.err


def test_a_collective_that_a_rank_lacks_is_told(tmp_path: Path, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    write_job(Job(dp=4, faults=(Missing(3, 11),)), tmp_path / "logs" / "job")
    (found,) = run(tmp_path / "logs")
    (missing,) = found["ranks"]["missing"]
    assert (missing["name"], missing["step"], missing["ranks"], missing["having"]) == ("nccl:all_reduce", "11", [3], 3)
    assert main(["ingest", str(tmp_path / "logs")]) == 0
    told = f"missing    nccl:all_reduce number {missing['sequence']} of {missing['group']}, step 11: not on rank 3"
    assert told in capsys.readouterr().out


def test_ranks_are_read_while_others_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One process reads the second rank while the first waits to be written."""
    write_ranks(tmp_path / "job", 2)
    read, put = Child.read, FolderStore.put
    done: list[str] = []

    def reading(self: Child, job: ReadingJob, told: Callable[[Reading], None]) -> Done | Failed:
        found = read(self, job, told)
        done.append(job.entry.url)
        return found

    def putting(self: FolderStore, name: str, source: Path | bytes, absent: bool = True) -> bool:
        if name.endswith(".columns"):
            wait_until(lambda: len(done) == 2, "the second rank is read")
        return put(self, name, source, absent)

    monkeypatch.setattr(Child, "read", reading)
    monkeypatch.setattr(FolderStore, "put", putting)
    assert ingest(str(tmp_path / "job"), str(tmp_path / "place"), Readers(processes=1)).ranks == 2


def test_what_waits_for_a_process_is_given_up_when_all_end(tmp_path: Path) -> None:
    children = Children(1)
    with children.folder() as folder:
        kept = folder.parent
        assert folder.is_dir()
    assert not folder.exists()
    children.close()
    assert isinstance(children.read(ReadingJob(1, "", 0, 0, ""), lambda _: None), Failed)
    assert not kept.exists()


def test_a_message_of_a_lost_rank_keeps_its_kind() -> None:
    reason = Reason("truncated", "ends early", {"bytes": 3})
    assert RankLost.of(1, reason).reason == reason
    assert RankLost.of(1, Reason(OTHER, "x")).reason.kind == OTHER


def test_an_address_that_cannot_be_right_is_refused(tmp_path: Path) -> None:
    write_ranks(tmp_path / "job", 1)
    with pytest.raises(IngestRefused, match="an S3 address looks like"):
        ingest(str(tmp_path / "job"), "s3://")
