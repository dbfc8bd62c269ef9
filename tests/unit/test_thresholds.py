"""The limits of the rules are data: a file of the user's overrides some of them."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import get_args

import pytest

from tests.events import annotation, model_of
from torch_tb_profiler.analysis.shared.thresholds import VARIABLE, ThresholdError, thresholds, thresholds_with
from torch_tb_profiler.analysis.snapshot.summary import SECTION, SnapshotFindingId
from torch_tb_profiler.insights import RULES, diagnosis
from torch_tb_profiler.insights.run.rules import RUN_RULES
from torch_tb_profiler.workspace.cache.trace_cache import TraceCache

LOADER = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"


def test_sections_are_rules() -> None:
    of_snapshots = {SECTION + each for each in get_args(SnapshotFindingId)}
    rules = {rule.id for rule in RULES} | {rule.id for rule in RUN_RULES}
    assert not rules & of_snapshots
    assert set(thresholds().limits) - {"findings", "run"} <= rules | of_snapshots
    assert of_snapshots <= set(thresholds().limits)
    assert thresholds().digest == ""


def test_some_limits_are_overridden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events = [annotation("ProfilerStep#1", 0, 100_000), annotation(LOADER, 10_000, 20_000)]
    assert [each.id for each in diagnosis(model_of(events)).findings] == ["dataloader"]
    file = tmp_path / "findings.toml"
    file.write_text("[dataloader]\nleast_share = 0.5\n")
    monkeypatch.setenv(VARIABLE, str(file))
    found = diagnosis(model_of(events))
    assert found.findings == ()
    assert "dataloader" in found.checked


def test_rules_are_muted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "findings.toml"
    file.write_text('mute = ["dataloader"]\n')
    monkeypatch.setenv(VARIABLE, str(file))
    found = diagnosis(model_of([annotation("ProfilerStep#1", 0, 100_000), annotation(LOADER, 10_000, 20_000)]))
    assert found.findings == ()
    assert found.muted == ("dataloader",)
    assert "dataloader" not in found.checked


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[dataloader", "not valid TOML"),
        ("[no_rule]\nx = 1", "No rule has the id 'no_rule'"),
        ("[dataloader]\nleast = 1", "no limit 'least'"),
        ("[dataloader]\nleast_share = -1", "from 0 on"),
        ("[dataloader]\nleast_share = true", "is a number"),
        ('mute = "dataloader"', "a list"),
        (f"[dataloader]\nleast_share = {'9' * 400}", "from 0 on"),
        (f"[dataloader]\nleast_share = {'9' * 5000}", "not valid TOML"),
        (f"[dataloader]\nleast_share = {'[' * 5000}", "not valid TOML"),
    ],
)
def test_a_wrong_file_costs_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, text: str, says: str
) -> None:
    file = tmp_path / "findings.toml"
    file.write_text(text)
    with pytest.raises(ThresholdError, match=says):
        thresholds_with(file)
    monkeypatch.setenv(VARIABLE, str(file))
    with caplog.at_level(logging.WARNING):
        assert thresholds().digest == ""
    assert says.strip("'") in caplog.text


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ThresholdError, match="cannot be read"):
        thresholds_with(tmp_path / "none.toml")


def test_answers_that_are_kept_are_those_of_the_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = TraceCache(tmp_path / "cache").answers("key")
    file = tmp_path / "findings.toml"
    file.write_text("[dataloader]\nleast_share = 0.5\n")
    monkeypatch.setenv(VARIABLE, str(file))
    assert TraceCache(tmp_path / "cache").answers("key") != usual
    assert TraceCache(tmp_path / "cache").columns("key") == TraceCache(tmp_path / "cache").columns("key")
