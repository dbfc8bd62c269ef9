"""Operations of the questions, from their declarations."""

from __future__ import annotations

from collections.abc import Iterable

from torch_tb_profiler.analysis.answer_schemas import schema_of
from torch_tb_profiler.analysis.json_schema import Json
from torch_tb_profiler.analysis.question import AnyQuestion, PairQuestion, RunQuestion, TraceQuestion, TracesQuestion
from torch_tb_profiler.analysis.result import meta_of
from torch_tb_profiler.web.openapi.operation import LISTING, OF_TRACE, Operation
from torch_tb_profiler.web.openapi.parameters import (
    PAGE,
    RUN_AND_SPAN,
    SHARED,
    STEP_RULES,
    STEPS,
    TRACE,
    TRACE_OR_RANKS,
    TWO_TRACES,
    shared,
)
from torch_tb_profiler.web.parameters import query_parameters

#: of shared parameters, by reference
_NAMES = {shared(key)[0]["$ref"]: parameter["name"] for key, parameter in SHARED.items()}


def operations(questions: Iterable[AnyQuestion]) -> dict[str, Operation]:
    """By path."""
    return {path: operation(question) for question in questions for path in (question.path, *question.also)}


def operation(question: AnyQuestion) -> Operation:
    own = query_parameters(question.parameters)
    named = {each["name"] for each in own}
    pages = PAGE if meta_of(question.answer) else []
    common = [each for each in _common(question) if _NAMES[each["$ref"]] not in named]
    return Operation(
        question.tag,
        question.summary,
        schema_of(question.answer),
        [*common, *own, *pages],
        question.more,
        LISTING if isinstance(question, TracesQuestion) else OF_TRACE,
    )


def _common(question: AnyQuestion) -> list[Json]:
    """The parameters that come with the kind of a question."""
    if isinstance(question, PairQuestion):
        return TWO_TRACES
    if isinstance(question, RunQuestion):
        return RUN_AND_SPAN
    if isinstance(question, TracesQuestion):
        return STEP_RULES
    if isinstance(question, TraceQuestion) and question.ranks is not None:
        return [*TRACE_OR_RANKS, *STEPS]
    return [*TRACE, *STEPS]
