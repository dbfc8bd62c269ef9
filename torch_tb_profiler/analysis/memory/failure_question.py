"""The questions why allocations of a trace failed, and what the text of an exception says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, TraceMeta
from torch_tb_profiler.analysis.memory.failures import Failure, failure_of_text, failures
from torch_tb_profiler.analysis.question import NoParameters, Question, Refused, Subject
from torch_tb_profiler.words.reasons import because

#: of an exception; what follows is a traceback
MOST_TEXT = 4000


class ErrorText(msgspec.Struct, frozen=True):
    """What PyTorch said."""

    text: Annotated[str, Meta(description="Text of an OutOfMemoryError.", max_length=MOST_TEXT)]


class MemoryFailuresAnswer(Answer, frozen=True, kw_only=True):
    """Allocations that failed, and why.

    meta       which trace
    failures   by time
    sentences  the same in words
    """

    meta: TraceMeta
    failures: Sequence[Failure]
    sentences: Sequence[str]


def _failures(subject: Subject, _: NoParameters) -> MemoryFailuresAnswer:
    return _answer(subject, failures(subject.model))


def _of_text(subject: Subject, asked: ErrorText) -> MemoryFailuresAnswer:
    found = failure_of_text(asked.text)
    if found is None:
        raise Refused(because("no_oom_text"))
    return _answer(subject, (found,))


def _answer(subject: Subject, found: Sequence[Failure]) -> MemoryFailuresAnswer:
    meta = TraceMeta(**subject.about("memory"))
    return MemoryFailuresAnswer(meta=meta, failures=found, sentences=[failure.text for failure in found])


MEMORY_FAILURES = Question(
    name="memory/failures",
    summary="Allocations that failed, and why",
    tag="memory",
    compute=_failures,
    of_steps=False,
    bundle="memory",
    precompute=(NoParameters(),),
    report=({},),
)

MEMORY_ERROR_TEXT = Question(
    name="memory/error_text",
    summary="What the text of an OutOfMemoryError says",
    tag="memory",
    about="any",
    compute=_of_text,
    of_steps=False,
)
