"""The page with the answers about a run as one file, from a workspace that was opened for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from torch_tb_profiler.reason import ErrorWithReason
from torch_tb_profiler.web.http import HttpError
from torch_tb_profiler.web.report import report
from torch_tb_profiler.workspace import Workspace

_LOOK_SECONDS = 0.05


def report_of(
    workspace: Workspace, run: str, baselines: Sequence[str] = (), left_out: Callable[[str], None] = lambda _: None
) -> bytes:
    """Return the file about a run once its traces are read. Raises ErrorWithReason: none of them could be.

    baselines: runs that it is compared with
    left_out: is told of each trace that could not be read, and why
    """
    while workspace.status().loading:
        time.sleep(_LOOK_SECONDS)
    ready = _ready(workspace, run, left_out)
    beside = [(name, *names) for name in baselines for names in _ready(workspace, name, left_out)]
    try:
        return report(workspace, run, ready, beside)
    except HttpError as error:
        raise ErrorWithReason(str(error)) from None


def _ready(workspace: Workspace, run: str, left_out: Callable[[str], None]) -> list[tuple[str, str]]:
    """Return worker and span of each trace that was read."""
    traces = workspace.run(run).traces
    for trace in traces:
        if trace.state == "failed":
            left_out(f"left out: {trace.file} {trace.reason}")
    ready = [(trace.worker, trace.span) for trace in traces if trace.state == "ready"]
    if not ready:
        raise ErrorWithReason(f"{traces[0].file} {traces[0].reason}")
    return ready
