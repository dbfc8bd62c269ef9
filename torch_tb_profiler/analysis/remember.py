"""Answers that several questions need are computed once per model and dropped with it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, TypeVar

from torch_tb_profiler.model import Model

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


def remembered(question: Callable[[Model], T]) -> Callable[[Model], T]:
    """Keep the answer of `question(model)` in the model itself, so that no state hides in modules."""
    return _kept_in("answers", question)


def lasting(question: Callable[[Model], T]) -> Callable[[Model], T]:
    """The same for an answer of a few bytes that nearly every view asks for: it outlives `Model.forget_answers`."""
    return _kept_in("lasting", question)


def _kept_in(memory: str, question: Callable[[Model], T]) -> Callable[[Model], T]:
    """`memory`: the attribute of the model."""

    @wraps(question)
    def answer(model: Model) -> T:
        known: dict[Any, T] = getattr(model, memory)
        if question not in known:
            known[question] = question(model)
        return known[question]

    return answer


def remember(model: Model, question: Callable[[Model], T], answer: T) -> None:
    """The answer of a `lasting` question, from somewhere else: an earlier model of the same trace."""
    model.lasting[question.__wrapped__] = answer  # type: ignore[attr-defined]


def remembered_by(question: Callable[[Model, K], T]) -> Callable[[Model, K], T]:
    """The same for a question with a parameter of few values."""

    @wraps(question)
    def answer(model: Model, parameter: K) -> T:
        known_as = question, parameter
        if known_as not in model.answers:
            model.answers[known_as] = question(model, parameter)
        found: T = model.answers[known_as]
        return found

    return answer
