"""Any number of recordings: each against a baseline, and where the level changed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

import torch_tb_profiler
from tests.gate_pairs import KERNEL, config, recorded, write
from torch_tb_profiler.analysis.change.figures import RecordingFigures
from torch_tb_profiler.analysis.change.trends import Trends, numbered, trends
from torch_tb_profiler.cli import main
from torch_tb_profiler.cli.work.compare_text import sparkline

STEPS = 9


def with_steps(of: RecordingFigures, step_ns: Sequence[int], run: str) -> RecordingFigures:
    """A recording with these steps, all of it busy."""
    count = len(step_ns)
    steps = list(step_ns)
    zeros = [0] * count
    return replace(
        of,
        run=run,
        steps=[str(at) for at in range(count)],
        first_kept=0,
        step_ns=steps,
        causes={"compute.gemm": steps},
        kernel_calls=zeros,
        sync_calls=None,
        graph_breaks=None,
        compilations=zeros,
    )


def series(levels: Sequence[float], spread: float = 0.003, seed: int = 1) -> list[RecordingFigures]:
    random = np.random.default_rng(seed)
    of = recorded(config(0, steps=2, layers=1))
    return [
        with_steps(of, [round(1e7 * level * (1 + spread * x)) for x in random.standard_normal(STEPS)], f"run{at}")
        for at, level in enumerate(levels)
    ]


def found(levels: Sequence[float], baseline: int = 0, **more: float) -> Trends:
    recordings = series(levels, **more)  # type: ignore[arg-type]
    return trends(recordings, numbered(recordings), baseline)


def test_each_is_compared_with_the_baseline_and_with_the_one_before() -> None:
    answer = found([1.0, 1.0, 1.1, 1.1])
    step, busy = answer.trends
    assert [each.metric for each in answer.trends] == ["step_time", "device_busy"]
    assert [each.verdict for each in busy.points] == ["unknown", "unchanged", "regressed", "regressed"]
    assert step.points[2].since_verdict == "regressed"
    assert step.points[3].since_verdict in ("unchanged", "inconclusive")
    assert step.points[0].shift is None
    assert step.points[2].shift == pytest.approx(0.1, abs=0.01)
    assert busy.points[3].since == pytest.approx(0.0, abs=0.005)
    for point in step.points[1:]:
        assert point.low is not None
        assert point.high is not None
        assert point.shift is not None
        assert point.low < point.shift < point.high


def test_the_baseline_may_be_any_of_them() -> None:
    answer = found([1.0, 1.1, 1.1], baseline=2)
    step = answer.trends[0]
    assert answer.baseline == 2
    assert [each.verdict for each in answer.trends[1].points] == ["improved", "unchanged", "unknown"]
    assert step.points[1].since == pytest.approx(0.1, abs=0.01)


def test_a_change_of_the_level_is_placed() -> None:
    step = found([1.0] * 7 + [1.08] * 6).trends[0]
    assert step.change_point is not None
    assert step.change_point.at == 7
    assert step.change_point.shift == pytest.approx(0.08, abs=0.01)
    assert step.change_point.low > 0
    assert step.change_point.level > 0.95
    assert step.last is not None
    assert (step.last.before, step.last.after, step.last.at) == (8, 3, 10)


def test_steady_recordings_have_no_change_point() -> None:
    """A series of one level, whatever its noise: one of twenty at most may have one, of a change that small none."""
    for seed in range(5):
        assert found([1.0] * 16, seed=seed).trends[0].change_point is None
    wild = [found(list(np.random.default_rng(seed).normal(1, 0.05, 16)), seed=seed).trends[0] for seed in range(25)]
    assert sum(each.change_point is not None for each in wild) <= 3


def test_a_single_slow_recording_is_no_change_of_the_level() -> None:
    assert found([1.0] * 6 + [1.3] + [1.0] * 6).trends[0].change_point is None


def test_few_recordings_have_no_level() -> None:
    step = found([1.0] * 4 + [1.2] * 2).trends[0]
    assert step.last is None
    assert step.change_point is None
    assert found([1.0] * 5 + [1.2] * 3).trends[0].last is not None


def test_few_steps_are_numbers_without_a_verdict() -> None:
    of = recorded(config(0, steps=2, layers=1))
    recordings = [with_steps(of, [10**7] * 3, "a"), with_steps(of, [2 * 10**7] * 3, "b")]
    (_, point) = trends(recordings, numbered(recordings)).trends[0].points
    assert (point.value, point.verdict, point.low, point.q) == (2 * 10**7, "unknown", None, None)
    assert point.shift == pytest.approx(1.0)


def test_other_devices_are_not_compared_unless_asked_for() -> None:
    recordings = series([1.0] * 9)
    other = replace(recordings[4].fingerprint, devices=["Another GPU"])
    recordings[4] = replace(recordings[4], fingerprint=other)
    answer = trends(recordings, numbered(recordings))
    step = answer.trends[0]
    assert (step.points[4].verdict, step.points[4].shift, step.points[5].since) == ("unknown", None, None)
    assert [each.what for each in answer.recordings[4].differences] == ["devices"]
    assert step.points[4].value is not None
    assert step.last is not None
    assert (step.last.before, step.last.at) == (5, 6)
    across = trends(recordings, numbered(recordings), across_devices=True).trends[0]
    assert across.points[4].verdict == "unchanged"
    assert across.last is not None
    assert across.last.before == 6


def test_options_that_slow_the_host_leave_the_busy_time() -> None:
    recordings = series([1.0, 1.0])
    options = {**recordings[1].fingerprint.options, "with_stack": True}
    recordings[1] = replace(recordings[1], fingerprint=replace(recordings[1].fingerprint, options=options))
    step, busy = trends(recordings, numbered(recordings)).trends
    assert (step.points[1].verdict, busy.points[1].verdict) == ("unknown", "unchanged")


def test_of_many_a_few_are_slower_by_chance_and_none_is_said_to_be() -> None:
    """With the spread between recordings that is assumed: of 400 equal ones not one is found."""
    random = np.random.default_rng(5)
    levels = np.exp(random.normal(0, 0.01, 400)).tolist()
    verdicts = [each.verdict for each in found(levels).trends[0].points[1:]]
    assert verdicts.count("regressed") + verdicts.count("improved") <= 2


def test_the_command_the_history_and_the_program_say_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for at in range(3):
        write(config(at, KERNEL if at == 2 else "", 2.0, steps=6, layers=1), tmp_path / f"r{at}")
    paths = [str(tmp_path / f"r{at}") for at in range(3)]
    history = str(tmp_path / "history.jsonl")
    assert main(["check", *paths[:2], "--history", history]) == 0
    assert main(["check", "--base", paths[0], paths[2], "--history", history]) == 1
    capsys.readouterr()
    assert len(Path(history).read_text("utf-8").splitlines()) == 3
    assert main(["compare", *paths, "--each", "--json"]) == 0
    of_paths = json.loads(capsys.readouterr().out)
    assert main(["compare", "--each", history, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == of_paths
    answer = torch_tb_profiler.trends(history)
    assert answer.trends[1].points[2].verdict == "regressed"
    assert answer.recordings[2].name == "r2"
    assert torch_tb_profiler.trends(*paths, baseline=-1).trends[1].points[0].verdict == "improved"
    assert main(["compare", "--each", history]) == 0
    text = capsys.readouterr().out
    assert any(line.startswith("device_busy  ▁") for line in text.splitlines())
    assert "regressed" in text


def test_a_program_is_told_what_is_wrong(tmp_path: Path) -> None:
    write(config(0, steps=5, layers=1), tmp_path / "r0")
    with pytest.raises(torch_tb_profiler.ProfileError, match="there is no recording 1: there are 1"):
        torch_tb_profiler.trends(tmp_path / "r0", baseline=1)
    with pytest.raises(torch_tb_profiler.ProfileError, match="does not exist"):
        torch_tb_profiler.trends(tmp_path / "nowhere")


def test_a_sparkline_has_a_sign_for_each() -> None:
    assert sparkline([]) == ""
    assert sparkline([5.0, 5.0]) == "▁▁"
    assert sparkline([None, 1.0, 2.0]) == "·▁█"
