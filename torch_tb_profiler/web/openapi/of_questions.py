"""Operations of the questions, from their declarations."""

from __future__ import annotations

from collections.abc import Iterable

from torch_tb_profiler.web.openapi.operation import BINARY, LISTING, OF_TRACE, Operation
from torch_tb_profiler.web.openapi.parameters import (
    PAGE,
    RUN_AND_SPAN,
    SHARED,
    STEP_RULES,
    STEPS,
    TRACE,
    TRACE_OR_RANKS,
    TWO_TRACES,
    VERSION,
    shared,
)
from torch_tb_profiler.web.parameters import query_parameters

from torch_tb_profiler.analysis.answer_schemas import schema_of
from torch_tb_profiler.analysis.json_schema import Json, described
from torch_tb_profiler.analysis.question import About, Question
from torch_tb_profiler.analysis.result import meta_of
from torch_tb_profiler.web.answers.timeline import BINARY as BINARY_TYPE
from torch_tb_profiler.web.http import JSON

#: of shared parameters, by reference
_NAMES = {shared(key)[0]["$ref"]: parameter["name"] for key, parameter in SHARED.items()}


_COMMON: dict[About, list[Json]] = {
    "trace": [*TRACE, *STEPS],
    "pair": TWO_TRACES,
    "run": RUN_AND_SPAN,
    "timelines": RUN_AND_SPAN,
    "traces": STEP_RULES,
}


def operations(questions: Iterable[Question]) -> dict[str, Operation]:
    """By path."""
    return {path: operation(question) for question in questions for path in (question.path, *question.also)}


def operation(question: Question) -> Operation:
    own = query_parameters(question.parameters)
    named = {each["name"] for each in own}
    pages = PAGE if meta_of(question.answer) else []
    common = [each for each in _common(question) if _NAMES[each["$ref"]] not in named]
    is_binary = question.answer is bytes
    return Operation(
        question.tag,
        question.summary,
        _layout(question.path) if is_binary else schema_of(question.answer),
        [*common, *own, *pages],
        question.more,
        LISTING if question.scope == "traces" else OF_TRACE,
        content_type=BINARY_TYPE if is_binary else JSON,
    )


def _layout(path: str) -> Json:
    return described(BINARY, f"Little-endian columns: docs/maintainers/timeline-protocol.md, GET {path}.")


def _common(question: Question) -> list[Json]:
    """The parameters that come with what a question is about."""
    if question.scope == "timeline":
        return [*TRACE, *VERSION, *(STEPS if question.depends_on_steps else [])]
    if question.of_worker:
        return TRACE
    if question.ranks is not None:
        return [*TRACE_OR_RANKS, *STEPS]
    return _COMMON[question.scope]
