"""What routes take and give: parameters, answers, errors. Nothing of HTTP itself: worker processes use it, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.reason import OTHER, Reason
from torch_tb_profiler.workspace.cache.answer_store import Packed

JSON = "application/json"
NO_CACHE = "no-cache"

C = TypeVar("C", bound=str)
N = TypeVar("N", int, None)

#: the largest whole number that is taken where a parameter has no bound of its own
_MOST = 2**62
_WHOLE_NUMBER = lazy_pattern(r"-?[0-9]{1,19}")


class HttpError(Exception):
    """An answer other than 200; the message is for a person, `more` stands beside it in the JSON.

    passes: whether the same request may have an answer later, so that this one is not kept
    """

    def __init__(self, status: int, message: str, more: dict[str, Any] | None = None, passes: bool = False) -> None:
        super().__init__(message)
        self.passes = passes
        self.status = status
        self.more = more or {}

    def __reduce__(self) -> tuple[Any, ...]:
        """For a process that answers for another one."""
        return type(self), (self.status, str(self), self.more, self.passes)


def why(reason: Reason) -> dict[str, Any]:
    """What stands beside a message for saying it in another language: nothing where it is said in English alone."""
    return {} if reason.kind == OTHER else {"why": {"kind": reason.kind, "values": dict(reason.values)}}


class Parameters(msgspec.Struct, frozen=True):
    """The query of a request; the first of equal names counts, an empty value is a value."""

    values: dict[str, str] = msgspec.field(default_factory=dict)

    def need(self, name: str) -> str:
        if name not in self.values:
            raise HttpError(400, f"Must specify {name} in request url")
        return self.values[name]

    def need_all(self, *names: str) -> tuple[str, ...]:
        """The first that is missing is named."""
        return tuple(self.need(name) for name in names)

    def get(self, name: str) -> str | None:
        return self.values.get(name)

    def without(self, *names: str) -> Parameters:
        return replace(self, values={name: value for name, value in self.values.items() if name not in names})

    def choice(self, name: str, choices: tuple[C, ...]) -> C:
        """One of `choices`; the first when the request does not say."""
        value = self.values.get(name, choices[0])
        for choice in choices:
            if choice == value:
                return choice
        raise HttpError(400, f"{name} must be one of {', '.join(choices)}")

    def whole_number(self, name: str, default: N, least: int = -_MOST, most: int = _MOST) -> int | N:
        """A whole number within bounds; `default` when the request does not say."""
        text = self.values.get(name)
        if text is None:
            return default
        number = int(text) if _WHOLE_NUMBER.fullmatch(text) else None
        if number is None or not least <= number <= most:
            raise HttpError(400, f"{name} must be a whole number{_bounds(least, most)}")
        return number


def _bounds(least: int, most: int) -> str:
    """Those that mean something: the largest number that is taken at all is of no use to people."""
    if most < _MOST:
        return f" from {least} to {most}"
    return f" of at least {least}" if least > -_MOST else ""


class Answer(msgspec.Struct, frozen=True):
    """A body and what describes it. One that is packed is sent as it is to clients that take gzip."""

    body: bytes | Packed
    content_type: str = JSON
    cache_control: str = NO_CACHE
    headers: tuple[tuple[str, str], ...] = ()


class Stream(msgspec.Struct, frozen=True):
    """A body that is made while it is sent, and what describes it.

    etag     changes with the content
    open     begins a body; it is told whether the body is to be gzip
    packs    whether the client may have it as gzip
    prepare  called once before the answer begins, unless the client has it already; raises HttpError and Unavailable
    """

    etag: str
    open: Callable[[bool], Iterable[bytes]]
    content_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()
    packs: bool = True
    cache_control: str = NO_CACHE
    prepare: Callable[[], None] = lambda: None
