"""What `torch-tb-profiler report` does."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from msgspec.structs import replace

from torch_tb_profiler.cli.chosen import chosen_run, chosen_traces
from torch_tb_profiler.cli.errors import UserError
from torch_tb_profiler.cli.saying import safe, tell
from torch_tb_profiler.cli.work.outputs import replaced
from torch_tb_profiler.cli.work.targets import target_of
from torch_tb_profiler.defaults import MOST_REPORTED
from torch_tb_profiler.discovery import Found, Root, Run, TraceFile
from torch_tb_profiler.web.ahead import QUESTIONS
from torch_tb_profiler.web.http import HttpError
from torch_tb_profiler.web.report import report
from torch_tb_profiler.workspace import TraceStatus, Unavailable, Workspace, logs, open_workspace
from torch_tb_profiler.workspace.addresses import address_of

_LOOK_SECONDS = 0.1


def run(arguments: argparse.Namespace) -> None:
    logs.configure()
    target = target_of(arguments, arguments.output)
    address = address_of(arguments.path)
    workers = arguments.worker or ([address.worker] if address.worker else [])
    run = chosen_run(address.path, arguments.run)
    files = chosen_traces(run, workers, arguments.span or address.span)[: None if workers else MOST_REPORTED]
    if not workers and len(files) < len(run.traces):
        print(f"the first {len(files)} of {len(run.traces)} traces; --worker and --span choose others")
    beside = [] if arguments.compare is None else [_baseline(arguments.compare, files, run.name)]
    chosen = Found((replace(run, traces=tuple(files)), *beside), ())
    workspace = open_workspace([Root(address.path)], arguments.cache_dir, questions=QUESTIONS, found=chosen)
    try:
        page = _report(workspace, run.name, [each.name for each in beside])
    finally:
        workspace.close()
    with replaced(target) as part:
        part.write_bytes(page)
    print(f"{safe(str(target.path))}: {len(page) / 1000**2:.1f} MB")


def _baseline(path: str, files: Sequence[TraceFile], name: str) -> Run:
    """The run that the others are compared with, under a name of its own: a trace of each worker that they have.

    Raises UserError.
    """
    address = address_of(path)
    found = chosen_run(address.path, None)
    of_trace = [address.worker] if address.worker else []
    traces = [file for file in chosen_traces(found, of_trace, address.span) if file.kind == "trace"]
    alike = [file for file in traces if file.worker in {each.worker for each in files}] or traces[:1]
    if not alike:
        raise UserError(f"{path} contains no trace to compare with")
    title = found.name if found.name != name else f"{found.name} (baseline)"
    return replace(found, name=title, traces=tuple(alike[:MOST_REPORTED]))


def _report(workspace: Workspace, run: str, beside: Sequence[str]) -> bytes:
    while workspace.status().loading:
        time.sleep(_LOOK_SECONDS)
    ready = [(trace.worker, trace.span) for trace in _ready(workspace, run)]
    others = [(name, trace.worker, trace.span) for name in beside for trace in _ready(workspace, name)]
    try:
        return report(workspace, run, ready, others)
    except (HttpError, Unavailable) as error:
        raise UserError(str(error)) from None


def _ready(workspace: Workspace, run: str) -> list[TraceStatus]:
    """The traces of a run that were read; the others are told. Raises UserError: there are none."""
    traces = workspace.run(run).traces
    for trace in traces:
        if trace.state == "failed":
            tell(f"left out: {trace.file} {trace.reason}")
    found = [trace for trace in traces if trace.state == "ready"]
    if not found:
        raise UserError(f"{traces[0].file} {traces[0].reason}")
    return found
