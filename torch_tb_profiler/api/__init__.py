"""Profiles for Python programs and notebooks (docs/python.md): `torch_tb_profiler.open(path)`.

Belongs here: finding a trace by its names and handing its questions on. Does not belong here: any number; all are
computed where the routes have them computed (`analysis`, `ranks`, `insights`).
"""

from __future__ import annotations

from torch_tb_profiler.api.errors import ProfileError
from torch_tb_profiler.api.profile import Profile, Run, open  # noqa: A004
from torch_tb_profiler.api.recordings import check, hang, prove, trends
from torch_tb_profiler.api.results import Compared, Rows
from torch_tb_profiler.api.snapshot import SnapshotProfile
from torch_tb_profiler.api.trace import TraceProfile

__all__ = [
    "Compared",
    "Profile",
    "ProfileError",
    "Rows",
    "Run",
    "SnapshotProfile",
    "TraceProfile",
    "check",
    "hang",
    "open",
    "prove",
    "trends",
]
