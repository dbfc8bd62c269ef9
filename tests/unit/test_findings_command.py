"""`findings` and `what-if`: what costs time in full, and what a change would save, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tracegen import Job, Late, write_job
from torch_tb_profiler.cli import main
from torch_tb_profiler.cli.work import summaries

pytestmark = pytest.mark.slow


def said(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert main([*map(str, words)]) == 0
    return capsys.readouterr().out


def test_findings_are_those_of_the_summary(
    samples: Path, samples_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = (samples / "ddp_gloo_2ranks", "--cache-dir", samples_cache)
    listed = json.loads(said(capsys, "findings", *run, "--json"))
    assert listed == json.loads(said(capsys, "summary", *run, "--json"))["findings"]
    text = said(capsys, "findings", *run)
    for finding in listed:
        assert finding["title"] in text
        assert finding["detail"] in text
        assert finding["advice"] in text
        assert all(place["name"] in text for place in finding["evidence"][:3])


def test_the_summary_has_the_advice_of_every_finding(
    samples: Path, samples_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = (samples / "generated_4gpu_h100", "--cache-dir", samples_cache)
    findings = json.loads(said(capsys, "findings", *run, "--json"))
    text = said(capsys, "summary", *run)
    assert len(findings) > 1
    assert all(finding["advice"] in text for finding in findings)


def test_what_if(samples: Path, samples_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = (samples / "cnn_workers0", "--cache-dir", samples_cache)
    answer = json.loads(said(capsys, "what-if", run[0], "data:0", *run[1:], "--json"))
    steps = len(answer["names"])
    before, after = (answer[key] / steps / 1e6 for key in ("before_ns", "after_ns"))
    text = said(capsys, "what-if", run[0], "data:0", *run[1:])
    assert text == f"A step would take at least {after:.3f} ms instead of {before:.3f} ms (40 % less).\n"
    assert said(capsys, "what-if", run[0], "sync", *run[1:]) == f"A step would take {before:.3f} ms, as it does.\n"
    assert "longer" in said(capsys, "what-if", run[0], "data:2", *run[1:])
    assert main(["what-if", str(run[0]), "nothing:0", *map(str, run[1:])]) == 2
    assert "kinds are data, host, " in capsys.readouterr().err


def test_of_many_ranks_it_is_said_how_many_are_read_and_how_long(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only of those that were not read before."""
    monkeypatch.setattr(summaries, "_MANY", 1)
    write_job(Job(tp=1, dp=4, layers=1, faults=(Late(1),)), tmp_path / "run")
    words = ["summary", str(tmp_path / "run"), "--cache-dir", str(tmp_path / "cache")]
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert "Ranks: 4" in out
    assert err == "reads 3 of 4 ranks: about 1 s\n"
    assert main(words) == 0
    assert capsys.readouterr() == (out, "")
