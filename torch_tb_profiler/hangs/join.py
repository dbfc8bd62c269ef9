"""The same call in a dump and in the trace of its rank, by group and number."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from torch_tb_profiler.hangs.dump import DumpedCall
from torch_tb_profiler.trace import Trace
from torch_tb_profiler.trace.schema import Collectives


class TracedCall(msgspec.Struct, frozen=True):
    """The last finished call of a rank that its trace has too. row: its event."""

    call: DumpedCall
    row: int
    start_ns: int
    duration_ns: int


def last_traced(trace: Trace, calls: Sequence[DumpedCall]) -> TracedCall | None:
    """Find the first of these calls that a trace has; None also where any of them contradicts the trace.

    Group and number name a call, but a job that was restarted counts from 0 again: operator and number of elements must
    agree where both are known, for all calls that both have.
    """
    recorded, events = trace.table(Collectives), trace.events
    groups, names = (np.array(trace.strings.texts(codes), dtype=object) for codes in (recorded.group, recorded.name))
    last = None
    for call in calls:
        rows = np.flatnonzero((recorded.sequence == call.number) & (groups == call.group) & (call.number >= 0))
        for at in rows.tolist():
            sizes = zip(call.elements, (int(recorded.in_elements[at]), int(recorded.out_elements[at])), strict=True)
            if _plain(str(names[at])) != _plain(call.operator) or any(a != b for a, b in sizes if min(a, b) >= 0):
                return None
        if len(rows) and last is None:
            # the call on the host and its kernels: what took longest
            row = max(recorded.row[rows].tolist(), key=lambda event: int(events.duration[event]))
            last = TracedCall(call, row, int(events.start[row]), max(int(events.duration[row]), 0))
    return last


def _plain(operator: str) -> str:
    """Write an operator as torch's two recorders have in common: `_allgather_base` for `_all_gather_base`."""
    return operator.replace("_", "").lower()
