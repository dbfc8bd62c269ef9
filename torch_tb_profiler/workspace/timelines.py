"""Timelines: in memory, and beside the columns of their traces."""

from __future__ import annotations

import logging
import threading

from torch_tb_profiler.model import Model
from torch_tb_profiler.timeline import timeline_file
from torch_tb_profiler.timeline.build import build
from torch_tb_profiler.timeline.summary import Summary
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.trace import column_file
from torch_tb_profiler.workspace.cache import Cache
from torch_tb_profiler.workspace.lru import Lru

log = logging.getLogger(__name__)

#: of all in memory together; a slice costs about 60
BYTES = 512 * 1000**2
#: of what is kept of traces for the overview of their run
SUMMARY_BYTES = 32 * 1000**2


class Timelines:
    """Thread-safe. Traces are named by their content key."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._held: Lru[str, Timeline] = Lru(BYTES, lambda timeline: timeline.size)
        self._summaries: Lru[str, Summary] = Lru(SUMMARY_BYTES, lambda summary: summary.size)
        self._opening: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    def held(self, key: str) -> Timeline | None:
        """The timeline, if it is in memory."""
        return self._held.get(key)

    def open(self, key: str) -> Timeline:
        """Read, or built when no worker process has done so. Raises OSError and ColumnFileError: of the columns."""
        with self._lock:
            opening = self._opening.setdefault(key, threading.Lock())
        with opening:
            timeline = self._held.get(key)
            if timeline is None:
                timeline = self._read_or_build(key)
                self._held.put(key, timeline)
        with self._lock:
            self._opening.pop(key, None)
        return timeline

    def summary(self, key: str) -> Summary:
        """For the overview of a run. Raises as `open` does."""
        summary = self._summaries.get(key)
        if summary is None:
            try:
                summary = timeline_file.read_summary(self._cache.timeline(key))
            except (OSError, column_file.ColumnFileError):
                summary = self.open(key).summary
            self._summaries.put(key, summary)
        return summary

    def drop(self, key: str) -> None:
        """Its columns are unusable."""
        self._held.drop(key)

    def _read_or_build(self, key: str) -> Timeline:
        path = self._cache.timeline(key)
        columns = column_file.open_trace(self._cache.columns(key))
        try:
            return timeline_file.read(path, columns)
        except FileNotFoundError:
            log.debug("%s is built", path)
        except (OSError, column_file.ColumnFileError) as error:
            log.warning("%s cannot be used (%s); it is built again", path, error)
        # A model of its own: nobody waits for this but who wants the timeline.
        timeline = build(Model(columns))
        try:
            timeline_file.write(timeline, path)
        except OSError as error:
            log.debug("%s is not kept: %s", path, error)
        return timeline
