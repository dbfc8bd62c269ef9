"""Trace files of the repository, and recorded ones that lie beside it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from torch_tb_profiler.discovery.names import is_candidate, may_be_snapshot, parse_name
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import read_trace
from torch_tb_profiler.workspace.listing.sniff import examine_stream

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "data" / "traces"
SHARED_SNAPSHOTS = SHARED.with_name("snapshots")
#: a run of many small traces that are all alike
MANY_RANKS = "generated_64gpu"
#: bytes of a file: 21 of the 105 recorded traces are larger
LARGE = 750_000


def recorded(folder: str = "") -> Path:
    """A folder of recorded traces; the test that asks is skipped where they are not."""
    path = SHARED / folder
    if not path.is_dir():
        pytest.skip(f"recorded traces are not here: ../{path.relative_to(ROOT.parent)} does not exist")
    return path


def traces(folder: Path) -> list[Path]:
    """Every file below a folder that discovery takes for a trace; other data may lie beside them."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and _is_trace(path))


def as_parameters(paths: Iterable[Path]) -> list[Any]:
    """Return the parameters of a test that is made for every trace: of the large ones it is a long test."""
    return [pytest.param(path, marks=pytest.mark.long) if path.stat().st_size > LARGE else path for path in paths]


def sample_traces() -> list[Path]:
    """Every trace of the samples, and of the run of many ranks one."""
    found = traces(ROOT / "samples")
    return [path for path in found if path.parent.name != MANY_RANKS or path.name.startswith("rank37.")]


def short(path: Path) -> str:
    return "/".join(path.parts[-3:])


def model_of(path: Path) -> Model:
    with path.open("rb") as stream:
        return Model(read_trace(stream))


@lru_cache(maxsize=1)
def shared_model_of(path: Path) -> Model:
    """The model that tests of one trace share, which run one after the other (`spread`): none of them changes it."""
    return model_of(path)


def _is_trace(path: Path) -> bool:
    if may_be_snapshot(path.name):
        return False
    if parse_name(path.name) is not None:
        return True
    if not is_candidate(path.name):
        return False
    with path.open("rb") as stream:
        return examine_stream(stream).reason is None
