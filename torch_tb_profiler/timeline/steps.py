"""The steps of a trace, as the Trace view shows them."""

from __future__ import annotations

from dataclasses import dataclass

from torch_tb_profiler.analysis.answer import Answer, Ns, TraceMeta
from torch_tb_profiler.analysis.question import NoParameters, Subject, TraceQuestion


@dataclass(frozen=True)
class TimelineSteps:
    """The steps, in order, as parallel lists.

    rule         by which they were found
    names        of the steps
    start_ns     where each begins
    duration_ns  how long each lasts
    """

    rule: str
    names: list[str]
    start_ns: list[Ns]
    duration_ns: list[Ns]

    def at(self, time: int) -> str | None:
        """The name of the first step that a time (ns) lies in."""
        for name, start, duration in zip(self.names, self.start_ns, self.duration_ns, strict=True):
            if start <= time < start + duration:
                return name
        return None


class TimelineStepsAnswer(Answer, frozen=True, kw_only=True):
    """The steps of a trace.

    meta   which trace
    steps  where they are
    """

    meta: TraceMeta
    steps: TimelineSteps


def _steps(subject: Subject, _: NoParameters) -> TimelineStepsAnswer:
    steps = subject.model.steps
    return TimelineStepsAnswer(
        meta=TraceMeta(**subject.about("trace")),
        steps=TimelineSteps(steps.rule, list(steps.names), steps.start.tolist(), (steps.end - steps.start).tolist()),
    )


TIMELINE_STEPS = TraceQuestion(
    name="timeline/steps",
    summary="Steps alone",
    answer=TimelineStepsAnswer,
    tag="timeline",
    compute=_steps,
    first=(NoParameters(),),
)
