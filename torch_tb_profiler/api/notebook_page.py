"""The page of a profile: served by this process, or as one file."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.api.errors import ProfileError, profile_errors
from torch_tb_profiler.defaults import MOST_REPORTED
from torch_tb_profiler.discovery import Root, RunFiles, RunListing
from torch_tb_profiler.reason import ErrorWithReason
from torch_tb_profiler.serving import open_for_page
from torch_tb_profiler.serving.servers import LiveServer, report_of
from torch_tb_profiler.workspace.local_workspace import LocalWorkspace


def live_page(workspace: LocalWorkspace, path: str, runs: Sequence[RunFiles]) -> LiveServer:
    """Return a server of these runs. Raises ProfileError."""
    try:
        return LiveServer(open_for_page([Root(path)], workspace.cache_dir, listing=RunListing(tuple(runs), ())))
    except (OSError, ErrorWithReason) as error:
        raise ProfileError(f"the page cannot be served: {error}") from None


def page_in_one_file(workspace: LocalWorkspace, path: str, runs: Sequence[RunFiles]) -> str:
    """Return the page and the answers about one run as one file. Raises ProfileError."""
    if len(runs) != 1:
        raise ProfileError(f"a page in one file is about one run, not {len(runs)}: profile.run(…).show(static=True)")
    run = RunFiles(runs[0].name, tuple(each for each in runs[0].traces if each.kind == "trace")[:MOST_REPORTED])
    with profile_errors():
        opened = open_for_page([Root(path)], workspace.cache_dir, listing=RunListing((run,), ()))
        try:
            return report_of(opened, run.name).decode()
        finally:
            opened.close()
