"""Which record is meant: the peak, the end, a failed allocation, or a number."""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Bytes, Ns
from torch_tb_profiler.analysis.question import NotFound, Refused
from torch_tb_profiler.analysis.snapshot.curves import History, histories
from torch_tb_profiler.analysis.snapshot.device import about
from torch_tb_profiler.model import Model
from torch_tb_profiler.snapshot.schema import NO_TIME, Action
from torch_tb_profiler.snapshot.state import is_snapshot
from torch_tb_profiler.words.reasons import because

MomentKind = Literal["start", "peak", "reserved_peak", "snapshot", "oom", "end", "record"]
"""What was asked for; `record`: the number of a record."""

#: earlier dumps and failed allocations that are offered
MOST_OF_A_KIND = 50


class Moment(msgspec.Struct, frozen=True):
    """A moment worth looking at.

    kind       what it is
    position   number of the last record that counts; -1 before the first
    time_ns    of that record since the start of the recording; None if none was recorded
    requested  in use after it
    reserved   segments after it
    """

    kind: MomentKind
    position: int
    time_ns: Ns | None
    requested: Bytes
    reserved: Bytes


def moments(history: History) -> tuple[Moment, ...]:
    """The start, both peaks, earlier dumps, failed allocations and the end, in this order."""
    curves, records = history.curves, history.device
    found: list[tuple[MomentKind, int]] = [
        ("start", -1),
        ("peak", curves.peak(curves.requested)),
        ("reserved_peak", curves.peak(curves.reserved)),
    ]
    for kind, action in (("snapshot", Action.SNAPSHOT), ("oom", Action.OOM)):
        places = np.flatnonzero(records.is_action(action))[:MOST_OF_A_KIND].tolist()
        found += [("oom" if kind == "oom" else "snapshot", place) for place in places]
    found.append(("end", history.last))
    return tuple(moment(history, kind, position) for kind, position in found)


def moment(history: History, kind: MomentKind, position: int) -> Moment:
    curves = history.curves
    return Moment(
        kind,
        position,
        time_at(history, position),
        int(curves.requested[position + 1]),
        int(curves.reserved[position + 1]),
    )


def time_at(history: History, position: int) -> int | None:
    """ns since the start of the recording; of what is before the first record that of the first."""
    time = history.device.records.time
    if not len(time):
        return None
    found = int(time[max(position, 0)])
    return None if found == NO_TIME else found


def device_history(model: Model, device: int | None) -> History:
    """Of a device by its number, without one of the first. Raises NotFound."""
    found = histories(model)
    for each in found:
        if device in (None, each.device.number):
            return each
    if not is_snapshot(model.trace):
        raise NotFound(because("no_snapshot"))
    if not found:
        raise NotFound(because("empty_cut_off" if about(model).get("cut_off") else "empty_snapshot"))
    raise NotFound(because("no_memory_of", {"device": str(device), "snapshot": True}))


def position_of(history: History, at: str) -> int:
    """The record that a request means. Raises Refused."""
    return moment_of(history, at).position


def moment_of(history: History, at: str) -> Moment:
    """What a request means; of the number of a record the kind is `record`. Raises Refused."""
    if (found := find_moment(history, at)) is not None:
        return found
    known = "start, peak, reserved_peak, end, oom, snapshot, or the number of a record"
    raise Refused(f"there is no moment {at[:40]!r} here; there are {known}")


def find_moment(history: History, at: str) -> Moment | None:
    """As `moment_of`; None if there is none."""
    text = at.strip().lower()
    if text.lstrip("-").isdigit() and len(text) < 19:
        return moment(history, "record", min(max(int(text), -1), history.last))
    return next((each for each in moments(history) if each.kind == text), None)
