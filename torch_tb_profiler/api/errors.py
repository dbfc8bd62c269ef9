"""The one exception of the Python API."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, get_args

from torch_tb_profiler.analysis.text_format import harmless
from torch_tb_profiler.reason import ErrorWithReason

T = TypeVar("T", bound=str)


class ProfileError(ErrorWithReason):
    """A profile cannot be opened, or has no such part; the message is a sentence, harmless to a terminal."""

    def __init__(self, message: str) -> None:
        super().__init__("\n".join(map(harmless, message.split("\n"))))


@contextmanager
def profile_errors(kinds: type[Exception] | tuple[type[Exception], ...] = ErrorWithReason) -> Iterator[None]:
    """Raise what is refused inside as ProfileError: errors of some kinds, by default all that have a reason."""
    try:
        yield
    except kinds as error:
        raise ProfileError(str(error)) from None


def one_of(literal: Any, value: T) -> T:
    """The value, if the Literal type allows it. Raises ProfileError."""
    allowed = get_args(literal)
    if value not in allowed:
        raise ProfileError(f"{value!r} is not possible here, only {', '.join(map(repr, allowed))}")
    return value
