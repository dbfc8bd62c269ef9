"""What can go wrong with a storage: a few kinds, each with its words and with what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from torch_tb_profiler.late_pattern import late_pattern
from torch_tb_profiler.reason import ErrorWithReason, Reason, Value

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

REASONS: Mapping[ErrorKind, str] = {
    "credentials": "the credentials are not accepted",
    "permission": "permission denied",
    "missing": "it is not there",
    "throttled": "the store asks for fewer requests",
    "unreachable": "the store does not answer",
    "endpoint": "this is the wrong region or endpoint",
    "clock": "the clock of this machine is wrong",
    "changed": "it was replaced while it was being read; it is read again soon",
    "package": "a package is missing",
    "failed": "the store answered with an error",
}

ADVICE: Mapping[ErrorKind, str] = {
    "throttled": "It is tried again, more slowly",
    "unreachable": "Check the network and the address; it is tried again",
    "clock": "Set it (NTP): requests are signed with the time",
}

#: what passes by itself, or by a second try
PASSING: frozenset[ErrorKind] = frozenset({"throttled", "unreachable"})

#: whose advice is that of `ADVICE`
ANY_STORE = "any"

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
_CODE = late_pattern(r"[A-Za-z0-9][A-Za-z0-9_.]{0,60}")


def kind_of_status(status: int) -> ErrorKind:
    """What an HTTP status says where the store gives no code that is known."""
    return _BY_STATUS.get(status) or ("unreachable" if status >= 500 else "failed")


def install(extra: str) -> str:
    """What to do about a package that is missing."""
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
    """What is said of a root, given without its signature, where none is understood."""
    return StorageError(f"{root}: a signature behind this address is not used", "credentials")


class Attempt(msgspec.Struct, frozen=True):
    """What was tried. place: what was listed, or read from; empty if the sentence goes on after its name."""

    kind: Literal["unlistable", "unreadable"]
    place: str = ""

    def failed(self, why: str, values: Mapping[str, Value]) -> Reason:
        """Why that failed."""
        if self.kind == "unlistable":
            tried = f"{self.place} cannot be listed".lstrip()
        else:
            tried = f"cannot be read from {self.place}" if self.place else "cannot be read"
        return Reason(self.kind, f"{tried}: {why}", {"place": self.place, **values})


class Trouble(Exception):
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
        """The sentence when something could not be written. allowed: what must be, where permission is missing."""
        code = f" ({self.code})" if self.code else ""
        to_do = self.advice or (allowed if self.kind == "permission" else ADVICE.get(self.kind, ""))
        text = f"{place} cannot be written: {REASONS[self.kind]}{code}{f'. {to_do}' if to_do else ''}"
        return StorageError(text, self.kind, self.wait)

    def told(self, tried: Attempt, store: str, advice: Mapping[ErrorKind, str]) -> StorageError:
        """The sentence: what was tried, why it failed, what to do. advice: that of the store, by its name."""
        code = f" ({self.code})" if self.code else ""
        to_do = self.advice or advice.get(self.kind) or ADVICE.get(self.kind, "")
        why = f"{REASONS[self.kind]}{code}{f'. {to_do}' if to_do else ''}"
        values = {"trouble": self.kind, "code": self.code, "advice": to_do}
        if to_do and not self.advice:
            values["advice_of"] = f"{store if self.kind in advice else ANY_STORE}.{self.kind}"
        return StorageError(tried.failed(why, values), self.kind, self.wait)
