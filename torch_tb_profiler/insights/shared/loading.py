"""How the program waits for its batches, as the rules about input look at it."""

from __future__ import annotations

import re

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.replay.changes import ScaleHost, scale
from torch_tb_profiler.analysis.shared.device_roles import BUSY, all_device_spans
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.intervals import Coverage
from torch_tb_profiler.arrays.lookup import LaneIndex, take_known
from torch_tb_profiler.arrays.nesting import nearest, parents
from torch_tb_profiler.arrays.order import median, percentile
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.rule import Evidence, evidence
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.event_names import is_own_code
from torch_tb_profiler.trace import Category

#: also of what derives from them, as the StatefulDataLoader of torchdata
_SYNCHRONOUS = lazy_pattern(r"SingleProcessDataLoaderIter\.")
_WORKERS = lazy_pattern(r"MultiProcessingDataLoaderIter\.")
#: the frame of torch that makes an iterator with its workers; persistent workers are only restarted
_MADE = lazy_pattern(
    r"(?:^|/)(?:torch/utils/data/|torchdata/stateful_dataloader/stateful_)dataloader\.py\(\d+\): _get_iterator$"
)
#: names that people and frameworks give to loading, whole words
LOADING = lazy_pattern(
    r"(?:^|[^a-z])(?:(?:load|fetch|get|read|next|prepare|wait_for)_?(?:next_?)?(?:train_?)?(?:batch(?:es)?|data|inputs?|"
    r"samples?)|data_?(?:load(?:er|ing)?|fetch(?:ing)?)|(?:train_?)?dataloader_?next|input_?pipeline|"
    r"(?:batch|data|next)_?wait)(?![a-z])",
    re.IGNORECASE,
)
#: fewest batches for the usual time of a batch of workers
FEWEST = 4


class Fetches(msgspec.Struct, frozen=True):
    """The outermost ranges in which the program fetches its next batch, by thread and start. Parallel, shape (n,).

    row            the range
    synchronous    a DataLoader without workers makes the batch in it
    workers        a DataLoader with worker processes hands it over
    iterator       the frame of torch that made the iterator that the batch is the first of; -1 for others, for the
                   first of a thread, and without stacks
    alone          no operator and no other range began on this thread since the fetch before: of two batches at once
    """

    row: Int32
    synchronous: Bool
    workers: Bool
    iterator: Int32
    alone: Bool

    def __len__(self) -> int:
        return len(self.row)

    def take(self, chosen: Bool | Int64) -> Fetches:
        """Select some of them."""
        return Fetches(**{name: getattr(self, name)[chosen] for name in self.__struct_fields__})


def fetches_of(facts: Facts) -> Fetches:
    """Return the fetches that begin in a step."""
    found = _fetches(facts.model)
    return found.take(facts.step_of(found.row) >= 0)


@cached
def _fetches(model: Model) -> Fetches:
    rows, events, strings = outermost(model, model.dataloader_rows), model.trace.events, model.trace.strings
    name, track, start = events.name[rows], events.track[rows], events.start[rows]
    again = np.append(False, track[1:] == track[:-1])[: len(rows)]
    # pipes alone are counted with the workers: what makes their batches is unknown
    synchronous = strings.where(_SYNCHRONOUS.search, name)[name]
    workers = strings.where(_WORKERS.search, name)[name]
    since = np.where(again, np.append(0, events.end[rows][:-1])[: len(rows)], np.iinfo(np.int64).min)
    iterator = np.full(len(rows), -1, np.int32)
    frames = model.trace.python_frames.row
    code = events.name[frames]
    made = frames[strings.where(_MADE.search, code)[code]]
    after = LaneIndex(track, start).first(events.track[made], events.end[made])
    for frame, first in zip(made.tolist(), after.tolist(), strict=True):
        if first >= 0 and again[first] and events.start[frame] >= since[first]:
            iterator[first] = frame
    return Fetches(rows, synchronous, workers, iterator, again & ~_something_between(model, track, since, start))


def _something_between(model: Model, track: Int32, since: Int64, until: Int64) -> Bool:
    """Tell whether an operator or annotation, or a call of a device, of a thread begins in each of some windows."""
    events = model.trace.events
    rows = np.concatenate((model.trace.operators.row, model.trace.launches.row))
    found: Bool = LaneIndex(events.track[rows], events.start[rows]).between(track, since, until) > 0
    return found


def outermost(model: Model, rows: Int32) -> Int32:
    """Ranges of the host that lie in no other of them, by thread and start."""
    events = model.trace.events
    track, start, end = events.track[rows], events.start[rows], events.end[rows]
    order = np.lexsort((-end, start, track))
    found: Int32 = rows[order][parents(track[order], start[order], end[order]) < 0]
    return found


def beyond(facts: Facts, rows: Int32, ns: float) -> ScaleHost:
    """Return what removes the time that ranges take beyond so many ns, whatever the thread does in it."""
    events = facts.trace.events
    track, start, end = (column[rows].tolist() for column in (events.track, events.start, events.end))
    cut = [(t, s + int(ns), e) for t, s, e in zip(track, start, end, strict=True) if e > s + int(ns)]
    return scale(factor=0.0, intervals=cut)


#: a child with so much of the time of its function is what takes it
_HOT = 0.8


def own_code_within(facts: Facts, rows: Int32) -> Int32:
    """Functions of the user's own code that take the time of some ranges of the host, on the same thread: the outermost
    of each range, and of those that only pass it on to one other, that one; none without stacks.
    """
    events, frames, strings = facts.trace.events, facts.model.structure.frames, facts.trace.strings
    if not len(frames):
        return np.empty(0, np.int32)
    place = LaneIndex(events.track[rows], events.start[rows]).last(frames.track, frames.start)
    is_own = strings.where(is_own_code, frames.name)[frames.name]
    is_own &= (place >= 0) & (frames.start < take_known(events.end[rows], place))
    own = np.flatnonzero(is_own)
    above = nearest(frames.parent, is_own, frames.parent[own]).astype(np.int64)
    length = frames.end - frames.start
    # all calls of one function by another count together: a loop passes its time on, too
    inner = np.flatnonzero(above >= 0)
    calls = group([above[inner], frames.name[own[inner]].astype(np.int64)])
    hot = calls.sum(length[own[inner]]) >= _HOT * length[above[inner][calls.first]]
    passes = np.zeros(len(frames), np.bool_)
    passes[above[inner][calls.first[hot]]] = True
    reached = np.zeros(len(frames) + 1, np.bool_)
    reached[own[above < 0]] = True
    # parents come before their children
    for at, parent in zip(
        own[inner[hot[calls.inverse]]].tolist(), above[inner[hot[calls.inverse]]].tolist(), strict=True
    ):
        reached[at] = reached[parent]
    found: Int32 = frames.row[reached[:-1] & ~passes]
    return found


def launch_inside(facts: Facts, rows: Int32) -> Bool:
    """Shape (n,): in which ranges of the host a call on the same thread starts work on a device, copies left out."""
    events, model = facts.trace.events, facts.model
    launch = model.device_links.launch
    calls = model.launches.row[launch[(launch >= 0) & (model.device_category == Category.KERNEL)]]
    begun = LaneIndex(events.track[calls], events.start[calls])
    found: Bool = begun.between(events.track[rows], events.start[rows], events.end[rows]) > 0
    return found


def loader_evidence(facts: Facts, rows: Int32) -> tuple[Evidence, ...]:
    """Return how long batches of a DataLoader took."""
    each = float(facts.duration(rows).sum()) / facts.steps
    whole = evidence("dataloader_per_step", each, "ns", "overview")
    return (whole, *batch_evidence(facts, rows))


def batch_evidence(facts: Facts, rows: Int32) -> tuple[Evidence, ...]:
    """How long batches took as usual, and the slowest, and how long the device had nothing to do in them."""
    took, events = facts.duration(rows), facts.trace.events
    p50, p95 = median(took), percentile(took, 95)
    times = (
        evidence("share_of_step", facts.share(float(took.sum())), "fraction", "overview"),
        evidence("batch_p50", p50, "ns", "trace"),
        evidence("batch_p95", p95, "ns", "trace"),
    )
    if not facts.model.has_device_work:
        return times
    busy = Coverage(BUSY.spans(all_device_spans(facts.model)))
    idle = float((took - busy.between(events.start[rows], events.end[rows])).sum()) / facts.steps
    return (*times, evidence("idle_meanwhile", idle, "ns", "trace"))
