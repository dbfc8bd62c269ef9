"""Answers to questions about one trace, and the nodes of a trace that they are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.analysis.cached import CachedOnDisk
from torch_tb_profiler.analysis.question import Node, NotFound, Question
from torch_tb_profiler.analysis.result import meta_of
from torch_tb_profiler.analysis.tabular import Page, Table
from torch_tb_profiler.arrays.types import dumps
from torch_tb_profiler.codec import from_json
from torch_tb_profiler.model import Model, StepChoice
from torch_tb_profiler.model.selection import StepRange
from torch_tb_profiler.snapshot.state import is_snapshot
from torch_tb_profiler.tables.query import TableAnswer
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.web.answers.request import (
    TraceRequest,
    answer_query,
    is_queried,
    page_of,
    refusals,
    stored,
    unwrap,
)
from torch_tb_profiler.web.answers.run import answer_of_run
from torch_tb_profiler.web.http import HttpAnswer, HttpError, Parameters, read_parameters
from torch_tb_profiler.words.sentences import because
from torch_tb_profiler.workspace import OpenTrace, Packed, StoredAnswer, Workspace, answer_name, pack
from torch_tb_profiler.workspace.answering.answerer import answer_key, plain_answer_key, question_key, subject_of

A = TypeVar("A")

_OF_STEPS = ("steps", "step_pattern", "from_step", "to_step")


def answer_of_trace(question: Question, workspace: Workspace, query: Parameters) -> HttpAnswer:
    if question.ranks is not None and query.get("worker") is None:
        if chosen := next((name for name in _OF_STEPS if query.get(name) is not None), None):
            raise HttpError(400, f"{chosen} is about the trace of a worker: name one")
        return answer_of_run(question.ranks, workspace, query)
    query.need_all("run", "worker")
    params = read_parameters(question.parameters, query)
    if question.node is not None:
        value = _request_for(question.node, workspace, query).read(
            workspace, partial(_made, question.node), question.node.decode
        )
        with refusals():
            result = question.compute(value, params)
        return answer_query(TableAnswer(result), query) if is_table(question) else HttpAnswer(dumps(result))

    request = _request(question, params, workspace, query)
    if question.about not in ("any", request.trace.kind):  # no model need be opened to know
        with refusals():
            raise _about_others(question)
    if not is_table(question):
        make = partial(request.compute, workspace, partial(computed, question, params, request.steps))
        return HttpAnswer(request.cached_answer(workspace, make))
    table = partial(table_of, question, params, request.steps)
    if is_queried(query):
        return HttpAnswer(unwrap(request.from_cached_table(workspace, table, partial(page_of, query))))
    return HttpAnswer(
        request.cached_answer(
            workspace, partial(request.from_cached_table, workspace, table, _first_page, _has_more_pages)
        )
    )


def answer_as_type(question: Question, workspace: Workspace, query: Parameters) -> Any:
    """Return the answer to a question about the trace that a request names, as its type; it is kept."""
    params = read_parameters(question.parameters, query)
    return kept_answer(question, params, _request(question, params, workspace, query), workspace)


def kept_answer(question: Question, params: msgspec.Struct, request: TraceRequest, workspace: Workspace) -> Any:
    """Return the answer to a request as its type; of a table the first page. It is kept."""
    make = partial(request.compute, workspace, partial(computed, question, params, request.steps))
    return from_json(request.cached_answer(workspace, make).plain(), _sent_as(question))


def node_with_timeline(
    node: Node, workspace: Workspace, query: Parameters, question: Callable[[Timeline, Any], A]
) -> A:
    """Return the answer of a function of the timeline of the trace that a request names and of a node."""
    assert node.decode is not None
    request = _request_for(node, workspace, query)
    return request.with_timeline(workspace, partial(_made, node), node.decode, question)


def first_of_trace(
    questions: Sequence[Question], trace: OpenTrace, model: Model, bundle: str
) -> list[tuple[str, Callable[[Model], StoredAnswer]]]:
    """Return what is answered as soon as a trace has been read: the name of each answer, and what computes it."""
    answers: dict[str, Callable[[Model], StoredAnswer]] = {}
    for question in (question for question in questions if question.scope == "trace"):
        node = question.node
        if node is not None and node.bundle == bundle and not is_snapshot(model.trace):
            key = answer_key(node.name, trace, of_run=False, choice=StepChoice())
            answers[answer_name(trace, key)] = partial(stored, partial(_made, node), trace)
        if node is None and question.bundle == bundle and is_about(question, model):
            for params in question.precomputed(model):
                key = plain_answer_key(question, params, trace, StepChoice())
                if question.isolated is not None:
                    answers[question.isolated.name] = partial(_alone, question.isolated)
                make = partial(computed, question, params, None)
                answers[answer_name(trace, key)] = partial(stored, make, trace)
    return list(answers.items())


def computed(
    question: Question, params: msgspec.Struct, steps: StepRange | None, trace: OpenTrace, model: Model
) -> Any:
    """Return the answer as it is sent, of a table the first page. Raises Refused."""
    result = _compute(question, params, steps, trace, model)
    return TableAnswer(result).page() if isinstance(result, Table) else result


def table_of(
    question: Question, params: msgspec.Struct, steps: StepRange | None, trace: OpenTrace, model: Model
) -> TableAnswer:
    """Return a whole answer that is a table. Raises Refused."""
    return TableAnswer(_compute(question, params, steps, trace, model))


def is_about(question: Question, model: Model) -> bool:
    """Return whether a question is about the kind of file that a model is of."""
    return question.about in ("any", "snapshot" if is_snapshot(model.trace) else "trace")


def is_table(question: Question) -> bool:
    return meta_of(question.answer) is not None


def _request(question: Question, params: msgspec.Struct, workspace: Workspace, query: Parameters) -> TraceRequest:
    request = TraceRequest.of(workspace, query, question_key(question, params), of_run=question.of_run)
    return replace(request, of_steps=question.of_steps, passing=question.uncached)


def _request_for(node: Node, workspace: Workspace, query: Parameters) -> TraceRequest:
    return replace(TraceRequest.of(workspace, query, node.name), once=node.once)


def _first_page(table: TableAnswer) -> Packed:
    return pack(dumps(table.page()))


def _has_more_pages(table: TableAnswer) -> bool:
    return len(table) > table.table.whole


def _compute(
    question: Question, params: msgspec.Struct, steps: StepRange | None, trace: OpenTrace, model: Model
) -> Any:
    if not is_about(question, model):
        raise _about_others(question)
    return question.compute(subject_of(model, trace, steps), params)


def _about_others(question: Question) -> NotFound:
    return NotFound(because("no_snapshot" if question.about == "snapshot" else "memory_snapshot"))


def _sent_as(question: Question) -> Any:
    """Return the type of the JSON."""
    page: Any = Page
    meta = meta_of(question.answer)
    return question.answer if meta is None else page[meta]


def _made(node: Node, trace: OpenTrace, model: Model) -> bytes:
    made: bytes = node.make(subject_of(model, trace))
    return made


def _alone(part: CachedOnDisk[Any], model: Model) -> StoredAnswer:
    content = part.content(model)
    model.answers.clear()
    return pack(content)
