"""The page of a profile: served by this process, or as one file."""

from __future__ import annotations

import time
from collections.abc import Sequence

from torch_tb_profiler.api.errors import ProfileError
from torch_tb_profiler.api.notebook.live import LiveServer
from torch_tb_profiler.defaults import MOST_REPORTED
from torch_tb_profiler.discovery import Found, Root, Run
from torch_tb_profiler.storage import StorageError
from torch_tb_profiler.web.ahead import QUESTIONS
from torch_tb_profiler.web.http import HttpError
from torch_tb_profiler.web.report import report
from torch_tb_profiler.workspace import Unavailable, Workspace, open_workspace
from torch_tb_profiler.workspace.local_workspace import LocalWorkspace

_LOOK_SECONDS = 0.05


def live_page(workspace: LocalWorkspace, path: str, runs: Sequence[Run]) -> LiveServer:
    """A server of these runs. Raises ProfileError."""
    try:
        opened = open_workspace([Root(path)], workspace.cache_dir, questions=QUESTIONS, found=Found(tuple(runs), ()))
        return LiveServer(opened)
    except (OSError, StorageError) as error:
        raise ProfileError(f"the page cannot be served: {error}") from None


def page_in_one_file(workspace: LocalWorkspace, path: str, runs: Sequence[Run]) -> str:
    """The page and the answers about one run as one file."""
    if len(runs) != 1:
        raise ProfileError(f"a page in one file is about one run, not {len(runs)}: profile.run(…).show(static=True)")
    run = Run(runs[0].name, tuple(each for each in runs[0].traces if each.kind == "trace")[:MOST_REPORTED])
    try:
        opened = open_workspace([Root(path)], workspace.cache_dir, questions=QUESTIONS, found=Found((run,), ()))
    except StorageError as error:
        raise ProfileError(str(error)) from None
    try:
        return _report(opened, run.name).decode()
    except (HttpError, Unavailable) as error:
        raise ProfileError(str(error)) from None
    finally:
        opened.close()


def _report(opened: Workspace, run: str) -> bytes:
    while opened.status().loading:
        time.sleep(_LOOK_SECONDS)
    traces = opened.run(run).traces
    ready = [(trace.worker, trace.span) for trace in traces if trace.state == "ready"]
    if not ready:
        raise ProfileError(f"{traces[0].file} {traces[0].reason}")
    return report(opened, run, ready)
