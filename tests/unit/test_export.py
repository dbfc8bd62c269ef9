"""`export`: cut traces, call stacks of other programs, and tables; each read by another reader than ours."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import torch_tb_profiler
from tests.tiny import write_trace
from torch_tb_profiler.api.trace import TraceProfile
from torch_tb_profiler.cli import main

RUN = "generated_4gpu_h100"

#: https://www.speedscope.app/file-format-schema.json, as far as it is about sampled profiles
SPEEDSCOPE: dict[str, Any] = {
    "type": "object",
    "required": ["$schema", "profiles", "shared"],
    "properties": {
        "$schema": {"const": "https://www.speedscope.app/file-format-schema.json"},
        "activeProfileIndex": {"type": "number"},
        "exporter": {"type": "string"},
        "name": {"type": "string"},
        "profiles": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["endValue", "name", "samples", "startValue", "type", "unit", "weights"],
                "properties": {
                    "type": {"const": "sampled"},
                    "name": {"type": "string"},
                    "unit": {"enum": ["bytes", "microseconds", "milliseconds", "nanoseconds", "none", "seconds"]},
                    "startValue": {"type": "number"},
                    "endValue": {"type": "number"},
                    "samples": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
                    "weights": {"type": "array", "items": {"type": "number"}},
                },
            },
        },
        "shared": {
            "type": "object",
            "required": ["frames"],
            "properties": {
                "frames": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "properties": {
                            "name": {"type": "string"},
                            "file": {"type": "string"},
                            "line": {"type": "number"},
                            "col": {"type": "number"},
                        },
                    },
                }
            },
        },
    },
}


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_TB_PROFILER_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "export_cache"))


@pytest.fixture
def run(samples: Path) -> Path:
    return samples / RUN


def export(*words: object, code: int = 0) -> None:
    assert main(["export", *map(str, words)]) == code


def opened(path: Path) -> TraceProfile:
    return torch_tb_profiler.open(path).trace()


def original(run: Path, worker: str = "rank0") -> TraceProfile:
    return torch_tb_profiler.open(run).run().trace(worker)


def sums(trace: TraceProfile, name: str, keys: tuple[str, ...], **steps: str) -> dict[tuple[Any, ...], Any]:
    table = trace.answer(name, **steps)
    columns = [table.values[key] for key in keys]
    return {
        row[0]: row[1:] for row in zip(*(c.tolist() if isinstance(c, np.ndarray) else c for c in columns), strict=True)
    }


def events_of(path: Path) -> list[dict[str, Any]]:
    """As a viewer reads it: gzip and JSON, nothing of ours."""
    with gzip.open(path) as stream:
        document = json.load(stream)
    found: list[dict[str, Any]] = document["traceEvents"]
    return found


# a cut trace ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sample", [RUN, "cnn_workers0"])
def test_what_is_left_of_a_trace_has_equal_numbers(sample: str, samples: Path, tmp_path: Path) -> None:
    whole = next(iter(torch_tb_profiler.open(samples / sample).run()))
    names = whole.steps.names
    path = tmp_path / "cut.pt.trace.json.gz"
    export(samples / sample, "--steps", f"{names[1]}:{names[2]}", "-o", path)
    cut = opened(path)
    chosen = {"from_step": names[1], "to_step": names[2]}
    operators = ("name", "calls", "host_self_ns", "host_total_ns")
    assert sums(cut, "operators", operators) == sums(whole, "operators", operators, **chosen)
    kernels = ("name", "calls", "total_ns", "max_ns")
    assert sums(cut, "kernels", kernels) == sums(whole, "kernels", kernels, **chosen)
    assert cut.steps.names == names[1:3]
    assert cut.steps.duration_ns[1] == whole.steps.duration_ns[2]
    # what the first step waited for is cut away
    assert whole.steps.duration_ns[1] * 0.99 < cut.steps.duration_ns[0] <= whole.steps.duration_ns[1]
    assert not [note for note in cut.notes if note.severity == "error"]


def test_a_window_of_time(run: Path, tmp_path: Path) -> None:
    path = tmp_path / "window.json.gz"
    export(run, "--from", 20, "--to", "30.5", "-o", path)
    kept = [event for event in events_of(path) if event["ph"] == "X"]
    (file,) = run.glob("rank0.*")
    every = [event for event in events_of(file) if event["ph"] == "X"]
    origin_us = original(run).model.trace.origin_ns / 1000 - (json_header(file) or 0) / 1000
    begin, end = origin_us + 20_000, origin_us + 30_500
    expected = [e for e in every if e["ts"] + e.get("dur", 0) >= begin - 0.01 and e["ts"] <= end + 0.01]
    assert 0 < len(kept) < len(every)
    assert abs(len(kept) - len(expected)) <= 2
    assert {e["name"] for e in kept} <= {e["name"] for e in expected}


def json_header(path: Path) -> int | None:
    with gzip.open(path) as stream:
        found: int | None = json.load(stream).get("baseTimeNanoseconds")
    return found


def test_what_viewers_need_of_a_trace(run: Path, tmp_path: Path) -> None:
    """Rules of the trace event format, which Perfetto reads: fields of phases, names of rows, ends of arrows."""
    path = tmp_path / "cut.pt.trace.json.gz"
    export(run, "--steps", 5, "-o", path)
    events = events_of(path)
    assert Counter(event["ph"] for event in events)["X"] > 1000
    tracks = set()
    for event in events:
        assert isinstance(event["ph"], str)
        if event["ph"] == "M":
            assert event["name"] in (
                "process_name",
                "process_labels",
                "process_sort_index",
                "thread_name",
                "thread_sort_index",
            )
            tracks.add(event["pid"])
            continue
        assert isinstance(event["ts"], int | float)
        assert "pid" in event
        if event["ph"] == "X":
            assert event["dur"] >= 0
            assert isinstance(event["name"], str)
            assert "tid" in event
        if event["ph"] in "stf":
            assert "id" in event
            assert "cat" in event
    assert {event["pid"] for event in events if event["ph"] == "X"} <= tracks
    starts = {(e["cat"], e["id"]) for e in events if e["ph"] == "s"}
    ends = {(e["cat"], e["id"]) for e in events if e["ph"] == "f"}
    assert len(starts & ends) > 0.95 * max(len(starts), len(ends)) > 100


def test_ranks_go_into_a_directory(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "some" / "ranks"
    export(run, "--ranks", "0,2-3", "--steps", "4:5", "-o", f"{folder}/")
    found = torch_tb_profiler.open(folder).run()
    assert found.workers == ("rank0", "rank2", "rank3")
    for trace in found:
        assert len(trace.steps) == 2
        assert trace.steps.duration_ns[1] == original(run, trace.worker).steps.duration_ns[2]


def test_a_damaged_trace_becomes_a_whole_document(tmp_path: Path) -> None:
    text = write_trace(tmp_path / "run" / "a.pt.trace.json", steps=4).read_bytes()
    (tmp_path / "run" / "a.pt.trace.json").write_bytes(text[: len(text) * 4 // 5])
    export(tmp_path / "run", "-o", tmp_path / "b.json")
    assert len(json.loads((tmp_path / "b.json").read_text("utf-8"))["traceEvents"]) > 5


# call stacks ------------------------------------------------------------------------------------------------


def test_speedscope(run: Path, tmp_path: Path) -> None:
    path = tmp_path / "stacks.speedscope.json"
    export(run, "-o", path)
    found = json.loads(path.read_text("utf-8"))
    jsonschema.validate(found, SPEEDSCOPE)
    frames = found["shared"]["frames"]
    trace = original(run)
    for profile, weight in zip(found["profiles"], ("device", "host"), strict=True):
        assert len(profile["samples"]) == len(profile["weights"])
        assert all(0 <= frame < len(frames) for sample in profile["samples"] for frame in sample)
        assert sum(profile["weights"]) == profile["endValue"] == trace.stacks(weight).whole_ns  # type: ignore[arg-type]
    assert any(frame.get("file", "").endswith("train.py") and frame["line"] > 0 for frame in frames)


def test_folded_stacks(run: Path, tmp_path: Path) -> None:
    path = tmp_path / "stacks.folded"
    export(run, "-o", path, "--weight", "host", "--steps", "5")
    total = 0
    for line in path.read_text("utf-8").splitlines():
        stack, _, count = line.rpartition(" ")
        assert all(stack.split(";"))
        total += int(count)
    steps = {"from_step": "5", "to_step": "5"}
    assert total == original(run).answer("stacks", weight="host", **steps).meta.whole_ns > 0


def test_names_cannot_make_stacks_of_their_own(tmp_path: Path) -> None:
    events = [
        {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 100 * at, "dur": 50}
        for at, name in enumerate(["a;b 7", "c\nd 9", "", "\x1b[2J", "模;型"])
    ]
    (tmp_path / "w.pt.trace.json").write_text(json.dumps({"traceEvents": events}))
    export(tmp_path / "w.pt.trace.json", "-o", tmp_path / "w.folded")
    lines = (tmp_path / "w.folded").read_text("utf-8").splitlines()
    assert len(lines) == 5
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == 5 * 50_000
    assert all(line.isprintable() and ";" not in line for line in lines)


# tables and mistakes ----------------------------------------------------------------------------------------


def test_a_table(run: Path, tmp_path: Path) -> None:
    export(run, "--table", "kernels", "--steps", "5", "-o", tmp_path / "kernels.csv")
    with (tmp_path / "kernels.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    table = original(run).answer("kernels", from_step="5", to_step="5")
    assert sum(int(row["total_ns"]) for row in rows) == int(table.values["total_ns"].sum())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-o", "x.xls"], "does not say what to write"),
        (["-o", "x.csv"], "--table"),
        (["-o", "x.json", "--from", "5", "--to", "1"], "--to must not be before --from"),
        (["-o", "x.json", "--from", "nan"], "milliseconds"),
        (["-o", "x.json", "--to", "1e300"], "milliseconds"),
        (["-o", "x.json", "--steps", "3", "--from", "1"], "use one of them"),
        (["-o", "x.json", "--ranks", "7"], "there is no rank 7"),
        (["-o", "x.json", "--ranks", "all"], "list of numbers"),
        (["-o", "x.folded", "--from", "1"], "--steps"),
        (["-o", "no/folder/x.json"], "cannot write"),
        (["-o", "x.json", "--steps", "1234"], "there is no step"),
    ],
)
def test_what_cannot_be_is_said(
    words: list[str],
    said: str,
    run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    export(run, *words, code=2)
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_replaced_whole_or_not_at_all(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cut.pt.trace.json"
    path.write_text("as it was")
    from torch_tb_profiler.trace import excerpts as work

    def fails(*_: object) -> Any:
        yield b"{"
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(work, "between", fails)
        export(run, "-o", path, code=2)
    assert "No space left on device" in capsys.readouterr().err
    assert path.read_text() == "as it was"
    assert list(tmp_path.iterdir()) == [path]
    export(run, "--steps", "4", "-o", path)
    assert path.read_bytes().startswith(b"{")
