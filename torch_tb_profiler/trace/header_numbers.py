"""Numbers of a header that nothing can hold: integers have at most 64 bits in a column file, JSON has no infinities."""

from __future__ import annotations

from math import isfinite
from typing import Any

_LEAST, _MOST = -(2**63), 2**64 - 1


def leave_out_huge(header: dict[str, Any]) -> int:
    """Put null in place of each integer beyond 64 bits, and of each number beyond a double, at any depth. How many.

    >>> header = {"schemaVersion": 1, "deviceProperties": [{"id": 10**30}]}
    >>> leave_out_huge(header), header
    (1, {'schemaVersion': 1, 'deviceProperties': [{'id': None}]})
    """
    huge = 0
    waiting: list[dict[str, Any] | list[Any]] = [header]
    while waiting:  # no recursion: it may be nested as deep as a decoder goes
        held = waiting.pop()
        for key, value in held.items() if isinstance(held, dict) else enumerate(held):
            if isinstance(value, dict | list):
                waiting.append(value)
            elif (isinstance(value, float) and not isfinite(value)) or (
                isinstance(value, int) and not _LEAST <= value <= _MOST
            ):
                held[key] = None  # type: ignore[index]
                huge += 1
    return huge


def _can_be_held(value: Any) -> bool:
    if isinstance(value, int):
        return _LEAST <= value <= _MOST
    return not isinstance(value, float) or isfinite(value)
