"""What a question about one trace is about, and what its answer is known as, whichever door it came through."""

from __future__ import annotations

from collections.abc import Hashable

import msgspec

from torch_tb_profiler.analysis.health.notes import troubles
from torch_tb_profiler.analysis.question import Question, Refused, Subject
from torch_tb_profiler.discovery import Run, TraceFile
from torch_tb_profiler.model import Model, StepChoice
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


def known_as(question: Question, asked: msgspec.Struct) -> Hashable:
    """Return what is asked for, with its own parameters."""
    return question.name, *msgspec.structs.astuple(asked)


def answer_key(
    asked: Hashable, trace: OpenTrace, of_run: bool, choice: StepChoice, steps: StepRange | None = None
) -> str:
    """Return what an answer about a trace is known as, the same in every process.

    asked   what is asked for, with parameters
    of_run  whether the answer also depends on how many workers the run has
    """
    workers = trace.workers_of_run if of_run else None
    return repr((asked, choice.rule, choice.pattern, workers, steps and (steps.first, steps.last)))


def plain_answer_key(question: Question, asked: msgspec.Struct, trace: OpenTrace, choice: StepChoice) -> str:
    """Return what the answer to a question about the whole of a trace is known as."""
    return answer_key(known_as(question, asked), trace, question.of_run, choice)
