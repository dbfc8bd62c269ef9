"""The waterfall of recorded traces says what people found in them. That the parts add up: `tests/invariants`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.recorded import ROOT, model_of, traces
from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.path import critical_path
from torch_tb_profiler.analysis.replay.scenario import unchanged
from torch_tb_profiler.analysis.waterfall import waterfall
from torch_tb_profiler.analysis.waterfall.question import cause_pieces, with_evidence
from torch_tb_profiler.model import Model


def share(model: Model, cause: str) -> float:
    """Per cent of the time of all steps."""
    found = waterfall(model)
    return 100 * float(found.of(cause).mean(axis=0).sum() / found.step_ns.sum())


#: file → largest group of causes, and per cent of the step
LARGEST = {
    "kineto/resnet50_num_workers_0": ("idle.input", 33.1),
    "HTA/v100_absolute_ns_timestamps": ("compute", 96.8),
    "HTA/v100_ddp_profile_memory_rank1_of_2": ("idle.host", 38.4),
    "HTA/nccl_a100_rank0_of_2": ("idle.host", 75.5),
    "HTA/minitoy_mi250": ("idle.slow_launch", 70.4),
    "TraceLens/bert_small_h100": ("idle.host", 87.3),
    "param/resnet_rtx2080ti": ("idle.input", 46.9),
}


@pytest.mark.parametrize("folder", LARGEST)
def test_the_largest_cause(folder: str, shared_traces: Path) -> None:
    cause, percent = LARGEST[folder]
    model = model_of(traces(shared_traces / folder)[0])
    assert share(model, cause) == pytest.approx(percent, abs=0.1)


def test_waiting_for_data_is_as_long_as_on_the_critical_path(shared_traces: Path) -> None:
    """Loading that no device hides is the whole of the path then; two ways to the same number."""
    model = model_of(traces(shared_traces / "kineto/resnet50_num_workers_0")[0])
    path = critical_path(unchanged(graph_of(model))).share("data")
    assert path is not None
    assert share(model, "idle.input") == pytest.approx(100 * path, abs=0.5)


def test_a_slow_rank_is_late_by_its_host() -> None:
    """Rank 2 of the sample prepares its batch on the host; the others wait for it in their collectives."""
    ranks = [model_of(path) for path in traces(ROOT / "samples/generated_4gpu_h100")]
    host = [share(model, "idle.host") for model in ranks]
    waiting = [share(model, "exposed_communication") for model in ranks]
    assert host[2] > 15 > 10 * max(host[:2])
    assert min(waiting[:2]) > 20 > 4 * waiting[2]
    found = waterfall(ranks[2])
    largest = with_evidence(ranks[2], found, cause_pieces(ranks[2], found, "idle.host"))[:5]
    assert {piece.host for piece in largest} == {"aten::nonzero"}
    assert {piece.frame for piece in largest} == {"train.py(61): main"}
    assert {piece.owner for piece in largest} == {"aten::index_select"}
