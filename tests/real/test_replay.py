"""The replay of recorded traces: exact without a change, and what changes save, beside a second implementation.

`GOLDEN` holds what a prototype of the same rules found for these files, in per cent of the time of the steps.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.recorded import ROOT, SHARED, as_parameters, model_of, sample_traces, shared_model_of, short, traces
from tests.replay_checks import check_pieces
from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.changes import (
    Change,
    ScaleHost,
    ScaleWork,
    collectives,
    free,
    kernels,
    scale,
    without,
)
from torch_tb_profiler.analysis.replay.host_time import Label
from torch_tb_profiler.analysis.replay.path import critical_path
from torch_tb_profiler.analysis.replay.savings import savings, what_if
from torch_tb_profiler.analysis.replay.scenario import apply_changes, unchanged
from torch_tb_profiler.model import Model, StepChoice
from torch_tb_profiler.ranks.joint_graph import join_graphs
from torch_tb_profiler.ranks.what_if import joint_what_if, replay_rank

FILES = [*(traces(SHARED) if SHARED.is_dir() else []), *sample_traces()]
SAMPLES = ROOT / "samples"
HOST: list[Change] = [free(name) for name in ("python", "operator", "launch", "allocator", "api", "collective")]
SILENCE = ScaleHost(0, "unexplained")  # type: ignore[arg-type]  # nobody can free what nobody knows
CHANGES: dict[str, list[Change]] = {
    "C": [collectives(0)],
    "K": [kernels(0.8)],
    "L": [scale("launch", 0.5)],
    "D": [free("data")],
    "S": [without("sync")],
    "H": HOST,
    "G": [ScaleWork(0, "all")],
}


@pytest.mark.parametrize("path", as_parameters(FILES), ids=short)
def test_recorded_times_come_back_and_shorter_parts_make_nothing_later(path: Path) -> None:
    model = shared_model_of(path)
    graph = graph_of(model)
    base = unchanged(graph)
    np.testing.assert_array_equal(base.time + graph.origin_ns, graph.time)
    steps = np.diff(np.append(graph.steps.start[:1], graph.steps.end))
    np.testing.assert_array_equal(base.step_ns, steps)
    found = critical_path(base)
    np.testing.assert_array_equal(found.composition.sum(axis=1), steps)
    check_pieces(model)
    for changes in CHANGES.values():
        after = apply_changes(model.trace, graph, changes)
        assert (after.time <= base.time).all()
        assert after.step_ns.sum() <= steps.sum()


#: as the other one tells it; whole numbers but 0 are rounded
#: (in the graph of vllm_decode_hipgraph it has gaps of up to 60 µs, 0.1, among what is unexplained)
#: file; path: computing, copies, host, data, delays, unexplained; saved: C K L D S H G
GOLDEN = {
    "HTA/nccl_a100_rank0_of_2": ([0, 0, 99.7, 0, 0.3, 0], [0, 0, 2.7, 0, 0, 80.8, 0]),
    "HTA/v100_absolute_ns_timestamps": ([96.8, 0.8, 1.2, 0, 1.1, 0], [0, 19.4, 0.1, 0, 0, 1.1, 67.1]),
    "HTA/v100_ddp_profile_memory_rank1_of_2": ([0, 0, 99.9, 0, 0.1, 0], [0, 0, 5.6, 0, 0, 40.0, 0]),
    "HTA/event_sync_a100": ([1.1, 0.1, 97.7, 0, 0.6, 0.5], [0, 0.2, 1.1, 0, 2.4, 97.2, 1.1]),
    "HTA/minitoy_mi250": ([0, 0.4, 97.4, 0, 2.2, 0], [0, 0, 35.7, 0, 0.9, 96.8, 0.4]),
    "TraceLens/bert_small_h100": ([0, 0.1, 99.8, 0, 0.1, 0], [0, 0, 3.8, 0, 0.2, 90.7, 0.1]),
    "TraceLens/vllm_decode_hipgraph_mi300": ([55.8, 0.2, 2.8, 0, 0.1, 40.9], [0, 11.2, 0, 0, 0, 2.8, 56.1]),
    "param/resnet_rtx2080ti": ([0.9, 4.3, 38.2, 56.5, 0.1, 0], [0, 0.2, 3.1, 48.4, 0, 24.1, 0.8]),
    "saf/amg_a100_inductor_cudagraph": ([64.0, 7.4, 26.9, 0, 1.7, 0], [0, 11.9, 1.2, 0, 21.2, 20.6, 59.7]),
    "kineto/resnet50_num_workers_0": ([37, 1, 28, 33, 0.9, 0], [0, 1.2, 3.7, 33.2, 0.1, 36, 1.6]),
    "kineto/resnet50_num_workers_4": ([29, 2, 67, 0.8, 0.8, 0], [0, 1.0, 6.4, 1.0, 0, 26, 1.0]),
}
#: points of a per cent
CLOSE = 0.11
#: file and change where the two differ by more: 67.27 with free devices; which of them is right is not known
APART = {("HTA/v100_absolute_ns_timestamps", "G"): 0.18}


def rounded(expected: float, close: float) -> float:
    """How close a number has to come to one of the table."""
    return max(close, 0.5 + CLOSE) if isinstance(expected, int) and expected else close


@pytest.mark.parametrize("folder", GOLDEN)
def test_beside_a_second_implementation(folder: str, shared_traces: Path) -> None:
    parts, saved = GOLDEN[folder]
    model = model_of(traces(shared_traces / folder)[0])
    if "rtx2080ti" in folder:
        model = model.with_steps(StepChoice(rule="whole_trace"))
    graph = graph_of(model)
    base = unchanged(graph)
    path = critical_path(base)
    host = [label.name.lower() for label in Label if label not in (Label.DATA, Label.UNEXPLAINED)]
    groups = (
        ["compute", "communication"],
        ["copy"],
        host,
        ["data"],
        ["launch_latency", "device_gap", "dependency", "wake_up", "hand_over"],
        ["unexplained", "fixed"],
    )
    found = [100 * (path.share(*group) or 0) for group in groups]
    # the other one takes silent threads for Python
    pieces = path.segments
    silent = (pieces.part == Label.UNEXPLAINED) & (graph.lane_row[pieces.edge] >= 0)
    silence = 100 * int((pieces.end - pieces.start)[silent].sum()) / int(path.step_ns.sum())
    found[2], found[5] = found[2] + silence, found[5] - silence
    for part, expected in zip(found, parts, strict=True):
        assert part == pytest.approx(expected, abs=rounded(expected, CLOSE))
    total = int(base.step_ns.sum())
    for (name, changes), expected in zip(CHANGES.items(), saved, strict=True):
        beside = [*changes, SILENCE] if name == "H" else changes
        after = int(apply_changes(model.trace, graph, beside).step_ns.sum())
        close = APART.get((folder, name), CLOSE)
        assert 100 * (total - after) / total == pytest.approx(expected, abs=rounded(expected, close)), name


def test_the_share_of_the_path_is_not_the_saving(shared_traces: Path) -> None:
    model = model_of(traces(shared_traces / "kineto/resnet50_num_workers_0")[0])
    found = savings(model, [[free("data")], [scale("launch", 0.5)], [kernels(0.8)], [without("sync")]])
    of = {each.place: each for each in found.changes}
    percent = [round(100 * (of[place].after_others or 0) / found.before_ns, 1) for place in (0, 2, 1, 3)]
    assert [each.place for each in found.changes][:2] == [0, 2]
    assert percent == pytest.approx([33.2, 6.6, 2.0, 2.7], abs=0.2)
    assert 100 * found.together_ns / found.before_ns == pytest.approx(44.5, abs=0.2)


def median_step(model: Model, changes: list[Change]) -> float:
    found = what_if(model, changes)
    assert found.step_after_ns is not None
    return float(np.median(found.step_after_ns))


def test_two_recordings_of_a_sample_with_one_change() -> None:
    before = model_of(traces(SAMPLES / "cnn_workers0")[0])
    after = median_step(model_of(traces(SAMPLES / "cnn_workers2")[0]), [])
    assert median_step(before, [free("data")]) == pytest.approx(after, rel=0.08)
    saved = median_step(before, []) - median_step(before, [free("data")])
    assert saved == pytest.approx(median_step(before, []) - after, rel=0.2)


@pytest.mark.parametrize("number", [0, 1])
def test_two_recordings_of_a_resnet_with_one_change(number: int, shared_traces: Path) -> None:
    before = model_of(traces(shared_traces / "kineto/resnet50_num_workers_0")[number])
    after = median_step(model_of(traces(shared_traces / "kineto/resnet50_num_workers_4")[number]), [])
    predicted = median_step(before, [free("data")])
    assert predicted == pytest.approx(after, rel=0.08)
    now = median_step(before, [])
    assert now - predicted == pytest.approx(now - after, rel=0.2)


@pytest.mark.parametrize(
    ("folder", "alone", "together"),
    [
        ("samples/ddp_gloo_2ranks", [35.2, 13.3], [12.5, 13.3]),
        ("samples/generated_4gpu_h100", [19.8, 20.0, 4.8, 19.8], [4.8, 4.8, 4.8, 4.8]),
    ],
)
def test_free_collectives_of_samples(folder: str, alone: list[float], together: list[float]) -> None:
    check_collectives(ROOT / folder, alone, together)


def test_free_collectives_of_eight_ranks(shared_traces: Path) -> None:
    """Nearly all time in collectives was waiting for other ranks: free, they would save nothing."""
    found = check_collectives(shared_traces / "param/dlrm_v100_8ranks", None, [0.0] * 8)
    assert found > 25


def check_collectives(folder: Path, alone: list[float] | None, together: list[float]) -> float:
    ranks = [replay_rank(model_of(path), str(number)) for number, path in enumerate(traces(folder))]
    base = join_graphs(ranks).solve([unchanged(each.graph) for each in ranks])
    for each, steps in zip(ranks, base, strict=True):
        np.testing.assert_array_equal(steps, unchanged(each.graph).step_ns)
    single = []
    for each in ranks:
        before = int(unchanged(each.graph).step_ns.sum())
        after = int(apply_changes(each.trace, each.graph, [collectives(0)]).step_ns.sum())
        single.append(100 * (before - after) / before)
    if alone is not None:
        assert single == pytest.approx(alone, abs=0.11)
    found = joint_what_if(ranks, [collectives(0)])
    assert found.loaded == len(ranks)
    assert found.collectives > 0
    shares = [100 * (1 - (rank.after_ns or 0) / rank.before_ns) for rank in found.ranks]
    assert shares == pytest.approx(together, abs=0.2)
    return max(single)
