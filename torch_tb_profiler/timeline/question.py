"""Questions about timelines, declared as those of `analysis.question` are; `torch_tb_profiler.questions` lists them.

The type of an answer is `bytes` where it is sent in a binary layout (docs/maintainers/timeline-protocol.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NewType, Protocol, TypeVar

import msgspec

from torch_tb_profiler.analysis.question import About, Node
from torch_tb_profiler.timeline.summary import Summary
from torch_tb_profiler.timeline.timeline import Timeline

P = TypeVar("P", bound=msgspec.Struct)
A = TypeVar("A")
K = TypeVar("K")


#: of a timeline: changes when a tile of the same name may hold something else
TimelineVersion = NewType("TimelineVersion", str)


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

    def node(self, node: Node) -> Any:
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

    ABOUT: ClassVar[About] = "timelines"

    run: str
    span: str
    worker: str
    ranks: Sequence[RankTimeline]
    absent: Sequence[AbsentTrace]
    remember: Callable[[str, Callable[[], Any]], Any]
