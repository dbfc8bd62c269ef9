"""Timelines: in memory, and beside the columns of their traces."""

from __future__ import annotations

import logging
from collections.abc import Callable

from torch_tb_profiler.model import Model
from torch_tb_profiler.timeline import timeline_file
from torch_tb_profiler.timeline.build import build
from torch_tb_profiler.timeline.summary import TimelineSummary
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.trace import column_file
from torch_tb_profiler.workspace.broken import is_broken
from torch_tb_profiler.workspace.cache import Cache
from torch_tb_profiler.workspace.columns import OpenColumns
from torch_tb_profiler.workspace.memory import Memory

log = logging.getLogger(__name__)

#: of all in memory together; a slice costs about 60
BYTES = 512 * 1000**2
#: of what is kept of traces for the overview of their run
SUMMARY_BYTES = 32 * 1000**2


class Timelines:
    """Thread-safe. Traces are named by their content key."""

    def __init__(self, cache: Cache, columns: OpenColumns | None = None) -> None:
        """columns: those that are open for something else, too."""
        self._cache = cache
        self._columns = columns or OpenColumns(cache)
        self._timelines: Memory[str, Timeline] = Memory(BYTES, lambda timeline: timeline.size)
        self._summaries: Memory[str, TimelineSummary] = Memory(SUMMARY_BYTES, lambda summary: summary.size)

    def __len__(self) -> int:
        """How many are in memory."""
        return len(self._timelines)

    def get(self, key: str) -> Timeline | None:
        """The timeline, if it is in memory."""
        return self._timelines.get(key)

    def open(self, key: str) -> Timeline:
        """Read, or built when no worker process has done so. Raises ColumnFileError: of the columns."""
        return self._timelines.remember(key, lambda: self._read_or_build(key))

    def summary(self, key: str, make: Callable[[], TimelineSummary]) -> TimelineSummary:
        """For the overview of a run: read, or made where no worker process has written it."""
        return self._summaries.remember(key, lambda: self._read_summary(key) or make())

    def drop_unused(self, seconds: float) -> int:
        """Forget the timelines that nobody asked for so long; how many those were."""
        return self._timelines.drop_unused(seconds)

    def drop(self, key: str) -> None:
        """Its trace is gone, or its columns are unusable."""
        self._columns.drop(key)
        self._timelines.drop(lambda held: held == key)
        self._summaries.drop(lambda held: held == key)

    def _read_summary(self, key: str) -> TimelineSummary | None:
        try:
            return timeline_file.read_summary(self._cache.timeline(key))
        except column_file.ColumnFileError:
            return None

    def _read_or_build(self, key: str) -> Timeline:
        path = self._cache.timeline(key)
        try:
            return timeline_file.read(path, self._columns.open(key))
        except Exception as error:
            if not is_broken(error) or getattr(error, "path", None) == self._cache.columns(key):
                raise
            level = logging.WARNING if path.exists() else logging.DEBUG
            log.log(level, "%s cannot be used (%s); it is built", path, error)
        # A model of its own: only requests for the timeline wait for this.
        timeline = build(Model(column_file.open_trace(self._cache.columns_here(key))))
        try:
            timeline_file.write(timeline, path)
            self._cache.added(path.stat().st_size)
            self._cache.sweep_if_due()
        except OSError as error:
            log.debug("%s is not kept: %s", path, error)
        return timeline
