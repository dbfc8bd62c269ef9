"""Why a file cannot be listed, read or taken for a trace, or a question not be answered: a sentence, and its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

Value = str | int | float | bool

#: kind of what exists in English alone
OTHER = "other"


@dataclass(frozen=True)
class Reason:
    """A sentence; one about a file goes on after its name.

    kind, values: what it says, for other languages
    """

    kind: str
    text: str
    values: Mapping[str, Value] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        return self.text


class Why(msgspec.Struct, frozen=True, kw_only=True):
    """What a reason says, for other languages.

    kind    which reason it is; `other` exists only in English
    values  what the sentence says beyond its kind
    """

    kind: str
    values: Mapping[str, Value]

    @classmethod
    def of(cls, reason: Reason | None) -> Why | None:
        return cls(kind=reason.kind, values=reason.values) if reason else None


class ErrorWithReason(Exception):
    """An error whose message is a sentence for a user. reason: the same with its kind, `other` where it has none."""

    def __init__(self, reason: str | Reason) -> None:
        super().__init__(str(reason))
        self.reason = reason if isinstance(reason, Reason) else Reason(OTHER, reason)


def reason_of(error: Exception) -> Reason:
    """Return the reason of an error, else its words as one."""
    found = getattr(error, "reason", None)
    return found if isinstance(found, Reason) else Reason(OTHER, str(error) or type(error).__name__)
