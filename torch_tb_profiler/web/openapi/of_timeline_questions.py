"""Operations of the questions about timelines, from their declarations (docs/timeline-protocol.md)."""

from __future__ import annotations

from collections.abc import Iterable

from torch_tb_profiler.analysis.answer_schemas import schema_of
from torch_tb_profiler.analysis.json_schema import Json, described
from torch_tb_profiler.timeline.question import (
    AnyTimelineQuestion,
    RunTimelinesQuestion,
    TimelinePartQuestion,
    TimelineStepsQuestion,
)
from torch_tb_profiler.web.http import JSON
from torch_tb_profiler.web.openapi.operation import BINARY, Operation
from torch_tb_profiler.web.openapi.parameters import RUN_AND_SPAN, STEPS, TRACE, VERSION
from torch_tb_profiler.web.parameters import query_parameters
from torch_tb_profiler.web.timeline.execute import BINARY as BINARY_TYPE


def operations(questions: Iterable[AnyTimelineQuestion]) -> dict[str, Operation]:
    """By path."""
    return {question.path: operation(question) for question in questions}


def operation(question: AnyTimelineQuestion) -> Operation:
    is_binary = question.answer is bytes
    return Operation(
        question.tag,
        question.summary,
        _layout(question.path) if is_binary else schema_of(question.answer),
        [*_common(question), *query_parameters(question.parameters)],
        question.more,
        content_type=BINARY_TYPE if is_binary else JSON,
    )


def _layout(path: str) -> Json:
    return described(BINARY, f"Little-endian columns: docs/timeline-protocol.md, GET {path}.")


def _common(question: AnyTimelineQuestion) -> list[Json]:
    """The parameters that come with the kind of a question."""
    if isinstance(question, RunTimelinesQuestion):
        return TRACE if question.of_worker else RUN_AND_SPAN
    steps = STEPS if isinstance(question, TimelineStepsQuestion | TimelinePartQuestion) else []
    return [*TRACE, *VERSION, *steps]
