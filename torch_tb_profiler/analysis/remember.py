"""Answers that several questions need are computed once per model and dropped with it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable
from functools import wraps
from typing import Generic, TypeVar

import msgspec

from torch_tb_profiler.arrays.plain import plain
from torch_tb_profiler.model import Model
from torch_tb_profiler.typed import from_msgpack

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


class Kept(msgspec.Struct, Generic[T], frozen=True):
    """A `pinned` answer about a whole trace that takes long: kept beside the trace, too, for models opened later.

    name      under which it is kept
    type      of the answer: values alone, no arrays
    question  computes it
    """

    name: str
    type: type[T]
    question: Callable[[Model], T]

    def __call__(self, model: Model) -> T:
        return model.pinned.get(self.name, lambda: self._found(model))

    def content(self, model: Model) -> bytes:
        """The answer as it is kept."""
        return msgspec.msgpack.encode(self(model))

    def _found(self, model: Model) -> T:
        content = model.kept(self.name)
        if content is not None:
            with contextlib.suppress(msgspec.DecodeError):
                return from_msgpack(content, self.type)
        # as it will be read: a whole number in a field of fractions is written `1` before, and `1.0` from then on
        return from_msgpack(msgspec.msgpack.encode(self.question(model), enc_hook=plain), self.type)


def kept(name: str, as_type: type[T]) -> Callable[[Callable[[Model], T]], Kept[T]]:
    """Make a `Kept` of a question."""
    return lambda question: Kept(name, as_type, question)


def remember(model: Model, question: Callable[[Model], T], answer: T) -> None:
    """The answer of a `pinned` question, from somewhere else: an earlier model of the same trace."""
    model.pinned.put(question.__wrapped__, answer)  # type: ignore[attr-defined]


def remembered_by(question: Callable[[Model, K], T]) -> Callable[[Model, K], T]:
    """The same as `remembered` for a question with a parameter of few values."""

    @wraps(question)
    def answer(model: Model, parameter: K) -> T:
        return model.answers.get((question, parameter), lambda: question(model, parameter))

    return answer
