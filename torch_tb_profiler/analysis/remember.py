"""Answers that several questions need are computed once per model and dropped with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from torch_tb_profiler.model import Model

T = TypeVar("T")


def remembered(question: Callable[[Model], T]) -> Callable[[Model], T]:
    """Keep the answer of `question(model)` in the model itself, so that no state hides in modules."""

    @wraps(question)
    def answer(model: Model) -> T:
        answers: dict[Any, Any] = vars(model).setdefault("answers", {})
        if question not in answers:
            answers[question] = question(model)
        found: T = answers[question]
        return found

    return answer
