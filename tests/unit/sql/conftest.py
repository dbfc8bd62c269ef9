"""Traces that are asked in SQL."""

from __future__ import annotations

from pathlib import Path

import pytest

import torch_tb_profiler
from tests.recorded import ROOT
from tests.tracegen import Config, write_run
from torch_tb_profiler.api import Profile, TraceProfile

pytest.importorskip("duckdb", reason="the extra `sql` is not installed")


@pytest.fixture(scope="session")
def sql_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sql") / "cache"


@pytest.fixture(scope="session")
def four_ranks(sql_cache: Path) -> Profile:
    return torch_tb_profiler.open(ROOT / "samples" / "generated_4gpu_h100", cache_dir=sql_cache)


@pytest.fixture(scope="session")
def rank(four_ranks: Profile) -> TraceProfile:
    return four_ranks.trace(worker="rank0")


@pytest.fixture(scope="session")
def recorded_cnn(sql_cache: Path) -> TraceProfile:
    return torch_tb_profiler.open(ROOT / "samples" / "cnn_workers0", cache_dir=sql_cache).trace()


@pytest.fixture(scope="session")
def generated(sql_cache: Path, tmp_path_factory: pytest.TempPathFactory) -> TraceProfile:
    folder = tmp_path_factory.mktemp("generated")
    write_run(Config(events=8_000, ranks=1, steps=3, seed=5), folder)
    return torch_tb_profiler.open(folder, cache_dir=sql_cache).trace()
