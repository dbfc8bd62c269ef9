"""From a declared question to the route that answers it, and to what worker processes answer ahead."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.analysis.cached import CachedOnDisk
from torch_tb_profiler.analysis.health import troubles
from torch_tb_profiler.analysis.question import (
    AnyQuestion,
    Listed,
    NotFound,
    PairQuestion,
    Part,
    PartQuestion,
    RankPart,
    RunPart,
    RunQuestion,
    RunSubject,
    Subject,
    TraceQuestion,
    TracesQuestion,
)
from torch_tb_profiler.analysis.result import meta_of
from torch_tb_profiler.analysis.table import Page, Table
from torch_tb_profiler.arrays.plain import dumps
from torch_tb_profiler.aside import put_aside, watched
from torch_tb_profiler.model import Model, StepChoice
from torch_tb_profiler.model.step_range import StepRange
from torch_tb_profiler.snapshot.state import is_snapshot
from torch_tb_profiler.tables.query import Query, TableAnswer
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.typed import from_json
from torch_tb_profiler.web.ask import (
    Route,
    TraceRequest,
    ask_two,
    asked_plainly,
    given,
    known_as,
    meant,
    refusals,
    step_choice,
)
from torch_tb_profiler.web.http import Answer, HttpError, Parameters
from torch_tb_profiler.web.kept_parts import KeptParts
from torch_tb_profiler.web.parameters import read_parameters
from torch_tb_profiler.web.table_page import answer_query, is_queried, page_of
from torch_tb_profiler.words.reasons import because
from torch_tb_profiler.workspace import (
    Key,
    OpenRun,
    OpenTrace,
    Packed,
    Status,
    StoredAnswer,
    Tier,
    TraceStatus,
    Workspace,
    answer_name,
    pack,
)
from torch_tb_profiler.workspace.broken import is_broken

log = logging.getLogger(__name__)

AnyTraceQuestion = TraceQuestion[Any, Any]

A = TypeVar("A")
K = TypeVar("K")
W = TypeVar("W")


def route_of(question: AnyQuestion) -> Route:
    """The route of a question."""
    if isinstance(question, TraceQuestion):
        return partial(_answer_of_trace, question)
    if isinstance(question, PartQuestion):
        return partial(_answer_of_part, question)
    if isinstance(question, PairQuestion):
        return partial(_answer_of_pair, question)
    if isinstance(question, RunQuestion):
        return partial(_answer_of_run, question)
    return partial(answer_of_traces, question)


def first_of_trace(
    questions: Sequence[AnyQuestion], trace: OpenTrace, model: Model, bundle: str
) -> list[tuple[str, Callable[[Model], StoredAnswer]]]:
    """What is answered as soon as a trace has been read: the name of each answer, and what computes it."""
    found: dict[str, Callable[[Model], StoredAnswer]] = {}
    for question in questions:
        if isinstance(question, TraceQuestion) and question.bundle == bundle and is_about(question, model):
            for own in question.asked_first(model):
                asked = asked_plainly(question, trace, own)
                if question.alone is not None:
                    found[question.alone.name] = partial(_alone, question.alone)
                make = partial(_computed, question, own, None)
                found[answer_name(trace, asked.known_as)] = partial(asked.stored, make)
        if isinstance(question, PartQuestion) and question.part.bundle == bundle and not is_snapshot(model.trace):
            asked = _asked_part(question.part, trace)
            found[answer_name(trace, asked.known_as)] = partial(asked.stored, partial(_made, question.part))
    return list(found.items())


def _alone(part: CachedOnDisk[Any], model: Model) -> StoredAnswer:
    content = part.content(model)
    model.answers.clear()
    return pack(content)


# one trace ------------------------------------------------------------------------------------------------


_OF_STEPS = ("steps", "step_pattern", "from_step", "to_step")


def _answer_of_trace(question: AnyTraceQuestion, workspace: Workspace, parameters: Parameters) -> Answer:
    if question.ranks is not None and parameters.get("worker") is None:
        if chosen := next((name for name in _OF_STEPS if parameters.get(name) is not None), None):
            raise HttpError(400, f"{chosen} is about the trace of a worker: name one")
        return _answer_of_run(question.ranks, workspace, parameters)
    parameters.need_all("run", "worker")
    own = read_parameters(question.parameters, parameters)
    asked = TraceRequest.of(
        workspace, parameters, known_as(question, own), of_run=question.of_run, of_steps=question.of_steps
    )
    if question.about not in ("any", asked.trace.kind):  # no model need be opened to know
        with refusals():
            raise _about_others(question)
    if question.passing:
        asked = replace(asked, passing=True)
    if not _is_table(question):
        return asked.answer(workspace, partial(_computed, question, own, asked.steps))

    table_of = partial(_table, question, own, asked.steps)
    if is_queried(parameters):
        return Answer(given(asked.cut(workspace, table_of, partial(page_of, parameters))))
    return Answer(asked.packed(workspace, lambda: asked.cut(workspace, table_of, _first_page, _has_more_pages)))


def _first_page(table: TableAnswer) -> Packed:
    return pack(dumps(table.page()))


def _has_more_pages(table: TableAnswer) -> bool:
    return len(table) > table.table.whole


def _computed(
    question: AnyTraceQuestion, own: msgspec.Struct, steps: StepRange | None, model: Model, trace: OpenTrace
) -> Any:
    found = _compute(question, own, steps, model, trace)
    return TableAnswer(found).page() if isinstance(found, Table) else found


def _table(
    question: AnyTraceQuestion, own: msgspec.Struct, steps: StepRange | None, model: Model, trace: OpenTrace
) -> TableAnswer:
    return TableAnswer(_compute(question, own, steps, model, trace))


def _compute(
    question: AnyTraceQuestion, own: msgspec.Struct, steps: StepRange | None, model: Model, trace: OpenTrace
) -> Any:
    if not is_about(question, model):
        raise _about_others(question)
    return question.compute(subject_of(model, trace, steps), own)


def _about_others(question: AnyTraceQuestion) -> NotFound:
    return NotFound(because("no_snapshot" if question.about == "snapshot" else "memory_snapshot"))


def is_about(question: AnyTraceQuestion, model: Model) -> bool:
    """Whether a question is about the kind of file that a model is of."""
    return question.about in ("any", "snapshot" if is_snapshot(model.trace) else "trace")


def subject_of(model: Model, trace: OpenTrace, steps: StepRange | None = None) -> Subject:
    """`steps`: those that the request names."""
    return Subject(model, trace.run, trace.worker, trace.span, trace.size, trace.workers_of_run, troubles, steps)


def _is_table(question: AnyQuestion) -> bool:
    return meta_of(question.answer) is not None


def _sent_as(question: AnyQuestion) -> Any:
    """The type of the JSON."""
    page: Any = Page
    meta = meta_of(question.answer)
    return question.answer if meta is None else page[meta]


def answer_as_type(question: AnyTraceQuestion, workspace: Workspace, parameters: Parameters) -> Any:
    """The answer to a question about one trace, as its type, for another answer; it is kept."""
    own = read_parameters(question.parameters, parameters)
    asked = TraceRequest.of(
        workspace, parameters, known_as(question, own), of_run=question.of_run, of_steps=question.of_steps
    )
    compute = partial(_computed, question, own, asked.steps)
    packed = asked.packed(workspace, lambda: asked.compute(workspace, compute))
    return from_json(packed.plain(), _sent_as(question))


# parts ----------------------------------------------------------------------------------------------------


def _answer_of_part(question: PartQuestion[Any, Any, Any], workspace: Workspace, parameters: Parameters) -> Answer:
    parameters.need_all("run", "worker")
    own = read_parameters(question.parameters, parameters)
    known = part_of_trace(question.part, workspace, parameters)
    with refusals():
        found = question.compute(known, own)
    return answer_query(TableAnswer(found), parameters) if _is_table(question) else Answer(dumps(found))


def part_of_trace(part: Part[K], workspace: Workspace, parameters: Parameters) -> K:
    """What is kept of the trace that a request names; made when it is not there yet."""
    found: K = _request_for(part, workspace, parameters).read(workspace, partial(_made, part), part.read)  # type: ignore[type-var]
    return found


def with_timeline(
    part: Part[K], workspace: Workspace, parameters: Parameters, question: Callable[[Timeline, K], A]
) -> A:
    """The answer of a function of the timeline of the trace that a request names and of what is kept of it."""
    asked = _request_for(part, workspace, parameters)
    return asked.with_timeline(workspace, partial(_made, part), part.read, question)  # type: ignore[type-var]


def _request_for(part: Part[Any], workspace: Workspace, parameters: Parameters) -> TraceRequest:
    return replace(TraceRequest.of(workspace, parameters, part.name), once=part.once)


def _asked_part(part: Part[Any], trace: OpenTrace) -> TraceRequest:
    return TraceRequest.plainly(trace, part.name, of_run=False, of_steps=True)


def _made(part: Part[Any], model: Model, trace: OpenTrace) -> bytes:
    return part.make(subject_of(model, trace))


# two traces -----------------------------------------------------------------------------------------------


def _answer_of_pair(question: PairQuestion[Any, Any], workspace: Workspace, parameters: Parameters) -> Answer:
    parameters.need_all("run", "worker", "exp_run", "exp_worker")
    own = read_parameters(question.parameters, parameters)

    return ask_two(workspace, parameters, known_as(question, own), partial(_computed_of_two, question, own))


def _computed_of_two(
    question: PairQuestion[Any, Any],
    own: msgspec.Struct,
    left: tuple[Model, OpenTrace],
    right: tuple[Model, OpenTrace],
) -> Any:
    return question.compute(subject_of(*left), subject_of(*right), own)


# many traces ----------------------------------------------------------------------------------------------


def _answer_of_run(question: RunQuestion[Any, Any, Any], workspace: Workspace, parameters: Parameters) -> Answer:
    opened = workspace.find_span(parameters.need("run"), parameters.get("span"))
    skipped = tuple((each.file, str(each.reason)) for each in workspace.run(opened.run).skipped)
    own = read_parameters(question.parameters, parameters)

    def subject(of_kept: bool = True) -> RunSubject[Any]:
        part = question.part if of_kept else replace(question.part, decode=None)
        parts: Sequence[Any] = KeptParts(part, workspace, opened.traces, partial(part_of, part, workspace))
        if part.decode is None:
            parts = list(parts)
        failed = [other for other in opened.others if other.state == "failed"]
        loading = [other.file for other in opened.others if other.state != "failed"]
        files, reasons = [other.file for other in failed], [str(other.reason) for other in failed]
        return RunSubject(opened.run, opened.span, parts, loading, files, reasons, skipped)

    def compute(of_kept: bool) -> bytes:
        whole = question.whole
        if whole is None:
            return dumps(question.compute(subject(of_kept), own))
        key = Key.of_run(opened, ("part", whole.name, of_kept))
        made = workspace.remember(key, lambda: _whole(whole, workspace, opened, partial(subject, of_kept), of_kept))
        return dumps(question.compute(made, own))

    def answer() -> Packed:
        with refusals(), watched():
            try:
                return pack(compute(of_kept=True))
            except Exception as error:
                if not is_broken(error):
                    raise
                # what is kept of the ranks may have been made elsewhere: it is made anew
                log.warning("%s: what is kept of its ranks cannot be used", opened.run, exc_info=error)
                return pack(compute(of_kept=False))

    # there are too many parameters to keep each answer for long; what `_whole` keeps is not kept twice
    is_kept = question.whole is not None and question.whole.encode is not None
    tier: Tier = "memory" if own.__struct_fields__ or is_kept else "disk"
    return Answer(workspace.remember_of_run(opened, (known_as(question, own), skipped), answer, tier))


def _whole(
    whole: RunPart[Any, W],
    workspace: Workspace,
    opened: OpenRun,
    subject: Callable[[], RunSubject[Any]],
    of_kept: bool,
) -> W:
    """What the ranks say together, of the file that somebody has made of the same ones, or made now."""
    name = workspace.result_name(opened) if whole.encode and whole.decode else None
    if name is None or whole.encode is None or whole.decode is None:
        return whole.make(subject())
    content = workspace.result(name) if of_kept else None
    known = whole.decode(content) if content else None
    if known is not None:
        return known
    made = whole.make(subject())
    workspace.keep_result(name, whole.encode(made))
    return made


def part_of(part: RankPart[K], workspace: Workspace, trace: OpenTrace) -> K:
    """What is kept of a trace for questions about its run. Its model is not kept: a run may have many."""

    def make() -> Any:
        return put_aside(workspace.ask_once(trace, partial(_made_of_rank, part, trace)))

    found: K = workspace.remember(Key((trace,), ("part", part.name)), make)
    return found


def _made_of_rank(part: RankPart[K], trace: OpenTrace, model: Model) -> K:
    return part.make(subject_of(model, trace))


def answer_of_traces(
    question: TracesQuestion[Any, Any], workspace: Workspace, parameters: Parameters, status: Status | None = None
) -> Answer:
    """`status`: what there is; None for all that the workspace has."""
    own = read_parameters(question.parameters, parameters)
    choice = step_choice(parameters)
    with refusals():
        each = question.each(own)
    if own.of == "run":
        parameters.need("run")
    listed: list[Listed] = []
    ready, refused = 0, None
    for run, trace in meant(status or workspace.status(), own, question.kind):
        answers = None
        if trace.state == "ready":
            ready += 1
            if question.most is None or ready <= question.most:
                try:
                    answers = {
                        name: _typed(workspace, of, asked, run, trace, choice) for name, (of, asked) in each.items()
                    }
                except HttpError as error:  # one trace has nothing of this: the others are asked
                    if error.status != 404:
                        raise
                    refused = refused or error
        listed.append(Listed(run, trace.worker, trace.span, trace.file, trace.state, answers))
    if refused is not None and not any(each.answers for each in listed):
        raise refused
    with refusals():
        found = question.compute(listed, own)
    return answer_query(TableAnswer(found), parameters) if _is_table(question) else Answer(dumps(found))


def _typed(
    workspace: Workspace,
    question: AnyTraceQuestion,
    own: msgspec.Struct,
    run: str,
    trace: TraceStatus,
    choice: StepChoice,
) -> Any:
    """The answer of another question about one of the traces, as its type; it is kept. Of a table all rows."""
    opened = workspace.find(run, trace.worker, trace.span)
    asked = asked_plainly(question, opened, own, choice)
    compute = partial(_computed, question, own, None)
    kept = asked.packed(workspace, lambda: asked.compute(workspace, compute))
    found = from_json(kept.plain(), _sent_as(question))
    if isinstance(found, Page) and found.meta.total > len(next(iter(found.rows.values()))):
        return given(
            asked.cut(
                workspace, partial(_table, question, own, None), partial(TableAnswer.page, query=Query(limit="all"))
            )
        )
    return found
