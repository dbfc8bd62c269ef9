"""List the log directory: /api/status, and /runs /views /workers /spans in the shapes of the old plugin."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from torch_tb_profiler import __version__
from torch_tb_profiler.analysis.answer import Count
from torch_tb_profiler.arrays.types import dumps
from torch_tb_profiler.discovery import natural_key
from torch_tb_profiler.reason import Why
from torch_tb_profiler.web.http import HttpAnswer, Parameters
from torch_tb_profiler.words.sentences import because
from torch_tb_profiler.workspace import RunStatus, Skipped, Status, TraceStatus, Workspace
from torch_tb_profiler.workspace.status import RunState

MOST_SKIPPED = 100

#: the old plugin's names of views, in its order
OLD_VIEWS = {
    "overview": "Overview",
    "operators": "Operator",
    "kernels": "Kernel",
    "trace": "Trace",
    "distributed": "Distributed",
    "memory": "Memory",
    "modules": "Module",
    "lightning": "Lightning",
}

#: the view of all workers together, and what the old plugin called them
TOGETHER, ALL_WORKERS = "distributed", "All"


class SkippedEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A JSON file that is no trace, or a directory that could not be listed.

    file      path of the file or name of the directory
    reason    why, a sentence that goes on after the name of the file
    why       the same as `reason`, for saying it in another language
    unlisted  a directory
    """

    file: str
    reason: str
    why: Why | None
    unlisted: bool


class RunProgress(msgspec.Struct, frozen=True, kw_only=True):
    """A run.

    name       of the run
    state      failed if all traces are, loading while one is not yet read, otherwise ready
    ready      how many of its traces were read
    total      how many it has
    traces     by worker, then span
    skipped    JSON files of the run that are no traces, and why
    dumps      how many flight-recorder dumps its folder has, which /api/hang reads; a folder with these alone is a run
               without traces here, and none of /runs
    newest_ms  when its newest trace was recorded, milliseconds since the epoch: by the name that torch gave to the
               file, otherwise from its time of writing; null if neither is known
    parent     of traces in which graphs were captured the run that replays them, whose folder theirs is in; they are no
               run of /runs. Null of all others
    """

    name: str
    state: RunState
    ready: Count
    total: Count
    traces: Sequence[TraceStatus]
    skipped: Sequence[SkippedEntry]
    dumps: Count
    newest_ms: int | None
    parent: str | None


class StatusAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What there is, and how far it is.

    version   of the program
    logdir    the log directory, as it was given
    scanning  true until the log directory has been listed for the first time
    error     why it could not be listed the last time
    why       the same as `error`, for saying it in another language
    runs      in natural order of their names
    skipped   JSON files outside all runs that are no traces, and why
    """

    version: str
    logdir: str
    scanning: bool
    error: str | None
    why: Why | None
    runs: Sequence[RunProgress]
    skipped: Sequence[SkippedEntry]


def status(workspace: Workspace, _: Parameters) -> HttpAnswer:
    return HttpAnswer(dumps(status_of(workspace.status())))


def status_of(status: Status) -> StatusAnswer:
    """Return the answer of /api/status."""
    counts = {folder.name: len(folder.files) for folder in status.dumps}
    alone = [RunStatus(name, ()) for name in counts.keys() - {run.name for run in status.runs}]
    runs = sorted((*status.runs, *alone), key=lambda run: natural_key(run.name)) if alone else status.runs
    # these are shown as hang reports, and not skipped
    dumps = frozenset(file.entry.path.rpartition("/")[2] for folder in status.dumps for file in folder.files)
    return StatusAnswer(
        version=__version__,
        logdir=status.logdir,
        scanning=status.scanning,
        error=status.error.text if status.error else None,
        why=Why.of(status.error),
        runs=[_run(run, counts.get(run.name, 0), dumps) for run in runs],
        skipped=_skipped(status.skipped, dumps),
    )


def _run(run: RunStatus, count: int, dumps: frozenset[str]) -> RunProgress:
    return RunProgress(
        name=run.name,
        state=run.state,
        ready=len(_ready(run)),
        total=len(run.traces),
        traces=run.traces,
        skipped=_skipped(run.skipped, dumps),
        dumps=count,
        newest_ms=None if run.newest_ns is None else run.newest_ns // 1_000_000,
        parent=run.parent,
    )


def _skipped(files: Sequence[Skipped], dumps: frozenset[str]) -> list[SkippedEntry]:
    """Return the first skipped files: a data set of thousands of JSON files must not make this answer heavy."""
    listed = [
        file for file in files if file.reason.kind != "flight_recorder" or file.file.rpartition("/")[2] not in dumps
    ]
    shown = listed[:MOST_SKIPPED]
    if more := len(listed) - len(shown):
        shown.append(Skipped("…", because("more_files", {"count": more})))
    return [SkippedEntry(file=s.file, reason=s.reason.text, why=Why.of(s.reason), unlisted=s.unlisted) for s in shown]


def runs(workspace: Workspace, _: Parameters) -> HttpAnswer:
    """List each run that has failed or has a trace to show."""
    found = workspace.status()
    listed = [run.name for run in found.runs if run.parent is None and (run.state == "failed" or _ready(run))]
    return HttpAnswer(dumps({"runs": listed, "loading": found.loading}))


def views(workspace: Workspace, parameters: Parameters) -> HttpAnswer:
    run = workspace.run(parameters.need("run"))
    present = {view for trace in _ready(run) for view in _old_views(trace)}
    return HttpAnswer(dumps([name for name in OLD_VIEWS.values() if name in present]))


def workers(workspace: Workspace, parameters: Parameters) -> HttpAnswer:
    name, view = parameters.need("run"), parameters.need("view")
    run = workspace.run(name)
    having = {t.worker for t in _ready(run) if view in _old_views(t)}
    if having and view == OLD_VIEWS[TOGETHER]:
        having = {ALL_WORKERS}
    return HttpAnswer(dumps(sorted(having, key=natural_key)))


def _old_views(trace: TraceStatus) -> set[str]:
    """Return the view names of the old plugin; it showed either the modules of Lightning or those of torch."""
    if trace.kind == "snapshot":
        return set()
    found = {OLD_VIEWS[view] for view in (*trace.views, "trace") if view in OLD_VIEWS}
    return found - {"Module"} if "Lightning" in found else found


def spans(workspace: Workspace, parameters: Parameters) -> HttpAnswer:
    name, worker = parameters.need("run"), parameters.need("worker")
    ready = _ready(workspace.run(name))
    of_worker = [t.span for t in ready if t.worker == worker]
    if not of_worker and worker == ALL_WORKERS and any(TOGETHER in t.views for t in ready):
        of_worker = sorted({t.span for t in ready}, key=natural_key)
    return HttpAnswer(dumps(of_worker))


def _ready(run: RunStatus) -> list[TraceStatus]:
    return [trace for trace in run.traces if trace.state == "ready"]
