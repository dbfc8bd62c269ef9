"""The change of the mean step on recorded traces: exact on every pair, and what is known of some."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.change_checks import check_change, check_shares
from tests.recorded import model_of, traces
from torch_tb_profiler.analysis.change.change import Changed, changed, recording
from torch_tb_profiler.analysis.change.parts import headline, step_change
from torch_tb_profiler.analysis.change.shares import StepShares, step_shares

MS = 1_000_000
MOST_BYTES = 4_000_000
#: places in the list of traces: neighbours are of one program, those far apart have nothing in common
APART = (1, 2, 4, 8, 16, 32)


def test_pairs_near_and_far_add_up(shared_traces: Path) -> None:
    every: list[StepShares] = []
    for path in traces(shared_traces):
        if path.stat().st_size < MOST_BYTES:
            model = model_of(path)
            found = step_shares(model)
            check_shares(model, found)
            every += [found] if found.steps else []
    assert len(every) > 20
    for apart in APART:
        for mine, theirs in zip(every, every[apart:], strict=False):
            check_change(step_change([mine], [theirs]))


def compared(shared_traces: Path, before: str, after: str, span: int = 0) -> Changed:
    files = traces(shared_traces / before)[0], traces(shared_traces / after)[span]
    one, other = (recording(model_of(path), path.parent.name) for path in files)
    return changed([one], [other])


def test_two_recordings_of_one_program_differ_by_their_data_loader(shared_traces: Path) -> None:
    """Kernels are the same within 0.1 %, and none of them is found to have changed."""
    found = compared(shared_traces, "kineto/resnet50_num_workers_0", "kineto/resnet50_num_workers_0", span=1)
    parts = found.parts
    assert parts is not None
    assert float(parts.change) == pytest.approx(-23.982 * MS, abs=1e3)
    told = headline(parts)
    assert told is not None
    assert told.cause == "idle.input"
    assert told.cause_ns == pytest.approx(-23.985 * MS, abs=1e3)
    assert {each.verdict for each in found.kernels.names} <= {"unchanged", "unclear"}
    assert not any(each.calls_changed for each in found.kernels.names)


def test_loader_workers(shared_traces: Path) -> None:
    found = compared(shared_traces, "kineto/resnet50_num_workers_0", "kineto/resnet50_num_workers_4")
    assert found.parts is not None
    told = headline(found.parts)
    assert told is not None
    assert (told.cause, told.cause_ns < -50 * MS) == ("idle.input", True)
    replaced = [each for each in found.parts.work if each.main_kind == "replaced" and each.how == "place"]
    assert {share.operator for each in replaced for share in each.before} >= {"aten::cudnn_convolution"}


def test_another_vendor_is_joined_by_operator(shared_traces: Path) -> None:
    """No GEMM has the same name on both devices; each has a partner."""
    found = compared(shared_traces, "TraceLens/bert_small_h100", "TraceLens/bert_small_mi300x")
    assert found.parts is not None
    kernels = [each for each in found.parts.work if any(share.kernel for share in (*each.before, *each.after))]
    time = sum(float(each.amounts[0].full) for each in kernels)
    joined = sum(float(each.amounts[0].full) for each in kernels if each.how is not None)
    assert joined == pytest.approx(time)
