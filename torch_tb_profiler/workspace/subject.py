"""What a question about one trace is about: put together here, whichever door it came through."""

from __future__ import annotations

from torch_tb_profiler.analysis.health import troubles
from torch_tb_profiler.analysis.question import Refused, Subject
from torch_tb_profiler.discovery import Run, TraceFile
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.step_range import StepRange
from torch_tb_profiler.workspace.status import OpenTrace


def subject_of(model: Model, trace: OpenTrace, steps: StepRange | None = None) -> Subject:
    """Return what a question is asked about. steps: those that were chosen, of which the model may be."""
    return Subject(model, trace.run, trace.worker, trace.span, trace.size, trace.workers_of_run, troubles, steps)


def trace_of(run: Run, file: TraceFile) -> OpenTrace:
    """Return the names of a trace that no server has opened; memory snapshots are no workers of its run."""
    workers = len({each.worker for each in run.traces if each.kind == "trace"})
    return OpenTrace(run.name, file.worker, file.span, "", file.entry.size, workers)


def step_range(first: str | None, last: str | None, side: str = "") -> StepRange | None:
    """Return the steps from one to another, both included; None for the whole trace. Raises Refused: one is missing.

    side: what stands before the names of these parameters
    """
    if first is None and last is None:
        return None
    if first is None or last is None:
        raise Refused(f"{side}from_step and {side}to_step must be given together")
    return StepRange(first, last)
