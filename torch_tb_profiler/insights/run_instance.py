"""Where in the trace of a rank a finding can be seen."""

from __future__ import annotations

from dataclasses import dataclass

from torch_tb_profiler.analysis.answer import Ns, Row


@dataclass(frozen=True)
class RunInstance:
    """One place in the trace of a rank.

    worker       whose trace
    row          number of the event
    name         of the event
    start_ns     since the start of the trace
    duration_ns  of the part that shows the finding
    step         name of the step that it begins in; null outside of the steps
    """

    worker: str
    row: Row
    name: str
    start_ns: Ns
    duration_ns: Ns
    step: str | None
