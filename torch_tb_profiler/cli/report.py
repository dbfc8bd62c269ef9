"""`torch-tb-profiler report`."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

from torch_tb_profiler.cli.errors import UserError
from torch_tb_profiler.discovery import Found, Root
from torch_tb_profiler.storage import StorageError, shown
from torch_tb_profiler.web.http import HttpError
from torch_tb_profiler.web.prefetch import QUESTIONS
from torch_tb_profiler.web.report import MOST_TRACES, report
from torch_tb_profiler.workspace import Unavailable, Workspace, logs, open_workspace
from torch_tb_profiler.workspace.local_workspace import find_traces

_LOOK_SECONDS = 0.1


class Report:
    """Write a trace, or a run, with all views into one HTML file that needs no server."""

    name = "report"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("path", metavar="PATH", help="a trace file, a run's directory, or a log directory")
        parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the file to write")
        parser.add_argument("--run", help="which run of a log directory")
        parser.add_argument(
            "--worker",
            action="append",
            default=[],
            help=f"a worker of the run; may be given several times (default: the first {MOST_TRACES} traces)",
        )
        parser.add_argument("--span", help="which recording of the workers")
        parser.add_argument("--cache-dir", type=Path, help="where traces that were read once are kept")

    def run(self, arguments: argparse.Namespace) -> None:
        logs.configure()
        try:
            found = find_traces(arguments.path)
        except StorageError as error:
            raise UserError(str(error)) from None
        runs, path = [run.name for run in found.runs], shown(arguments.path)
        if not runs:
            raise UserError(f"{path} holds no trace")
        if arguments.run is None and len(runs) > 1:
            raise UserError(f"{path} has {len(runs)} runs, one must be named with --run: {', '.join(runs)}")
        name = arguments.run if arguments.run is not None else runs[0]
        if name not in runs:
            raise UserError(f"{path} has no run {name!r}, only {', '.join(runs)}")
        run = next(run for run in found.runs if run.name == name)
        files = [f for f in run.traces if not arguments.worker or f.worker in arguments.worker]
        files = [f for f in files if arguments.span in (None, f.span)][: None if arguments.worker else MOST_TRACES]
        missing = set(arguments.worker) - {f.worker for f in files}
        if missing or not files:
            known = ", ".join(f"{f.worker} (span {f.span})" for f in run.traces[:20])
            raise UserError(f"run {name!r} has no such worker or span, only {known}")
        if not arguments.worker and len(files) < len(run.traces):
            print(f"the first {len(files)} of {len(run.traces)} traces; --worker and --span choose others")
        chosen = Found((replace(run, traces=tuple(files)),), ())
        workspace = open_workspace([Root(arguments.path)], arguments.cache_dir, questions=QUESTIONS, found=chosen)
        try:
            page = _report(workspace, name)
        finally:
            workspace.close()
        try:
            arguments.output.write_bytes(page)
        except OSError as error:
            raise UserError(f"cannot write {arguments.output}: {error.strerror}") from None
        print(f"{arguments.output}: {len(page) / 1000**2:.1f} MB")


def _report(workspace: Workspace, run: str) -> bytes:
    while workspace.status().loading:
        time.sleep(_LOOK_SECONDS)
    traces = workspace.run(run).traces
    for trace in traces:
        if trace.state == "failed":
            print(f"left out: {trace.file} {trace.reason}", file=sys.stderr)
    ready = [(trace.worker, trace.span) for trace in traces if trace.state == "ready"]
    if not ready:
        raise UserError(f"{traces[0].file} {traces[0].reason}")
    try:
        return report(workspace, run, ready)
    except (HttpError, Unavailable) as error:
        raise UserError(str(error)) from None
