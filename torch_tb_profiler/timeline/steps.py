"""The steps of a trace, as the Trace view shows them."""

from __future__ import annotations

import msgspec

from torch_tb_profiler.analysis.answer import Answer, Ns, TraceMeta
from torch_tb_profiler.analysis.question import NoParameters, Question, Subject


class TimelineSteps(msgspec.Struct, frozen=True):
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

    def around(self, start: int, end: int) -> list[str]:
        """The names of the steps that a stretch of time (ns) lies in, in order; of a moment the one it is in."""
        return [
            name
            for name, begin, duration in zip(self.names, self.start_ns, self.duration_ns, strict=True)
            if begin < max(end, start + 1) and start < begin + duration
        ]


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


TIMELINE_STEPS = Question(
    name="timeline/steps",
    summary="Steps alone",
    tag="timeline",
    compute=_steps,
    first=(NoParameters(),),
)
