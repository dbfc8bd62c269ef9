"""Trace files of the repository, and recorded ones that lie beside it."""

from __future__ import annotations

from pathlib import Path

from torch_tb_profiler.discovery.names import is_candidate, parse_name
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import read_trace
from torch_tb_profiler.workspace.heads import examine_stream

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "data" / "traces"


def traces(folder: Path) -> list[Path]:
    """Every file below a folder that discovery takes for a trace; other data may lie beside them."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and _is_trace(path))


def short(path: Path) -> str:
    return "/".join(path.parts[-3:])


def model_of(path: Path) -> Model:
    with path.open("rb") as stream:
        return Model(read_trace(stream))


def _is_trace(path: Path) -> bool:
    if parse_name(path.name) is not None:
        return True
    if not is_candidate(path.name):
        return False
    with path.open("rb") as stream:
        return examine_stream(stream).reason is None
