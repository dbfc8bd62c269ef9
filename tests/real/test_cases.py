"""Small traces of situations that were told wrong once, with what is right (shared data, `cases/README.md`)."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from tests.recorded import ROOT, SHARED, model_of
from torch_tb_profiler.cli import main
from torch_tb_profiler.insights.findings import diagnosis

CASES = SHARED.parent / "cases"
_MS = 10**6


class Right(NamedTuple):
    """Of a case: the bound, the rule of the first finding, between what its saving alone lies, ms, and part of its
    place; None where nothing has to be said of it.
    """

    case: str
    bound: str
    first: str | None = None
    saving: tuple[float, float] | None = None
    where: str | None = None
    file: str = "worker0.pt.trace.json"


RIGHT = (
    Right("s01_gpu_only_compute_bound", "compute"),
    Right("s01_gpu_only_hip", "compute"),
    Right("s01_gpu_only_hip_fast", "compute"),
    Right("s02_attention_control", "compute", "unfused_attention", (40, 41)),
    Right("s02_attention_eval_dropout", "compute", "unfused_attention", (40, 41)),
    Right("s03_experts_two_gathers", "compute", "gathered_experts", (1.95, 2.05)),
    Right("s04_waits_hide_each_other", "sync", "sync_points", (2.9, 3.0)),
    Right("s05_cpu_python_function", "host", "host_code", (6.9, 7.1), "train.py:31 (tokenize)"),
    Right("s06_two_ranks_of_eight", "input", "synchronous_dataloader", (48, 50), file="rank0.pt.trace.json"),
    Right("s08_float64_cpu", "compute", "double_precision", (15.5, 16.5), "aten::addmm"),
    Right("s08_float64_gpu", "compute", "double_precision", (11.5, 12.5), "aten::addmm"),
    Right("s09_graph_input_copies", "compute", "device_copies", (1.8, 2.2), "aten::copy_"),
    Right("s10_loader_place", "input", "synchronous_dataloader", (48, 50), "processing.py:301 (resize)"),
    Right("s11_host_spread_over_layers", "host", "host_dispatch", (10, 40), "all 40 modules of the class Block"),
    Right("s12_refused_bound_last", "communication", "communication"),
    Right("s13_bias_beside_a_cold_launch", "launch", "first_launches", (1290, 1310)),
    Right("s14_device_records_lost", "unknown"),
)


def case_of(name: str) -> Path:
    path = CASES / name
    if not path.exists():
        pytest.skip(f"the cases are not here: ../{path.relative_to(ROOT.parent)} does not exist")
    return path


@pytest.mark.parametrize("right", RIGHT, ids=[each.case for each in RIGHT])
def test_what_is_right(right: Right) -> None:
    found = diagnosis(model_of(case_of(right.case) / right.file))
    assert found.bound.kind == right.bound
    if right.first is None:
        return
    first = found.findings[0]
    assert first.id == right.first
    assert first.saving is not None
    if right.saving is not None:
        low, high = right.saving
        assert low * _MS <= (first.saving.alone_ns or 0.0) <= high * _MS
    if right.where is not None:
        assert first.where is not None
        assert right.where in first.where.text


def test_the_bias_saves_what_its_kernels_take() -> None:
    found = diagnosis(model_of(case_of("s13_bias_beside_a_cold_launch/worker0.pt.trace.json")))
    (bias,) = (each.saving for each in found.findings if each.id == "conv_bias")
    assert bias is not None
    assert 7 * _MS < (bias.alone_ns or 0.0) <= 8 * _MS


def test_waits_that_hide_each_other_have_all_their_places() -> None:
    found = diagnosis(model_of(case_of("s04_waits_hide_each_other/worker0.pt.trace.json"))).findings[0]
    assert "## sizes ##" in found.detail
    assert "## check ##" in found.detail


def test_a_cause_without_a_number_has_the_relief_of_the_bound_as_its_limit() -> None:
    found = diagnosis(model_of(case_of("s12_refused_bound_last/worker0.pt.trace.json")))
    saving = found.findings[0].saving
    assert saving is not None
    assert saving.at_most_ns == pytest.approx(6 * _MS, rel=0.01)
    assert saving.alone_ns is None


def test_a_wait_of_a_device_that_lags_is_of_its_step() -> None:
    found = diagnosis(model_of(case_of("s07_device_lags/worker0.pt.trace.json")))
    (wait,) = (each for each in found.findings if each.id == "sync_points")
    assert wait.values["share"] == pytest.approx(0.6, abs=0.01)
    assert found.step_ns == pytest.approx(100 * _MS)


def test_findings_of_one_rank_are_said_where_others_are_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["summary", str(case_of("s15_two_ranks_host"))]) == 0
    assert "The device waits for the host (rank0: aten::mul): about 19.9" in capsys.readouterr().out
