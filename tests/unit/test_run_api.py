"""All ranks of a run in Python, and in `summary --json`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import torch_tb_profiler.api as profiler
from tests.tracegen import Job, Late, write_job
from torch_tb_profiler.cli import main


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("job") / "late"
    write_job(Job(tp=2, dp=4, layers=1, faults=(Late(3),)), path)
    return path


def test_the_ranks_of_a_run_in_python(folder: Path, tmp_path: Path) -> None:
    run = profiler.open(folder, cache_dir=tmp_path).run()
    assert list(run.ranks.rank) == list(range(8))
    assert [at for at, named in enumerate(run.ranks.named) if named] == [3]
    (late,) = run.stragglers
    assert (late.rank, late.cause, late.operator) == (3, "late_launches", "aten::nonzero")
    assert {row.matched for row in run.collectives} != {0}
    assert run.reduced() is run.reduced()


def test_tables_of_the_ranks_become_data_frames(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    run = profiler.open(folder, cache_dir=tmp_path).run()
    assert len(run.ranks.to_pandas()) == 8
    assert run.stragglers.to_pandas()["rank"].tolist() == [3]
    assert len(run.collectives.to_pandas()) == len(run.collectives)


def test_summary_of_a_run_has_its_ranks(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["summary", str(folder), "--json", "--cache-dir", str(tmp_path)])
    ranks = json.loads(capsys.readouterr().out)["ranks"]
    assert (ranks["present"], ranks["expected"]) == (8, 8)
    assert [(each["rank"], each["cause"]) for each in ranks["stragglers"]] == [(3, "late_launches")]
    assert ranks["collectives"]["unmatched"] == 0
    assert len(ranks["clock"]["offset_ns"]) == 8


def test_summary_of_one_worker_has_none(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["summary", str(folder), "--json", "--worker", "rank3", "--cache-dir", str(tmp_path)])
    assert json.loads(capsys.readouterr().out)["ranks"] is None
