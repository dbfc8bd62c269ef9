"""Questions: what can be asked, declared once beside the analysis that answers it.

A question is a function whose parameters name what it needs: a trace, two of them, a timeline, all ranks of a run, a
node that other questions need, too, and last what was asked. The server, the worker processes that answer ahead, the
report, the Python API (`trace.answer`) and the OpenAPI document go by these declarations;
`torch_tb_profiler.questions` lists them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Generic, Literal, NamedTuple, TypeVar, get_args, get_origin

import msgspec
from msgspec import Meta
from msgspec.structs import force_setattr

from torch_tb_profiler.analysis.cached import CachedOnDisk
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.selection import StepRange
from torch_tb_profiler.reason import ErrorWithReason
from torch_tb_profiler.trace import Note

#: questions of one bundle have much in common: a worker process answers them together, then forgets what they needed
Bundle = Literal["calls", "memory", "steps", "stacks", "modules"]
BUNDLES: tuple[Bundle, ...] = ("calls", "memory", "steps", "stacks", "modules")


#: what a question is about: a trace, its timeline, two traces, all ranks of a run, their timelines, several traces
About = Literal["trace", "timeline", "pair", "run", "timelines", "traces"]


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
    steps              those that were chosen, also where the model holds more (`Question.of_steps`); None for all
    """

    ABOUT: ClassVar[About] = "trace"

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


K = TypeVar("K")


class RunSubject(msgspec.Struct, Generic[K], frozen=True):
    """All traces of a span of a run; a parameter `Annotated[RunSubject[K], NODE]` names the node of each.

    parts    the node of each trace that can be asked, by worker
    loading  files of the span that are still being read
    failed   files of the span that could not be read
    reasons  why, of each failed one
    skipped  other files of the run, which are no traces, and why
    """

    ABOUT: ClassVar[About] = "run"

    run: str
    span: str
    parts: Sequence[K]
    loading: Sequence[str]
    failed: Sequence[str]
    reasons: Sequence[str] = ()
    skipped: Sequence[tuple[str, str]] = ()


State = Literal["queued", "loading", "ready", "failed"]


class Scope(msgspec.Struct, frozen=True):
    """Which traces a question about several is about. The parameters of such a question begin with these."""

    of: Annotated[Literal["runs", "run", "all"], Meta(description="One trace of each run, those of a run, or all.")] = (
        "runs"
    )
    run: Annotated[str | None, Meta(description="Which run; required with of=run.")] = None
    worker: Annotated[str | None, Meta(description="With of=runs: whose trace of each run, where there is one.")] = None


class Listed(msgspec.Struct, frozen=True):
    """One of several traces that a question is about.

    answers  to what is asked of each trace, by the names of `Question.each`; None if it is not asked, or has nothing of
             this. What is declared as `Table[meta]` is a `Page[meta]` here.
    """

    ABOUT: ClassVar[About] = "traces"

    run: str
    worker: str
    span: str
    file: str
    state: State
    answers: Mapping[str, Any] | None = None


#: where a node is kept: not; in memory; in memory and with the answers about its trace; of each rank, in the file that
#: worker processes write; of all ranks of a run, in a file once all were read or failed
Keep = Literal["not", "memory", "answers", "rank", "run"]


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A value that several questions need: `Annotated[TYPE, NODE]` is the type of their parameter.

    make            makes it; names what it needs, as `Question.compute` does. It has `size`, bytes in memory. What is
                    kept with the answers is made as bytes
    encode, decode  to and from what is in the file, where it is not the same. `decode` gives None of what is damaged;
                    of a rank it takes the name of its worker, too
    bundle          of a trace: with which questions it is answered ahead
    once            whether it takes much memory that nothing else needs: a closed trace is opened for it alone
    """

    name: str
    make: Callable[..., Any]
    keep: Keep
    encode: Callable[[Any], bytes] | None = None
    decode: Callable[..., Any] | None = None
    bundle: Bundle = "calls"
    once: bool = False

    @property
    def needs(self) -> Sequence[Need]:
        return _needs(inspect.signature(self.make, eval_str=True))


class Need(NamedTuple):
    """What a parameter names.

    type  of the value
    of    the node or question that gives it, or what chooses a node by the parameters; None for what the scope opens
    """

    type: Any
    of: Node | Question | Callable[[Any], Node] | None


class Question(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What can be asked.

    name        of the route below /api/, and of `trace.answer(name)`
    summary     one line, as the OpenAPI document has it
    compute     the answer, of what its parameters name; the last one is what was asked. Raises Refused
    answer      type of the answer, where `compute` does not say it: a Struct, `Table[its meta]`, or a JsonShape
    parameters  Struct of what can be asked, where `compute` does not say it; names, types, bounds, defaults and
                descriptions come from it
    tag         the chapter of the OpenAPI document
    more        what else the document says of it
    route       where it is not /api/ and the name
    also        other routes of the same question

    Of one trace:
    about       what kind of file it is about
    of_steps    whether the model holds only what belongs to the steps that are chosen
    of_run      whether the answer also depends on how many workers the run has
    passing     whether there are too many answers, as of windows, to keep each for long
    first       parameters with which it is answered as soon as a trace has been read
    bundle      with which other questions
    alone       a part that needs much memory: where the question is answered ahead, this is computed first, and kept,
                and what it needed forgotten
    report      queries of the page about a trace that a report in one file has answers to
    ranks       the same question about all ranks of a span, which is asked where no worker is named

    Of the timelines of a run:
    of_worker   whether it begins at one of them

    Of any number of traces, of one run or of many; steps are found in the same way in all of them:
    each        what is asked of each trace, by name of the answer, given the parameters; raises Refused
    kind        which files
    most        of how many traces that are ready; the others are not asked
    """

    name: str
    summary: str
    compute: Callable[..., Any]
    answer: Any = None
    parameters: type[msgspec.Struct] = None  # type: ignore[assignment]
    tag: str = ""
    more: str = ""
    route: str = ""
    also: Sequence[str] = ()
    about: Literal["trace", "snapshot", "any"] = "trace"
    of_steps: bool = True
    of_run: bool = False
    passing: bool = False
    first: Sequence[Any] | Callable[[Model], Sequence[Any]] = ()
    bundle: Bundle = "calls"
    alone: CachedOnDisk[Any] | None = None
    report: Sequence[Mapping[str, str]] = ()
    ranks: Question | None = None
    of_worker: bool = False
    each: Callable[[Any], Mapping[str, tuple[Question, msgspec.Struct]]] | None = None
    kind: Literal["trace", "snapshot"] = "trace"
    most: int | None = None
    needs: Sequence[Need] = ()
    scope: About = "trace"

    def __post_init__(self) -> None:
        signature = inspect.signature(self.compute, eval_str=True)
        *needs, asked = _needs(signature)
        scope = _scope(needs)
        declared = {
            "needs": needs,
            "scope": scope,
            "answer": signature.return_annotation if self.answer is None else self.answer,
            "parameters": self.parameters or asked.type,
            "tag": self.tag or _TAGS.get(scope, scope),
        }
        for name, value in declared.items():
            force_setattr(self, name, value)

    @property
    def path(self) -> str:
        return self.route or f"/api/{self.name}"

    def asked_first(self, model: Model) -> Sequence[Any]:
        return self.first(model) if callable(self.first) else self.first

    @property
    def node(self) -> Any:
        """What gives the value that it needs beside what the scope opens; None if there is none."""
        return next((need.of for need in self.needs if need.of is not None), None)

    @property
    def depends_on_steps(self) -> bool:
        """Of a timeline: whether the answer depends on the steps that a request names."""
        return self.node is not None and not (isinstance(self.node, Node) and self.node.keep == "not")


#: chapters of the OpenAPI document, where they are not called as what they are about
_TAGS = dict.fromkeys(("pair", "run", "traces"), "several traces") | {"timelines": "timeline"}


def answer_here(question: Question, subject: Subject, asked: msgspec.Struct) -> Any:
    """Return the answer to a question about one trace, computed in this process; nothing is kept. Raises Refused."""
    return question.compute(*(_value_here(need, subject) for need in question.needs), asked)


def _value_here(need: Need, subject: Subject) -> Any:
    if not isinstance(need.of, Node):
        return subject
    value = need.of.make(subject)
    return value if need.of.decode is None else need.of.decode(value)


def _needs(signature: inspect.Signature) -> list[Need]:
    """What the parameters of a function name."""
    return [_need(parameter.annotation) for parameter in signature.parameters.values()]


def _need(annotation: Any) -> Need:
    if get_origin(annotation) is Annotated:
        of_type, of = get_args(annotation)
        return Need(of_type, of)
    return Need(annotation, None)


_SCOPES: tuple[About, ...] = ("trace", "pair", "timeline", "run", "timelines", "traces")


def _scope(needs: Sequence[Need]) -> About:
    """The widest of what is needed."""
    if sum(need.type is Subject for need in needs) == 2:
        return "pair"
    return max(_scopes(needs), key=_SCOPES.index)


def _scopes(needs: Sequence[Need]) -> Iterator[About]:
    for need in needs:
        of = need.of
        if isinstance(of, Question):
            yield of.scope
        elif isinstance(of, Node) and get_origin(need.type) is not RunSubject:
            yield from _scopes(of.needs)
        for of_type in (need.type, get_origin(need.type), *get_args(need.type)):
            if about := getattr(of_type, "ABOUT", None):
                yield about
