"""Answers to questions about several traces: a pair to compare, or any number, of one run or of many."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.analysis.question import Listed, Question, Scope
from torch_tb_profiler.analysis.tabular import Page
from torch_tb_profiler.arrays.types import dumps
from torch_tb_profiler.model import Model
from torch_tb_profiler.tables.query import Query, TableAnswer
from torch_tb_profiler.web.answers.request import (
    TraceRequest,
    answer_query,
    body_of,
    refusals,
    step_choice,
    step_range,
    unwrap,
)
from torch_tb_profiler.web.answers.trace import is_table, kept_answer, table_of
from torch_tb_profiler.web.http import HttpAnswer, HttpError, Parameters, read_parameters, why
from torch_tb_profiler.words.sentences import because
from torch_tb_profiler.workspace import Key, OpenTrace, Packed, RunStatus, Status, TraceStatus, Workspace, pack
from torch_tb_profiler.workspace.answering.answerer import ModelOf, question_key, subject_of


def answer_of_traces(
    question: Question, workspace: Workspace, query: Parameters, status: Status | None = None
) -> HttpAnswer:
    """Answer a question about the traces in `status`; None for all that the workspace has."""
    assert question.each is not None
    params: Any = read_parameters(question.parameters, query)
    choice = step_choice(query)
    with refusals():
        questions = question.each(params)
    if params.of == "run":
        query.need("run")
    listed: list[Listed] = []
    ready, refused = 0, None
    for run, trace in _meant(status or workspace.status(), params, question.kind):
        answers = None
        if trace.state == "ready":
            ready += 1
            if question.most is None or ready <= question.most:
                try:
                    opened = workspace.find(run, trace.worker, trace.span)
                    answers = {
                        name: _typed(workspace, of, params_of, TraceRequest.plainly(opened, of, params_of, choice))
                        for name, (of, params_of) in questions.items()
                    }
                except HttpError as error:  # one trace has nothing of this: the others are asked
                    if error.status != 404:
                        raise
                    refused = refused or error
        listed.append(Listed(run, trace.worker, trace.span, trace.file, trace.state, answers))
    if refused is not None and not any(each.answers for each in listed):
        raise refused
    with refusals():
        found = question.compute(listed, params)
    return answer_query(TableAnswer(found), query) if is_table(question) else HttpAnswer(dumps(found))


def _typed(workspace: Workspace, question: Question, params: msgspec.Struct, request: TraceRequest) -> Any:
    """Return the answer of another question about one of the traces as its type, a table with all rows; it is kept."""
    answer = kept_answer(question, params, request, workspace)
    if isinstance(answer, Page) and answer.meta.total > len(next(iter(answer.rows.values()))):
        all_rows = partial(TableAnswer.page, query=Query(limit="all"))
        return unwrap(request.from_cached_table(workspace, partial(table_of, question, params, None), all_rows))
    return answer


def _meant(status: Status, scope: Scope, kind: str) -> list[tuple[str, TraceStatus]]:
    """Return the traces that a request is about, whatever their state: one of each run, those of one run, or all."""
    chosen: list[tuple[str, TraceStatus]] = []
    for run in (_only(each, kind) for each in status.runs):
        if scope.of == "runs":
            ready = [trace for trace in run.traces if trace.state == "ready"] or list(run.traces)
            chosen += [(run.name, next((t for t in ready if t.worker == scope.worker), ready[0]))] if ready else []
        elif scope.of == "all" or run.name == scope.run:
            chosen += [(run.name, trace) for trace in run.traces]
    if scope.of == "run" and not chosen:
        missing = because("no_such_run", {"run": scope.run or ""})
        raise HttpError(404, str(missing), why(missing))
    return chosen


def _only(run: RunStatus, kind: str) -> RunStatus:
    return replace(run, traces=tuple(trace for trace in run.traces if trace.kind == kind))


#: before the names of parameters of the second of two traces
EXPERIMENT = "exp_"


def answer_of_pair(question: Question, workspace: Workspace, query: Parameters) -> HttpAnswer:
    """Answer about two traces: steps are found in the same way in both, and only the named steps are looked at."""
    query.need_all("run", "worker", "exp_run", "exp_worker")
    params = read_parameters(question.parameters, query)
    left, right = (
        workspace.find(query.need(f"{side}run"), query.need(f"{side}worker"), query.get(f"{side}span"))
        for side in ("", EXPERIMENT)
    )
    choice = step_choice(query)
    ranges = step_range(query), step_range(query, EXPERIMENT)
    key = Key((left, right), (question_key(question, params), choice, ranges))
    needs = ModelOf(left, choice, ranges[0]), ModelOf(right, choice, ranges[1])
    make = partial(workspace.ask, partial(_packed, question, params, (left, right)), *needs)
    with refusals():
        return HttpAnswer(workspace.remember(key, make))


def _packed(question: Question, params: msgspec.Struct, traces: tuple[OpenTrace, OpenTrace], *models: Model) -> Packed:
    return pack(body_of(question.compute(*map(subject_of, models, traces), params)))
