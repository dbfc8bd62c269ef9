"""Answers that several questions need are computed once per model and dropped with it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import TypeVar

from torch_tb_profiler.model import Model

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


def remembered(question: Callable[[Model], T]) -> Callable[[Model], T]:
    """Keep the answer of `question(model)` in `Model.answers`, so that no state hides in modules."""

    @wraps(question)
    def answer(model: Model) -> T:
        return model.answers.get(question, lambda: question(model))

    return answer


def pinned(question: Callable[[Model], T]) -> Callable[[Model], T]:
    """The same for an answer that is small beside the trace and asked for again: it outlives `Model.answers`."""

    @wraps(question)
    def answer(model: Model) -> T:
        return model.pinned.get(question, lambda: question(model))

    return answer


def remember(model: Model, question: Callable[[Model], T], answer: T) -> None:
    """The answer of a `pinned` question, from somewhere else: an earlier model of the same trace."""
    model.pinned.put(question.__wrapped__, answer)  # type: ignore[attr-defined]


def remembered_by(question: Callable[[Model, K], T]) -> Callable[[Model, K], T]:
    """The same as `remembered` for a question with a parameter of few values."""

    @wraps(question)
    def answer(model: Model, parameter: K) -> T:
        return model.answers.get((question, parameter), lambda: question(model, parameter))

    return answer
