"""The periods of steps: from the end of the step before to the end of the device work that a step launched."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import distinct, isin
from torch_tb_profiler.arrays.grouping import greatest_at, group, least_at
from torch_tb_profiler.arrays.lookup import window_of
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.model.call_tree import ROUNDING_NS
from torch_tb_profiler.model.launches import DeviceLinks, is_work, launched_in
from torch_tb_profiler.model.steps.types import HostSteps, Steps
from torch_tb_profiler.trace import Trace, note

#: a last step is cut off if the share of its launched work that ran is below this multiple of that of earlier steps
WHOLE_STEP_SHARE = 0.8
#: a device is behind the host only if its work waited at least this share of its delay
WAITED_SHARE = 0.25


def with_periods(trace: Trace, device: DeviceLinks, rule: str, host: HostSteps) -> Steps:
    """Give steps their periods; a last step that was cut off is left out. At least one step remains.

    E_k = max(end of the mark, end of the last work launched in it, E_{k-1}); the period of step k is E_{k-1} … E_k.

    Device work of the step before the first is often not recorded. If the device still works for the first step when
    the second begins on the host, assume that it was as far behind when the first began there: if the work of the first
    step waited for the device, the first period begins at that delay. Otherwise the device was idle before, and needed
    `fill_ns` to fall behind.
    """
    work = _StepWork.of(trace, device, host)
    reached = np.where(work.count > 0, np.maximum(host.end, work.last), host.end)
    end = np.maximum.accumulate(np.maximum(reached, host.start))
    start = np.append(host.start[:1], end[:-1])
    overview_start = np.maximum(start, host.start)
    start[0] = min(max(int(start[0]), work.streams_free), int(end[0]))
    late = max(min(_behind(host, work), int(end[0])) - int(start[0]), 0)
    if work.waited_ns > WAITED_SHARE * late:
        start[0] += late
        late = 0
    overview_start[0] = max(int(overview_start[0]), work.earlier_end)
    n = work.whole_steps()
    notes = []
    if n < len(host.names):
        dropped = host.names[n:]
        notes.append(
            note("incomplete_last_steps", "info", len(dropped), ("overview",), values={"step": ", ".join(dropped)})
        )
    return Steps(
        rule=rule,
        names=tuple(host.names[:n]),
        host_start=host.start[:n],
        host_end=host.end[:n],
        start=start[:n],
        end=end[:n],
        overview_start=overview_start[:n],
        notes=tuple(notes),
        labels=tuple(host.labels[:n]),
        fill_ns=late,
    )


_NEVER = int(np.iinfo(np.int64).min)


def _behind(host: HostSteps, work: _StepWork) -> int:
    """Estimate when the device finished the step before the first, at the latest when it began the first.

    Assumes that it was as far behind the host as one step later.
    """
    if len(host.names) < 2 or not work.count[0]:
        return _NEVER
    behind = int(work.last[0] - host.start[1])
    return min(int(host.start[0]) + behind, work.began) if behind > ROUNDING_NS else _NEVER


class _StepWork(msgspec.Struct, frozen=True):
    """Device work of each host step: how many pieces its launches started, and when the last of them ended.

    called, ran    of the calls that start work elsewhere in the trace, how many were made, and how many started some
                   here
    began          when the stream that works most for the first step began with it
    waited_ns      how long after its launch had returned that was
    streams_free   when the streams of the first step were done with what had been launched before it
    earlier_end    the end of the last work of no step that had ended before any work of the first step began
    """

    count: Int64
    last: Int64
    called: Int64
    ran: Int64
    began: int
    waited_ns: int
    streams_free: int
    earlier_end: int

    @classmethod
    def of(cls, trace: Trace, device: DeviceLinks, host: HostSteps) -> _StepWork:
        events, work = trace.events, trace.device_work
        n = len(host.names)
        chosen, step = launched_in(trace, device, host.start, host.end)
        in_a_step, in_the_first, later = np.zeros((3, len(work)), dtype=np.bool_)
        in_a_step[chosen] = True
        in_the_first[chosen[step == 0]] = True
        launched = np.flatnonzero(is_work(trace) & (device.launch >= 0))
        later[launched] = events.start[trace.launches.row[device.launch[launched]]] >= host.start[0]
        called, ran = _launches(trace, device.launch[launched], host)
        began, waited_ns = _began(trace, device, in_the_first)
        return cls(
            count=np.bincount(step, minlength=n),
            last=greatest_at(step, events.end[work.row[chosen]], n),
            called=called,
            ran=ran,
            began=began,
            waited_ns=waited_ns,
            streams_free=_streams_free(trace, in_the_first, is_work(trace) & ~later),
            earlier_end=_earlier_end(trace, in_the_first, is_work(trace) & ~in_a_step),
        )

    def whole_steps(self) -> int:
        """Count the steps without the last ones that have no device work, and without one that was cut off.

        A step is cut off if it launched more work than was recorded to run, not if it does less than the step before.
        """
        with_work = np.flatnonzero(self.count)
        if len(self.count) <= 1 or not len(with_work):
            return len(self.count)
        i = int(with_work[-1])
        usual = self.ran[:i].sum() / max(int(self.called[:i].sum()), 1)
        if i > 0 and self.ran[i] < usual * self.called[i] * WHOLE_STEP_SHARE:
            return i
        return i + 1


def _began(trace: Trace, device: DeviceLinks, own: Bool) -> tuple[int, int]:
    """Return when the stream with the most `own` work began it, and the time since the end of its launch, ns."""
    events, work, mine = trace.events, trace.device_work, np.flatnonzero(own)
    if not len(mine):
        return _NEVER, 0
    streams = group([work.device[mine], work.stream[mine]])
    mine = mine[streams.inverse == np.argmax(streams.sum(events.duration[work.row[mine]]))]
    first = mine[np.argmin(events.start[work.row[mine]])]
    began = int(events.start[work.row[first]])
    return began, began - int(events.end[device.launch_row[first]])


def _streams_free(trace: Trace, own: Bool, earlier: Bool) -> int:
    """Return when the streams of `own` work had finished the `earlier` work queued before it."""
    events, work = trace.events, trace.device_work
    mine = np.flatnonzero(own)
    if not len(mine) or not earlier.any():
        return _NEVER
    streams = group([work.device, work.stream])
    first = least_at(streams.inverse[mine], events.start[work.row[mine]], len(streams))
    used = np.zeros(len(streams), np.bool_)
    used[streams.inverse[mine]] = True
    before = np.flatnonzero(earlier & used[streams.inverse])
    before = before[events.start[work.row[before]] < first[streams.inverse[before]]]
    return int(events.end[work.row[before]].max(initial=_NEVER))


def _earlier_end(trace: Trace, own: Bool, of_no_step: Bool) -> int:
    """Return the end of the last work of no step that had ended before any `own` work began, on whatever stream."""
    rows = trace.device_work.row
    if not own.any():
        return _NEVER
    ends = trace.events.end[rows[of_no_step]]
    return int(ends[ends < trace.events.start[rows[own]].min()].max(initial=_NEVER))


def _launches(trace: Trace, launched: Int32, host: HostSteps) -> tuple[Int64, Int64]:
    """Count per host step the calls of an API that starts device work in the trace, and those that started some."""
    events, rows = trace.events, trace.launches.row
    n = len(host.names)
    started = np.zeros(len(rows), dtype=np.bool_)
    started[launched] = True
    starts_work = isin(events.name[rows], distinct(events.name[rows[started]]))
    begin, finish = events.start[rows], events.end[rows]
    step = window_of(host.start, host.end, begin, finish)
    inside = (step >= 0) & starts_work
    return np.bincount(step[inside], minlength=n), np.bincount(step[inside & started], minlength=n)
