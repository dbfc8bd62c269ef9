"""What is kept of each rank of a run, as questions about all of them ask for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar, overload

from torch_tb_profiler.analysis.question import RankPart
from torch_tb_profiler.workspace import OpenTrace, Workspace

K = TypeVar("K")


class KeptParts(Sequence[K]):
    """What worker processes have kept is read each time it is taken: a run may be large.

    make: makes the part of a trace of which nothing is kept
    """

    def __init__(
        self, part: RankPart[K], workspace: Workspace, traces: Sequence[OpenTrace], make: Callable[[OpenTrace], K]
    ) -> None:
        self._part, self._workspace, self._traces, self._make = part, workspace, traces, make

    def __len__(self) -> int:
        return len(self._traces)

    @overload
    def __getitem__(self, at: int) -> K: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[K]: ...
    def __getitem__(self, at: int | slice) -> K | Sequence[K]:
        if isinstance(at, slice):
            return KeptParts(self._part, self._workspace, self._traces[at], self._make)
        trace, decode = self._traces[at], self._part.decode
        content = self._workspace.rank_content(trace) if decode else None
        kept = decode(content, trace.worker) if decode and content else None
        return self._make(trace) if kept is None else kept
