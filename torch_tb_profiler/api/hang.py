"""Why a distributed job hangs: what `torch-tb-profiler hang` says."""

from __future__ import annotations

import os

from torch_tb_profiler.api.errors import profile_errors
from torch_tb_profiler.hangs.diagnose import HangReport
from torch_tb_profiler.storage import StorageError
from torch_tb_profiler.workspace.reading.hang_reports import hang_report


def hang(directory: str | os.PathLike[str]) -> HangReport:
    """Say which ranks stopped a job, from the flight-recorder dumps in a folder (docs/hang.md). Raises ProfileError."""
    with profile_errors(StorageError):
        return hang_report(os.fspath(directory))
