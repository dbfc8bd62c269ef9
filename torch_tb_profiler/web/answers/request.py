"""Read requests: steps, ranges, pages of tables, and a question about one trace with the key of its answer."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO, Literal, TypeVar

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.analysis.question import NotFound, Question, Refused
from torch_tb_profiler.arrays.types import dumps
from torch_tb_profiler.model import Model, StepChoice
from torch_tb_profiler.model.patterns import SlowPattern, check_pattern
from torch_tb_profiler.model.selection import StepRange, UnknownStep
from torch_tb_profiler.model.steps import RULES
from torch_tb_profiler.tables.query.answer import Query, TableAnswer
from torch_tb_profiler.tables.query.grammar import QueryProblem
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.web.http import HttpAnswer, HttpError, Parameters, Stream, why
from torch_tb_profiler.workspace import (
    Body,
    Key,
    OpenTrace,
    Packed,
    RefusedAnswer,
    StoredAnswer,
    Value,
    Workspace,
    pack,
)
from torch_tb_profiler.workspace.answering import answerer
from torch_tb_profiler.workspace.answering.answerer import ModelOf, NotKept, TimelineOf, ValueOf

P = TypeVar("P", bound=Value)
T = TypeVar("T")
Route = Callable[[Workspace, Parameters], HttpAnswer | Stream]
#: makes an answer from the names and the model of a trace; bytes, whole or in chunks, are sent as they are
Compute = Callable[[OpenTrace, Model], Any]


@contextmanager
def refusals() -> Iterator[None]:
    """Raise refusals of a question as HTTP errors."""
    try:
        yield
    except (NotFound, UnknownStep) as error:
        raise HttpError(404, str(error), why(error.reason)) from None
    except SlowPattern as error:
        raise HttpError(400, f"step_pattern {error}", passes=True) from None
    except Refused as error:
        raise HttpError(400, str(error), why(error.reason)) from None


class TraceRequest(msgspec.Struct, frozen=True):
    """A question about the trace that a request names.

    known_as   key of what is asked, with parameters, the same in every process
    of_steps   whether it is computed from the named steps only
    once       whether a trace that is not open is opened for this answer alone
    passing    whether there are too many such answers to keep them on disk
    """

    trace: OpenTrace
    known_as: str
    choice: StepChoice
    steps: StepRange | None
    of_steps: bool = True
    once: bool = False
    passing: bool = False

    @classmethod
    def of(cls, workspace: Workspace, query: Parameters, question: Hashable, of_run: bool = False) -> TraceRequest:
        """Read which trace and steps a request is about.

        question: the question with its parameters; its `repr` is the key of the answer
        of_run: whether the answer also depends on how many workers the run has
        """
        run, worker = query.need("run"), query.need("worker")
        choice, steps = step_choice(query), step_range(query)
        trace = workspace.find(run, worker, query.get("span"))
        return cls(trace, answerer.answer_key(question, trace, of_run, choice, steps), choice, steps)

    @classmethod
    def plainly(
        cls, trace: OpenTrace, question: Question, params: msgspec.Struct, choice: StepChoice | None = None
    ) -> TraceRequest:
        """Return the request for a question with names only. choice: how steps are found, if not by default."""
        choice = choice or StepChoice()
        return cls(trace, answerer.plain_answer_key(question, params, trace, choice), choice, None, question.of_steps)

    def cached_answer(self, workspace: Workspace, make: Callable[[], StoredAnswer]) -> Packed:
        """Return the answer of `make`, computed once. Raises HttpError if it is a refusal."""
        # There are too many ranges of steps to keep their answers on disk, too.
        is_passing = self.passing or self.steps is not None
        return unwrap(workspace.remember(self._key, make, "memory" if is_passing else "disk"))

    def read(self, workspace: Workspace, compute: Compute, read: Callable[[bytes], P]) -> P:
        """Apply `read` to this answer; other answers are made of the result, so the trace need not be open."""
        key = replace(self._key, question=("read", self.known_as))
        make = partial(self.compute, workspace, compute)
        return workspace.remember(key, lambda: read(self.cached_answer(workspace, make).plain()))

    def from_cached_table(
        self,
        workspace: Workspace,
        compute: Callable[[OpenTrace, Model], P],
        use: Callable[[P], T],
        is_worth_keeping: Callable[[P], bool] | None = None,
    ) -> T | RefusedAnswer:
        """Apply `use` to a part that the answers to many requests are cut from.

        The part is computed once and stays where the model is.

        is_worth_keeping: whether more will be cut from it; None: always
        """
        make = partial(compute, self.trace)
        return _attempted(
            workspace.ask, use, ValueOf(self.trace, self.known_as, make, (self._model,), is_worth_keeping)
        )

    def with_timeline(
        self,
        workspace: Workspace,
        compute: Compute,
        read: Callable[[bytes], P],
        question: Callable[[Timeline, P], T],
    ) -> T:
        """Return the answer of a function of the timeline of the trace and of the result of `read` on this answer."""
        drawn = TimelineOf(self.trace)
        try:
            return workspace.ask(question, drawn, ValueOf(self.trace, self.known_as, None))
        except NotKept:
            kept = self.cached_answer(workspace, partial(self.compute, workspace, compute))
            return workspace.ask(question, drawn, ValueOf(self.trace, self.known_as, partial(_read, read, kept)))

    def compute(self, workspace: Workspace, compute: Compute) -> StoredAnswer:
        """Compute the answer now."""
        return _attempted(workspace.ask, partial(_packed, compute, self.trace), self._model)

    @property
    def _model(self) -> ModelOf:
        steps = self.steps if self.of_steps else None
        is_kept = not self.once or steps is not None or self.choice != StepChoice()
        return ModelOf(self.trace, self.choice, steps, is_kept)

    @property
    def _key(self) -> Key:
        return Key((self.trace,), self.known_as)


# These functions are sent to the answering process by name, so they cannot be nested.


def _read(read: Callable[[bytes], P], kept: Packed) -> P:
    return read(kept.plain())


def _packed(compute: Compute, trace: OpenTrace, model: Model) -> Packed:
    return pack(body_of(compute(trace, model)))


def stored(compute: Compute, trace: OpenTrace, model: Model) -> StoredAnswer:
    """Return an answer as it is kept, from the model of the whole trace."""
    return _attempted(_packed, compute, trace, model)


def _attempted(make: Callable[..., T], *arguments: Any) -> T | RefusedAnswer:
    try:
        with refusals():
            return make(*arguments)
    except HttpError as error:
        if error.passes:  # it ran out of time, and may have more the next time
            raise
        return RefusedAnswer(error.status, str(error), error.more)


def unwrap(found: T | RefusedAnswer) -> T:
    """Return an answer; raise a refusal as HttpError."""
    if isinstance(found, RefusedAnswer):
        raise HttpError(found.status, found.message, found.values)
    return found


def body_of(found: Any) -> Body:
    return found if isinstance(found, Iterator | bytes) else dumps(found)


def step_choice(query: Parameters) -> StepChoice:
    """Read how steps are to be found: `steps` names a rule, `step_pattern` gives a regular expression."""
    rule, pattern = query.get("steps"), query.get("step_pattern")
    if rule is not None and rule not in RULES:
        raise HttpError(400, f"steps must be one of {', '.join(RULES)}, not {rule!r}")
    if pattern is not None:
        try:
            check_pattern(pattern)
        except ValueError as error:
            raise HttpError(400, f"step_pattern {error}") from None
    return StepChoice(rule, pattern)


def step_range(query: Parameters, side: str = "") -> StepRange | None:
    """Read `from_step` and `to_step`, names of steps, both included; None for the whole trace.

    side: the prefix of the names of these parameters
    """
    with refusals():
        return answerer.step_range(query.get(f"{side}from_step"), query.get(f"{side}to_step"), side)


def ask_original(
    workspace: Workspace, trace: OpenTrace, question: Hashable, compute: Callable[[BinaryIO], bytes]
) -> bytes:
    """Return the answer to a question about the file of a trace; computed once. Raises as `Workspace.original` does."""

    def make() -> Packed:
        with workspace.original(trace).stream as stream:
            return pack(compute(stream))

    return workspace.remember(Key((trace,), ("original", question)), make).plain()


_ASKED = ("sort", "filter", "search", "offset", "limit")


def is_queried(query: Parameters) -> bool:
    """Return whether a request sorts, filters or pages a table."""
    return any(query.get(name) is not None for name in _ASKED)


def answer_query(table: TableAnswer, query: Parameters) -> HttpAnswer:
    """Apply `sort`, `filter`, `offset` and `limit` to a table. Raises HttpError."""
    return HttpAnswer(page_of(query, table))


def page_of(query: Parameters, table: TableAnswer) -> bytes:
    """Return the JSON that `answer_query` sends. Raises HttpError."""
    page_query = query_of(query)
    try:
        return dumps(table.page(page_query))
    except QueryProblem as problem:
        more = {"kind": problem.kind, "token": problem.token, "name": problem.name}
        raise HttpError(400, str(problem), {"problem": more}) from None


def query_of(query: Parameters) -> Query:
    """Read the parameters that sort, filter and page a table. Raises HttpError."""
    limit: int | Literal["all"] | None
    limit = "all" if query.get("limit") == "all" else query.whole_number("limit", None, 1)
    return Query(
        sort=query.get("sort") or "",
        filter=query.get("filter") or "",
        search=query.get("search"),
        offset=query.whole_number("offset", 0, 0),
        limit=limit,
    )
