"""Which kernels and operators the parts of the steps belong to: every nanosecond of the waterfall once.

A kernel has the part of its time that no kernel of the same cause that began earlier covers. What is left of it while
the waterfall gives the moment to that cause, within the steps, is its share: the shares of a cause add up to the cause.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count, Ns
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.kernels import by_owner
from torch_tb_profiler.analysis.shared.operator_times import operator_times, step_of_times, steps_of_work
from torch_tb_profiler.analysis.shared.owners import owner_names
from torch_tb_profiler.analysis.waterfall.causes import BUSY
from torch_tb_profiler.analysis.waterfall.waterfall import Waterfall, busy_sets, first_set, waterfall, works_of
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.distinct import distinct, distinct_places
from torch_tb_profiler.arrays.grouping import descending, group, sums_at
from torch_tb_profiler.arrays.intervals import Spans
from torch_tb_profiler.arrays.lookup import find, take_known
from torch_tb_profiler.arrays.nesting import nearest, to_root
from torch_tb_profiler.arrays.types import Bool, Int64, Ints
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.owners import OwnerKind
from torch_tb_profiler.trace import Category

#: causes in which a thread was in operators; shared out by the outermost of them
_OPERATORS = ("host.operator", "idle.host.operator")
#: at most this many threads are looked at, those with the most time first; the time of others has no name
_MOST_LANES = 16


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """What things of one name have of a cause, summed over the steps and devices of a recording.

    cause       of the waterfall
    operator    the operator, or what else launched the kernel; of host time the outermost operator. Empty if
                unknown
    is_operator whether it is an operator
    outermost   the outermost operator around it; empty if there is none
    shapes      of the inputs of the operator, as the trace writes them; empty if not recorded
    kernel      name of the kernel, copy or fill; empty of host time
    place       which of the kernels of a call of the operator it is, 0 for the first; the least of all calls
    calls       how many of them touch the steps
    exposed_ns  what they have of the cause
    full_ns     their durations, as far as they lie in the steps
    """

    cause: str
    operator: str
    is_operator: bool
    outermost: str
    shapes: str
    kernel: str
    place: int
    calls: int
    exposed_ns: int
    full_ns: int


class StepShares(msgspec.Struct, frozen=True, kw_only=True):
    """The steps of a recording, or some of them, as sums over steps and devices.

    steps    how many
    devices  how many devices the sums are over; 1 of a host
    step_ns  Σ periods of the steps (once, however many devices)
    causes   ns of each cause of the waterfall; they add up to `step_ns` × `devices`
    shares   of kernels and operators; of each cause of work they add up to the cause
    """

    steps: int
    devices: int
    step_ns: int
    causes: dict[str, int]
    shares: tuple[Share, ...]


def step_shares(model: Model, kept: tuple[int, ...] | None = None) -> StepShares:
    """Share out the steps. kept: positions of the steps that count; None for all."""
    return _step_shares(model, kept)


@cached
def _step_shares(model: Model, kept: tuple[int, ...] | None) -> StepShares:
    parts = waterfall(model)
    chosen = np.arange(len(parts.step_ns)) if kept is None else np.array(kept, np.int64)
    sums = parts.ns[:, chosen].sum(axis=(0, 1)).tolist()
    start, end = model.steps.start[chosen], model.steps.end[chosen]
    lasting = np.flatnonzero(end > start)
    windows = Spans(start[lasting], end[lasting])
    shares: list[Share] = []
    if windows.size:
        of_work, ids = _work(model, parts, windows), _Ids(model)
        shares = [*ids.shares(of_work), *_of_operators(model, parts, windows, chosen)]
    return StepShares(
        steps=len(chosen),
        devices=max(len(parts.devices), 1),
        step_ns=int(parts.step_ns[chosen].sum()),
        causes={cause: ns for cause, ns in zip(parts.causes, sums, strict=True) if ns},
        shares=tuple(shares),
    )


def own_parts(start: Int64, end: Int64, within: Spans) -> Int64:
    """Return shape (n,), ns: the part of each interval inside `within` that no earlier one covers.

    start, end   shape (n,), by start
    within       do not touch each other

    >>> own_parts(np.array([0, 2, 3]), np.array([4, 9, 5]), Spans(np.array([1]), np.array([7]))).tolist()
    [3, 3, 0]
    """
    covered = np.maximum.accumulate(np.append(np.iinfo(np.int64).min, end))[:-1]
    begin = np.minimum(np.maximum(start, covered), end)
    lengths: Int64 = intervals.Coverage(within).between(begin, end)
    return lengths


class _Work(msgspec.Struct):
    """Parallel: index into Model.device_work, position in BUSY, exposed and full time in ns."""

    work: Int64
    code: Int64
    exposed: Int64
    full: Int64


def _work(model: Model, found: Waterfall, windows: Spans) -> _Work:
    parts: list[tuple[Int64, ...]] = []
    cover = intervals.Coverage(windows)
    for device in found.devices:
        overlay = intervals.overlay(busy_sets(model, device))
        first = first_set(overlay)
        for code, meaning in enumerate(BUSY):
            if meaning.cause not in found.causes:
                continue
            mine, start, end = works_of(model, device, code)
            order = np.lexsort((-end, start))
            mine, start, end = mine[order], start[order], np.maximum(end, start)[order]
            at = first == code
            within = intervals.intersection(Spans(overlay.start[at], overlay.end[at]), windows)
            touching = _touching(windows, start, end)
            exposed = own_parts(start, end, within)
            kept = np.flatnonzero(touching)
            parts.append((mine[kept], np.full(len(kept), code), exposed[kept], cover.between(start, end)[kept]))
    if not parts:
        nothing = np.empty(0, np.int64)
        return _Work(nothing, nothing, nothing, nothing)
    return _Work(*(np.concatenate(column).astype(np.int64) for column in zip(*parts, strict=True)))


def _touching(windows: Spans, start: Int64, end: Int64) -> Bool:
    """Mark intervals that have a moment in a window; one without length counts where it begins."""
    last = np.searchsorted(windows.start, np.maximum(end, start + 1), side="left") - 1
    found: Bool = (last >= 0) & (np.append(windows.end, 0)[last] > start)
    return found


class _Ids:
    """What tells one kernel from another: names as texts."""

    def __init__(self, model: Model) -> None:
        self._model = model
        trace, owners = model.trace, model.owners
        self._names = owner_names(model)
        rows = owners.row.astype(np.int64)
        shape = np.full(len(rows), -1, np.int64)
        known = find(trace.operators.row.astype(np.int64), rows)
        if len(trace.operators):
            shape = take_known(trace.operators.input_dims, known).astype(np.int64)
        self._shape = shape
        self._outermost = _outermost(model)
        self._place = _places(model)

    def shares(self, work_of_causes: _Work) -> list[Share]:
        model, strings = self._model, self._model.trace.strings
        kernel = model.trace.events.name[model.device_work.row[work_of_causes.work]]
        owner, outer, shape = (
            self._names.code[work_of_causes.work],
            self._outermost[work_of_causes.work] + 1,
            self._shape[work_of_causes.work] + 1,
        )
        groups = group([work_of_causes.code, owner, outer, shape, kernel])
        calls, exposed, full = groups.count(), groups.sum(work_of_causes.exposed), groups.sum(work_of_causes.full)
        place = groups.min(self._place[work_of_causes.work])
        rows = []
        for number, first in enumerate(groups.first.tolist()):
            work = int(work_of_causes.work[first])
            name = self._names.names[int(self._names.code[work])]
            rows.append(
                Share(
                    cause=BUSY[int(work_of_causes.code[first])].cause,
                    operator=(name.name or "") if name.is_operator else name.text,
                    is_operator=name.is_operator,
                    outermost=_text(strings, int(self._outermost[work])),
                    shapes=_text(strings, int(self._shape[work])),
                    kernel=str(strings[int(kernel[first])]),
                    place=int(place[number]),
                    calls=int(calls[number]),
                    exposed_ns=int(exposed[number]),
                    full_ns=int(full[number]),
                )
            )
        return rows


def _text(strings: Any, code: int) -> str:
    return str(strings[code]) if code >= 0 else ""


def _outermost(model: Model) -> Int64:
    """Return shape (device work,): name of the outermost operator around the launch, a string code; -1 for none."""
    tree = model.tree
    around = nearest(tree.parent, tree.is_operator, tree.parent)
    outermost = to_root(np.where(around >= 0, around, np.arange(len(around), dtype=np.int32)))
    node = take_known(outermost, model.device_links.operator_node)
    return take_known(tree.name, node).astype(np.int64)


def _places(model: Model) -> Int64:
    """Return shape (device work,): how many kernels of the same call of the operator began before."""
    owners, row = model.owners, model.device_work.row
    place = np.zeros(len(row), np.int64)
    of = np.flatnonzero((owners.how == OwnerKind.OPERATOR) & model.is_work)
    of = of[np.argsort(model.trace.events.start[row[of]], kind="stable")]
    place[of] = group([owners.row[of]]).nth()
    return place


def _of_operators(model: Model, parts: Waterfall, windows: Spans, chosen: Int64) -> list[Share]:
    """Share out host time in operators, by the outermost: of the thread itself, else of another that it waits for."""
    shares: list[Share] = []
    for cause in _OPERATORS:
        if cause not in parts.causes:
            continue
        gaps = parts.gaps.take((parts.gaps.cause == parts.causes.index(cause)) & np.isin(parts.gaps.step, chosen))
        tree = model.structure.tree
        outermost = np.flatnonzero(tree.is_operator & (nearest(tree.parent, tree.is_operator, tree.parent) < 0))
        lanes = distinct(gaps.track).astype(np.int64)
        time = np.array([gaps.duration_ns[gaps.track == lane].sum() for lane in lanes.tolist()], np.int64)
        nodes, exposed = np.empty(0, np.int64), np.empty(0, np.int64)
        for lane in lanes[descending(time)][:_MOST_LANES].tolist():
            for device in distinct(gaps.device).tolist():
                mine = gaps.take((gaps.track == lane) & (gaps.device == device))
                within = intervals.union(mine.start_ns, mine.start_ns + mine.duration_ns)
                for own in (True, False):
                    ops = outermost[(tree.track[outermost] == lane) == own]
                    ops = ops[np.lexsort((-tree.end[ops], tree.start[ops]))]
                    nodes = np.append(nodes, ops)
                    exposed = np.append(exposed, own_parts(tree.start[ops], tree.end[ops], within))
                    within = intervals.subtraction(within, intervals.union(tree.start[ops], tree.end[ops]))
        shares += _by_operator(model, cause, sums_at(nodes, exposed, len(tree)), outermost, windows)
    return shares


def _by_operator(model: Model, cause: str, exposed: Int64, outermost: Int64, windows: Spans) -> list[Share]:
    tree, strings = model.structure.tree, model.trace.strings
    there = outermost[_touching(windows, tree.start[outermost], tree.end[outermost])]
    groups = group([tree.name[there]])
    full = intervals.Coverage(windows).between(tree.start[there], tree.end[there])
    columns = zip(groups.first, groups.count(), groups.sum(exposed[there]), groups.sum(full), strict=True)
    return [
        Share(
            cause=cause,
            operator=str(strings[int(tree.name[there[first]])]),
            is_operator=True,
            outermost="",
            shapes="",
            kernel="",
            place=0,
            calls=int(calls),
            exposed_ns=int(own),
            full_ns=int(all_),
        )
        for first, calls, own, all_ in columns
    ]


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
        (duration, np.zeros_like(duration)),
        owner=(codes[work], text),
    )


def operators_by_name(model: Model) -> TimesByName:
    """Sum every operator of the steps, duplicates collapsed."""
    inside = model.in_steps
    times = operator_times(inside)
    tree = inside.tree
    step = step_of_times(model, tree.start[times.node])
    return _table(model, tree.name[times.node], step, (times.device_self, times.host_self))


def calls_by_name(model: Model) -> TimesByName:
    """Sum every call of the runtime's or driver's API in the steps; one inside another has no time of its own."""
    inside, events = model.in_steps, model.trace.events
    row = inside.launches.row
    duration = inside.launch_links.duration
    step = step_of_times(model, events.start[row])
    return _table(model, events.name[row], step, (np.zeros_like(duration), duration))


def _table(
    model: Model,
    name: Ints,
    step: Int64,
    ns: tuple[Int64, Int64],
    owner: tuple[Int64, Callable[[int], str]] | None = None,
) -> TimesByName:
    """Sum by name and step. All of shape (n,): names as codes, steps, ns on the device and on the host; owners as
    numbers, and the text of a number.
    """
    steps = len(model.steps)
    codes, place = distinct_places(name)
    at, size = place * max(steps, 1) + step, len(codes) * steps
    shape = len(codes), steps
    calls = np.bincount(at, minlength=size).reshape(shape)
    device_ns, host_ns = (sums_at(at, values, size).reshape(shape) for values in ns)
    owners = None if owner is None else _owners(place, ns[0], *owner)
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
