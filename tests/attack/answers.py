"""What a server says of a log directory, for comparing: before and after something went wrong."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from urllib.parse import urlencode

from tests.tiny import wait_until

#: of one trace, each from another kind of file in the cache or of another part of the columns
PATHS = (
    "api/overview",
    "api/operators",
    "api/operators?group_by=name_shape",
    "api/kernels",
    "api/waterfall",
    "api/critical_path",
    "api/what_if?changes=kernels:0.5",
    "api/memory/curve",
    "api/stacks",
    "api/trace/slices?search=mm",
    "api/timeline",
    "api/timeline/slice?row=40",
    "api/timeline/search?q=aten",
    "trace",
)

#: status and body of a path
Get = Callable[[str], tuple[int, bytes]]


def answers(
    get: Get, traces: list[dict[str, str]], paths: tuple[str, ...] = PATHS, bodies: dict[str, bytes] | None = None
) -> dict[str, tuple[int, str]]:
    """Status and digest of every answer. What is being read is waited for. bodies: gets the answers themselves."""
    found = {}
    for trace in traces:
        for path in paths:
            url = f"{path}{'&' if '?' in path else '?'}{urlencode(trace)}"
            last: list[tuple[int, bytes]] = []

            def settled(url: str = url, last: list[tuple[int, bytes]] = last) -> bool:
                last[:] = [get(url)]
                return last[0][0] != 409

            wait_until(settled, url)
            found[url] = last[0][0], blake2b(last[0][1], digest_size=8).hexdigest()
            if bodies is not None:
                bodies[url] = last[0][1]
    return found


def difference(before: bytes, after: bytes) -> str:
    """Where two answers differ first, with what stands around it."""
    at = next(
        (at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    around = slice(max(0, at - 200), at + 200)
    return f"{len(before)} and {len(after)} bytes, from {at} on: {before[around]!r} and {after[around]!r}"
