"""Questions: what can be asked, declared once beside the analysis that answers it.

A question is a function whose parameters name what it needs: a trace, two of them, a timeline, all ranks of a run, a
node that other questions need, too, and last the parameters of the request. The server, the worker processes that
precompute answers, the report, the Python API (`trace.answer`) and the OpenAPI document go by these declarations;
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
from torch_tb_profiler.trace import Note, note

#: questions of one bundle have much in common: a worker process answers them together, then forgets what they needed
Bundle = Literal["calls", "memory", "steps", "stacks", "modules"]
BUNDLES: tuple[Bundle, ...] = ("calls", "memory", "steps", "stacks", "modules")


#: what a question is about: a trace, its timeline, two traces, all ranks of a run, their timelines, several traces
About = Literal["trace", "timeline", "pair", "run", "timelines", "traces"]


class NoParameters(msgspec.Struct, frozen=True):
    """A question has no parameters of its own."""


class Refused(ErrorWithReason):
    """A parameter has a value that it cannot have (400). The message is for a person."""


class NotFound(Refused):
    """Nothing has the requested name (404)."""


class JsonShape(msgspec.Struct, frozen=True):
    """In place of the type of an answer whose shape is given from outside: its JSON Schema."""

    schema: Mapping[str, Any]


class Subject(msgspec.Struct, frozen=True):
    """The trace a question is about.

    model              of the steps that were chosen
    run, worker, span  its names
    file_bytes         size of its file
    workers            of its run
    warnings           finds what is wrong with a trace
    steps              those that were chosen, also where the model holds more (`Question.of_steps`); None for all
    """

    ABOUT: ClassVar[About] = "trace"

    model: Model
    run: str
    worker: str
    span: str
    file_bytes: int
    workers: int
    warnings: Callable[[Model], Sequence[Note]]
    steps: StepRange | None = None

    def about(self, view: str | None, *more: Note) -> dict[str, Any]:
        """Return the fields of `TraceMeta`: with the notes that concern a view (None: all of them), then `more`."""
        found = [note for note in self.warnings(self.model) if view is None or view in note.touches]
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

    answers  to the questions for each trace, by the names of `Question.each`; None if it is not asked or has no answer.
             What is declared as `Table[meta]` is a `Page[meta]` here.
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
    def needs(self) -> Sequence[Dependency]:
        return _needs(inspect.signature(self.make, eval_str=True))


class Dependency(NamedTuple):
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
    compute     makes the answer of what its parameters name; the last one is the request's parameters. Raises Refused
    answer      its type, if the annotation of `compute` is not enough: a Struct, `Table[meta]`, or a JsonShape
    parameters  Struct of the request's parameters, if the annotation of `compute` is not enough; names, types, bounds,
                defaults and descriptions come from it
    tag         the chapter of the OpenAPI document
    more        further description in that document
    route       the route, if it is not /api/ and the name
    aliases     other routes of the same question

    Of one trace:
    about       what kind of file it is about
    of_steps    whether the model holds only the chosen steps
    of_run      whether the answer also depends on how many workers the run has
    uncached    whether its answers, such as those about windows, are too many to be kept for long
    precompute  parameters for which it is answered as soon as a trace has been read
    bundle      the questions that are precomputed together with it
    isolated    a part that needs much memory: it is precomputed first and kept, and what it needed is dropped
    report      queries that a report in one file can answer
    ranks       the same question about all ranks of a span, for requests that name no worker

    Of the timelines of a run:
    of_worker   whether it begins at one of them

    Of any number of traces, of one run or of many; steps are found in the same way in all of them:
    each        the questions for each trace, by name of the answer, given the parameters; raises Refused
    kind        of the files
    most        how many ready traces are asked at most
    """

    name: str
    summary: str
    compute: Callable[..., Any]
    answer: Any = None
    parameters: type[msgspec.Struct] = None  # type: ignore[assignment]
    tag: str = ""
    more: str = ""
    route: str = ""
    aliases: Sequence[str] = ()
    about: Literal["trace", "snapshot", "any"] = "trace"
    of_steps: bool = True
    of_run: bool = False
    uncached: bool = False
    precompute: Sequence[Any] | Callable[[Model], Sequence[Any]] = ()
    bundle: Bundle = "calls"
    isolated: CachedOnDisk[Any] | None = None
    report: Sequence[Mapping[str, str]] = ()
    ranks: Question | None = None
    of_worker: bool = False
    each: Callable[[Any], Mapping[str, tuple[Question, msgspec.Struct]]] | None = None
    kind: Literal["trace", "snapshot"] = "trace"
    most: int | None = None
    needs: Sequence[Dependency] = ()
    scope: About = "trace"

    def __post_init__(self) -> None:
        signature = inspect.signature(self.compute, eval_str=True)
        *needs, last = _needs(signature)
        scope = _scope(needs)
        declared = {
            "needs": needs,
            "scope": scope,
            "answer": signature.return_annotation if self.answer is None else self.answer,
            "parameters": self.parameters or last.type,
            "tag": self.tag or _TAGS.get(scope, scope),
        }
        for name, value in declared.items():
            force_setattr(self, name, value)

    @property
    def path(self) -> str:
        return self.route or f"/api/{self.name}"

    def precomputed(self, model: Model) -> Sequence[Any]:
        """Return the parameters for which it is answered as soon as the trace has been read."""
        return self.precompute(model) if callable(self.precompute) else self.precompute

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


def answer_here(question: Question, subject: Subject, params: msgspec.Struct) -> Any:
    """Return the answer to a question about one trace, computed in this process; nothing is kept. Raises Refused."""
    return question.compute(*(_value_here(need, subject) for need in question.needs), params)


def _value_here(need: Dependency, subject: Subject) -> Any:
    if not isinstance(need.of, Node):
        return subject
    value = need.of.make(subject)
    return value if need.of.decode is None else need.of.decode(value)


def _needs(signature: inspect.Signature) -> list[Dependency]:
    """List what the parameters of a function name."""
    return [_need(parameter.annotation) for parameter in signature.parameters.values()]


def _need(annotation: Any) -> Dependency:
    if get_origin(annotation) is Annotated:
        of_type, of = get_args(annotation)
        return Dependency(of_type, of)
    return Dependency(annotation, None)


_SCOPES: tuple[About, ...] = ("trace", "pair", "timeline", "run", "timelines", "traces")


def _scope(needs: Sequence[Dependency]) -> About:
    """Return the widest scope that is needed."""
    if sum(need.type is Subject for need in needs) == 2:
        return "pair"
    return max(_scopes(needs), key=_SCOPES.index)


def _scopes(needs: Sequence[Dependency]) -> Iterator[About]:
    for need in needs:
        of = need.of
        if isinstance(of, Question):
            yield of.scope
        elif isinstance(of, Node) and get_origin(need.type) is not RunSubject:
            yield from _scopes(of.needs)
        for of_type in (need.type, get_origin(need.type), *get_args(need.type)):
            if about := getattr(of_type, "ABOUT", None):
                yield about


Where = Literal["span", "trends", "table", "snapshots"]
#: of files in a sentence
MOST_NAMES = 4


def absent_traces(view: str, where: Where, loading: Sequence[str], failed: Sequence[str]) -> Iterator[Note]:
    """Yield notes about files that are still being read, and about those that could not be read.

    where   they are missing

    where   they are missing
    """
    if loading:
        yield note("traces_loading", "info", len(loading), (view,), values={"files": first_of(loading), "where": where})
    if failed:
        yield note("traces_failed", "error", len(failed), (view,), values={"files": first_of(failed), "where": where})


def first_of(files: Sequence[str]) -> str:
    """Join the first names of files, as a sentence lists them.

    >>> first_of(["a", "b", "c", "d", "e"])
    'a, b, c, d …'
    """
    return ", ".join(files[:MOST_NAMES]) + (" …" if len(files) > MOST_NAMES else "")


def absent_of_span(view: str, subject: RunSubject[Any]) -> list[Note]:
    """List the notes of an answer about the ranks of a run."""
    return list(absent_traces(view, "span", subject.loading, subject.failed))
