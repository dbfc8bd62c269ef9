"""Ranges that the program, its frameworks and torch name: nested, with their time, by step, and the time between."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.program.known_names import known_names
from torch_tb_profiler.analysis.program.phases import priority_work
from torch_tb_profiler.analysis.question import NoParameters, NotFound, Question, Subject
from torch_tb_profiler.analysis.result import Result, column
from torch_tb_profiler.analysis.shared.backward_callers import UNKNOWN, backward_callers, possible_callers
from torch_tb_profiler.analysis.shared.distribution import distribution
from torch_tb_profiler.analysis.shared.host_threads import main_lane
from torch_tb_profiler.analysis.tabular import Table, TableMeta
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.forest import Forest, paths, preorder
from torch_tb_profiler.arrays.grouping import Groups, first_at, group, sums_at
from torch_tb_profiler.arrays.intervals import Coverage
from torch_tb_profiler.arrays.lookup import places_of
from torch_tb_profiler.arrays.nesting import Nesting, nest
from torch_tb_profiler.arrays.order import inverse
from torch_tb_profiler.arrays.types import Bool, Float64, Int32, Int64, Ints
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.call_tree import ROUNDING_NS
from torch_tb_profiler.model.recording import still_open
from torch_tb_profiler.model.steps import PROFILER_STEP
from torch_tb_profiler.trace import Category

#: what differs from call to call: numbers, addresses, hashes
_VARYING = lazy_pattern(r"0x[0-9a-fA-F]+|\b[0-9a-f]{12,}\b|(?<=CompiledFxGraph )\w+|\d+(?:\.\d+)?")
_COMPILING = lazy_pattern(r"\(dynamo_timed\)$|_data: .*compile_id=|^compile_attempt_")
_FOLDED = "torch.compile …"


class RangeTable(Result, group="ranges"):
    """One row per path of names, in preorder, siblings by the time of their first call."""

    name: tuple[str, ...] = column("Range", "Name; digits, addresses and keys that differ are shown as ….")
    exposed_ns: Int64 = column(
        "Exposed",
        "Time of the steps in which its device work is the running work that was launched first, or in which no "
        "device works while it runs on the main thread.",
        missing_below_zero=True,
    )
    host_total_ns: Int64 = column("Host", "Σ durations; what overlaps counts each time.")
    device_ns: Int64 = column(
        "Device",
        "Σ durations of device work launched inside, on its thread or by a backward pass that it called; empty where "
        "it is unknown who called one.",
        missing_below_zero=True,
    )
    calls: Int64 = column("Calls", "How often it began in the steps.")
    id: Int64 = column("Id", "Number of the entry in the tree.", unit=None, hidden=True)
    parent: Int64 = column(
        "Inside", "The entry around it; -1 at the top.", unit=None, missing_below_zero=True, hidden=True
    )
    writer: tuple[str, ...] = column("Written by", "What writes ranges of this name; user if unknown.")
    names: Int64 = column("Names", "How many different names the entry stands for.", hidden=True)
    host_self_ns: Int64 = column("Host, self", "The same without ranges directly inside.")
    mean_ns: Float64 = column("Mean", "Mean duration on the host.", hidden=True)
    min_ns: Float64 = column("Shortest", "Shortest duration.", hidden=True)
    median_ns: Float64 = column("Median", "Median duration.")
    p99_ns: Float64 = column("99 %", "Duration that 99 % of the calls do not exceed.", hidden=True)
    max_ns: Float64 = column("Longest", "Longest duration.")
    between_ns: Int64 = column(
        "Between", "Median time from the end of a call to the next on the same thread.", missing_below_zero=True
    )
    per_step: Float64 = column("Per step", "Calls divided by steps.", hidden=True)
    longest_row: Int64 = column("Longest call", "Event of the longest call.", unit=None, hidden=True)
    longest_start_ns: Int64 = column("Longest begins", "When the longest call began.", hidden=True)


class RangeCalls(Result, group="range_calls"):
    """The calls of one entry, in the order of time."""

    row: Int64 = column("Event", "Number of the event in its file.", unit=None)
    name: tuple[str, ...] = column("Name", "The name as it was written.")
    step: tuple[str | None, ...] = column("Step", "The step that it began in.")
    start_ns: Int64 = column("Begins", "Since the start of the trace.")
    duration_ns: Int64 = column("Duration", "On the host.")
    device_ns: Int64 = column(
        "Device",
        "Σ durations of device work launched inside, on its thread or by a backward pass that it called; empty where "
        "it is unknown who called one.",
        missing_below_zero=True,
    )
    between_ns: Int64 = column(
        "Since the previous one", "From the end of the previous call on the same thread.", missing_below_zero=True
    )


_NOTHING = np.empty(0, np.int64)
NO_CALLS = RangeCalls(_NOTHING, (), (), _NOTHING, _NOTHING, _NOTHING, _NOTHING)


class NamedCalls(msgspec.Struct, frozen=True):
    """Every range of the steps, in preorder. Parallel, but for `entries`.

    node       position in the call tree of `Model.in_steps`
    duration   ns, as recorded
    outer      the range around it, an index here, -1
    entry      its row of the table
    template   place in `names`
    device     Σ durations of what it launched, ns; -1 where unknown
    exposed    ns; -1 where unknown
    between    ns since the call of the entry before it on its thread ended, -1 for the first
    parents    shape (entries,)
    names      the templates
    """

    node: Int64
    duration: Int64
    outer: Int32
    entry: Int64
    template: Int64
    device: Int64
    exposed: Int64
    between: Int64
    parents: Int32
    names: tuple[str, ...]


def template(name: str) -> str:
    """Strip from a name what differs from call to call.

    >>> template("## Call CompiledFxGraph fv7qlmqxhkd2a5lcgzm4mbglmmq2y4ngq ##"), template("layer 12")
    ('## Call CompiledFxGraph … ##', 'layer …')
    """
    if _COMPILING.search(name):
        return _FOLDED
    return _VARYING.sub("…", name)


@cached
def ranges(model: Model) -> RangeTable:
    """Return the ranges of the chosen steps; of the whole trace without steps."""
    calls = named_calls(model)
    tree, events = model.in_steps.tree, model.trace.events
    row = tree.row[calls.node].astype(np.int64)
    duration = calls.duration
    count = len(calls.parents)
    inside = np.flatnonzero(calls.outer >= 0)
    own = duration - sums_at(calls.outer[inside], duration[inside], len(duration))
    groups = Groups(calls.entry, first_at(calls.entry, np.arange(len(calls.entry)), count))
    spread = distribution(groups, duration)
    known = np.flatnonzero(calls.between >= 0)
    gaps = distribution(Groups(calls.entry[known], np.arange(count)), calls.between[known])
    longest = np.lexsort((-tree.start[calls.node], duration, calls.entry))
    last = longest[np.searchsorted(calls.entry[longest], np.arange(count), side="right") - 1]
    texts = [calls.names[at] for at in calls.template[groups.first].tolist()]
    names = model.trace.strings.texts(tree.name[calls.node[groups.first]])
    different = group([calls.entry, tree.name[calls.node].astype(np.int64)])
    return RangeTable(
        id=np.arange(count),
        parent=calls.parents.astype(np.int64),
        name=tuple(texts),
        writer=tuple(known_names().writer(name) for name in names),
        names=np.bincount(calls.entry[different.first], minlength=count).astype(np.int64),
        calls=spread.count,
        host_total_ns=spread.sum,
        host_self_ns=groups.sum(own),
        device_ns=sums_of_known(groups, calls.device),
        exposed_ns=sums_of_known(groups, calls.exposed),
        mean_ns=spread.mean,
        min_ns=spread.min,
        median_ns=spread.p50,
        p99_ns=spread.p99,
        max_ns=spread.max,
        between_ns=np.where(np.isnan(gaps.p50), -1, np.nan_to_num(gaps.p50)).astype(np.int64),
        per_step=spread.count / max(len(model.steps), 1),
        longest_row=row[last],
        longest_start_ns=events.start[row[last]],
    )


def sums_of_known(groups: Groups, values: Int64) -> Int64:
    """Return the sums of groups, shape (groups,); -1 where one of the values is -1."""
    return np.where(groups.sum((values < 0).astype(np.int64)) > 0, -1, groups.sum(values))


def calls_of_range(model: Model, entry: int) -> RangeCalls | None:
    """Return the calls of one row of the table; None if there is no such row."""
    calls = named_calls(model)
    if not 0 <= entry < len(calls.parents):
        return None
    tree, steps = model.in_steps.tree, model.steps
    place = np.flatnonzero(calls.entry == entry)
    place = place[np.argsort(tree.start[calls.node[place]], kind="stable")]
    node = calls.node[place]
    step = np.searchsorted(steps.host_start, tree.start[node], side="right") - 1
    return RangeCalls(
        row=tree.row[node].astype(np.int64),
        name=tuple(model.trace.strings.texts(tree.name[node])),
        step=tuple(steps.names[each] if each >= 0 else None for each in step.tolist()),
        start_ns=tree.start[node],
        duration_ns=calls.duration[place],
        device_ns=calls.device[place],
        between_ns=calls.between[place],
    )


@cached
def named_calls(model: Model) -> NamedCalls:
    tree, nested = model.in_steps.tree, _nested(model)
    node, nesting = nested.node, nested.nesting
    outer = nesting.parent
    # ranges inside a folded one are folded, too
    of_name = np.zeros(len(model.trace.strings), np.int64)
    known: dict[str, int] = {}
    for code in distinct(tree.name[node]).tolist():
        of_name[code] = known.setdefault(template(model.trace.strings[code]), len(known))
    templates = of_name[tree.name[node]]
    entry, parent = paths(outer, [templates])
    first = first_at(entry, np.arange(len(entry)), len(parent))
    order = preorder(parent, np.argsort(tree.start[node[first]], kind="stable"))
    turned = places_of(order, len(parent) + 1)
    entry = turned[entry]
    return NamedCalls(
        node=node,
        duration=nesting.end - nesting.start,
        outer=outer,
        entry=entry,
        template=templates,
        device=_on_devices(model, nested),
        exposed=_exposed(model, nested),
        between=_between(entry, tree.track[node], nesting.start, nesting.end),
        parents=turned[parent[order]].astype(np.int32),
        names=tuple(known),
    )


class _Nested(msgspec.Struct, frozen=True):
    """Ranges of the steps, nested; parallel to `nesting`.

    node    position in the call tree
    lanes   of the threads; from here on those of marks of steps that cross other ranges
    """

    node: Int64
    nesting: Nesting
    lanes: int

    def add_up(self, track: Ints, time: Int64, amount: Int64) -> Int64:
        """Return Σ of amounts at times of threads, in each range that holds them, shape (ranges,)."""
        own = np.zeros(len(self.node), np.int64)
        for lane in (track, track + self.lanes):
            at = self.nesting.innermost(lane.astype(np.int32), time)
            own += sums_at(at[at >= 0], amount[at >= 0], len(own))
        return Forest(self.nesting.parent).below(own)


@cached
def _nested(model: Model) -> _Nested:
    """Nest ranges as recorded: a mark of a step that crosses other ranges is around none of them, and cuts none."""
    tree, events = model.in_steps.tree, model.trace.events
    node = np.flatnonzero(tree.category == Category.USER_ANNOTATION)
    start, row = tree.start[node], tree.row[node]
    end = np.where(still_open(model.trace)[row], tree.end[node], np.maximum(tree.end[node], events.end[row]))
    steps = model.trace.strings.where(PROFILER_STEP.fullmatch, tree.name[node])[tree.name[node]]
    lanes = len(model.trace.tracks)
    crosses = bool((end > tree.end[node] + ROUNDING_NS).any())
    lane = np.where(steps & crosses, tree.track[node] + lanes, tree.track[node]).astype(np.int32)
    nesting = nest(lane, start, end, np.arange(len(node), dtype=np.int32), ROUNDING_NS)
    return _Nested(node[nesting.order], nesting, lanes)


def _on_devices(model: Model, nested: _Nested) -> Int64:
    inside = model.in_steps
    work = np.flatnonzero(inside.is_work & (inside.device_links.launch_row >= 0))
    duration = np.maximum(model.trace.events.duration[inside.device_work.row[work]], 0)
    return _launched(model, nested, inside.device_links.launch_row[work], duration)


def _launched(model: Model, nested: _Nested, row: Int32, amount: Int64) -> Int64:
    """Shape (ranges,): Σ of amounts that calls launched, in ranges of their thread and of the one that called backward.

    row   of the calls
    Returns -1 for ranges that may have called a backward pass whose caller is unknown.
    """
    events = model.trace.events
    track, time = events.track[row], events.start[row]
    total = nested.add_up(track, time, amount)
    caller = backward_callers(model).at(track, time)
    other = np.flatnonzero(caller >= 0)
    total += nested.add_up(caller[other], time[other], amount[other])
    if (caller == UNKNOWN).any():
        waited, since = possible_callers(model, time[caller == UNKNOWN])
        total[nested.add_up(waited, since, np.ones(len(since), np.int64)) > 0] = -1
    return total


def _exposed(model: Model, nested: _Nested) -> Int64:
    """Return the exposed time of each call: see the definition of the column."""
    whole, steps, nesting = model.whole, model.steps, nested.nesting
    periods = intervals.union(steps.start, steps.end)
    work, by_priority, busy = priority_work(whole)
    row = whole.device_links.launch_row[work[by_priority.source]]
    length = Coverage(periods).between(by_priority.start, by_priority.end)
    known = np.flatnonzero((row >= 0) & (length > 0))
    launched = _launched(model, nested, row[known], length[known])
    idle = Coverage(intervals.subtraction(periods, busy))
    on_main = nesting.lane % max(nested.lanes, 1) == main_lane(whole)
    exposed = launched + np.where(on_main, idle.between(nesting.start, nesting.end), 0)
    return np.where(launched < 0, -1, exposed)


def _between(entry: Int64, track: Int32, start: Int64, end: Int64) -> Int64:
    order = np.lexsort((start, track, entry))
    same = (entry[order][1:] == entry[order][:-1]) & (track[order][1:] == track[order][:-1])
    gap = np.where(same, np.maximum(start[order][1:] - end[order][:-1], 0), -1)
    return np.concatenate(([-1], gap))[: len(order)][inverse(order)].astype(np.int64)


def _ranges(subject: Subject, _: NoParameters) -> Table[TableMeta]:
    model = subject.model
    totals = {"exposed_ns": int((model.steps.end - model.steps.start).sum())}
    return _table(ranges(model), subject, totals)


def _table(found: Result, subject: Subject, totals: Mapping[str, int] | None = None) -> Table[TableMeta]:
    without = () if subject.model.has_device_work else ("device_ns",)
    return found.table(TableMeta(**subject.about("overview")), without=without, totals=totals)


class WhichRange(msgspec.Struct, frozen=True):
    """Whose calls."""

    range: Annotated[int, Meta(description="`id` of a row of /api/ranges, with the same steps.", ge=0)] = 0


def _calls(subject: Subject, params: WhichRange) -> Table[TableMeta]:
    found = calls_of_range(subject.model, params.range)
    if found is None and params.range:
        raise NotFound(f"there is no range {params.range}")
    return _table(NO_CALLS if found is None else found, subject)


PROGRAM_RANGES = Question(
    name="ranges",
    summary="The ranges that the program, its frameworks and torch name, as a tree in a table",
    compute=_ranges,
    precompute=(NoParameters(),),
    more="`parent` is an `id`, null at the top. How names are folded: docs/views/program.md.",
    report=({},),
)

PROGRAM_RANGE_CALLS = Question(
    name="range_calls",
    summary="The calls of one range",
    compute=_calls,
)


class RangesByStep(msgspec.Struct, frozen=True):
    """One row per name and step in which it was called, parallel but for `names` and `left`.

    name     place in `names`
    step     in which the calls begin
    calls    all of them
    host     ns: Σ durations of the calls that are in no other of the same name
    device   ns: Σ durations of what these launched; -1 where unknown
    exposed  ns: of these, as `RangeTable` has it; -1 likewise
    names    the longest on the host first
    left     how many names were left out
    """

    name: Int64
    step: Int64
    calls: Int64
    host: Int64
    device: Int64
    exposed: Int64
    names: tuple[str, ...]
    left: int


_NONE = np.empty(0, np.int64)


def ranges_by_step(model: Model, most: int) -> RangesByStep:
    """Return the `most` ranges that take longest on the host. Marks of steps are no ranges here."""
    tree, strings, steps = model.in_steps.tree, model.trace.strings, model.steps
    codes = tree.name[tree.category == Category.USER_ANNOTATION]
    of_steps = strings.where(PROFILER_STEP.fullmatch, codes)
    if of_steps[codes].all():
        return RangesByStep(_NONE, _NONE, _NONE, _NONE, _NONE, _NONE, (), 0)
    named = named_calls(model)
    ranges = ~of_steps[tree.name[named.node]]
    step = np.searchsorted(steps.host_start, tree.start[named.node], side="right") - 1
    kept = np.flatnonzero(ranges & (step >= 0))
    top = _outermost(named.outer, named.template)[kept]
    template, duration = named.template[kept], named.duration[kept]
    total = sums_at(template[top], duration[top], len(named.names))
    called = np.bincount(template, minlength=len(named.names)) > 0
    known = np.flatnonzero(called)
    chosen = known[np.lexsort((known, -total[known]))][:most]
    place = np.full(len(named.names), -1, np.int64)
    place[chosen] = np.arange(len(chosen))
    inside = place[template] >= 0
    kept, top = kept[inside], top[inside]
    name = place[template[inside]]
    rows = group([name, step[kept]])

    def sums(values: Int64) -> Int64:
        return sums_of_known(Groups(rows.inverse[top], rows.first), values[kept[top]])

    return RangesByStep(
        name=name[rows.first],
        step=step[kept[rows.first]],
        calls=rows.count(),
        host=sums(named.duration),
        device=sums(named.device),
        exposed=sums(named.exposed),
        names=tuple(named.names[at] for at in chosen.tolist()),
        left=len(known) - len(chosen),
    )


def _outermost(outer: Int32, template: Int64) -> Bool:
    """Return which ranges no range of the same name encloses, shape (ranges,)."""
    is_outermost = np.ones(len(outer), np.bool_)
    around = outer.astype(np.int64)
    open_ = np.flatnonzero(around >= 0)
    while len(open_):
        same = template[around[open_]] == template[open_]
        is_outermost[open_[same]] = False
        open_ = open_[~same]
        around[open_] = outer[around[open_]]
        open_ = open_[around[open_] >= 0]
    return is_outermost
