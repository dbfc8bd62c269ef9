"""`torch-tb-profiler memory`: of snapshots, of traces with failed allocations, and of the text of an exception."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import pytest

from tests.recorded import ROOT
from tests.snapshots import Allocator, MiB, dumped, random_run, stack
from tests.unit.test_contents import PICTURE_PAGE
from tests.unit.test_memory_failures import SINCE_2_1, GiB, oom
from torch_tb_profiler.cli import main

pytestmark = pytest.mark.slow

SAMPLE = ROOT / "samples" / "out_of_memory"


def said(capsys: pytest.CaptureFixture[str], tmp_path: Path, *arguments: str) -> str:
    assert not main(["memory", *arguments, "--cache-dir", str(tmp_path / "cache")])
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, *arguments: str) -> str:
    assert main(["memory", *arguments, "--cache-dir", str(tmp_path / "cache")])
    return capsys.readouterr().err


def test_the_page_about_running_out_says_what_the_command_says(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    page = (ROOT / "docs" / "out-of-memory.md").read_text("utf-8")
    lines = said(capsys, tmp_path, str(SAMPLE)).splitlines()
    assert lines[0] in page
    assert any(line in page for line in lines if line.startswith("Memory grows"))


def test_json_has_the_names_of_the_truth_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = json.loads(said(capsys, tmp_path, str(SAMPLE / "snapshot.pickle"), "--json", "--at", "peak"))
    assert (found["leak_per_step"], found["contradictions"], found["oom"]["reason"]) == (65536, 0, "fragmented")
    assert (found["oom"]["requested"], found["oom"]["pieces"]) == (192 << 20, 74)
    assert sum(row["bytes"] for row in found["alive"]) == found["peak_requested"]
    assert [each["id"] for each in found["findings"]] == ["leak", "near_capacity"]


def several_devices(*failed: int) -> bytes:
    """Three devices, of which the first has most records; on some of them an allocation fails."""
    told = random_run(1).snapshot()
    for number in (1, 2):
        own = Allocator(capacity=64 * MiB)
        assert own.malloc((10 + number) * MiB, stack("held", "forward")) is not None
        if number in failed:
            assert own.malloc(256 * MiB, stack("wanted", "forward")) is None
        other = own.snapshot()
        told["device_traces"] += other["device_traces"]
        told["segments"] += [segment | {"device": number} for segment in other["segments"]]
    return dumped(told)


@pytest.mark.parametrize("failed", [(), (1,), (2,), (1, 2)])
def test_json_has_every_device_and_the_one_that_ran_out_first(
    failed: tuple[int, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "snapshot.pickle"
    file.write_bytes(several_devices(*failed))
    found = json.loads(said(capsys, tmp_path, str(file), "--json"))
    assert sorted(each["device"] for each in found["devices"] if each["oom"]) == list(failed)
    assert len(found["devices"]) == 3
    wanted = max(failed, default=0)
    assert {key: found[key] for key in found["devices"][0]} == next(
        each for each in found["devices"] if each["device"] == wanted
    )
    assert (found["oom"] is not None) == bool(failed)
    assert json.loads(said(capsys, tmp_path, str(file), "--json", "--device", "0"))["oom"] is None
    at_end = json.loads(said(capsys, tmp_path, str(file), "--json", "--at", "end"))
    assert sum(row["bytes"] for row in at_end["alive"]) == at_end["requested"]
    if failed:
        assert said(capsys, tmp_path, str(file), "--at", "oom")
    (tmp_path / "other.pickle").write_bytes(several_devices(1))
    ranks = json.loads(said(capsys, tmp_path, str(tmp_path), "--ranks", "--json"))["snapshots"]
    assert sorted(each["ooms"] for each in ranks) == sorted([1, len(failed)])


def test_failed_allocations_of_a_trace(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    events = [oom(10, 2 * GiB, 5 * GiB, 8 * GiB), {"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1}]
    events[1] |= {"ts": 1, "dur": 5}
    trace = tmp_path / "run" / "w.pt.trace.json"
    trace.parent.mkdir()
    trace.write_text(json.dumps({"traceEvents": events}), "utf-8")
    assert "2 GiB was requested; 3 GiB was reserved" in said(capsys, tmp_path, str(trace))
    shutil.rmtree(trace.parent)
    trace.parent.mkdir()
    trace.write_text(json.dumps({"traceEvents": events[1:]}), "utf-8")
    assert "no failed allocation" in refused(capsys, tmp_path, str(trace))


def test_the_text_of_an_exception(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = SINCE_2_1.format(asked="2.00 GiB", free="1.00 GiB", more="", used="70.00 GiB", rest="6.00 GiB")
    file = tmp_path / "error.txt"
    file.write_text(text, "utf-8")
    from_file = said(capsys, tmp_path, "--error", str(file))
    assert from_file.startswith("Free in pieces: 2 GiB was requested; 6 GiB")
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    assert said(capsys, tmp_path, "--error", "-") == from_file
    file.write_text("hello", "utf-8")
    assert "not the text of an OutOfMemoryError" in refused(capsys, tmp_path, "--error", str(file))


def test_what_export_memory_timeline_wrote(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = ROOT / "tests" / "cases" / "memory_categories"
    from_sums = said(capsys, tmp_path, str(folder / "memory_timeline.json"))
    assert from_sums.startswith("At most 2.4 MiB was in use")
    assert "optimizer_state" in from_sums
    assert said(capsys, tmp_path, str(folder / "memory_timeline.raw.json.gz")).split()[2:4] == ["2.4", "MiB"]


def test_a_memory_timeline_is_no_trace_whatever_its_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    content = (ROOT / "tests" / "cases" / "memory_categories" / "memory_timeline.raw.json.gz").read_bytes()
    for name in ("memory_timeline.raw.json.gz", "rank0.1795439397195.pt.trace.json.gz"):
        file = tmp_path / name
        file.write_bytes(content)
        assert main(["summary", str(file), "--cache-dir", str(tmp_path / "cache")])
        error = capsys.readouterr().err
        assert "is JSON, but not a trace" in error
        assert "`torch-tb-profiler memory FILE`" in error
        assert said(capsys, tmp_path, str(file)).startswith("At most 2.4 MiB was in use")


def test_the_picture_of_a_memory_timeline_has_no_numbers(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = tmp_path / "memory_timeline.html"
    page.write_bytes(PICTURE_PAGE)
    assert "without its numbers" in refused(capsys, tmp_path, str(page))
