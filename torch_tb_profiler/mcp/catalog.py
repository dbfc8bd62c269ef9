"""The traces below the one root that the server was started for, by ids that are safe to show."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from torch_tb_profiler.analysis.text_format import harmless
from torch_tb_profiler.api.errors import ProfileError, profile_errors
from torch_tb_profiler.api.profile import Profile, Run
from torch_tb_profiler.api.trace import TraceProfile
from torch_tb_profiler.storage import is_local, shown
from torch_tb_profiler.workspace.local_workspace import LocalWorkspace, find_traces

_LONGEST_ID = 120


class CatalogListing(msgspec.Struct, frozen=True):
    """What one look at the root found, in its order; agents get the ids.

    traces   by id, `run~worker~span`
    runs     by id
    outside  files that are links to somewhere else, which are not read
    """

    traces: dict[str, TraceProfile]
    runs: dict[str, Run]
    outside: int


class TraceCatalog:
    """Finds traces and runs by the ids that tools are given. Thread-safe: a new listing replaces the old one."""

    def __init__(self, root: str, cache_dir: str | Path | None = None) -> None:
        """List the root. Raises ProfileError: it cannot be listed."""
        self._root = root
        with profile_errors():
            self._workspace = LocalWorkspace(cache_dir)
        self.listing = self.look()

    def abandon(self) -> None:
        """Give up what is under way, as `LocalWorkspace.abandon`."""
        self._workspace.abandon()

    def look(self) -> CatalogListing:
        """List the root again: there may be new traces. Raises ProfileError."""
        with profile_errors():
            found = find_traces(self._root)
        profile = Profile(shown(self._root), self._workspace, found)
        traces: dict[str, TraceProfile] = {}
        runs: dict[str, Run] = {}
        outside = 0
        for run in profile.runs:
            inside = tuple(trace for trace in run.traces if self._is_inside(trace))
            outside += len(run.traces) - len(inside)
            if not inside:
                continue
            run.traces = inside
            runs[_free(run.name, runs)] = run
            for trace in inside:
                traces[_free(f"{trace.run}~{trace.worker}~{trace.span}", traces)] = trace
        self.listing = CatalogListing(traces, runs, outside)
        return self.listing

    def trace(self, wanted: str) -> TraceProfile:
        """Return the trace of an id. Raises ProfileError."""
        found = self.listing.traces.get(wanted) or self.look().traces.get(wanted)
        if found is None:
            raise ProfileError("there is no trace of this id; the tool traces lists them")
        return found

    def run(self, wanted: str) -> Run:
        """Return the run of an id, or of the id of one of its traces. Raises ProfileError."""
        for listing in (self.listing, self.look()):
            if wanted in listing.runs:
                return listing.runs[wanted]
            if wanted in listing.traces:
                trace = listing.traces[wanted]
                return next(run for run in listing.runs.values() if trace in run.traces)
        raise ProfileError("there is no run of this id; the tool traces lists them")

    def folder(self, wanted: str) -> str:
        """Return the address of a folder by its path below the root. Raises ProfileError."""
        if is_local(self._root):
            path = Path(self._root, wanted).resolve()
            if not (self._has(path) and path.is_dir() and all(map(self._has, path.rglob("*")))):
                raise ProfileError("there is no such folder below the root, or it has links to places outside of it")
            return str(path)
        if ".." in wanted.split("/") or "://" in wanted:
            raise ProfileError("there is no such folder below the root")
        return f"{self._root.rstrip('/')}/{wanted}"

    def id_of(self, trace: TraceProfile) -> str:
        """Return the id of a trace for agents."""
        return next(name for name, each in self.listing.traces.items() if each.file == trace.file)

    def id_of_run(self, trace: TraceProfile) -> str:
        """Return the id of the run of a trace for agents."""
        return next(
            name for name, run in self.listing.runs.items() if any(each.file == trace.file for each in run.traces)
        )

    def _is_inside(self, trace: TraceProfile) -> bool:
        """Return whether the file lies where the server may read: below the root, links followed."""
        return not is_local(self._root) or self._has(trace.source.file.entry.url)

    def _has(self, path: str | Path) -> bool:
        root, file = map(os.path.realpath, (self._root, path))
        return file == root or file.startswith(root.rstrip(os.sep) + os.sep)


def _free(name: str, taken: dict[str, TraceProfile] | dict[str, Run]) -> str:
    """Make a name harmless to whoever reads it, and different from all before it."""
    safe = harmless(name, _LONGEST_ID - 8)
    number, found = 1, safe
    while found in taken:
        number += 1
        found = f"{safe}#{number}"
    return found
