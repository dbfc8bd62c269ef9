"""Input of the rules that find steps."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.distinct import distinct_counts, one_of
from torch_tb_profiler.arrays.grouping import greatest_at
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.model.call_tree import ROUNDING_NS, CallTree
from torch_tb_profiler.model.launches import DeviceLinks, is_work, launched_in
from torch_tb_profiler.model.recording import still_open
from torch_tb_profiler.model.steps.types import HostSteps
from torch_tb_profiler.trace import Category, EventPhase, Trace
from torch_tb_profiler.trace.schema import DEVICE_WORK
from torch_tb_profiler.trace.vocabulary import is_annotation_name

#: least share of the trace that repetitions must cover to be taken as steps
LEAST_COVERAGE = 0.5


class Host(msgspec.Struct, frozen=True):
    """The trace, its call tree, and what launched which device work (parallel to `Trace.device_work`).

    asked   whether a person asked for the rule
    """

    trace: Trace
    tree: CallTree
    device: DeviceLinks
    asked: bool = False

    def annotations(self, wanted: Callable[[str], object]) -> Int32:
        """Return the rows of the annotations of one thread with a wanted name, in time order.

        Several threads may mark the same steps; the thread with most annotations is used. Annotations still open at the
        end of the recording are left out, because their end is unknown.
        """
        events = self.trace.events
        rows = np.flatnonzero((events.category == Category.USER_ANNOTATION) & ~still_open(self.trace))
        named = self.trace.strings.where(wanted, events.name[rows])
        rows = rows[named[events.name[rows]]]
        tracks, counts = distinct_counts(events.track[rows])
        if len(tracks) > 1:
            rows = rows[events.track[rows] == tracks[np.argmax(counts)]]
        return rows[np.argsort(events.start[rows], kind="stable")].astype(np.int32)

    def steps(self, rows: Int32, names: list[str] | None = None) -> HostSteps | None:
        """Make steps of annotations; an annotation that begins inside the preceding one is no step."""
        if not len(rows):
            return None
        outer = outermost(self.trace.events.start[rows], self.trace.events.end[rows])
        labels = self.trace.strings.texts(self.trace.events.name[rows])
        chosen = np.flatnonzero(outer)
        return HostSteps(
            [names[i] for i in chosen.tolist()] if names else [str(i) for i in range(len(chosen))],
            self.trace.events.start[rows[chosen]],
            self.trace.events.end[rows[chosen]],
            [labels[i] for i in chosen.tolist()],
        )

    def extent(self) -> tuple[int, int] | None:
        """Return the start and end of the program on the host; None if nothing has a duration.

        From the first to the last operator; without operators, annotation or API call; without these, device work.
        Annotations that torch itself writes, such as collectives and the DataLoader, count as operators: a program may
        begin or end with them.
        """
        trace, events = self.trace, self.trace.events
        annotations = np.flatnonzero(events.category == Category.USER_ANNOTATION)
        by_torch = trace.strings.where(is_annotation_name, events.name[annotations])
        marked = (events.category == Category.USER_ANNOTATION) & by_torch[events.name]
        complete = events.phase == EventPhase.COMPLETE
        for chosen in (
            (events.category == Category.OPERATOR) | marked,
            one_of(events.category, (Category.USER_ANNOTATION, Category.RUNTIME, Category.DRIVER)),
            one_of(events.category, DEVICE_WORK),
        ):
            rows = np.flatnonzero(complete & chosen)
            if len(rows):
                return int(events.start[rows].min()), int(events.end[rows].max())
        return None

    def from_starts(self, starts: Int64, last: int, track: int, label: str) -> HostSteps:
        """Make steps that begin at given times and end where the next one begins.

        The last step ends with the outermost ranges that its thread began within the usual time of a step; not before
        `last`.
        """
        tree = self.tree
        usual = int(median(np.diff(starts))) if len(starts) > 1 else 0
        there = (tree.parent < 0) & (tree.track == track)
        there &= (tree.start >= starts[-1]) & (tree.start < int(starts[-1]) + usual)
        end = int(tree.end[there].max(initial=last))
        names = [str(i) for i in range(len(starts))]
        return HostSteps(names, starts, np.append(starts[1:], end), [label] * len(starts))

    def coverage(self, steps: HostSteps) -> float:
        """Return the part of the trace that steps cover with their own time and the device work they launched, 0…1."""
        extent = self.extent()
        if extent is None:
            return 0.0
        events, rows = self.trace.events, self.trace.device_work.row
        ends = events.end[rows[is_work(self.trace)]]
        low, high = extent[0], max(extent[1], int(ends.max(initial=extent[1])))
        work, step = launched_in(self.trace, self.device, steps.start, steps.end)
        reached = np.maximum(steps.end, greatest_at(step, events.end[rows[work]], len(steps.names)))
        covered = intervals.total(intervals.clip(intervals.union(steps.start, reached), low, high))
        return covered / (high - low) if high > low else 0.0


def outermost(start: Int64, end: Int64) -> Bool:
    """Mark intervals of one thread, by start, that do not begin inside an earlier one."""
    latest = np.maximum.accumulate(end)[:-1]
    after = (start[1:] >= latest) | ((start[1:] >= latest - ROUNDING_NS) & (end[1:] > latest))
    found: Bool = np.concatenate(([True], after))
    return found
