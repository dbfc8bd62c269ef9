"""What requests about a timeline have in common: which trace, which version of it, which lanes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.web.http import JSON, NO_CACHE, HttpError, Parameters, Stream, dumps
from torch_tb_profiler.web.timeline import wire
from torch_tb_profiler.workspace import OpenTrace, Workspace, compressed
from torch_tb_profiler.workspace.identity import answers_version

#: in a list of lanes or names
MOST_NUMBERS = 4096

_RANGE = re.compile("([0-9]{1,9})(?:-([0-9]{1,9}))?")

IMMUTABLE = "private, max-age=31536000, immutable"


@dataclass(frozen=True)
class Asked:
    """A trace whose timeline is asked for. is_known: whether the request names its version."""

    workspace: Workspace
    parameters: Parameters
    trace: OpenTrace
    version: str
    is_known: bool

    @classmethod
    def of(cls, workspace: Workspace, parameters: Parameters) -> Asked:
        run, worker = parameters.need_all("run", "worker")
        trace = workspace.find(run, worker, parameters.get("span"))
        version, named = version_of(trace), parameters.get("v")
        if named not in (None, version):
            raise HttpError(404, f"there is no version {named!r} of this trace any more", {"version": version})
        return cls(workspace, parameters, trace, version, named is not None)

    @property
    def timeline(self) -> Timeline:
        return self.workspace.timeline(self.trace)

    def binary(self, route: str, make: Callable[[Timeline], bytes]) -> Stream:
        """If the client already has the answer, it is told so before the timeline is opened or anything computed.

        route: tells requests with the same parameters apart
        make: raises HttpError when the timeline does not have what the request names
        """
        return self._stream(route, make, wire.CONTENT_TYPE)

    def json(self, route: str, make: Callable[[Timeline], Any]) -> Stream:
        """The same, as JSON."""
        return self._stream(route, lambda timeline: dumps(make(timeline)), JSON)

    def _stream(self, route: str, make: Callable[[Timeline], bytes], content_type: str) -> Stream:
        asked = sorted((name, value) for name, value in self.parameters.values.items() if name != "v")
        known_as = f"{self.version}\0{self.trace.run}\0{self.trace.worker}\0{self.trace.span}\0{route}\0{asked!r}"
        etag = blake2b(known_as.encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()
        made: list[bytes] = []

        def check() -> None:
            made[:] = made or [make(self.timeline)]

        def body(packed: bool) -> list[bytes]:
            check()
            return [b"".join(compressed(made))] if packed else made

        cache_control = IMMUTABLE if self.is_known else NO_CACHE
        return Stream(etag, body, content_type, cache_control=cache_control, check=check)


def version_of(trace: OpenTrace) -> str:
    """Changes when a tile of the same name may hold something else."""
    return blake2b(f"{trace.key}\0{answers_version()}".encode(), digest_size=8).hexdigest()


def numbers(parameters: Parameters, name: str, most: int = MOST_NUMBERS) -> Int64:
    """`0-59,70`: ascending, without repeats."""
    found: set[int] = set()
    for part in parameters.need(name).split(","):
        range_ = _RANGE.fullmatch(part)
        first, last = (int(range_[1]), int(range_[2] or range_[1])) if range_ else (0, -1)
        if last < first:
            raise HttpError(400, f"{name} must be numbers and ranges as in 0-59,70, not {part!r}")
        if last - first >= most:
            raise HttpError(400, f"{name} must be at most {most} numbers")
        found.update(range(first, last + 1))
        if len(found) > most:
            raise HttpError(400, f"{name} must be at most {most} numbers")
    return np.array(sorted(found), np.int64)


def lanes_of(parameters: Parameters, timeline: Timeline) -> Int64:
    """The parameter `lanes`."""
    lanes = numbers(parameters, "lanes")
    if lanes[-1] >= timeline.lanes:
        raise HttpError(404, f"there is no lane {lanes[-1]}: the trace has {timeline.lanes}")
    return lanes


def window_of(parameters: Parameters) -> tuple[int, int]:
    """The parameters `from` and `to`, ns."""
    parameters.need_all("from", "to")
    start, end = parameters.whole_number("from", 0), parameters.whole_number("to", 0)
    if end < start:
        raise HttpError(400, "to must not be before from")
    return start, end


def row_of(parameters: Parameters, timeline: Timeline, name: str = "row") -> int:
    """The parameter `row`, of a slice or instant."""
    parameters.need(name)
    row = parameters.whole_number(name, 0, 0)
    if row >= len(timeline.placed.of_row) or timeline.placed.of_row[row] < 0:
        raise HttpError(404, f"row {row} is no slice")
    return row
