"""Questions about timelines, declared as those of `analysis.question` are; `torch_tb_profiler.questions` lists them.

The type of an answer is `bytes` where it is sent in a binary layout (docs/timeline-protocol.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, BinaryIO, Generic, Protocol, TypeVar

import msgspec

from torch_tb_profiler.analysis.question import Part, Question, RankPart
from torch_tb_profiler.timeline.steps import TimelineStepsAnswer
from torch_tb_profiler.timeline.summary import Summary
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.trace import Limits

P = TypeVar("P", bound=msgspec.Struct)
A = TypeVar("A")
K = TypeVar("K")


class TimelineQuestion(Question[P, A], frozen=True, kw_only=True):
    """A question about the timeline of one trace.

    compute  the answer; raises Refused
    """

    compute: Callable[[Timeline, P], A]
    tag: str = "timeline"


class TimelineStepsQuestion(Question[P, A], frozen=True, kw_only=True):
    """A question about the timeline of one trace whose answer depends on its steps, too.

    compute  the answer, of the timeline, its version and the steps that the request means; raises Refused
    """

    compute: Callable[[Timeline, str, TimelineStepsAnswer, P], A]
    tag: str = "timeline"


class TimelinePartQuestion(Question[P, A], Generic[P, A, K], frozen=True, kw_only=True):
    """A question about the timeline of one trace that also needs what is computed of its model and kept.

    part     what is kept, given the parameters
    compute  the answer, of the timeline and that part; raises Refused
    """

    part: Callable[[P], Part[K]]
    compute: Callable[[Timeline, K, P], A]
    tag: str = "timeline"


class TimelineFileQuestion(Question[P, A], Generic[P, A, K], frozen=True, kw_only=True):
    """A question about the timeline of one trace that needs the file of the trace.

    find     what is needed of the timeline, before the file is opened; raises Refused, and as `compute`
    compute  the answer, of that, the file and what it may unpack to; raises TraceError: the file is damaged or
             another one
    """

    find: Callable[[Timeline, P], K]
    compute: Callable[[K, BinaryIO, Limits, P], A]
    tag: str = "timeline"


class RankTimeline(Protocol):
    """One of the traces of a run that can be asked."""

    @property
    def worker(self) -> str: ...

    @property
    def rank(self) -> int | None:
        """Of its process; None if neither the trace nor its name says."""

    @property
    def host_name(self) -> str: ...

    @property
    def version(self) -> str:
        """Of its timeline."""

    def summary(self) -> Summary:
        """What is kept of it for the overview of its run."""

    def ask(self, question: Callable[[Timeline], A]) -> A:
        """The answer of a function of its timeline."""

    def part(self, part: RankPart[K]) -> K:
        """What is kept of it for questions about all ranks."""


class AbsentTrace(msgspec.Struct, frozen=True):
    """A trace of the run that cannot be asked.

    worker  name of the process that was recorded
    state   as in `/api/status`
    reason  why it failed, null while it is being read
    """

    worker: str
    state: str
    reason: str | None


class RunTimelines(msgspec.Struct, frozen=True):
    """The traces of a span of a run.

    worker    the trace that the request names, in questions that begin at one
    ranks     those that can be asked, by worker
    remember  what is known of the span under a name, otherwise made and kept in memory for the next question; it says
              its `size` in bytes
    """

    run: str
    span: str
    worker: str
    ranks: Sequence[RankTimeline]
    absent: Sequence[AbsentTrace]
    remember: Callable[[str, Callable[[], Any]], Any]


class RunTimelinesQuestion(Question[P, A], frozen=True, kw_only=True):
    """A question about the timelines of all ranks of a run.

    of_worker  whether it begins at one of them
    compute    the answer; raises Refused
    """

    of_worker: bool = False
    compute: Callable[[RunTimelines, P], A]
    tag: str = "timeline"


AnyTimelineQuestion = (
    TimelineQuestion[Any, Any]
    | TimelineStepsQuestion[Any, Any]
    | TimelinePartQuestion[Any, Any, Any]
    | TimelineFileQuestion[Any, Any, Any]
    | RunTimelinesQuestion[Any, Any]
)
