"""Any number of recordings in their order: what `torch-tb-profiler compare --each` says."""

from __future__ import annotations

import os
from pathlib import Path

from torch_tb_profiler.analysis.change import trends as change_trends
from torch_tb_profiler.analysis.change.trends import Trends
from torch_tb_profiler.api.errors import ProfileError, profile_errors
from torch_tb_profiler.storage import StorageError
from torch_tb_profiler.workspace.local_workspace import LocalWorkspace
from torch_tb_profiler.workspace.recordings import RecordingError, recordings_of


def trends(
    *paths: str | os.PathLike[str],
    baseline: int = 0,
    across_devices: bool = False,
    cache_dir: str | Path | None = None,
) -> Trends:
    """Step time and busy time of any number of recordings, in the order of the paths (docs/compare-two-runs.md).

    Each path is a trace, a run, a log directory, a glob, a saved baseline, or a history. Raises ProfileError.

    baseline        which recording the others are compared with, from 0; below 0 from the end
    across_devices  other devices and numbers of processes forbid no verdict
    """
    with profile_errors((RecordingError, StorageError)):
        found = recordings_of([os.fspath(path) for path in paths], LocalWorkspace(cache_dir)).recordings
    if not -len(found) <= baseline < len(found):
        raise ProfileError(f"there is no recording {baseline}: there are {len(found)}")
    return change_trends.trends(found, change_trends.numbered(found), baseline % len(found), across_devices)
