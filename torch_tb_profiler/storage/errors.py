"""What can go wrong with a storage: a few kinds, each with its words and with what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.reason import ErrorWithReason, Reason, Value
from torch_tb_profiler.words import section
from torch_tb_profiler.words.sentences import because

ErrorKind = Literal[
    "credentials",
    "permission",
    "missing",
    "throttled",
    "unreachable",
    "endpoint",
    "clock",
    "changed",
    "package",
    "failed",
]

#: what passes by itself, or by a second try
PASSING: frozenset[ErrorKind] = frozenset({"throttled", "unreachable"})

_BY_STATUS: Mapping[int, ErrorKind] = {
    401: "credentials",
    403: "permission",
    404: "missing",
    412: "changed",
    416: "changed",
    429: "throttled",
    503: "throttled",
}

# A code of a store, never a sentence of it: those may hold keys, tokens and signed URLs.
_CODE = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9_.]{0,60}")


def kind_of_status(status: int) -> ErrorKind:
    """Return what an HTTP status says where the store gives no code that is known."""
    return _BY_STATUS.get(status) or ("unreachable" if status >= 500 else "failed")


def install(extra: str) -> str:
    """Say what to do about a package that is missing."""
    return f"Install it with: pip install 'torch-tb-profiler[{extra}]'"


class StorageError(ErrorWithReason):
    """Something cannot be listed or opened; the message is a sentence for a user.

    kind: what sort of trouble it is
    wait: seconds after which the store wants to be asked again; 0 when it did not say
    """

    def __init__(self, message: str | Reason, kind: ErrorKind = "failed", wait: float = 0.0) -> None:
        super().__init__(message)
        self.kind: ErrorKind = kind
        self.wait = wait

    @property
    def passes(self) -> bool:
        """Whether a second try may help at once."""
        return self.kind in PASSING


def unused_signature(root: str) -> StorageError:
    """Return the error about a signature that is not understood. root: the address without it."""
    return StorageError(f"{root}: a signature behind this address is not used", "credentials")


class Attempt(msgspec.Struct, frozen=True):
    """What was tried. place: what was listed, or read from; empty if the sentence goes on after its name."""

    kind: Literal["unlistable", "unreadable"]
    place: str = ""

    def failed(self, values: Mapping[str, Value]) -> Reason:
        """Return the reason why it failed."""
        return because(self.kind, {"place": self.place, **values})


def usual_advice(store: str, kind: ErrorKind) -> Mapping[str, str]:
    """Return what to do about trouble with a store, and its key in `words/*/reasons.toml`; both for a reason."""
    words = section("reasons", "texts")
    key = next((key for key in (f"{store}.{kind}", f"any.{kind}") if key in words.shared["advised"]), "")
    return {"advice": words.say("advised", {"advice_of": key}), "advice_of": key} if key else {"advice": ""}


class StoreFailure(Exception):
    """What a store said, not yet a sentence: which kind, its code, and how long to wait.

    advice: what to do, where it is not the usual for this kind
    """

    def __init__(self, kind: ErrorKind, code: object = "", wait: float = 0.0, advice: str = "") -> None:
        super().__init__(kind)
        self.kind: ErrorKind = kind
        self.code = str(code) if _CODE.fullmatch(str(code)) else ""
        self.wait = wait
        self.advice = advice

    def unwritable(self, place: str, allowed: str) -> StorageError:
        """Return the error when something could not be written. allowed: what must be, where permission is missing."""
        usual = {"advice": allowed} if self.kind == "permission" else usual_advice("any", self.kind)
        why = section("reasons", "texts").say("cause", self._values(usual))
        text = f"{place} cannot be written: {why}"
        return StorageError(text, self.kind, self.wait)

    def as_error(self, attempt: Attempt, store: str) -> StorageError:
        """Return the error with its sentence: what was tried, why it failed, what to do about such a store."""
        reason = attempt.failed(self._values(usual_advice(store, self.kind)))
        return StorageError(reason, self.kind, self.wait)

    def _values(self, usual: Mapping[str, str]) -> Mapping[str, str]:
        advice = {"advice": self.advice} if self.advice else usual
        return {"trouble": self.kind, "code": self.code, **advice}
