"""Where in the trace of a rank a finding can be seen."""

from __future__ import annotations

from torch_tb_profiler.insights.rule import Instance


class RunInstance(Instance, frozen=True, kw_only=True):
    """One place in the trace of a rank.

    worker       whose trace
    duration_ns  of the part that shows the finding
    """

    worker: str
