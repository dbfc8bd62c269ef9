"""`torch-tb-profiler compare`: what it says, its JSON, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import torch_tb_profiler
from tests.events import annotation, event, kernel, launch, op
from tests.recorded import ROOT
from torch_tb_profiler.cli import main

ZERO, TWO = (str(ROOT / "samples" / name) for name in ("cnn_workers0", "cnn_workers2"))
HOSTILE = "::error::x\n::set-env name=A::b\x1b[31m"


def said(capsys: pytest.CaptureFixture[str], cache: Path, *words: str) -> str:
    assert main(["compare", *words, "--cache-dir", str(cache)]) == 0
    return capsys.readouterr().out


def as_json(capsys: pytest.CaptureFixture[str], cache: Path, *words: str) -> Any:
    return json.loads(said(capsys, cache, *words, "--json"))


def check_sums(answer: dict[str, Any]) -> None:
    assert sum(each["delta_ns"] for each in answer["causes"]) == answer["delta_ns"]
    rows = sum(each["delta_ns"] for each in answer["work"])
    assert rows + answer["left_out_ns"] + answer["unnamed_ns"] == answer["delta_ns"]
    assert sum(answer["kinds"].values()) + answer["unnamed_ns"] == answer["delta_ns"]
    for each in answer["work"]:
        if each["how"] in ("name", "launch"):
            assert each["calls_ns"] + each["speed_ns"] == each["delta_ns"]


def test_what_it_says(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = said(capsys, tmp_path, ZERO, TWO)
    assert (
        "Steps are 30.6 ms faster (-40.1 %, a typical step takes 27.8 to 52.4 % less): "
        "most of it data loading (-29.5 ms)." in text
    )
    assert "Significantly shorter." in text
    assert "within the noise" in text
    assert "aten::relu" in text


def test_json_is_the_answer_of_the_server_and_adds_up(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    answer = as_json(capsys, tmp_path, ZERO, TWO)
    check_sums(answer)
    before, after = (torch_tb_profiler.open(path).trace() for path in (ZERO, TWO))
    same = before.change(after)
    assert answer["delta_ns"] == same.delta_ns
    assert [each["delta_ns"] for each in answer["work"]] == [each.delta_ns for each in same.work]
    few = as_json(capsys, tmp_path, ZERO, ZERO)
    assert few["delta_ns"] == 0
    assert few["headline"] is None


def test_several_recordings_and_each(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pooled = as_json(capsys, tmp_path, "--base", ZERO, "--base", TWO, TWO)
    check_sums(pooled)
    assert pooled["baseline"]["recordings"] == 2
    assert pooled["baseline"]["steps"] == 10
    each = as_json(capsys, tmp_path, ZERO, TWO, ZERO, "--each")
    assert [one["steps"] for one in each["recordings"]] == [5, 5, 5]
    (trend,) = (one for one in each["trends"] if one["metric"] == "step_time")
    assert [point["verdict"] for point in trend["points"]] == ["unknown", "improved", "inconclusive"]
    assert trend["points"][1]["shift"] < 0 < trend["points"][2]["since"]
    lines = said(capsys, tmp_path, ZERO, TWO, ZERO, "--each").splitlines()
    (improved,) = (line for line in lines if "improved" in line)
    assert improved.endswith("cnn_workers2")


def write_trace(path: Path, name: str, us: float, steps: int = 5) -> str:
    rows = []
    for step in range(steps):
        at = step * 1000
        rows += [
            annotation(f"ProfilerStep#{step}", at, 990),
            op(f"aten::{name}", at + 5, 20),
            launch(at + 10, step + 1),
            kernel(at + 40, us + step % 2, step + 1) | {"name": f"kernel {name}"},
            event("cuda_runtime", "cudaDeviceSynchronize", at + 900, 80),
        ]
    path.mkdir()
    (path / "w.1.pt.trace.json").write_text(json.dumps({"traceEvents": rows}))
    return str(path)


def test_names_cannot_steer_the_output(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    paths = [write_trace(tmp_path / side, HOSTILE, us) for side, us in (("a", 500), ("b", 600))]
    text = said(capsys, tmp_path, *paths)
    assert "\x1b" not in text
    assert not any(line.startswith("::") for line in text.splitlines())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([ZERO], "a baseline and a new recording are needed"),
        ([ZERO, "nowhere"], "nowhere"),
        ([ZERO, str(ROOT / "docs")], "no trace"),
        ([ZERO, TWO, "--worker", "nobody"], "no trace of a worker 'nobody'"),
        ([ZERO, TWO, "--limit", "0"], "--limit"),
        ([ZERO, TWO, "--step-rule", "odd"], "no rule 'odd'"),
        ([ZERO, str(ROOT / "samples" / "out_of_memory")], "no trace"),
    ],
)
def test_what_it_refuses(words: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["compare", *words, "--cache-dir", str(tmp_path)]) == 2
    found = capsys.readouterr()
    assert message in found.err
    assert "Traceback" not in found.err
    assert found.out == ""


def test_without_steps_there_is_no_mean_step(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    paths = [write_trace(tmp_path / side, "mm", us, steps=0) for side, us in (("a", 500), ("b", 600))]
    assert main(["compare", *paths, "--cache-dir", str(tmp_path)]) in (0, 2)
    assert "Traceback" not in capsys.readouterr().err


def test_planted_slow_down_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    paths = [write_trace(tmp_path / side, "mm", us, steps=9) for side, us in (("a", 500), ("b", 530))]
    answer = as_json(capsys, tmp_path, *paths)
    check_sums(answer)
    (found,) = [each for each in answer["kernels"]["names"] if each["name"] == "kernel mm"]
    assert found["verdict"] == "slower"
    assert found["low"] > 0.02
    row = next(each for each in answer["work"] if each["kernels"] == ["kernel mm"])
    assert (row["kind"], row["verdict"], row["operator"]) == ("speed", "slower", "aten::mm")
