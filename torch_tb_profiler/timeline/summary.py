"""The stored summary of each rank, for the overview of a run."""

from __future__ import annotations

from typing import Annotated

import msgspec
import numpy as np

from torch_tb_profiler.analysis.shared.device_roles import BUSY, COMMUNICATING, NO_ROLE, Role, roles_of
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.timeline.lanes import Placed
from torch_tb_profiler.timeline.links import TimelineInputs
from torch_tb_profiler.trace import Category, Trace

BINS = 1024

#: limit of a time in a trace, ns: the sum of two fits in 64 bits
_Ns = Annotated[int, msgspec.Meta(ge=-(2**62), le=2**62)]


class TimelineSummary(msgspec.Struct, frozen=True):
    """Of one trace; times in ns from its start.

    origin_ns  of time 0; of the epoch when `of_epoch`
    device     time in which device work ran in each of `BINS` equal parts of begin … end; empty if there was none
    host, communication: the same of operators and of communication kernels
    step_ns    where its steps begin
    """

    origin_ns: _Ns
    of_epoch: bool
    begin_ns: _Ns
    end_ns: _Ns
    events: int
    slices: int
    device: list[_Ns]
    host: list[_Ns]
    communication: list[_Ns]
    step_ns: list[_Ns]

    @property
    def size(self) -> int:
        """Return about how many bytes it takes in memory."""
        return 200 + 32 * (len(self.device) + len(self.host) + len(self.communication) + len(self.step_ns))


def edges(begin: int, end: int, bins: int = BINS) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the edges of equal bins from `begin` to `end`, ns, shape (bins + 1,)."""
    # time × bins overflows int64 if a trace spans months
    return np.array([begin + number * (end - begin) // bins for number in range(bins + 1)], np.int64)


def summarize(trace: Trace, inputs: TimelineInputs, placed: Placed, begin: int, end: int) -> TimelineSummary:
    events = trace.events
    cuts = edges(begin, end)

    def covered(ran: intervals.Spans, slices: int) -> list[int]:
        if not slices:
            return []
        shares: list[int] = intervals.Coverage(ran).between(cuts[:-1], cuts[1:]).tolist()
        return shares

    work = trace.device_work.row
    role = roles_of(events.category[work], inputs.links.work.is_communication > 0)
    of_work = events.start[work], events.end[work], role
    operators = np.flatnonzero(events.category == Category.OPERATOR)
    return TimelineSummary(
        origin_ns=trace.origin_ns,
        of_epoch=trace.header.base_time_ns is not None or trace.origin_ns > _YEAR_2000,
        begin_ns=begin,
        end_ns=end,
        events=len(events),
        slices=int(np.count_nonzero(placed.of_row >= 0)),
        device=covered(BUSY.spans_of(*of_work), int(np.count_nonzero(role != NO_ROLE))),
        host=covered(intervals.union(events.start[operators], events.end[operators]), len(operators)),
        communication=covered(COMMUNICATING.spans_of(*of_work), int(np.count_nonzero(role == Role.COMMUNICATION))),
        step_ns=list(inputs.step_ns),
    )


#: ns since the epoch; a smaller time stamp counts from the start of the machine
_YEAR_2000 = 946_684_800 * 10**9
