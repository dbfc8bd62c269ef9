"""The track tree with the steps and the counters of a trace, which the Trace view asks first; labels and colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Count, Ns, TraceMeta
from torch_tb_profiler.analysis.question import NoParameters, Question, Subject
from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.types import Int32, UInt8
from torch_tb_profiler.model.event_names import frame_label
from torch_tb_profiler.model.kernel_names.short import short_name
from torch_tb_profiler.timeline.counters import extremes
from torch_tb_profiler.timeline.lanes import BAND_NAMES, BandName
from torch_tb_profiler.timeline.pyramid import tile_length, width_of
from torch_tb_profiler.timeline.question import EXAMPLES, NUMBERS_PATTERN, TimelineVersion, needed, numbers
from torch_tb_profiler.timeline.series import COUNTER_KINDS, Counter, CounterKind, CounterUnit
from torch_tb_profiler.timeline.timeline import RANGES, Timeline
from torch_tb_profiler.timeline.tree import DrawnTrack, EventAccount, Tree, account, tree_of
from torch_tb_profiler.trace import Category
from torch_tb_profiler.trace.schema import DEVICE_WORK

#: by the code in binary answers: the categories of the trace, and communication, which has its own colour
DRAWN_CATEGORIES = (*(category.name.lower() for category in Category), "communication")
COMMUNICATION = len(Category)


def drawn_categories(timeline: Timeline, rows: Int32) -> UInt8:
    """Return indexes into `DRAWN_CATEGORIES`, parallel to `rows`."""
    events = timeline.trace.events
    found = events.category[rows].copy()
    is_work = np.flatnonzero(one_of(found, DEVICE_WORK))
    place = np.searchsorted(timeline.trace.device_work.row, rows[is_work])
    found[is_work[timeline.links.work.is_communication[place] > 0]] = COMMUNICATION
    is_range = np.flatnonzero(one_of(found, RANGES))
    found[is_range[timeline.is_communication_name[events.name[rows[is_range]]]]] = COMMUNICATION
    return found


def label(timeline: Timeline, code: int) -> str:
    """Return the text on a slice with this name (a string of the trace): the name, or a shorter one."""
    name = timeline.trace.strings[code]
    if timeline.is_kernel_name[code]:
        return short_name(name)
    return frame_label(name)


MOST_NAMES = 10_000

_IDS = "Numbers of names and ranges; without it from and count are required."


class NameNumbers(msgspec.Struct, frozen=True):
    """Some of them, or a range."""

    ids: Annotated[str, Meta(pattern=NUMBERS_PATTERN, examples=EXAMPLES, description=_IDS)] | None = None
    first: Annotated[int, Meta(ge=0, description="The first name.")] | None = msgspec.field(name="from", default=None)
    count: Annotated[int, Meta(ge=1, le=MOST_NAMES, description="How many names.")] | None = None


class NamesOfSlices(msgspec.Struct, frozen=True):
    """Names by number; those that do not exist are left out.

    total   how many names there are
    ids     number of each of the names here
    names   parallel to ids
    labels  the text on slices of that name, if shorter than the name; null for the name itself; parallel to ids
    """

    total: Count
    ids: list[Count]
    names: list[str]
    labels: list[str | None]


def _names(timeline: Timeline, params: NameNumbers) -> NamesOfSlices:
    if params.ids is not None:
        ids = numbers("ids", params.ids, MOST_NAMES)
    else:
        first = needed("from", params.first)
        ids = first + np.arange(needed("count", params.count))
    known = ids[ids < len(timeline.names)].tolist()
    codes = timeline.names.code[known].tolist()
    names = [timeline.trace.strings[code] for code in codes]
    labels = [label(timeline, code) for code in codes]
    return NamesOfSlices(
        len(timeline.names),
        known,
        names,
        [None if written == name else written for written, name in zip(labels, names, strict=True)],
    )


TIMELINE_NAMES = Question(
    name="timeline/names",
    summary="Texts of names",
    compute=_names,
)


class TimelineSteps(msgspec.Struct, frozen=True):
    """The steps, in order, as parallel lists.

    rule         by which they were found
    names        of the steps
    start_ns     where each begins
    duration_ns  how long each lasts
    """

    rule: str
    names: list[str]
    start_ns: list[Ns]
    duration_ns: list[Ns]

    def around(self, start: int, end: int) -> list[str]:
        """Return the names of the steps that an interval (ns) lies in, in order; of a moment the one it is in."""
        return [
            name
            for name, begin, duration in zip(self.names, self.start_ns, self.duration_ns, strict=True)
            if begin < max(end, start + 1) and start < begin + duration
        ]


class TimelineStepsAnswer(Answer, frozen=True, kw_only=True):
    """The steps of a trace.

    meta   which trace
    steps  where they are
    """

    meta: TraceMeta
    steps: TimelineSteps


def _steps(subject: Subject, _: NoParameters) -> TimelineStepsAnswer:
    steps = subject.model.steps
    return TimelineStepsAnswer(
        meta=TraceMeta(**subject.about("trace")),
        steps=TimelineSteps(steps.rule, list(steps.names), steps.start.tolist(), (steps.end - steps.start).tolist()),
    )


TIMELINE_STEPS = Question(
    name="timeline/steps",
    summary="Steps alone",
    tag="timeline",
    compute=_steps,
    precompute=(NoParameters(),),
)


class TimelineLevel(msgspec.Struct, frozen=True):
    """How coarse tiles can be.

    level     number of the level; 0: every slice as it is
    width_ns  slices shorter than this are merged into cells
    tile_ns   the length of a tile
    """

    level: Count
    width_ns: Ns
    tile_ns: Ns


class LaneColumns(msgspec.Struct, frozen=True):
    """Parallel lists; the position is the number of the lane.

    track             id of the track it belongs to
    band              what each lane shows
    depth             how many lanes of its band are above it
    slices            how many slices and instants
    busy_ns           Σ of their durations
    begin_ns, end_ns  where the first begins, where the last ends
    """

    track: list[int]
    band: list[BandName]
    depth: list[Count]
    slices: list[Count]
    busy_ns: list[Ns]
    begin_ns: list[Ns]
    end_ns: list[Ns]


class CounterSeries(msgspec.Struct, frozen=True):
    """A counter of one device, or one of the file.

    id        for the parameter `ids`
    kind      what is counted
    name      that a person reads
    device    whose counter it is; of a counter of the file its number
    unit      of its values
    min, max  over the whole trace, in `unit`
    """

    id: str
    kind: CounterKind
    name: str
    device: str
    unit: CounterUnit
    min: float
    max: float


class TimelineAnswer(TimelineStepsAnswer, frozen=True, kw_only=True):
    """What a page needs before it asks for tiles.

    version           for the parameter v
    begin_ns, end_ns  where the first slice begins, where the last one ends
    origin_ns         of time 0, ns since the epoch or the file's own zero
    events            where every event of the file is
    names             how many distinct names of slices there are
    categories        by the code that binary answers have
    levels            levels of detail that tiles can be asked for
    tracks            in the order in which they are drawn, a parent before its parts
    lanes             the lanes of all tracks
    counters          counters that can be asked for
    """

    version: str
    begin_ns: Ns
    end_ns: Ns
    origin_ns: str
    events: EventAccount
    names: Count
    categories: Sequence[str]
    levels: Sequence[TimelineLevel]
    tracks: Sequence[DrawnTrack]
    lanes: LaneColumns
    counters: Sequence[CounterSeries]


def _timeline(
    timeline: Timeline,
    version: TimelineVersion,
    steps: Annotated[TimelineStepsAnswer, TIMELINE_STEPS],
    _: NoParameters,
) -> TimelineAnswer:
    tree = tree_of(timeline)
    return TimelineAnswer(
        meta=steps.meta,
        steps=steps.steps,
        version=version,
        begin_ns=timeline.begin,
        end_ns=timeline.end,
        origin_ns=str(timeline.trace.origin_ns),
        events=account(timeline),
        names=len(timeline.names),
        categories=DRAWN_CATEGORIES,
        levels=[
            TimelineLevel(level, width_of(level), tile_length(level)) for level in range(timeline.highest_level + 1)
        ],
        tracks=tree.tracks,
        lanes=_lanes(timeline, tree),
        counters=[_counter(timeline, counter) for counter in timeline.counters.listed],
    )


def _lanes(timeline: Timeline, tree: Tree) -> LaneColumns:
    lanes = timeline.placed.lanes
    return LaneColumns(
        track=tree.lanes.node.tolist(),
        band=[BAND_NAMES[band] for band in lanes.band.tolist()],
        depth=lanes.depth.tolist(),
        slices=tree.lanes.slices.tolist(),
        busy_ns=tree.lanes.busy.tolist(),
        begin_ns=tree.lanes.begin.tolist(),
        end_ns=tree.lanes.end.tolist(),
    )


def _counter(timeline: Timeline, counter: Counter) -> CounterSeries:
    name, unit = COUNTER_KINDS[counter.kind]
    if counter.kind == "recorded":
        name = timeline.recorded[counter.place].name
    low, high = extremes(timeline, counter)
    return CounterSeries(counter.id, counter.kind, name, counter.device, unit, low, high)


TIMELINE = Question(
    name="timeline",
    summary="The track tree, steps and counters",
    compute=_timeline,
)
