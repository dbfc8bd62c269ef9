"""What was computed once is kept beside what it was computed from, until its owner lets go of it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, Protocol, TypeVar, cast, overload

from torch_tb_profiler.spill import spilled

Owner = TypeVar("Owner", bound="HasParts")
T = TypeVar("T")


class Memo:
    """Results by what computed them: a function, or a function and its parameter. Not for several threads at once."""

    def __init__(self, beside: Memo | None = None) -> None:
        """beside: what that knows is not computed again here, nor is it told what is."""
        self._known: dict[Hashable, Any] = {}
        self._beside = beside

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._known or (self._beside is not None and key in self._beside)

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result of `key`; `make` computes it the first time."""
        if key not in self._known:
            if self._beside is not None and key in self._beside:
                return self._beside.get(key, make)
            self._known[key] = spilled(make())
        return cast(T, self._known[key])

    def put(self, key: Hashable, result: object) -> None:
        """A result that came from somewhere else."""
        self._known[key] = result

    def clear(self) -> None:
        """Free the memory of all results; each is computed again when it is asked for."""
        self._known.clear()


class HasParts(Protocol):
    """Owns a memo for its parts."""

    @property
    def parts(self) -> Memo: ...


class part(Generic[Owner, T]):  # noqa: N801 - used like `property`
    """A property that is computed when first asked for, and kept in the owner's `parts`."""

    def __init__(self, compute: Callable[[Owner], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, owner: None, _: type[Owner]) -> part[Owner, T]: ...
    @overload
    def __get__(self, owner: Owner, _: type[Owner]) -> T: ...
    def __get__(self, owner: Owner | None, _: type[Owner]) -> T | part[Owner, T]:
        if owner is None:
            return self
        return owner.parts.get(self._compute, lambda: self._compute(owner))
