"""Which run of a path, and which of its traces: what --run, --worker and --span choose."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.cli.errors import UserError
from torch_tb_profiler.cli.nearest import nearest
from torch_tb_profiler.discovery import RunFiles, TraceFile
from torch_tb_profiler.storage import shown
from torch_tb_profiler.workspace.local_workspace import find_traces, without_traces

#: of names in a message
_MOST_NAMES = 20


def chosen_run(path: str, name: str | None) -> RunFiles:
    """The run of this name; it may be left out where there is one. Raises UserError and StorageError."""
    found = find_traces(path)
    runs = [run.name for run in found.runs]
    if not runs:
        raise UserError(without_traces(path, found))
    if name is None and len(runs) > 1:
        raise UserError(f"{shown(path)} has {len(runs)} runs, one must be named with --run: {_listed(runs)}")
    if name is not None and name not in runs:
        raise UserError(f"{shown(path)} has no run {name!r}{nearest(name, runs)}, only {_listed(runs)}")
    return found.runs[0 if name is None else runs.index(name)]


def chosen_traces(run: RunFiles, workers: Sequence[str], span: str | None) -> list[TraceFile]:
    """Those of the workers (of all when none is named) and of the span. Raises UserError: one of them is not there."""
    files = [f for f in run.traces if (not workers or f.worker in workers) and span in (None, f.span)]
    if not files or set(workers) - {f.worker for f in files}:
        named = [file.worker for file in run.traces]
        wrong = next((worker for worker in workers if worker not in named), None)
        near = "" if wrong is None else nearest(wrong, named)
        raise UserError(f"run {run.name!r} has no such worker or span{near}, only {listed_traces(run.traces)}")
    return files


def listed_traces(files: Sequence[TraceFile]) -> str:
    """Names of traces, for a message."""
    return _listed([f"{f.worker} (span {f.span})" for f in files])


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST_NAMES]) + (" …" if len(names) > _MOST_NAMES else "")
