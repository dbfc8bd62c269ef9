"""What is in the log directory: /api/status, and /runs /views /workers /spans in the old plugin's shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_tb_profiler import __version__
from torch_tb_profiler.discovery import natural_key
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.web.http import Answer, Parameters, dumps
from torch_tb_profiler.workspace import RunStatus, Skipped, TraceStatus, Workspace

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


def status(workspace: Workspace, _: Parameters) -> Answer:
    found = workspace.status()
    return Answer(
        dumps(
            {
                "version": __version__,
                "logdir": found.logdir,
                "scanning": found.scanning,
                "error": found.error and found.error.text,
                "why": why(found.error),
                "runs": [_run(run) for run in found.runs],
                "skipped": _skipped(found.skipped),
            }
        )
    )


def _run(run: RunStatus) -> dict[str, Any]:
    return {
        "name": run.name,
        "state": run.state,
        "traces": [_trace(trace) for trace in run.traces],
        "skipped": _skipped(run.skipped),
    }


def _trace(trace: TraceStatus) -> dict[str, Any]:
    return {
        "worker": trace.worker,
        "span": trace.span,
        "file": trace.file,
        "size": trace.size,
        "state": trace.state,
        "bytes_done": trace.bytes_done,
        "bytes_total": trace.size,
        "events": trace.events,
        "reason": trace.reason and trace.reason.text,
        "why": why(trace.reason),
        "notes": trace.notes,
        "views": trace.views,
        "rank": trace.rank,
        "world_size": trace.world_size,
        "host_name": trace.host_name or None,
    }


def why(reason: Reason | None) -> dict[str, Any] | None:
    """What a reason says, for saying it in another language."""
    return {"kind": reason.kind, "values": reason.values} if reason else None


def _skipped(files: Sequence[Skipped]) -> list[dict[str, Any]]:
    """The first of them: a data set of thousands of JSON files must not make this answer heavy."""
    shown = list(files[:MOST_SKIPPED])
    if more := len(files) - len(shown):
        shown.append(Skipped("…", Reason("more_files", f"and {more} more files", {"count": more})))
    return [{"file": s.file, "reason": s.reason.text, "why": why(s.reason), "unlisted": s.unlisted} for s in shown]


def runs(workspace: Workspace, _: Parameters) -> Answer:
    """A run is listed as soon as there is something to see in it, or nothing will ever be."""
    found = workspace.status()
    listed = [run.name for run in found.runs if run.state == "failed" or _ready(run)]
    return Answer(dumps({"runs": listed, "loading": found.loading}))


def views(workspace: Workspace, parameters: Parameters) -> Answer:
    run = workspace.run(parameters.need("run"))
    present = {view for trace in _ready(run) for view in _old_views(trace)}
    return Answer(dumps([name for name in OLD_VIEWS.values() if name in present]))


def workers(workspace: Workspace, parameters: Parameters) -> Answer:
    name, view = parameters.need("run"), parameters.need("view")
    run = workspace.run(name)
    having = {t.worker for t in _ready(run) if view in _old_views(t)}
    if having and view == OLD_VIEWS[TOGETHER]:
        having = {ALL_WORKERS}
    return Answer(dumps(sorted(having, key=natural_key)))


def _old_views(trace: TraceStatus) -> set[str]:
    """The old plugin's names of its views; it showed either the modules of Lightning or those of torch."""
    found = {OLD_VIEWS[view] for view in (*trace.views, "trace") if view in OLD_VIEWS}
    return found - {"Module"} if "Lightning" in found else found


def spans(workspace: Workspace, parameters: Parameters) -> Answer:
    name, worker = parameters.need("run"), parameters.need("worker")
    ready = _ready(workspace.run(name))
    of_worker = [t.span for t in ready if t.worker == worker]
    if not of_worker and worker == ALL_WORKERS and any(TOGETHER in t.views for t in ready):
        of_worker = sorted({t.span for t in ready}, key=natural_key)
    return Answer(dumps(of_worker))


def _ready(run: RunStatus) -> list[TraceStatus]:
    return [trace for trace in run.traces if trace.state == "ready"]
