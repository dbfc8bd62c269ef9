"""Where in the trace of a rank a finding can be seen."""

from __future__ import annotations

from dataclasses import dataclass

from torch_tb_profiler.insights.rule import Instance


@dataclass(frozen=True, kw_only=True)
class RunInstance(Instance):
    """One place in the trace of a rank.

    worker       whose trace
    duration_ns  of the part that shows the finding
    """

    worker: str
