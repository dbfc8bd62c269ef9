"""The one exception of the Python API, and checks of arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, get_args

from torch_tb_profiler.analysis.replay.changes import Change, check
from torch_tb_profiler.analysis.text_format import harmless
from torch_tb_profiler.model import Model
from torch_tb_profiler.reason import ErrorWithReason

T = TypeVar("T", bound=str)


class ProfileError(ErrorWithReason):
    """A profile cannot be opened, or has no such part; the message is a sentence, harmless to a terminal."""

    def __init__(self, message: str) -> None:
        super().__init__("\n".join(map(harmless, message.split("\n"))))


@contextmanager
def profile_errors(kinds: type[Exception] | tuple[type[Exception], ...] = ErrorWithReason) -> Iterator[None]:
    """Raise errors of some kinds as ProfileError, by default all errors with a reason."""
    try:
        yield
    except kinds as error:
        raise ProfileError(str(error)) from None


def one_of(literal: Any, value: T) -> T:
    """Return the value, if the Literal type allows it. Raises ProfileError."""
    allowed = get_args(literal)
    if value not in allowed:
        raise ProfileError(f"{value!r} is not possible here, only {', '.join(map(repr, allowed))}")
    return value


def check_changes(changes: Sequence[Change]) -> None:
    with profile_errors(ValueError):
        for change in changes:
            check(change)


def places_of_steps(model: Model, names: Sequence[str] | None) -> list[int] | None:
    """Return the indexes of steps by their names, ascending; None for all. Raises ProfileError."""
    known = model.steps.names
    for name in names or ():
        if name not in known:
            raise ProfileError(f"there is no step {name!r}")
    return None if names is None else sorted({known.index(name) for name in names})
