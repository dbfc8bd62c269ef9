"""Questions: what can be asked, declared once beside the analysis that answers it.

The server, the worker processes that answer ahead, the report, the Python API (`trace.answer`) and the OpenAPI document
all go by these declarations; `torch_tb_profiler.questions` lists them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.cached import CachedOnDisk
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.step_range import StepRange
from torch_tb_profiler.reason import ErrorWithReason
from torch_tb_profiler.trace import Note

#: questions of one bundle have much in common: a worker process answers them together, then forgets what they needed
Bundle = Literal["calls", "memory", "steps", "stacks", "modules"]
BUNDLES: tuple[Bundle, ...] = ("calls", "memory", "steps", "stacks", "modules")


class NoParameters(msgspec.Struct, frozen=True):
    """Of a question that has none of its own."""


class Refused(ErrorWithReason):
    """A parameter has a value that it cannot have (400). The message is for a person."""


class NotFound(Refused):
    """There is nothing of the name that is asked for (404)."""


class JsonShape(msgspec.Struct, frozen=True):
    """In place of the type of an answer whose shape is given from outside: its JSON Schema."""

    schema: Mapping[str, Any]


class Subject(msgspec.Struct, frozen=True):
    """The trace a question is about.

    model              of the steps that were chosen
    run, worker, span  its names
    file_bytes         size of its file
    workers            of its run
    troubles           finds what is wrong with a trace
    steps              those that were chosen, also where the model holds more (`TraceQuestion.of_steps`); None for all
    """

    model: Model
    run: str
    worker: str
    span: str
    file_bytes: int
    workers: int
    troubles: Callable[[Model], Sequence[Note]]
    steps: StepRange | None = None

    def about(self, view: str | None, *more: Note) -> dict[str, Any]:
        """The fields of `TraceMeta`: with the notes that concern a view (None: all of them), then `more`."""
        found = [note for note in self.troubles(self.model) if view is None or view in note.touches]
        has_device = self.model.has_device_work or self.model.has_runtime
        return {
            "run": self.run,
            "worker": self.worker,
            "span": self.span,
            "device_type": "GPU" if has_device else "CPU",
            "notes": [*found, *more],
        }


P = TypeVar("P", bound=msgspec.Struct)
A = TypeVar("A")
K = TypeVar("K")
W = TypeVar("W")


class Question(msgspec.Struct, Generic[P, A], frozen=True, kw_only=True):
    """What can be asked.

    name        of the route below /api/, and of `trace.answer(name)`
    summary     one line, as the OpenAPI document has it
    answer      type of the answer: a Struct, `Table[its meta]`, or a JsonShape
    parameters  Struct of its own parameters; names, types, bounds, defaults and descriptions come from it
    tag         the chapter of the OpenAPI document
    more        what else the document says of it
    route       where it is not /api/ and the name
    also        other routes of the same question
    """

    name: str
    summary: str
    answer: Any
    parameters: type[P] = NoParameters  # type: ignore[assignment]
    tag: str = "trace"
    more: str = ""
    route: str = ""
    also: Sequence[str] = ()

    @property
    def path(self) -> str:
        return self.route or f"/api/{self.name}"


class TraceQuestion(Question[P, A], frozen=True, kw_only=True):
    """A question about one trace.

    compute   the answer; raises Refused
    about     what kind of file it is about
    of_steps  whether the model holds only what belongs to the steps that are chosen
    of_run    whether the answer also depends on how many workers the run has
    passing   whether there are too many answers, as of windows, to keep each for long
    first     parameters with which it is answered as soon as a trace has been read
    bundle    with which other questions
    alone     a part that needs much memory: where the question is answered ahead, this is computed first, and kept, and
              what it needed forgotten
    report    queries of the page about a trace that a report in one file has answers to
    ranks     the same question about all ranks of a span, which is asked where no worker is named
    """

    compute: Callable[[Subject, P], A]
    about: Literal["trace", "snapshot", "any"] = "trace"
    of_steps: bool = True
    of_run: bool = False
    passing: bool = False
    first: Sequence[P] | Callable[[Model], Sequence[P]] = ()
    bundle: Bundle = "calls"
    alone: CachedOnDisk[Any] | None = None
    report: Sequence[Mapping[str, str]] = ()
    ranks: RunQuestion[P, A, Any] | None = None

    def asked_first(self, model: Model) -> Sequence[P]:
        return self.first(model) if callable(self.first) else self.first


class Part(msgspec.Struct, Generic[K], frozen=True, kw_only=True):
    """What the answers to several questions about a trace are cut from, without opening the trace; kept with them.

    make  what is kept
    read  what `make` gave; the result has `size`, bytes
    once  whether it takes much memory that nothing else needs: a trace that is not open is opened for it alone
    """

    name: str
    make: Callable[[Subject], bytes]
    read: Callable[[bytes], K]
    bundle: Bundle = "calls"
    once: bool = False


class PartQuestion(Question[P, A], Generic[P, A, K], frozen=True, kw_only=True):
    """A question about one trace whose answer is cut from a part that is kept."""

    part: Part[K]
    compute: Callable[[K, P], A]


class PairQuestion(Question[P, A], frozen=True, kw_only=True):
    """A question about two traces, which may be the same one with other steps.

    compute  the answer from baseline and experiment; raises Refused
    """

    compute: Callable[[Subject, Subject, P], A]
    tag: str = "several traces"


class RunSubject(msgspec.Struct, Generic[K], frozen=True):
    """All traces of a span of a run.

    parts    of each trace that can be asked, by worker
    loading  files of the span that are still being read
    failed   files of the span that could not be read
    reasons  why, of each failed one
    skipped  other files of the run, which are no traces, and why
    """

    run: str
    span: str
    parts: Sequence[K]
    loading: Sequence[str]
    failed: Sequence[str]
    reasons: Sequence[str] = ()
    skipped: Sequence[tuple[str, str]] = ()


class RankPart(msgspec.Struct, Generic[K], frozen=True):
    """What is kept of each trace for questions about all of them.

    make    gives something with `size`, bytes
    decode  the same of what worker processes keep beside the columns and the name of the worker; None if it is
            damaged. None if they keep nothing
    """

    name: str
    make: Callable[[Subject], K]
    decode: Callable[[bytes, str], K | None] | None = None


class RunPart(msgspec.Struct, Generic[K, W], frozen=True):
    """What the answers to several questions about a run are cut from.

    make            gives something with `size`, bytes
    encode, decode  as it is kept in a file, once all ranks were read or failed; None of what is damaged. None for what
                    is not kept
    """

    name: str
    make: Callable[[RunSubject[K]], W]
    encode: Callable[[W], bytes] | None = None
    decode: Callable[[bytes], W | None] | None = None


class RunQuestion(Question[P, A], Generic[P, A, K], frozen=True, kw_only=True):
    """A question about all ranks of a run.

    part     what is needed of each trace
    whole    what is made of these once for several questions; None for this one alone
    compute  the answer, of the subject, or of what `whole` makes of it; raises Refused
    """

    part: RankPart[K]
    whole: RunPart[K, Any] | None = None
    compute: Callable[[Any, P], A]
    tag: str = "several traces"


State = Literal["queued", "loading", "ready", "failed"]


class Scope(msgspec.Struct, frozen=True):
    """Which traces a question about several is about. The parameters of such a question begin with these."""

    of: Annotated[Literal["runs", "run", "all"], Meta(description="One trace of each run, those of a run, or all.")] = (
        "runs"
    )
    run: Annotated[str | None, Meta(description="Which run; required with of=run.")] = None
    worker: Annotated[str | None, Meta(description="With of=runs: whose trace of each run, where there is one.")] = None


S = TypeVar("S", bound=Scope)


class Listed(msgspec.Struct, frozen=True):
    """One of several traces that a question is about.

    answers  to what is asked of each trace, by the names of `TracesQuestion.each`; None if it is not asked, or has
             nothing of this. What is declared as `Table[meta]` is a `Page[meta]` here.
    """

    run: str
    worker: str
    span: str
    file: str
    state: State
    answers: Mapping[str, Any] | None = None


class TracesQuestion(Question[S, A], Generic[S, A], frozen=True, kw_only=True):
    """A question about any number of traces, of one run or of many. Steps are found in the same way in all of them.

    each     what is asked of each trace, by name of the answer, given the parameters; raises Refused
    kind     which files
    most     of how many traces that are ready; the others are not asked
    compute  the answer from all traces that were meant; raises Refused
    """

    each: Callable[[S], Mapping[str, tuple[TraceQuestion[Any, Any], msgspec.Struct]]]
    kind: Literal["trace", "snapshot"] = "trace"
    most: int | None = None
    compute: Callable[[Sequence[Listed], S], A]
    tag: str = "several traces"


AnyQuestion = (
    TraceQuestion[Any, Any]
    | PartQuestion[Any, Any, Any]
    | PairQuestion[Any, Any]
    | RunQuestion[Any, Any, Any]
    | TracesQuestion[Any, Any]
)
