"""Results that several analyses need: computed once per model, and dropped with it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, Generic, ParamSpec, TypeVar, overload

import msgspec

from torch_tb_profiler.arrays.types import enc_hook
from torch_tb_profiler.codec import from_msgpack
from torch_tb_profiler.model import Model

P = ParamSpec("P")
T = TypeVar("T")
OfModel = Callable[Concatenate[Model, P], T]


@overload
def cached(compute: OfModel[P, T], /) -> OfModel[P, T]: ...
@overload
def cached(*, for_good: bool) -> Callable[[OfModel[P, T]], OfModel[P, T]]: ...
def cached(
    compute: OfModel[P, T] | None = None, /, *, for_good: bool = False
) -> OfModel[P, T] | Callable[[OfModel[P, T]], OfModel[P, T]]:
    """Keep each result of `compute(model, *parameters)` with the model, so that no state hides in modules.

    parameters  hashable, of few values
    for_good    results that are small beside the trace and asked for again: they outlive `Model.answers`
    """
    if compute is None:
        return lambda compute: _cached(compute, for_good)
    return _cached(compute, for_good)


def _cached(compute: OfModel[P, T], for_good: bool) -> OfModel[P, T]:
    @wraps(compute)
    def result(model: Model, /, *parameters: P.args, **named: P.kwargs) -> T:
        memo = model.pinned if for_good else model.answers
        return memo.get((compute, *parameters, *named.items()), lambda: compute(model, *parameters, **named))

    return result


def put_cached(model: Model, compute: Callable[[Model], T], result: T) -> None:
    """Take a result that is cached for good from somewhere else: an earlier model of the same trace."""
    model.pinned.put((compute.__wrapped__,), result)  # type: ignore[attr-defined]


class CachedOnDisk(msgspec.Struct, Generic[T], frozen=True):
    """A result about a whole trace that takes long: also kept beside the trace, for models that are opened later.

    name     under which it is kept
    type     of the result: values alone, no arrays
    """

    name: str
    type: type[T]
    compute: Callable[[Model], T]

    def __call__(self, model: Model) -> T:
        return model.pinned.get(self.name, lambda: self._read_or_computed(model))

    def content(self, model: Model) -> bytes:
        """Return the result as it is kept."""
        return msgspec.msgpack.encode(self(model))

    def _read_or_computed(self, model: Model) -> T:
        content = model.kept(self.name)
        if content is not None:
            with contextlib.suppress(msgspec.DecodeError):
                return from_msgpack(content, self.type)
        # as it will be read: a whole number in a field of fractions is written `1` before, and `1.0` from then on
        return from_msgpack(msgspec.msgpack.encode(self.compute(model), enc_hook=enc_hook), self.type)


def cached_on_disk(name: str, as_type: type[T]) -> Callable[[Callable[[Model], T]], CachedOnDisk[T]]:
    """Make a `CachedOnDisk` of a function."""
    return lambda compute: CachedOnDisk(name, as_type, compute)
