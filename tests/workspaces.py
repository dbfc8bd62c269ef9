"""What tests of workspaces ask of them."""

from __future__ import annotations

from collections.abc import Callable

from tests.tiny import wait_until
from torch_tb_profiler.model import Model
from torch_tb_profiler.workspace import (
    Key,
    TraceStatus,
    Workspace,
    pack,
)
from torch_tb_profiler.workspace.answering.answerer import ModelOf

Opener = Callable[..., Workspace]


def traces(workspace: Workspace) -> dict[str, TraceStatus]:
    """By run/file."""
    return {f"{run.name}/{t.file}": t for run in workspace.status().runs for t in run.traces}


def states(workspace: Workspace) -> dict[str, str]:
    return {name: trace.state for name, trace in traces(workspace).items()}


def settled(workspace: Workspace) -> dict[str, str]:
    wait_until(lambda: not workspace.status().loading, "everything is read")
    return states(workspace)


def count_events(model: Model) -> bytes:
    return str(len(model.trace.events)).encode()


def count_of(workspace: Workspace, run: str, worker: str, span: str | None = None) -> int:
    trace = workspace.find(run, worker, span)
    counted = workspace.remember(
        Key((trace,), "count"), lambda: pack(workspace.ask(count_events, ModelOf(trace))), "disk"
    )
    return int(counted.body)
