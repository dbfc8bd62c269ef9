"""Rules over ranks on recorded runs."""

from __future__ import annotations

from pathlib import Path

import pytest

import torch_tb_profiler as profiler
from torch_tb_profiler.api.profile import Run

SAMPLES = Path(__file__).parents[2] / "samples"


def run_of(folder: Path) -> Run:
    (run,) = profiler.open(str(folder)).runs
    return run


def test_dlrm_waits_and_does_not_transfer(shared_traces: Path) -> None:
    """Communication is a third of a step of each rank alone, and nothing when all are replayed together."""
    run = run_of(shared_traces / "param" / "dlrm_v100_8ranks")
    found = run.diagnosis()
    assert (found.loaded, found.world, found.collectives) == (8, 8, 8)
    reliefs = {each.kind: each.share for each in found.bound.reliefs}
    assert reliefs["communication"] == pytest.approx(0, abs=0.002)
    assert found.bound.kind == "host"
    assert [each.id for each in found.findings] == ["waiting"]
    assert found.together_ns is None
    assert found.findings[0].values["share"] == pytest.approx(0.37, abs=0.01)


def test_some_ranks_of_dlrm(shared_traces: Path, tmp_path: Path) -> None:
    """With three of eight ranks it is said that what looks like communication may be waiting for the others."""
    for path in sorted((shared_traces / "param" / "dlrm_v100_8ranks").iterdir())[1:4]:
        (tmp_path / path.name).symlink_to(path)
    found = run_of(tmp_path).diagnosis()
    assert (found.loaded, found.world) == (3, 8)
    for each in found.findings:
        assert each.confidence != "high"
        assert each.id != "exposed_transfer" or "3 of 8" in each.detail


def test_the_slowed_rank_of_the_sample() -> None:
    """Its truth is the same program generated without the loss: 17.12 ms a step."""
    found = run_of(SAMPLES / "generated_4gpu_h100").diagnosis()
    (straggler,) = found.findings
    assert (straggler.id, straggler.workers) == ("straggler", ("rank2",))
    assert straggler.values["name"] == "aten::nonzero"
    assert straggler.saving is not None
    assert straggler.saving.alone_ns is not None
    assert found.step_ns is not None
    assert found.step_ns - straggler.saving.alone_ns == pytest.approx(17.12e6, rel=0.005)


@pytest.mark.parametrize("sample", ["generated_4gpu_h100", "ddp_gloo_2ranks"])
def test_a_late_rank_has_one_saving(sample: str) -> None:
    """The finding, the table of slow ranks and the command line tell the same number; so does the tile of one rank."""
    run = run_of(SAMPLES / sample)
    overview = run.reduced().overview
    (straggler,) = (each for each in overview.stragglers if each.saving_ns)
    finding = next(each for each in run.diagnosis().findings if each.id == "straggler")
    assert finding.saving is not None
    assert finding.saving.alone_ns == straggler.saving_ns
    assert overview.tiles.lost_ns == (straggler.saving_ns if straggler.named else None)


def test_the_slowed_rank_of_two() -> None:
    findings = run_of(SAMPLES / "ddp_gloo_2ranks").findings()
    assert findings[0].id == "straggler"
    assert findings[0].workers == ("rank1",)
    assert findings[0].confidence == "medium"
