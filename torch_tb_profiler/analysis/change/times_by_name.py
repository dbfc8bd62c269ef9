"""What kernels, operators and calls did, by name and step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count, Ns
from torch_tb_profiler.analysis.kernels import by_owner
from torch_tb_profiler.analysis.shared.operator_times import operator_times, step_of_times, steps_of_work
from torch_tb_profiler.arrays.distinct import distinct_places
from torch_tb_profiler.arrays.grouping import group, sums_at
from torch_tb_profiler.arrays.types import Int64, Ints
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category

#: of a table; what took least is put together
MOST_NAMES = 1000

Times = Annotated[list[Ns], Meta(description="one for each step")]
Calls = Annotated[list[Count], Meta(description="one for each step")]


class TimesOfName(msgspec.Struct, frozen=True, kw_only=True):
    """What one name did in each step.

    name       of the kernel, operator or call
    owner      for a kernel: what launched most of its time, an operator by its name; otherwise null
    calls      how often it ran
    device_ns  Σ durations of the kernel, or of all that the operator launched itself; 0 of a call
    host_ns    Σ of the operator's own time on the host, or of the call; 0 of a kernel
    """

    name: str
    owner: str | None
    calls: Calls
    device_ns: Times
    host_ns: Times


class TimesByName(msgspec.Struct, frozen=True, kw_only=True):
    """All names of a kind, by time on devices and on the host together, descending, then by name.

    names     of each what it did; at most 1,000
    left_out  how many names there were beyond these
    rest      what those did together; null without any
    """

    names: list[TimesOfName]
    left_out: Count
    rest: TimesOfName | None

    def of(self, name: str) -> TimesOfName | None:
        """Look up a name; None if nothing of this name is known."""
        return next((each for each in self.names if each.name == name), None)

    def calls_of(self, name: str, steps: int) -> list[int] | None:
        """Return how often it ran in each step; 0 if it did not occur, None if it may be among those left out."""
        found = self.of(name)
        if found is not None:
            return found.calls
        return None if self.left_out else [0] * steps


def kernels_by_name(model: Model) -> TimesByName:
    """Sum every kernel of the steps."""
    inside = model.in_steps
    work, step = steps_of_work(model)
    is_kernel = inside.device_category[work] == Category.KERNEL
    work, step = work[is_kernel], step[is_kernel]
    row = inside.device_work.row[work]
    duration = np.maximum(model.trace.events.duration[row], 0)
    codes, text = by_owner(inside)
    return _table(
        model,
        model.trace.events.name[row],
        step,
        device=duration,
        host=np.zeros_like(duration),
        owner=(codes[work], text),
    )


def operators_by_name(model: Model) -> TimesByName:
    """Sum every operator of the steps, duplicates collapsed."""
    inside = model.in_steps
    times = operator_times(inside)
    tree = inside.tree
    step = step_of_times(model, tree.start[times.node])
    return _table(model, tree.name[times.node], step, device=times.device_self, host=times.host_self)


def calls_by_name(model: Model) -> TimesByName:
    """Sum every call of the runtime's or driver's API in the steps; one inside another has no time of its own."""
    inside, events = model.in_steps, model.trace.events
    row = inside.launches.row
    duration = inside.launch_links.duration
    step = step_of_times(model, events.start[row])
    return _table(model, events.name[row], step, device=np.zeros_like(duration), host=duration)


def _table(
    model: Model,
    name: Ints,
    step: Int64,
    device: Int64,
    host: Int64,
    owner: tuple[Int64, Callable[[int], str]] | None = None,
) -> TimesByName:
    """Sum by name and step. All of shape (n,): names as codes, steps, ns; owners as numbers, and the text of a
    number.
    """
    steps = len(model.steps)
    codes, place = distinct_places(name)
    at, size = place * max(steps, 1) + step, len(codes) * steps
    shape = len(codes), steps
    calls = np.bincount(at, minlength=size).reshape(shape)
    device_ns, host_ns = (sums_at(at, values, size).reshape(shape) for values in (device, host))
    owners = None if owner is None else _owners(place, device, *owner)
    texts = [str(model.trace.strings[code]) for code in codes.tolist()]
    total = (device_ns.sum(axis=1) + host_ns.sum(axis=1)).tolist()
    order = sorted(range(len(codes)), key=lambda number: (-total[number], texts[number]))
    shown, others = order[:MOST_NAMES], order[MOST_NAMES:]
    rest = None
    if others:
        sums = (table[others].sum(axis=0).tolist() for table in (calls, device_ns, host_ns))
        rest = TimesOfName(name="", owner=None, **dict(zip(("calls", "device_ns", "host_ns"), sums, strict=True)))
    return TimesByName(
        names=[
            TimesOfName(
                name=texts[number],
                owner=None if owners is None else owners[number],
                calls=calls[number].tolist(),
                device_ns=device_ns[number].tolist(),
                host_ns=host_ns[number].tolist(),
            )
            for number in shown
        ],
        left_out=len(others),
        rest=rest,
    )


def _owners(place: Int64, time: Int64, owner: Int64, text: Callable[[int], str]) -> list[str]:
    """Return the owner of most of the time of each name; of equal ones the first by text."""
    pairs = group([place, owner])
    spent = pairs.sum(time).tolist()
    best: dict[int, tuple[int, str]] = {}
    for at, first in enumerate(pairs.first.tolist()):
        known = -spent[at], text(int(owner[first]))
        name = int(place[first])
        best[name] = min(best.get(name, known), known)
    return [best[name][1] for name in range(len(best))]
