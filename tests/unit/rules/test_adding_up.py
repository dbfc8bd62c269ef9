"""What findings save one after the other adds up to what they save together, whatever is too small to be shown."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.input_programs import MS, WORKERS, diagnosed, work
from tests.rank_programs import Ranks, ranks_of
from tests.replay_programs import US, Instruction
from torch_tb_profiler.analysis.shared.thresholds import VARIABLE
from torch_tb_profiler.insights.rule import Cause
from torch_tb_profiler.insights.run.findings import run_diagnosis

#: a batch that is waited for, 20 ms, and one pageable copy that holds the host up, 1 ms of a step of 27 ms or so
LOADING: list[list[Instruction]] = [
    [("fetch", 20 * MS, WORKERS), ("copy", "HtoD (Pageable -> Device)", 3_000_000), *work(20, 5 * US, 300 * US)]
] * 6


def after_others(findings: Iterable[Cause]) -> dict[str, float]:
    return {each.key: each.saving.after_others_ns or 0.0 for each in findings if each.saving is not None}


@pytest.fixture
def least(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Findings that save less than 10 % of the step are not shown."""
    file = tmp_path / "findings.toml"
    file.write_text("[findings]\nleast_share = 0.1\n")
    monkeypatch.setenv(VARIABLE, str(file))


def test_two_causes() -> None:
    found = diagnosed(LOADING)
    saved = after_others(found.findings)
    assert set(saved) == {"dataloader", "pageable_input"}
    assert min(saved.values()) > 0
    assert found.together_ns == pytest.approx(sum(saved.values()))


@pytest.mark.usefixtures("least")
def test_a_cause_that_is_not_shown_saves_nothing() -> None:
    found = diagnosed(LOADING)
    saved = after_others(found.findings)
    assert set(saved) == {"dataloader"}
    (finding,) = found.findings
    assert finding.saving is not None
    assert found.together_ns == saved["dataloader"] == finding.saving.alone_ns == finding.saving.last_in_ns
    assert "pageable_input" in found.checked


#: a rank that computes longer, and transfers of 300 µs in steps of 2.5 ms or so
UNEVEN = Ranks(compute=lambda rank, step: 2000.0 if rank == 2 else 1200.0, transfer=300.0)


def test_two_causes_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "findings.toml"
    file.write_text("[exposed_transfer]\nleast_share = 0.05\n")
    monkeypatch.setenv(VARIABLE, str(file))
    found = run_diagnosis(ranks_of(UNEVEN))
    saved = after_others(found.findings)
    assert set(saved) == {"straggler", "exposed_transfer"}
    assert found.together_ns == pytest.approx(sum(saved.values()))
    file.write_text("[exposed_transfer]\nleast_share = 0.05\n[findings]\nleast_share = 0.2\n")
    found = run_diagnosis(ranks_of(UNEVEN))
    saved = after_others(found.findings)
    assert set(saved) == {"straggler"}
    assert found.together_ns == saved["straggler"]
