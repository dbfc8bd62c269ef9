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


def answers(get: Get, traces: list[dict[str, str]], paths: tuple[str, ...] = PATHS) -> dict[str, tuple[int, str]]:
    """Status and digest of every answer. What is being read is waited for."""
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
    return found
