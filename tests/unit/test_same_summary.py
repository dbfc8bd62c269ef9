"""The summary of a run of several ranks is one object: as text, as JSON, over HTTP and in Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

import torch_tb_profiler
from tests.served import client_of, everything_read, get
from tests.tracegen import Job, Late, write_job
from torch_tb_profiler.cli import main
from torch_tb_profiler.codec import from_json
from torch_tb_profiler.insights.summary.summary import SummaryAnswer
from torch_tb_profiler.insights.summary.text import as_text

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def late(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two ranks, of which the second launches late."""
    path = tmp_path_factory.mktemp("job") / "late"
    write_job(Job(tp=1, dp=2, layers=1, faults=(Late(1),)), path)
    return path


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


def said(capsys: pytest.CaptureFixture[str], command: str, *arguments: object) -> str:
    assert main([command, *map(str, arguments)]) == 0
    return capsys.readouterr().out


def test_the_text_is_made_of_what_json_prints(late: Path, cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for of_one in ([], ["--worker", "rank1"], ["--steps", "11:12"]):
        printed = said(capsys, "summary", late, "--json", "--cache-dir", cache, *of_one)
        text = said(capsys, "summary", late, "--cache-dir", cache, *of_one)
        assert text == as_text(from_json(printed.encode(), SummaryAnswer)) + "\n"


def test_the_slower_of_two_ranks_is_named_by_all(
    late: Path, cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = said(capsys, "ingest", late, "--cache-dir", tmp_path)
    (slower,) = [line.split(maxsplit=1)[1] for line in told.splitlines() if line.startswith("  slower")]
    assert slower.startswith("of the two, rank 1")
    assert f"Slower: {slower}\n" in said(capsys, "summary", late, "--cache-dir", cache)
    of_ingest = json.loads(said(capsys, "ingest", late, "--json", "--cache-dir", tmp_path))["ranks"]
    of_summary = json.loads(said(capsys, "summary", late, "--json", "--cache-dir", cache))["ranks"]
    assert of_ingest == of_summary
    (straggler,) = of_summary["stragglers"]
    assert (straggler["rank"], straggler["named"], straggler["doubt"]) == (1, False, "few_peers")


def everywhere(folder: Path, cache: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What the command, Python and the route say of the first span of a run: the same."""
    about = [folder, "--span", "1", "--json", "--cache-dir", cache]
    text = said(capsys, "summary", *about)
    found: dict[str, Any] = json.loads(text)
    run = torch_tb_profiler.open(folder, cache_dir=cache).run()
    with everything_read(folder, cache) as workspace:
        client = client_of(workspace)
        of_run = f"/api/summary?run={folder.name}&span=1"
        assert get(client, of_run) == found
        # 1 and 1.0 are equal, and not the same text
        sent = [client.get(of_run).data, msgspec.json.encode(run.summary(1))]
        assert [msgspec.json.format(each, indent=-1).decode() for each in sent] == [
            msgspec.json.format(text, indent=-1).strip()
        ] * 2
        for trace in run.traces:
            if trace.span == "1" and trace.size:
                of_one = said(capsys, "summary", *about, "--worker", trace.worker)
                answer = client.get(f"{of_run}&worker={trace.worker}").data
                assert msgspec.json.format(answer, indent=-1).decode() == msgspec.json.format(of_one, indent=-1).strip()
        assert "worker" in get(client, f"{of_run}&from_step=a&to_step=b", 400)["error"]
    return found


def test_command_python_and_route_say_the_same_of_a_run(
    late: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = everywhere(late, cache, capsys)
    assert found["ranks"]["present"] == 2
    assert found["skipped"] == []


def test_a_run_of_one_trace_is_that_trace(
    late: Path, cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = next(path for path in late.iterdir() if "rank0" in path.name)
    printed = json.loads(said(capsys, "summary", file, "--json", "--cache-dir", cache))
    assert (printed["ranks"]["present"], printed["ranks"]["expected"]) == (1, 2)
    worker = printed["trace"]["worker"]
    assert json.loads(said(capsys, "summary", file, "--worker", worker, "--json", "--cache-dir", cache)) == printed
    run = torch_tb_profiler.open(file, cache_dir=cache).run()
    assert json.loads(msgspec.json.encode(run.trace().summary())) == printed
    assert json.loads(msgspec.json.encode(run.summary())) == printed
    logs = tmp_path / printed["trace"]["run"]
    logs.mkdir()
    (logs / file.name).write_bytes(file.read_bytes())
    with everything_read(logs, cache) as workspace:
        client, of_run = client_of(workspace), f"/api/summary?run={logs.name}"
        assert get(client, of_run) == get(client, f"{of_run}&worker={worker}") == printed


def test_files_that_were_skipped_are_named(late: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first and the last file of a run are empty, another is no trace, and of one only the beginning is there."""
    run, cache = tmp_path / "run", tmp_path / "cache"
    run.mkdir()
    for path in late.iterdir():
        (run / path.name).write_bytes(path.read_bytes())
    for name in ("a.pt.trace.json", "rank1_.1700000000000000000.pt.trace.json.gz", "z.pt.trace.json"):
        (run / name).touch()
    (run / "notes.json").write_text('{"a": 1}')
    cut = next(path for path in run.iterdir() if "rank1." in path.name)
    cut.write_bytes(cut.read_bytes()[: cut.stat().st_size // 2])
    other = ("notes.json", "is JSON, but not a trace: it has no traceEvents")
    of_span = everywhere(run, cache, capsys)["skipped"]
    assert [(each["file"], each["reason"]) for each in of_span] == [
        ("rank1_.1700000000000000000.pt.trace.json.gz", "is empty"),
        other,
    ]
    assert main(["summary", str(run), "--json", "--cache-dir", str(cache)]) == 0
    found, err = capsys.readouterr()
    printed = json.loads(found)
    skipped = {each["file"]: each["reason"] for each in printed["skipped"]}
    assert skipped == dict.fromkeys([path.name for path in run.iterdir() if not path.stat().st_size], "is empty") | {
        other[0]: other[1]
    }
    assert all(f"skipped: {file} {reason}\n" in err for file, reason in skipped.items())
    assert [note["kind"] for note in printed["notes"] if note["severity"] == "warning"][:2] == [
        "ranks_failed",
        "damaged_ranks",
    ]
    text = said(capsys, "summary", run, "--cache-dir", cache)
    assert text == as_text(from_json(found.encode(), SummaryAnswer)) + "\n"
    assert all(f"skipped: {file} {reason}\n" in text for file, reason in skipped.items())
    for path in run.iterdir():
        path.write_bytes(b"")
    assert main(["summary", str(run), "--cache-dir", str(cache)]) == 2
    assert "a.pt.trace.json is empty" in capsys.readouterr().err
